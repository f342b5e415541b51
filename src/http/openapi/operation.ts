// A route's definition: its schemas (checked and typed by Fastify) and its place in the OpenAPI document.

import type { FastifySchema } from 'fastify';
import type { TObject, TProperties, TSchema } from 'typebox';
import type { Access, PageOf, RouteAccess } from '../access/access.ts';
import { IF_MATCH, IF_NONE_MATCH } from '../etag.ts';
import type { PutRules } from '../patch.ts';
import { Type } from '../schema/type.ts';
import { exampleOf } from './example.ts';
import { text } from './schema.ts';

export const TAGS = {
  workflows: 'Steps of JavaScript or TypeScript that run for every event that reaches them.',
  endpoints: 'The address of an HTTP trigger, which accepts events, and each event that was accepted.',
  errors: 'What failed, with the original event, its receipts, and how to run it again.',
  runs: 'One execution of a workflow or source for one event.',
  streams: 'Events, sent as they are emitted (server-sent events).',
  sources: 'Components that take events from somewhere else and emit them.',
  components: 'Code with props, to be configured before it becomes a source or a step.',
  accounts: 'What code needs to call apps in your name: tokens and keys, kept sealed.',
  channels: 'Where notices of errors go: chats, incident services, any address, a mailbox.',
  data_stores: 'Keys and values that code shares, and that outlive its runs.',
  webhooks: 'Endpoints of yours to which events are delivered, signed.',
  heartbeats: 'Jobs that run elsewhere and tell of it, and what workflows are watched for: silence is an error, too.',
  deliveries: 'One event on its way to one webhook, or one mail on its way to you, with every attempt.',
  operations: 'Sending many deliveries of a webhook again, or replaying many errors, in the background.',
  subscriptions: 'Links an emitter to a listener, for events of one name.',
  account: 'You, your API keys, and the counts of everything that was accepted.',
  service: 'Health, metrics and this document.',
} as const;

export type Tag = keyof typeof TAGS;

interface Conditional {
  /** Compares `If-Match` with the version of the record that it changes. */
  readonly takesIfMatch?: true;
  /** Of a PUT that creates: compares `If-None-Match` with whether there is such a record. */
  readonly takesIfNoneMatch?: true;
}

/** Clients that are generated make a key, and may then send such a request again. */
const IDEMPOTENCY_KEY = Type.Object({
  'idempotency-key': Type.Optional(
    text({
      description:
        'A second request with the same key, within 24 hours and for the same workflow, has no effect, and gets the first answer.',
      example: 'order-12345',
    }),
  ),
});

export interface OperationDoc<P extends TProperties, Q extends TProperties, B extends TProperties>
  extends RouteAccess,
    Conditional {
  /** `operationId`: what a generated client calls it. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly params?: P;
  readonly query?: Q;
  /** Members of the body, each also taken from the query string (see params.ts). */
  readonly body?: B;
  /** An example of the body, when one made from its members would mislead. */
  readonly example?: object;
  readonly answer: TSchema;
  readonly status?: number;
  /** The route takes `Idempotency-Key`. */
  readonly takesIdempotencyKey?: true;
  /** Of a PUT: how it takes the members; a PATCH is added beside it. */
  readonly put?: PutRules;
  /** What the audit log names: a path parameter (default: `id`), or `answer`: the id of the created record. */
  readonly auditTarget?: string;
  /** Which requests leave an audit record: all but GET, those alone that are refused, or each though it changes nothing. */
  readonly audits?: 'refusals' | 'reading';
  /** Of a GET: the page of the dashboard where browsers are sent that come without a key. */
  readonly page?: PageOf;
  /** Of the answer, when it is not JSON. */
  readonly mediaType?: string;
  /** What one event of a stream or one line of an export holds, of which clients are generated; `answer` is their text. */
  readonly item?: TSchema;
}

/** What a PUT says of members that are left out. */
const SAID: Readonly<Record<PutRules['takes'], string>> = {
  members: 'Partial: members that are left out stay as they are.',
  whole: 'Replaces the whole record: members that are left out become empty, or get their default.',
};

type NoMembers = Record<never, never>;

export interface RouteSchema<P extends TProperties, Q extends TProperties, B extends TProperties> {
  readonly params: TObject<P>;
  readonly querystring: TObject<Q>;
  readonly body: TObject<B>;
}

/** Returns the `schema` of a route. The answer's schema is for the document and the tests: json.ts encodes answers. */
export function operation<
  P extends TProperties = NoMembers,
  Q extends TProperties = NoMembers,
  B extends TProperties = NoMembers,
>(doc: OperationDoc<P, Q, B>): RouteSchema<P, Q, B> {
  const bodyOptions = { additionalProperties: false, ...(doc.example ? { examples: [doc.example] } : {}) };
  const schema: FastifySchema = {
    operationId: doc.id,
    tags: [doc.tag],
    summary: doc.summary,
    description: doc.put ? `${doc.description} ${SAID[doc.put.takes]}` : doc.description,
    ...(doc.params ? { params: Type.Object(doc.params) } : {}),
    ...(doc.query ? { querystring: Type.Object(doc.query) } : {}),
    ...(doc.body ? { body: Type.Object(doc.body, bodyOptions) } : {}),
    ...conditionsOf(doc),
    ...(doc.takesIdempotencyKey ? { headers: IDEMPOTENCY_KEY } : {}),
    ...(doc.put ? { put: { ...doc.put, about: doc.description } } : {}),
    access: doc.access,
    answersWhile: doc.answersWhile ?? [],
    ...(doc.auditTarget === undefined ? {} : { auditTarget: doc.auditTarget }),
    ...(doc.audits === undefined ? {} : { audits: doc.audits }),
    ...(doc.page ? { page: doc.page } : {}),
    ...securityOf(doc.access),
    response: { [doc.status ?? 200]: doc.mediaType ? notJson(doc.mediaType, doc) : doc.answer },
  };
  // Handlers never read members that their route does not have; Fastify checks those that it has.
  return schema as unknown as RouteSchema<P, Q, B>;
}

function conditionsOf({ takesIfMatch, takesIfNoneMatch }: Conditional): Partial<FastifySchema> {
  if (!takesIfMatch) return {};
  if (!takesIfNoneMatch) return { takesIfMatch, headers: IF_MATCH };
  return {
    takesIfMatch,
    takesIfNoneMatch,
    headers: Type.Object({ ...IF_MATCH.properties, ...IF_NONE_MATCH.properties }),
  };
}

/** Returns the security requirement of the document: no key, or a key with that scope. */
function securityOf(access: Access): { security?: { [scheme: string]: string[] }[] } {
  return { security: access === 'public' ? [] : [{ key: [access] }] };
}

/**
 * Returns the content of an answer that is not JSON. OpenAPI 3.1 has no schema for the items of a stream: `x-itemSchema` is
 * what 3.2 calls `itemSchema`.
 */
function notJson(mediaType: string, { answer, item }: { answer: TSchema; item?: TSchema }): object {
  const of = { schema: answer, example: exampleOf(answer), ...(item ? { 'x-itemSchema': item } : {}) };
  return { description: 'Done.', content: { [mediaType]: of } };
}

/** Returns the schema of `{data: …}`, the frame of one record. */
export function dataOf<T extends TSchema>(record: T): TObject {
  return Type.Object({ data: record });
}

/** Returns the schema of the path parameter `id`. */
export function idIn(prefix: string, description: string): { id: ReturnType<typeof Type.String> } {
  return { id: Type.String({ description, examples: [`${prefix}0Vj3aBc9dEfGhIjK`] }) };
}
