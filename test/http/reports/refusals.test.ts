// Reports that are refused: clients of Sentry drop them without a word, so the audit log must have them.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Json } from '../../support/client.ts';
import { type OwnerOn, sharedErrand } from '../../support/owners.ts';
import { type Dsn, dsnFor, envelope, eventOf, type Sent, send } from './envelope.ts';

const newOwner = sharedErrand();

const EVENT = eventOf({ event_id: undefined });

/** Of the requests with the DSN's key, oldest first. */
async function recordsOf({ client }: OwnerOn, { workflowId }: Dsn): Promise<Json[]> {
  const keys = (await client.get('/v1/keys')).data;
  const { id } = keys.find((key: Json) => key.workflow_id === workflowId);
  return (await client.get(`/v1/audit?limit=100&key=${id}`)).data.reverse();
}

test('refused reports of clients of Sentry are in the audit log', async () => {
  const errand = await newOwner();
  const [dsn, other] = [await dsnFor(errand), await dsnFor(errand, 'other')];
  const auth = { 'x-sentry-auth': `Sentry sentry_key=${dsn.key}` };
  const store = { path: `/api/${dsn.project}/store/` };
  const query = { headers: {}, query: `?sentry_key=${dsn.key}` };
  const cases: [string, string | Uint8Array, Sent, number][] = [
    ['sendEnvelope', 'no', {}, 400],
    ['sendEnvelope', envelope([{ type: 'event' }, eventOf({ extra: 'x'.repeat(600_000) })]), query, 413],
    ['sendEnvelope', Buffer.alloc(9_000_000, 'x'), {}, 413],
    ['sendEnvelope', '{}', { headers: { ...auth, 'content-encoding': 'zstd' } }, 415],
    ['storeEvent', '[]', store, 400],
  ];
  for (const [, body, more, status] of cases) equal((await send(dsn, body, more)).status, status);
  equal((await send({ ...dsn, project: other.project }, '{}')).status, 403);
  await errand.client.put(`/v1/workflows/${dsn.workflowId}`, { active: false });
  const { status, headers } = await send(dsn, envelope([{ type: 'event' }, EVENT]));
  equal(status, 409);
  const records = await recordsOf(errand, dsn);
  const seen = (record: Json) => [record.operation, record.target_id, record.path, record.status, record.count];
  const path = (of: Dsn) => `/api/${of.project}/envelope/`;
  deepEqual(records.map(seen), [
    ...cases.map(([operation, , more, is]) => [operation, dsn.workflowId, more.path ?? path(dsn), is, 1]),
    ['sendEnvelope', other.workflowId, path(other), 403, 1],
    ['sendEnvelope', dsn.workflowId, path(dsn), 409, 1],
  ]);
  const last = records.at(-1);
  deepEqual(
    [last.method, last.owner_id, last.by_owner_id, last.key_label, last.client_ip, last.request_id],
    ['POST', errand.id, errand.id, 'shop', '127.0.0.1', headers.get('x-request-id')],
  );
  ok(!JSON.stringify(records).includes(dsn.key));
});

test('accepted reports of clients of Sentry leave no record', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  equal((await send(dsn, envelope([{ type: 'event' }, EVENT]))).status, 200);
  equal((await send(dsn, '{}')).status, 200);
  equal((await send(dsn, '', { method: 'OPTIONS' })).status, 204);
  deepEqual(await recordsOf(errand, dsn), []);
});

test('one record counts the reports that are refused beyond a few', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const { auditedRefusals } = LIMITS;
  for (let n = 0; n < auditedRefusals + 7; n++) equal((await send(dsn, 'no')).status, 400);
  deepEqual(
    (await recordsOf(errand, dsn)).map(({ count }) => count),
    [...Array(auditedRefusals).fill(1), 7],
  );
});

test('a key that may do more has its refused reports in the log', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  equal((await send({ ...dsn, key: errand.client.key }, '{}')).status, 403);
  const [record] = (await errand.client.get('/v1/audit?operation=sendEnvelope')).data;
  deepEqual([record.status, record.target_id], [403, dsn.workflowId]);
});
