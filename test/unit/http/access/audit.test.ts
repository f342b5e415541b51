// A record comes before its change, whatever becomes of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditRecord } from '../../../../src/domain/audit.ts';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import { addReadKey, KEY, startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { apiKey, idOf, OTHER_ID, OWNER_ID, webhook } from '../records.ts';

interface Journal {
  /** What happened, in order: `begun` with its operation, the calls of actions, `ended` with its status. */
  readonly events: string[];
  readonly rows: Map<string, AuditRecord>;
  readonly store: { writeAudit(records: readonly AuditRecord[], dropped?: readonly string[]): Promise<void> };
}

function createJournal(): Journal {
  const events: string[] = [];
  const rows = new Map<string, AuditRecord>();
  const store = {
    writeAudit: async (records: readonly AuditRecord[], dropped: readonly string[] = []) => {
      for (const id of dropped) rows.delete(id);
      for (const record of records) {
        rows.set(record.id, record);
        events.push(record.status === null ? `begun ${record.operation}` : `ended ${record.status}`);
      }
    },
  };
  return { events, rows, store };
}

let made = 0;
const ids = { next: (prefix: string) => `${prefix}${String(made++).padStart(16, '0')}`, secret: () => 'S' };

test('a record is written before anything is done', async (t) => {
  const { events, rows, store } = createJournal();
  const actions = {
    createWebhook: () => {
      events.push('done');
      return webhook(1);
    },
  };
  const { call, stop } = await startServer(t, { store, ids, actions });
  const answer = await call('POST', '/v1/webhooks?url=https://example.com/hidden&name=hidden');
  assert.equal(answer.status, 200);
  await stop();
  assert.deepEqual(events, ['begun createWebhook', 'done', 'ended 200']);
  const [record] = rows.values();
  const { id, keyId, atMs, ...rest } = record as AuditRecord;
  assert.match(`${id} ${keyId}`, /^au_\d+ key_/);
  assert.ok(atMs > 0);
  assert.deepEqual(rest, {
    ownerId: OWNER_ID,
    keyLabel: 'key 1',
    byOwnerId: OWNER_ID,
    operation: 'createWebhook',
    targetId: webhook(1).id,
    method: 'POST',
    path: '/v1/webhooks',
    clientIp: '127.0.0.1',
    requestId: answer.headers.get('x-request-id'),
    status: 200,
    count: 1,
  });
});

test('nothing is done that cannot be written down', async (t) => {
  const writeAudit = () => Promise.reject(new StoreUnavailable('disk full'));
  const { call, calls } = await startServer(t, { store: { writeAudit }, actions: { createWebhook: () => webhook(1) } });
  const { status, headers } = await call('POST', '/v1/webhooks?url=https://example.com/');
  assert.deepEqual([status, headers.get('retry-after')], [503, '1']);
  assert.deepEqual(calls, []);
  assert.equal((await call('GET', '/v1/webhooks')).status, 200);
});

test('what was done is answered though its record stays open', async (t) => {
  let written = 0;
  const writeAudit = async () => {
    if (written++ > 0) throw new StoreUnavailable('disk full');
  };
  const overrides = { store: { writeAudit }, actions: { createWebhook: () => webhook(1) } };
  const { call, logged, stop } = await startServer(t, overrides);
  assert.equal((await call('POST', '/v1/webhooks?url=https://example.com/')).status, 200);
  await stop();
  assert.deepEqual([written, logged.at(-1)?.name], [2, 'audit.not_completed']);
});

test('refused requests are recorded with their status', async (t) => {
  const { rows, store } = createJournal();
  const harness = await startServer(t, { store, ids });
  const reader = await addReadKey(harness);
  const { call, port } = harness;
  await call('POST', '/v1/webhooks?url=https://example.com/', { key: reader });
  await call('POST', '/v1/webhooks?url=nonsense');
  await call('PUT', '/v1/webhooks/wh_none', { body: '{', headers: { 'content-type': 'application/json' } });
  await call('DELETE', '/v1/webhooks/wh_none', { body: 'x', headers: { 'content-encoding': 'gzip' } });
  const raw = connect(t, port);
  raw.send(
    `POST /v1/workflows HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-length: 99999999\r\n\r\n{`,
  );
  assert.equal((await raw.answer()).status, 413);
  for (const one of [undefined, 'Bearer nonsense']) {
    await call('POST', '/v1/webhooks', { key: null, headers: one === undefined ? {} : { authorization: one } });
  }
  await call('POST', '/v1/nothing');
  await call('PATCH', '/v1/webhooks');
  await harness.stop();
  assert.deepEqual(
    [...rows.values()].map(({ operation, status, targetId }) => [operation, status, targetId]),
    [
      ['createWebhook', 403, null],
      ['createWebhook', 400, null],
      ['updateWebhook', 400, 'wh_none'],
      ['deleteWebhook', 415, 'wh_none'],
      ['createWorkflow', 413, null],
    ],
  );
});

test('what an admin does to an owner stands in both logs', async (t) => {
  const { rows, store } = createJournal();
  const { seed, call, stop } = await startServer(t, {
    store,
    ids,
    actions: {
      createKey: (ownerId: string) => ({ key: apiKey(4, { ownerId }), apiKey: 'secret-key-text' }),
    },
  });
  const admin = await seed.key(3, ['read', 'admin']);
  const { text } = await call('POST', `/v1/owners/${OTHER_ID}/keys`, {
    key: admin,
    json: { label: 'x', scopes: ['read'] },
  });
  assert.match(text, /secret-key-text/);
  await call('POST', '/v1/owners/u_none/keys', { key: admin, json: { label: 'x', scopes: ['read'] } });
  await stop();
  const [mine, theirs, ...more] = rows.values();
  assert.deepEqual([mine?.ownerId, theirs?.ownerId, more.length], [OWNER_ID, OTHER_ID, 1]);
  assert.deepEqual({ ...mine, id: '', ownerId: '' }, { ...theirs, id: '', ownerId: '' });
  assert.deepEqual(
    [theirs?.byOwnerId, theirs?.operation, theirs?.targetId],
    [OWNER_ID, 'createOwnerKey', idOf('key_', 4)],
  );
  assert.doesNotMatch(JSON.stringify([...rows.values()]), /secret-key-text/);
});
