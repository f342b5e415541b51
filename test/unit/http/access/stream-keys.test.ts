import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamAsked } from '../../../../src/domain/stream.ts';
import { startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { idOf, OWNER_ID, T0_MS, webhook } from '../records.ts';

test('a stream goes on as long as its key is good', async (t) => {
  let asked = Promise.withResolvers<StreamAsked>();
  const openStream = async (stream: StreamAsked) => {
    asked.resolve(stream);
    return { begin() {}, resume() {}, close() {} };
  };
  const { seed, stage, port } = await startServer(t, { streams: { openStream } });
  await seed.webhooks(webhook(1));
  const streamWith = async (key: string): Promise<() => Promise<boolean>> => {
    asked = Promise.withResolvers();
    const raw = connect(t, port);
    raw.send(`GET /v1/emitters/${idOf('wh_', 1)}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
    const { isAllowed } = await asked.promise;
    raw.close();
    return isAllowed;
  };
  const ofRevoked = await streamWith(await seed.key(3));
  assert.equal(await ofRevoked(), true);
  await stage.store.revokeKey(OWNER_ID, idOf('key_', 3), T0_MS);
  assert.equal(await ofRevoked(), false, 'it was revoked');
  const ofExpiring = await streamWith(await seed.key(4, ['read'], { expiresAtMs: T0_MS + 1000 }));
  assert.equal(await ofExpiring(), true);
  stage.clock.advance(1000);
  assert.equal(await ofExpiring(), false, 'it has expired');
});

test('a stream ends with its emitter', async (t) => {
  const asked = Promise.withResolvers<StreamAsked>();
  const openStream = async (stream: StreamAsked) => {
    asked.resolve(stream);
    return { begin() {}, resume() {}, close() {} };
  };
  const { seed, stage, port } = await startServer(t, { streams: { openStream } });
  await seed.webhooks(webhook(1));
  const key = await seed.key(3);
  const raw = connect(t, port);
  raw.send(`GET /v1/emitters/${idOf('wh_', 1)}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  const { isAllowed } = await asked.promise;
  raw.close();
  assert.equal(await isAllowed(), true);
  await stage.store.deleteWebhook(OWNER_ID, idOf('wh_', 1));
  assert.equal(await isAllowed(), false);
});

test('a stream is closed when its reader goes away', { timeout: 60_000 }, async (t) => {
  const [begun, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const openStream = async () => ({ begin: () => begun.resolve(), resume() {}, close: () => closed.resolve() });
  const { seed, port } = await startServer(t, { streams: { openStream } });
  await seed.webhooks(webhook(1));
  const key = await seed.key(3);
  const raw = connect(t, port);
  raw.send(`GET /v1/emitters/${idOf('wh_', 1)}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  await begun.promise;
  raw.close();
  // Nothing is written to it: by a failed write alone, it would be noticed with the next event or sign of life.
  await closed.promise;
});
