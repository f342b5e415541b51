import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyRequest } from '../../../src/verifier/fetch.ts';
import { createReplayGuard } from '../../../src/verifier/replay.ts';
import { verifyWebhook } from '../../../src/verifier/verify.ts';
import { OPTIONS, requestsOf } from './kit.ts';

const seen = (id: string, timestampS: number) => ({ ok: true, id, timestampS }) as const;

test('The same request twice is a replay', () => {
  const isReplay = createReplayGuard({ nowMs: () => 0 });
  assert.deepEqual([isReplay(seen('a', 1)), isReplay(seen('a', 1)), isReplay(seen('b', 1))], [false, true, false]);
});

test('A retry of the same event is none', () => {
  const isReplay = createReplayGuard({ nowMs: () => 0 });
  assert.deepEqual([isReplay(seen('a', 1)), isReplay(seen('a', 6))], [false, false]);
});

test('Requests are remembered while they would pass', () => {
  let nowMs = 1_000_000;
  const isReplay = createReplayGuard({ toleranceS: 10, nowMs: () => nowMs });
  // Accepted first when its timestamp is just near enough, and last when it is just near enough behind.
  for (const startMs of [1_000_000, 1_007_000, 1_015_999]) {
    nowMs = startMs;
    const request = seen(`at ${startMs}`, Math.floor(nowMs / 1000) + 10);
    assert.equal(isReplay(request), false);
    nowMs = (request.timestampS + 10) * 1000 + 999;
    assert.equal(isReplay(request), true);
  }
});

test('What would not pass is forgotten', () => {
  let nowMs = 0;
  const isReplay = createReplayGuard({ toleranceS: 10, nowMs: () => nowMs });
  isReplay(seen('a', 1));
  nowMs = 100_000;
  assert.equal(isReplay(seen('a', 1)), false);
});

test('Receivers refuse a replayed delivery', async () => {
  const request = await requestsOf();
  const options = { ...OPTIONS, isReplay: createReplayGuard(OPTIONS) };
  assert.ok((await verifyRequest(request(), options)).ok);
  assert.deepEqual(await verifyRequest(request(), options), {
    ok: false,
    status: 401,
    reason: 'the request came before',
  });
});

test('A check without a helper refuses a replay, too', async () => {
  const request = (await requestsOf())();
  const body = new Uint8Array(await request.arrayBuffer());
  const check = (isReplay?: ReturnType<typeof createReplayGuard>) =>
    verifyWebhook({ secrets: OPTIONS.secrets, headers: request.headers, body, nowMs: OPTIONS.nowMs(), isReplay });
  const isReplay = createReplayGuard(OPTIONS);
  assert.ok(check(isReplay).ok);
  assert.deepEqual(check(isReplay), { ok: false, status: 401, reason: 'the request came before' });
  assert.ok(check().ok, 'the timestamp alone limits replays');
});
