import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Death } from '../../../../src/runner/process/child-link.ts';
import { afterDeath, afterSilence } from '../../../../src/runner/process/crash-blame.ts';
import { Flight } from '../../../../src/runner/process/flight.ts';
import { requestOf } from '../kit.ts';

const steps = ['one', 'two'].map((namespace) => ({
  id: `c_${namespace}`,
  namespace,
  code: '',
  bundle: '',
  sourceMap: '',
}));
const deployment = { id: 'd_1', ownerId: 'u_1', runnableId: 'p_1', steps, createdAtMs: 0 };
const flight = (halted: Flight['halted'] = null): Flight =>
  Object.assign(new Flight(requestOf(deployment), 1000, () => {}), { halted });
const death = (given: Partial<Death>): Death => ({ kind: 'exit', code: null, signal: null, detail: '', ...given });

function code(given: Partial<Death>, inFlight = 1, halted: Flight['halted'] = null): string {
  const { end } = afterDeath(flight(halted), death(given), { nowMs: 1500, inFlight });
  return end.kind === 'failed' ? end.fault.code : end.kind;
}

test('a crash is told as one', () => {
  const msg = (signal: string): string => {
    const { end } = afterDeath(flight(), death({ signal }), { nowMs: 1500, inFlight: 1 });
    return end.kind === 'failed' ? end.fault.msg : end.kind;
  };
  assert.equal(msg('SIGSEGV'), 'The process crashed, by SIGSEGV');
  assert.equal(msg('SIGTERM'), 'The process was ended from outside, by SIGTERM');
});

test('a death is told by how it came', () => {
  const heap = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory';
  assert.equal(code({ signal: 'SIGABRT', detail: heap }), 'OutOfMemory');
  assert.equal(code({ signal: 'SIGABRT' }), 'WorkerLost');
  assert.equal(code({ signal: 'SIGKILL', detail: heap }), 'WorkerLost');
  assert.equal(code({ code: 134, detail: heap }), 'OutOfMemory');
  assert.equal(code({ code: 0 }), 'WorkerExit');
  assert.equal(code({ kind: 'garbage', signal: 'SIGKILL' }), 'WorkerLost');
  assert.equal(code({ kind: 'start', detail: 'EAGAIN' }), 'StartFailed');
});

test('a death among several blames none of them', () => {
  assert.equal(code({ signal: 'SIGABRT' }, 2), 'bystander');
  assert.equal(code({ code: 1 }, 2, 'timeout'), 'bystander');
  assert.equal(code({ code: 1 }, 2, 'cancelled'), 'cancelled');
  assert.equal(code({ kind: 'start' }, 2), 'StartFailed');
});

test('a late run whose process dies has timed out', () => {
  assert.equal(code({ signal: 'SIGKILL' }, 1, 'timeout'), 'Timeout');
});

test('the step that was running is blamed', () => {
  const late = flight('timeout');
  late.steps.push({ id: 'c_one', namespace: 'one', state: 'succeeded', startedAtMs: 900, tookMs: 100, exports: {} });
  const { end, steps: told } = afterSilence(late, [late], 1500);
  assert.equal(end.kind === 'failed' && end.fault.cellId, 'c_two');
  assert.deepEqual(told[1], {
    id: 'c_two',
    namespace: 'two',
    state: 'failed',
    startedAtMs: 1000,
    tookMs: 500,
    exports: {},
  });
});

test('silence is put down to a run alone', () => {
  const [late, other, cancelled] = [flight('timeout'), flight(), flight('cancelled')];
  const all = [late, other, cancelled];
  assert.deepEqual(
    all.map((one) => afterSilence(one, all, 1500).end.kind),
    ['bystander', 'bystander', 'cancelled'],
  );
  const both = [flight('timeout'), flight('timeout')];
  assert.deepEqual(
    both.map((one) => afterSilence(one, both, 1500).end.kind),
    ['bystander', 'bystander'],
  );
});
