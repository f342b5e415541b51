// The ingress in the OpenAPI document: not a Fastify route, so it is described by hand.

import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { LIMITS } from '../../domain/limits.ts';

type Paths = NonNullable<NonNullable<FastifyDynamicSwaggerOptions['openapi']>['paths']>;

export const INGRESS: NonNullable<Paths[string]>['post'] = {
  operationId: 'callEndpoint',
  tags: ['endpoints'],
  summary: 'Send an event',
  description: `The \`endpoint_url\` of an HTTP trigger or a source, with any method, any further path and any query. With \`ERRAND_ENDPOINT_URL\` it is a host without a path, such as \`https://{label}.hooks.example.com\`; this address stays valid. The workflow gets \`{method, path, query, client_ip, url, headers, body}\`: \`body\` is the JSON as it came, byte for byte, when the content type is JSON and it parses; an object for forms, null when empty, else text, or \`{"$base64": "…"}\` for bytes that are no UTF-8, also as the value of a form's field.

The answer means that the event is on disk. With \`custom_response\` it is what the run passes to \`$.respond\`. Bodies may be compressed with gzip, deflate or br. JSON that is nested more than ${LIMITS.nestingDepth} levels deep is refused.`,
  security: [],
  parameters: [
    {
      name: 'key',
      in: 'path',
      required: true,
      description: 'The secret part of the address.',
      schema: { type: 'string' },
      example: 'Xk3vJ8nZ5tX1bL7cR0sW2y',
    },
    {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'The same request with the same key within 24 hours gives the first answer again, and starts no second run; one that comes while the first is still under way waits for that answer. Another method, path, query or body with that key is 422.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
      example: 'order-12345',
    },
    {
      name: 'Authorization',
      in: 'header',
      description: 'With a trigger of `auth: {type: "bearer"}`: its token.',
      schema: { type: 'string' },
    },
  ],
  requestBody: {
    required: false,
    content: { 'application/json': { schema: {}, example: { order: 12345, total: 12.5 } } },
  },
  responses: {
    200: {
      description: 'Accepted.',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['id'],
            properties: { id: { type: 'string', description: 'Emit id of the event.' } },
          },
          example: { id: 'k3x9qg4w9zl7uo0' },
        },
      },
    },
    default: {
      description: 'The refusal (RFC 9457). The codes are at /docs/errors.',
      content: { 'application/problem+json': { schema: { type: 'object' } } },
    },
  },
};

export const RESUMING: NonNullable<Paths[string]>['post'] = {
  operationId: 'endWait',
  tags: ['runs'],
  summary: 'Resume or cancel a waiting run',
  description:
    'The `resume_url` and `cancel_url` that `$.flow.delay`, `$.flow.suspend` and `$.flow.rerun` return, with any method but HEAD and OPTIONS, which change nothing. The request becomes `$.context.run.callback_request` of the step that comes next, its body `$resume_data` of the step that waited. A request that accepts `text/html` gets a page. 404 when there is no such wait; 409 when the wait is over.',
  security: [],
  parameters: [
    {
      name: 'run',
      in: 'path',
      required: true,
      description: 'The run.',
      schema: { type: 'string' },
      example: 'r_g4w9zl7uo0',
    },
    {
      name: 'token',
      in: 'path',
      required: true,
      description: 'The secret part of the address, which also names the wait.',
      schema: { type: 'string' },
      example: '1.Xk3vJ8nZ5tX1bL7cR0sW2y',
    },
    {
      name: 'order',
      in: 'path',
      required: true,
      description: 'What to do: `resume` or `cancel`.',
      schema: { type: 'string', enum: ['resume', 'cancel'] },
      example: 'resume',
    },
  ],
  requestBody: {
    required: false,
    content: { 'application/json': { schema: {}, example: { approved: true } } },
  },
  responses: {
    200: {
      description: 'The run goes on, or is cancelled.',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['data'],
            properties: {
              data: {
                type: 'object',
                required: ['run_id', 'state'],
                properties: {
                  run_id: { type: 'string', description: 'Id of the run.' },
                  state: { type: 'string', description: 'State of the run after the request.' },
                },
              },
            },
          },
          example: { data: { run_id: 'r_g4w9zl7uo0', state: 'queued' } },
        },
      },
    },
    default: {
      description: 'The refusal (RFC 9457). The codes are at /docs/errors.',
      content: { 'application/problem+json': { schema: { type: 'object' } } },
    },
  },
};

const KEY = {
  name: 'key',
  in: 'path',
  required: true,
  description: 'The secret part of the address.',
  schema: { type: 'string' },
  example: 'Xk3vJ8nZ5tX1bL7cR0sW2y',
} as const;

const PONG = {
  200: {
    description: 'The ping is on disk.',
    content: { 'text/plain': { schema: { type: 'string' }, example: 'OK\n' } },
  },
  default: {
    description: 'The refusal (RFC 9457). The codes are at /docs/errors.',
    content: { 'application/problem+json': { schema: { type: 'object' } } },
  },
} as const;

const WRITTEN = {
  required: false,
  content: { 'text/plain': { schema: { type: 'string' }, example: 'rsync: connection refused' } },
} as const;

export const PING: NonNullable<Paths[string]>['post'] = {
  operationId: 'ping',
  tags: ['heartbeats'],
  summary: 'Report that a job ran',
  description: 'The `ping_url` of a heartbeat, with GET, HEAD or POST.',
  security: [],
  parameters: [KEY],
  requestBody: WRITTEN,
  responses: PONG,
};

export const PING_STATUS: NonNullable<Paths[string]>['post'] = {
  operationId: 'pingStatus',
  tags: ['heartbeats'],
  summary: 'Report that a job began or failed',
  description: `The \`ping_url\` of a heartbeat and \`/start\`, \`/fail\`, or the exit code of the job: 0 is a success, any other one a failure. Of the body of a failure the first ${LIMITS.heartbeatLogBytes} bytes are kept in its error.`,
  security: [],
  parameters: [
    KEY,
    {
      name: 'status',
      in: 'path',
      required: true,
      description: '`start`, `fail`, or 0 to 255.',
      schema: { type: 'string' },
      example: 'fail',
    },
  ],
  requestBody: WRITTEN,
  responses: PONG,
};
