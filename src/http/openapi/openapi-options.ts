// Turns the routes' schemas into the OpenAPI document: body parameters that the query string may hold are listed there, and
// every operation gets examples and its problem.

import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import type { TProperties, TSchema } from 'typebox';
import { REFUSALS } from '../../domain/refusal.ts';
import { VERSION } from '../../domain/version.ts';
import { isoTimesSchema } from '../answers/iso-times-schema.ts';
import { isRecord } from '../body/json.ts';
import { INGRESS, PING, PING_STATUS, RESUMING } from '../ingress/document.ts';
import { propertiesOf } from '../params.ts';
import { SENTRY_ENVELOPE, SENTRY_STORE } from '../reports/document.ts';
import { Type } from '../schema/type.ts';
import { exampleOf } from './example.ts';
import { TAGS } from './operation.ts';
import { oneOf, text } from './schema.ts';

const DESCRIPTION = `Create workflows, event sources and webhooks, and read, forward and replay every error.

**Authentication.** Send \`Authorization: Bearer <API key>\` with every request under \`/v1\`. Each operation says which scope the key needs.

**Parameters.** POST, PUT, PATCH and DELETE take parameters in the query string or in a JSON object; when both have one, the query string wins. An unknown member of the object is refused with 400, and so is a name in the query string that is nearly one of the operation's, or that only other operations have; the message suggests the nearest. Other unknown names in the query string are ignored.

**Lists** are newest first. \`limit\`, \`after\` and \`before\` page through them.

**Times.** The name says the unit: \`…_at\` is in seconds since 1970, \`…_at_ms\` and every other \`…_ms\` in milliseconds; \`…_s\` and \`…_seconds\` are durations in seconds. Beside each time, \`…_iso\` has the same time as ISO 8601 text in UTC, such as \`created_at_iso\`. Only records of emissions have \`indexed_at_ms\` alone.

**Errors** are \`application/problem+json\` with a code, a message and, for wrong parameters, the name of each: see [error codes](/docs/errors). Every answer has the header \`x-request-id\`; the server's log has the same id.`;

const WHY_NOT = 'The refusal (RFC 9457). The codes are at /docs/errors.';

const PROBLEM = Type.Object(
  {
    type: oneOf(
      Object.keys(REFUSALS).map((code) => `/docs/errors#${code}`),
      'Address of the error code’s documentation; its last part is the code.',
    ),
    title: text({ description: 'The code in words.', example: REFUSALS.not_found.title }),
    status: Type.Integer({ description: 'HTTP status of this answer.', examples: [404] }),
    detail: text({
      description: 'What was wrong, with which value, and what would be right.',
      example: 'there is no webhook wh_0',
    }),
    error: text({ description: 'The same as `detail`.', example: 'there is no webhook wh_0' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          parameter: text({ description: 'Name of the parameter or member.', example: 'limit' }),
          message: text({
            description: 'What is wrong with it, and what would be right.',
            example: 'must be a whole number from 1 to 100, but was 0',
          }),
          file: Type.Optional(Type.String({ description: 'Of code: the file.' })),
          line: Type.Optional(Type.Integer({ description: 'Of code: the line, counted from 1.' })),
          column: Type.Optional(Type.Integer({ description: 'Of code: the column, counted from 1.' })),
        }),
        { description: 'Each parameter that was wrong.' },
      ),
    ),
  },
  {
    title: 'Problem',
    description: WHY_NOT,
    examples: [
      {
        type: '/docs/errors#not_found',
        title: REFUSALS.not_found.title,
        status: 404,
        detail: 'there is no webhook wh_0',
        error: 'there is no webhook wh_0',
      },
    ],
  },
);

export function openApiOptions(): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Errand',
        version: VERSION,
        description: DESCRIPTION,
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
        contact: { name: 'The operator of this server' },
      },
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      },
      security: [{ key: [] }],
      paths: {
        '/e/{key}': { post: INGRESS },
        '/r/{run}/{token}/{order}': { post: RESUMING },
        '/h/{key}': { post: PING },
        '/h/{key}/{status}': { post: PING_STATUS },
        '/api/{project}/envelope/': { post: SENTRY_ENVELOPE },
        '/api/{project}/store/': { post: SENTRY_STORE },
      },
    },
    transform: ({ schema, url }) => ({ schema: isShown(schema) ? documented(schema) : { hide: true }, url }),
  };
}

function isShown(schema: FastifySchema | undefined): schema is FastifySchema {
  return schema !== undefined && schema.hide !== true;
}

function documented(schema: FastifySchema): FastifySchema {
  const body = schema.body as TSchema | undefined;
  const responses = schema.response as Record<string, TSchema>;
  const answers = Object.entries(responses).map(([status, answer]) => [
    status,
    'content' in answer ? answer : withExample(isoTimesSchema(answer), 'Done.'),
  ]);
  return {
    ...schema,
    ...(body ? { body: withExample(body), querystring: Type.Object(scalarsOf(body)) } : {}),
    response: {
      ...Object.fromEntries(answers),
      default: { description: WHY_NOT, content: { 'application/problem+json': { schema: PROBLEM } } },
    },
  };
}

/** Returns a copy without the schema kinds that Fastify's document builder does not need, and with one whole example. */
function withExample(schema: TSchema, description?: string): object {
  const example = withTrueCursors(exampleOf(schema));
  return { ...schema, examples: [example], ...(description === undefined ? {} : { description }) };
}

/** Sets the cursors of a list's example to those of its record. */
function withTrueCursors(example: unknown): unknown {
  if (!isRecord(example) || !isRecord(example.page_info) || !Array.isArray(example.data)) return example;
  const { id, run_id: runId, key } = example.data[0] as { id?: string; run_id?: string; key?: string };
  const cursor = id ?? runId ?? key;
  return { ...example, page_info: { ...example.page_info, start_cursor: cursor, end_cursor: cursor } };
}

/** Returns the members of a body that a query string can hold; all optional there, since the body may have them. */
function scalarsOf(body: TSchema): TProperties {
  const scalars = Object.entries(propertiesOf(body)).filter(([, member]) => isScalar(member));
  return Object.fromEntries(scalars.map(([name, member]) => [name, Type.Optional({ ...member } as TSchema)]));
}

function isScalar(schema: TSchema): boolean {
  const { type, anyOf } = schema as { type?: string; anyOf?: readonly TSchema[] };
  if (anyOf) return anyOf.every(isScalar);
  return type !== undefined && type !== 'object' && type !== 'array';
}
