// The endpoints for clients of Sentry in the OpenAPI document: not Fastify routes, so they are described by hand.

import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';

type Paths = NonNullable<NonNullable<FastifyDynamicSwaggerOptions['openapi']>['paths']>;
type Operation = NonNullable<Paths[string]>['post'];

/** Their names, in the audit log, too. */
export const SENTRY_OPERATIONS = { envelope: 'sendEnvelope', store: 'storeEvent' } as const;

const PARAMETERS = [
  {
    name: 'project',
    in: 'path',
    required: true,
    description: 'The workflow, by the number in its DSN.',
    schema: { type: 'string' },
    example: '73786976294838206464',
  },
  {
    name: 'sentry_key',
    in: 'query',
    description: 'The key of the DSN, when it comes in no header.',
    schema: { type: 'string' },
  },
  {
    name: 'X-Sentry-Auth',
    in: 'header',
    description: 'The key of the DSN: `Sentry sentry_version=7, sentry_key=…`.',
    schema: { type: 'string' },
  },
] as const;

const ENVELOPE = '{}\n{"type": "event"}\n{"message": "the shop closes"}\n';

const RESPONSES = {
  200: {
    description: 'Every error in it is on disk.',
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: { id: { type: 'string', description: 'Id of the event, as Sentry has it.' } },
        },
        example: { id: '9ec79c33ec9942ab8353589fcb2e04dc' },
      },
    },
  },
  default: {
    description: 'The refusal (RFC 9457), with `X-Sentry-Error`; 429 also with `X-Sentry-Rate-Limits`.',
    content: { 'application/problem+json': { schema: { type: 'object' } } },
  },
} as const;

export const SENTRY_ENVELOPE = {
  operationId: SENTRY_OPERATIONS.envelope,
  tags: ['errors'],
  summary: 'Report errors as clients of Sentry do',
  description:
    'Takes envelopes. Items of the type `event` become errors of the workflow, with the event as it came; all others are ignored. Bodies may be compressed with gzip, deflate or br. An event id that comes twice within 24 hours is one error. Pages of any origin may send here.',
  security: [],
  parameters: [...PARAMETERS],
  requestBody: {
    required: true,
    content: { 'application/x-sentry-envelope': { schema: { type: 'string' }, example: ENVELOPE } },
  },
  responses: RESPONSES,
} as unknown as Operation;

export const SENTRY_STORE = {
  operationId: SENTRY_OPERATIONS.store,
  tags: ['errors'],
  summary: 'Report an error as older clients of Sentry do',
  description: 'Takes one event as JSON, without an envelope.',
  security: [],
  parameters: [...PARAMETERS],
  requestBody: {
    required: true,
    content: { 'application/json': { schema: { type: 'object' }, example: { message: 'the shop closes' } } },
  },
  responses: RESPONSES,
} as unknown as Operation;
