// What clients of Sentry send, and with which DSN.

import { equal } from 'node:assert/strict';
import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import type { OwnerOn } from '../../support/owners.ts';

export const EVENT_ID = '9ec79c33ec9942ab8353589fcb2e04dc';

export interface Dsn {
  readonly origin: string;
  readonly key: string;
  readonly project: string;
  readonly workflowId: string;
}

export async function dsnFor(errand: Pick<Errand | OwnerOn, 'client'>, service = 'shop'): Promise<Dsn> {
  const made = await errand.client.post('/v1/keys', { label: service, scopes: ['ingest'], service });
  const { origin, username, pathname } = new URL(made.dsn);
  equal(username, made.api_key);
  return { origin, key: username, project: pathname.slice(1), workflowId: made.workflow_id };
}

export interface Sent {
  readonly headers?: Record<string, string>;
  readonly query?: string;
  readonly path?: string;
  readonly method?: string;
}

export async function send({ origin, key, project }: Dsn, body: string | Uint8Array, more: Sent = {}) {
  const { headers = { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${key}, sentry_client=x/1` } } = more;
  const { query = '', path = `/api/${project}/envelope/`, method = 'POST' } = more;
  const response = await fetch(`${origin}${path}${query}`, {
    method,
    headers,
    ...(method === 'GET' ? {} : { body: body as string }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text === '' ? null : (JSON.parse(text) as Json),
  };
}

/** An envelope of these items, each with its length. */
export function envelope(...items: readonly (readonly [header: object, payload: string | Uint8Array])[]): Buffer {
  const parts: (string | Uint8Array)[] = [`${JSON.stringify({ event_id: EVENT_ID })}\n`];
  for (const [header, payload] of items) {
    parts.push(`${JSON.stringify({ length: Buffer.byteLength(payload), ...header })}\n`, payload, '\n');
  }
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

export const eventOf = (more: object = {}): string =>
  JSON.stringify({
    event_id: EVENT_ID,
    timestamp: 1_769_860_800.5,
    platform: 'python',
    level: 'fatal',
    release: 'shop@4.1.0',
    environment: 'production',
    tags: { region: 'eu' },
    user: { id: '7', email: 'ada@example.com' },
    breadcrumbs: { values: [{ category: 'query', message: 'SELECT 1', data: { secret: 'not told twice' } }] },
    exception: {
      values: [
        { type: 'KeyError', value: "'total'" },
        {
          type: 'OrderError',
          value: 'order 7 has no total',
          stacktrace: {
            frames: [
              { function: 'main', filename: 'app/main.py', lineno: 3, in_app: true },
              { function: 'charge', filename: 'app/charge.py', lineno: 41, colno: 5, in_app: true },
              { function: 'get', filename: 'lib/dict.py', lineno: 9, in_app: false },
            ],
          },
        },
      ],
    },
    ...more,
  });

export async function errorsOf(errand: Pick<OwnerOn, 'client'>, { workflowId }: Dsn): Promise<Json[]> {
  return (await errand.client.get(`/v1/workflows/${workflowId}/$errors/event_summaries?expand=event`)).data;
}
