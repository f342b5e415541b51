// What a process tells of a run, where its own limits would have stopped it before: only forged messages come so far.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { readEnd, readLogMessage, readStepMessage } from '../../../../src/runner/process/inbound.ts';
import { RunInFlight } from '../../../../src/runner/process/run-in-flight.ts';
import type { RunRequest } from '../../../../src/runner/runner.ts';
import { earlier, requestOf } from '../kit.ts';

const steps = ['one', 'two', 'three'].map((namespace) => ({
  id: `c_${namespace}`,
  namespace,
  code: '',
  bundle: '',
  sourceMap: '',
}));
const deployment = { id: 'd_1', ownerId: 'u_1', runnableId: 'p_1', steps, createdAtMs: 0 };
const run = (given: Partial<RunRequest> = {}): RunInFlight =>
  new RunInFlight(requestOf(deployment, given), 1000, () => {});
const end = (of: RunInFlight, message: object) =>
  readEnd({ kind: 'succeeded', ...message }, { run: of, body: null, nowMs: 2000 });
const tuple = (index: number, returned: string | null = null, exports: object | null = null) =>
  [index, 0, 1, 1, returned, exports] as const;
const LONG = JSON.stringify('x'.repeat(LIMITS.resultBytes - 100));

test('steps are told of in their order', () => {
  const one = run();
  readStepMessage({ step: tuple(0) }, one);
  assert.throws(() => readStepMessage({ step: tuple(0) }, one), RangeError);
  assert.throws(() => readStepMessage({ step: tuple(2) }, one), RangeError);
  readStepMessage({ step: tuple(1) }, one);
  assert.throws(() => end(run({ earlier: earlier({ one: {} }) }), { step: tuple(0) }), RangeError);
  const outcome = end(run({ earlier: earlier({ one: {} }) }), { step: tuple(1) });
  assert.deepEqual(
    outcome.steps.map(({ namespace }) => namespace),
    ['two'],
  );
});

test('results of all segments are bounded together', () => {
  const wait = { kind: 'waiting', wait: ['rerun', 1, JSON.stringify('x'.repeat(200))] };
  assert.throws(() => end(run(), { step: tuple(0, LONG), ...wait }), TypeError);
  const before = () => run({ earlier: earlier({ one: { returnValue: LONG } }) });
  assert.throws(() => end(before(), { step: tuple(1), ...wait }), TypeError);
  assert.throws(() => end(before(), { step: tuple(1, null, { ['n'.repeat(200)]: '1' }) }), RangeError);
  assert.equal(end(run(), { step: tuple(0), ...wait }).end.kind, 'waiting');
});

test('log lines of all messages are bounded together', () => {
  const line = [1, 'info', 'one', 'x'.repeat(LIMITS.logBytes / 2)];
  const told = run();
  readStepMessage({ step: tuple(0), logs: [line] }, told);
  assert.throws(() => end(told, { logs: [line] }), TypeError);
  const carried = { ...earlier({ one: {} }), logBytes: LIMITS.logBytes - 100 };
  assert.throws(() => end(run({ earlier: carried }), { logs: [[1, 'info', 'two', 'x'.repeat(50)]] }), TypeError);
  assert.throws(() => end(run({ earlier: carried }), { logs: [1, 2].map(() => [1, 'info', 'two', '']) }), TypeError);
  assert.equal(end(run({ earlier: carried }), { logs: [[1, 'info', 'two', 'x']] }).logs.length, 1);
});

test('printed lines count before their step ends', () => {
  const line = [1, 'info', 'one', 'x'.repeat(LIMITS.logBytes / 2)];
  const told = run();
  readLogMessage({ logs: [line], dropped: 3 }, told);
  assert.deepEqual([told.logs.length, told.logBytesDropped], [1, 3]);
  assert.throws(() => readLogMessage({ logs: [line] }, told), TypeError);
  assert.throws(() => end(told, { logs: [line] }), TypeError);
  for (const logs of [[], undefined, null, 'x', { length: 1 }])
    assert.throws(() => readLogMessage({ logs }, run()), TypeError);
  const quiet = run();
  readLogMessage({ logs: [[1, 'info', 'one', 'x']], outgoing: [['emit', '', '1']], summary: 's' }, quiet);
  assert.deepEqual([quiet.outgoing, quiet.summary], [[], null]);
});

test('sends of all messages are bounded together', () => {
  const half = Array.from({ length: LIMITS.emissionsPerRun / 2 + 1 }, () => ['emit', '', '1']);
  const told = run();
  readStepMessage({ step: tuple(0), outgoing: half }, told);
  assert.throws(() => end(told, { outgoing: half }), TypeError);
  const large = run();
  readStepMessage({ step: tuple(0), outgoing: [['emit', '', LONG]] }, large);
  assert.throws(() => end(large, { outgoing: [['emit', '', JSON.stringify('x'.repeat(200))]] }), TypeError);
});

test('a source emits, and neither waits nor sends', () => {
  const source = { sourceId: 'dc_1', call: 'run', configuredProps: {}, endpoints: {}, db: {} } as const;
  const ofSource = () => run({ source });
  assert.throws(() => end(ofSource(), { kind: 'waiting', step: tuple(0), wait: ['delay', 1, null] }), TypeError);
  const mail = ['email', '', '{"subject":"s","text":""}'];
  assert.throws(() => end(ofSource(), { step: tuple(0), outgoing: [mail] }), TypeError);
  assert.equal(end(run(), { step: tuple(0), outgoing: [mail] }).outgoing.length, 1);
  assert.equal(end(ofSource(), { step: tuple(0), outgoing: [['emit', 'c', '1']] }).outgoing.length, 1);
});

test('what ended steps sent is told apart', () => {
  const told = run();
  readStepMessage({ step: tuple(0), outgoing: [['emit', '', '1']], summary: 's', dropped: 3 }, told);
  const failed = [1, 1, 1, 1, null, null];
  const fault = { step: 1, code: 'Error', msg: '', tsMs: 1, stack: '' };
  const outcome = end(told, { kind: 'failed', step: failed, fault, outgoing: [['emit', '', '2']] });
  assert.deepEqual([outcome.outgoing.length, outcome.outgoingOfDone], [2, 1]);
  assert.deepEqual([outcome.summary, outcome.logBytesDropped], ['s', 3]);
});

test('times that no date can be are refused', () => {
  const fault = { step: 0, code: 'Error', msg: '', tsMs: 1, stack: '' };
  const failed = [0, 1, 1, 1, null, null];
  for (const ms of [8_000_000_000_000_001, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER]) {
    assert.throws(() => end(run(), { kind: 'failed', step: failed, fault: { ...fault, tsMs: ms } }), RangeError);
    assert.throws(() => end(run(), { step: [0, 0, ms, 1, null, null] }), RangeError);
    assert.throws(() => readLogMessage({ logs: [[ms, 'info', 'one', 'x']] }, run()), RangeError);
  }
  const later = (ms: number) => end(run(), { step: tuple(0), outgoing: [['emit', '', '1', null, null, null, ms]] });
  assert.throws(() => later(Number.MAX_SAFE_INTEGER), RangeError);
  assert.equal(later(-Number.MAX_SAFE_INTEGER).outgoing[0]?.deliverAtMs, 0, 'a time that has passed is at once');
  const latest = end(run(), { kind: 'failed', step: failed, fault: { ...fault, tsMs: 8e15 } });
  assert.ok(latest.end.kind === 'failed' && new Date(latest.end.fault.tsMs).toISOString().startsWith('+25'));
});
