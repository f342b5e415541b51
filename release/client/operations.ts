// What the client needs to know of each operation of the OpenAPI document.

import type { ApiDocument, ApiOperation, MediaType } from '../../src/http/openapi/document.ts';
import type { Member, Schema } from './schema-types.ts';

/** How an operation answers. `page`: a list that goes on; `events`: server-sent; `lines`: NDJSON. */
export type Kind = 'whole' | 'page' | 'events' | 'lines' | 'text';

export interface ClientOperation {
  /** The method's name. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly kind: Kind;
  /** All that a caller may give: holes of the path, query parameters, members of the body. */
  readonly members: readonly Member[];
  readonly query: readonly string[];
  /** `members`: what is neither in path nor query; `whole`: the member `body`, which is any JSON. */
  readonly body: 'none' | 'members' | 'whole';
  readonly isPublic: boolean;
  readonly takesIdempotencyKey: boolean;
  /** The whole answer, or one item of a stream or export. */
  readonly answer: Schema;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];
const ITEM_KINDS: Readonly<Record<string, Kind>> = {
  'text/event-stream': 'events',
  'application/x-ndjson': 'lines',
  'text/plain': 'text',
  'text/html': 'text',
};

function bodyContent(content: NonNullable<ApiOperation['requestBody']>['content'] | undefined) {
  return content?.['application/json'] ?? content?.['application/merge-patch+json'];
}

export function operationsOf(document: ApiDocument): ClientOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [read(operation, { method: method.toUpperCase(), path })];
    }),
  );
}

function read(operation: ApiOperation, at: { method: string; path: string }): ClientOperation {
  const { operationId: id, summary, description, parameters = [] } = operation;
  const bodySchema = bodyContent(operation.requestBody?.content)?.schema as Schema | undefined;
  const bodyMembers = membersOf(bodySchema);
  const inBody = new Set(bodyMembers.map(({ name }) => name));
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  // What the body may hold is sent there: an address ends up in logs.
  const inQuery = parameters.filter((parameter) => parameter.in === 'query' && !inBody.has(parameter.name));
  const given = [...inPath, ...inQuery].map(({ name, required, schema, description: about }) => ({
    name,
    isOptional: required !== true,
    schema: { ...(schema as Schema), description: about },
  }));
  const isWhole = bodySchema !== undefined && bodyMembers.length === 0;
  const whole = { name: 'body', isOptional: true, schema: { description: 'Any JSON.' } };
  const members = [...given, ...bodyMembers, ...(isWhole ? [whole] : [])];
  const twice = members.find(({ name }, n) => members.findIndex((member) => member.name === name) !== n);
  if (twice) throw new Error(`${id}: "${twice.name}" is in the path or query and in the body`);
  return {
    ...{ id, ...at, summary, description, members },
    query: inQuery.map(({ name }) => name),
    body: bodySchema === undefined ? 'none' : isWhole ? 'whole' : 'members',
    isPublic: operation.security?.length === 0,
    takesIdempotencyKey: parameters.some(({ name }) => name.toLowerCase() === 'idempotency-key'),
    ...answerOf(operation),
  };
}

function membersOf(schema: Schema | undefined): Member[] {
  const { properties = {}, required = [] } = schema ?? {};
  return Object.entries(properties).map(([name, member]) => ({
    name,
    schema: member,
    isOptional: !required.includes(name),
  }));
}

function answerOf({ operationId, responses, parameters = [] }: ApiOperation): { kind: Kind; answer: Schema } {
  const status = Object.keys(responses).find((code) => code.startsWith('2'));
  const [[type, media] = []] = Object.entries(responses[status ?? '']?.content ?? {}) as [string, ItemMedia][];
  if (type === undefined || media === undefined) throw new Error(`${operationId} has no answer`);
  const kind = ITEM_KINDS[type];
  if (kind === 'text') return { kind, answer: { type: 'string' } };
  if (kind !== undefined) return { kind, answer: media['x-itemSchema'] ?? {} };
  const answer = media.schema as Schema;
  const isPage = answer.properties?.page_info !== undefined && parameters.some(({ name }) => name === 'after');
  return { kind: isPage ? 'page' : 'whole', answer };
}

interface ItemMedia extends MediaType {
  readonly 'x-itemSchema'?: Schema;
}
