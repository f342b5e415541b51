// How long the server stood still, and that callers do not pay for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pauses } from '../../../../src/http/server/pauses.ts';
import { startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';

function counted(): { pauses: Pauses; pass: (ms: number) => void } {
  let nowMs = 1000;
  const pauses = new Pauses(60_000, () => nowMs);
  return {
    pauses,
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

test('a pause counts until its time is over', () => {
  const { pauses, pass } = counted();
  pass(10_500);
  assert.equal(pauses.lately(20_000), 10_000);
  for (let turn = 0; turn < 40; turn++) {
    pass(500);
    pauses.turn();
  }
  assert.equal(pauses.lately(20_000), 10_000, 'it ended 20 s ago');
  pass(500);
  assert.equal(pauses.lately(20_000), 0);
  assert.equal(pauses.lately(60_000), 10_000);
});

test('several pauses count together', () => {
  const { pauses, pass } = counted();
  for (const ms of [5500, 500, 7500]) {
    pass(ms);
    pauses.turn();
  }
  assert.equal(pauses.lately(20_000), 12_000);
});

test('a late turn of a busy loop is no pause', () => {
  const { pauses, pass } = counted();
  for (let turn = 0; turn < 10; turn++) {
    pass(1400);
    pauses.turn();
  }
  assert.equal(pauses.lately(60_000), 0);
});

test('a request that the server was late to read is answered', async (t) => {
  const bounds = { headersMs: 2000, requestMs: 4000, checkMs: 10 };
  const harness = await startServer(t, { bounds });
  const raw = connect(t, harness.port);
  raw.send('GET /healthz HTTP/1.1\r\n');
  // Another caller's answer: the server has read what came before.
  await harness.call('GET', '/healthz');
  raw.send('host: x\r\n\r\n');
  // As a machine that is paused: nothing of this process goes on.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, bounds.headersMs + 1000);
  assert.equal((await raw.answer()).status, 200);
});
