import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiKey } from '../../../../src/domain/keys.ts';
import type { StreamAsked } from '../../../../src/domain/stream.ts';
import { sha256, T0_MS, webhook } from '../fake-store.ts';
import { connect, KEY, startServer } from '../harness.ts';

test('a stream goes on as long as its key is good', async (t) => {
  let nowMs = T0_MS;
  const asked = Promise.withResolvers<StreamAsked>();
  const openStream = async (stream: StreamAsked) => {
    asked.resolve(stream);
    return { begin() {}, resume() {}, close() {} };
  };
  const { data, port } = await startServer(t, {
    streams: { openStream },
    store: { clock: { nowMs: () => nowMs, latestMs: () => nowMs } },
  });
  data.webhooks.push(webhook(1));
  const hash = sha256(KEY);
  const key = data.keys.get(hash) as ApiKey;
  data.keys.set(hash, { ...key, expiresAtMs: T0_MS + 1000 });
  const raw = connect(t, port);
  raw.send(`GET /v1/emitters/${webhook(1).id}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n\r\n`);
  const { isAllowed } = await asked.promise;
  assert.equal(await isAllowed(), true);
  nowMs += 1000;
  assert.equal(await isAllowed(), false, 'it has expired');
  data.keys.set(hash, { ...key, expiresAtMs: T0_MS + 2000 });
  assert.equal(await isAllowed(), true);
  data.keys.set(hash, { ...key, revokedAtMs: nowMs });
  assert.equal(await isAllowed(), false, 'it was revoked');
  data.keys.delete(hash);
  assert.equal(await isAllowed(), false, 'it is gone');
});
