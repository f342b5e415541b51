import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Death } from '../../../../src/runner/process/child-link.ts';
import { outcomeAfterDeath, outcomeAfterSilence } from '../../../../src/runner/process/crash-outcome.ts';
import { RunInFlight } from '../../../../src/runner/process/run-in-flight.ts';
import { requestOf } from '../kit.ts';

const steps = ['one', 'two'].map((namespace) => ({
  id: `c_${namespace}`,
  namespace,
  code: '',
  bundle: '',
  sourceMap: '',
}));
const deployment = { id: 'd_1', ownerId: 'u_1', runnableId: 'p_1', steps, createdAtMs: 0 };
const run = (halted: RunInFlight['halted'] = null): RunInFlight =>
  Object.assign(new RunInFlight(requestOf(deployment), 1000, () => {}), { halted });
const death = (given: Partial<Death>): Death => ({ kind: 'exit', code: null, signal: null, detail: '', ...given });

function code(
  given: Partial<Death>,
  inFlight = 1,
  halted: RunInFlight['halted'] = null,
  sinceOtherMs = Number.POSITIVE_INFINITY,
): string {
  const { end } = outcomeAfterDeath(run(halted), death(given), { nowMs: 1500, inFlight, sinceOtherMs });
  return end.kind === 'failed' ? end.fault.code : end.kind;
}

test('a crash is told as one', () => {
  const msg = (signal: string): string => {
    const { end } = outcomeAfterDeath(run(), death({ signal }), { nowMs: 1500, inFlight: 1, sinceOtherMs: 5000 });
    return end.kind === 'failed' ? end.fault.msg : end.kind;
  };
  assert.equal(msg('SIGSEGV'), 'The process crashed, by SIGSEGV');
  assert.equal(msg('SIGTERM'), 'The process was ended from outside, by SIGTERM');
});

test('a run is not blamed for memory that one before it took', () => {
  const heap = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory';
  assert.equal(code({ kind: 'memory' }, 1, null, 200), 'unattributed');
  assert.equal(code({ signal: 'SIGABRT', detail: heap }, 1, null, 200), 'unattributed');
  assert.equal(code({ kind: 'memory' }, 1, null, 2000), 'OutOfMemory');
  assert.equal(code({ code: 3 }, 1, null, 200), 'WorkerExit');
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
  assert.equal(code({ signal: 'SIGABRT' }, 2), 'unattributed');
  assert.equal(code({ code: 1 }, 2, 'timeout'), 'unattributed');
  assert.equal(code({ code: 1 }, 2, 'cancelled'), 'cancelled');
  assert.equal(code({ kind: 'start' }, 2), 'StartFailed');
});

test('a late run whose process dies has timed out', () => {
  assert.equal(code({ signal: 'SIGKILL' }, 1, 'timeout'), 'Timeout');
});

test('the step that was running is blamed', () => {
  const late = run('timeout');
  late.steps.push({ id: 'c_one', namespace: 'one', state: 'succeeded', startedAtMs: 900, tookMs: 100, exports: {} });
  const { end, steps: told } = outcomeAfterSilence(late, [late], 1500);
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
  const [late, other, cancelled] = [run('timeout'), run(), run('cancelled')];
  const all = [late, other, cancelled];
  assert.deepEqual(
    all.map((one) => outcomeAfterSilence(one, all, 1500).end.kind),
    ['unattributed', 'unattributed', 'cancelled'],
  );
  const both = [run('timeout'), run('timeout')];
  assert.deepEqual(
    both.map((one) => outcomeAfterSilence(one, both, 1500).end.kind),
    ['unattributed', 'unattributed'],
  );
});
