// What a run keeps over its waits, and how it ends after them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text, utf8 } from '../../../src/domain/bytes.ts';
import { ERRORS } from '../../../src/domain/emission.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { DEFAULT_SETTINGS, type RetrySettings } from '../../../src/domain/resource.ts';
import { checkpointFrom, earlierSegmentsOf } from '../../../src/domain/run/checkpoint.ts';
import {
  type ClaimedRun,
  type Fault,
  NO_OUTCOME,
  type Outgoing,
  type RunOutcome,
} from '../../../src/domain/run/run.ts';
import { endOf, endOfAttempt, type RunEnd } from '../../../src/domain/run/run-end.ts';
import { detailOf, stepsIn } from '../../../src/domain/run/run-trace.ts';
import type { StepResult } from '../../../src/domain/run/step-result.ts';
import type { Checkpoint, WaitAsked } from '../../../src/domain/run/wait.ts';
import { claimedRun, runnable } from '../engine/parts.ts';

const NOW_MS = 5000;
const FAULT: Fault = { code: 'Error', msg: 'no', cellId: 'c_2', namespace: 'two', tsMs: 1, stack: '' };

function step(namespace: string, more: Partial<StepResult> = {}): StepResult {
  const plain = {
    id: `c_${namespace}`,
    namespace,
    state: 'succeeded',
    startedAtMs: 1,
    tookMs: 2,
    exports: {},
  } as const;
  return { ...plain, ...more };
}

const mail = (subject: string): Outgoing => ({
  kind: 'email',
  name: '',
  body: utf8(JSON.stringify({ subject })),
  summary: null,
  itemId: null,
  itemTs: null,
});
const line = (said: string) => ({ tsMs: 1, level: 'info' as const, namespace: 'one', text: said });

function waiting(kind: WaitAsked['kind'], more: Partial<RunOutcome> = {}, context: string | null = null): RunOutcome {
  return { ...NO_OUTCOME, end: { kind: 'waiting', wait: { kind, ms: 1000, context } }, ...more };
}

const succeeded = (more: Partial<RunOutcome>): RunOutcome => ({ ...NO_OUTCOME, end: { kind: 'succeeded' }, ...more });
const failed = (more: Partial<RunOutcome>) =>
  ({ ...NO_OUTCOME, ...more, end: { kind: 'failed', fault: FAULT } }) as const;
const checkpointBy = (end: RunEnd): Checkpoint => JSON.parse(end.wait?.checkpoint as string) as Checkpoint;
/** The run as it is claimed after that wait. */
const after = (end: RunEnd, more: Partial<ClaimedRun> = {}): ClaimedRun =>
  claimedRun(7, { checkpoint: end.wait?.checkpoint as string, ...more });
const request = (body: string): string => `{"method":"POST","path":"/","body":${body}}`;
const namesOf = (steps: readonly StepResult[]): string[] => steps.map(({ namespace }) => namespace);

test('what steps wrote to their db is kept with every end but a cancelled one', () => {
  const run = claimedRun(7);
  const dbWrites = { 'one.n': '1', 'one.gone': null };
  const memory = { id: run.runnable.id, dbWrites };
  const cancelled = { ...NO_OUTCOME, dbWrites, end: { kind: 'cancelled' } } as const;
  const ends = [
    endOf(run, succeeded({ dbWrites }), NOW_MS),
    endOf(run, waiting('delay', { steps: [step('one')], dbWrites }), NOW_MS),
    endOf(run, failed({ dbWrites }), NOW_MS),
    endOfAttempt(run, failed({ dbWrites }), { nowMs: NOW_MS, inMs: 30 }),
    endOf(run, cancelled, NOW_MS),
    endOf(run, succeeded({}), NOW_MS),
  ];
  assert.deepEqual(
    ends.map((end) => end.memory),
    [memory, memory, memory, memory, null, null],
  );
  const source = claimedRun(8, { runnable: { ...runnable, id: 'dc_1' } });
  const ofSource = [succeeded({ dbWrites }), failed({ dbWrites })].map((outcome) => endOf(source, outcome, NOW_MS));
  assert.deepEqual(
    ofSource.map((end) => end.memory),
    [{ id: 'dc_1', dbWrites }, null],
  );
});

test('what was sent takes effect when the wait begins', () => {
  const outcome = waiting('suspend', {
    steps: [step('one')],
    outgoing: [mail('please')],
    summary: 's',
    logs: [line('x')],
  });
  const end = endOf(claimedRun(7), outcome, NOW_MS);
  assert.deepEqual([end.state, end.fault, end.memory, end.summary], ['waiting', null, null, 's']);
  assert.deepEqual([end.wait?.kind, end.wait?.dueAtMs, end.wait?.waits], ['suspend', NOW_MS + 1000, 1]);
  assert.deepEqual(
    end.emissions.map(({ name }) => name),
    ['$email'],
  );
  assert.equal(stepsIn(end.detail as string).length, 1);
  const { steps, logs, reruns, retries } = checkpointBy(end);
  assert.deepEqual([namesOf(steps), logs.length, reruns, retries], [['one'], 1, null, 0]);
});

test('the end tells of all segments', () => {
  const first = endOf(
    claimedRun(7),
    waiting('delay', { steps: [step('one')], logs: [line('a')], summary: 's' }),
    NOW_MS,
  );
  const end = endOf(after(first), succeeded({ steps: [step('two')], logs: [line('b')] }), NOW_MS);
  assert.deepEqual(namesOf(stepsIn(end.detail as string)), ['one', 'two']);
  const { logs } = JSON.parse(end.detail as string);
  assert.deepEqual(
    logs.map((l: { text: string }) => l.text),
    ['a', 'b'],
  );
  assert.deepEqual([end.state, end.summary, end.wait], ['succeeded', 's', null]);
});

test('each wait has the next number', () => {
  const first = endOf(claimedRun(7), waiting('delay', { steps: [step('one')] }), NOW_MS);
  const second = endOf(after(first), waiting('suspend', { steps: [step('two')] }), NOW_MS);
  assert.deepEqual(
    [second.wait?.waits, checkpointBy(second).waits, namesOf(checkpointBy(second).steps)],
    [2, 2, ['one', 'two']],
  );
});

test('the request is data of the step that waited', () => {
  const first = endOf(claimedRun(7), waiting('suspend', { steps: [step('one'), step('two')] }), NOW_MS);
  const resumed = request('{"n":1.0,"n":2}');
  const earlier = earlierSegmentsOf(after(first, { resumed }));
  assert.deepEqual(
    earlier?.steps.map(({ resumeData }) => resumeData),
    [undefined, '{"n":1.0,"n":2}'],
  );
  assert.equal(earlier?.callback, resumed);
  const second = endOf(after(first, { resumed }), waiting('delay', { steps: [step('three')] }), NOW_MS);
  const last = endOf(after(second), succeeded({ steps: [step('four')] }), NOW_MS);
  assert.ok(last.detail?.includes('"resume_data":{"n":1.0,"n":2}}'), 'kept byte for byte over another wait');
  assert.equal(earlierSegmentsOf(after(second))?.callback, null);
  assert.deepEqual(
    stepsIn(last.detail as string).map(({ resumeData }) => resumeData === undefined),
    [true, false, true, true],
  );
});

test('a step that is executed again is not done', () => {
  const steps = [step('one'), step('poll')];
  const first = endOf(claimedRun(7), waiting('rerun', { steps }, '{"n":1}'), NOW_MS);
  assert.deepEqual(
    [namesOf(checkpointBy(first).steps), checkpointBy(first).reruns],
    [['one'], { runs: 1, context: '{"n":1}' }],
  );
  const shown = stepsIn(first.detail as string).map(({ namespace, isAgain }) => [namespace, isAgain]);
  assert.deepEqual(shown, [
    ['one', undefined],
    ['poll', true],
  ]);
  const second = endOf(after(first), waiting('rerun', { steps: [step('poll')] }), NOW_MS);
  assert.deepEqual(checkpointBy(second).reruns, { runs: 2, context: null });
  const resumed = request('"done"');
  const last = endOf(after(second, { resumed }), succeeded({ steps: [step('poll'), step('end')] }), NOW_MS);
  const told = stepsIn(last.detail as string);
  assert.deepEqual(namesOf(told), ['one', 'poll', 'end']);
  assert.deepEqual(
    told.map(({ resumeData }) => resumeData),
    [undefined, '"done"', undefined],
  );
});

test('a step asked for again keeps its request when it fails', () => {
  const first = endOf(claimedRun(7), waiting('rerun', { steps: [step('poll')] }), NOW_MS);
  const again = after(first, { resumed: request('"done"') });
  const outcome = failed({ steps: [step('poll', { state: 'failed' })] });
  const retry = endOfAttempt(again, outcome, { nowMs: NOW_MS, inMs: 1 });
  const third = endOf(after(retry), waiting('delay', { steps: [step('poll'), step('rest')] }), NOW_MS);
  assert.deepEqual(
    earlierSegmentsOf(after(third))?.steps.map(({ resumeData }) => resumeData),
    ['"done"', undefined],
  );
});

test('another step that is executed again counts anew', () => {
  const first = endOf(claimedRun(7), waiting('rerun', { steps: [step('one')] }), NOW_MS);
  const second = endOf(after(first), waiting('rerun', { steps: [step('one'), step('two')] }), NOW_MS);
  assert.deepEqual([checkpointBy(second).reruns?.runs, namesOf(checkpointBy(second).steps)], [1, ['one']]);
});

function retried(retry: Partial<RetrySettings> = {}): ClaimedRun['runnable'] {
  const all = { attempts: 3, baseMs: 10, maxMs: 100, also: [], reportFirst: false, ...retry };
  return { ...runnable, settings: { ...DEFAULT_SETTINGS, retry: all } };
}

test('what succeeded is kept and sent, what failed is not', () => {
  const run = claimedRun(7, { runnable: retried() });
  const steps = [step('one'), step('two', { state: 'failed' })];
  const outgoing = [mail('of one'), mail('of two')];
  const end = endOfAttempt(run, failed({ steps, outgoing, outgoingOfDone: 1 }), { nowMs: NOW_MS, inMs: 30 });
  assert.deepEqual([end.state, end.fault, end.wait?.kind, end.wait?.dueAtMs], ['waiting', null, 'retry', NOW_MS + 30]);
  assert.deepEqual(
    end.emissions.map(({ body }) => text(body)),
    ['{"subject":"of one"}'],
  );
  assert.deepEqual([namesOf(checkpointBy(end).steps), checkpointBy(end).retries], [['one'], 1]);
  assert.deepEqual(namesOf(stepsIn(end.detail as string)), ['one', 'two']);
  const last = endOf(after(end, { runnable: retried() }), succeeded({ steps: [step('two')] }), NOW_MS);
  assert.deepEqual(
    stepsIn(last.detail as string).map(({ state }) => state),
    ['succeeded', 'succeeded'],
  );
});

test('the first failure is told when asked for', () => {
  const runnable = retried({ reportFirst: true });
  const run = claimedRun(7, { runnable });
  const first = endOfAttempt(run, failed({}), { nowMs: NOW_MS, inMs: 30 });
  assert.deepEqual(
    first.emissions.map(({ name, causeRun }) => [name, causeRun]),
    [[ERRORS, 7]],
  );
  const second = endOfAttempt(after(first, { runnable }), failed({}), { nowMs: NOW_MS, inMs: 60 });
  assert.deepEqual([second.emissions, checkpointBy(second).retries], [[], 2]);
  const third = endOf(after(second, { runnable }), failed({}), NOW_MS);
  assert.deepEqual([third.state, third.fault, third.emissions.length], ['failed', FAULT, 1]);
});

test('a step tried again is given the same', () => {
  const runnable = retried();
  const first = endOf(claimedRun(7, { runnable }), waiting('rerun', { steps: [step('one')] }, '1'), NOW_MS);
  const resumed = request('2');
  const step2 = [step('one', { state: 'failed' })];
  const second = endOfAttempt(after(first, { runnable, resumed }), failed({ steps: step2 }), {
    nowMs: NOW_MS,
    inMs: 1,
  });
  const again = earlierSegmentsOf(after(second));
  assert.deepEqual([again?.reruns, again?.callback], [{ runs: 1, context: '1' }, resumed]);
  const third = endOfAttempt(after(second, { runnable }), failed({ steps: step2 }), { nowMs: NOW_MS, inMs: 1 });
  assert.deepEqual(
    [earlierSegmentsOf(after(third))?.reruns, earlierSegmentsOf(after(third))?.callback],
    [again?.reruns, resumed],
  );
  const behind = [step('one'), step('two', { state: 'failed' })];
  const other = endOfAttempt(after(second, { runnable }), failed({ steps: behind }), { nowMs: NOW_MS, inMs: 1 });
  assert.deepEqual([earlierSegmentsOf(after(other))?.reruns, earlierSegmentsOf(after(other))?.callback], [null, null]);
});

test('the log of a run that goes on counts from its beginning', () => {
  const half = 'x'.repeat(LIMITS.logBytes / 2 - 200);
  const first = endOf(
    claimedRun(7),
    waiting('delay', { steps: [step('one')], logs: [line(half)], logBytesDropped: 3 }),
    NOW_MS,
  );
  const logBytes = earlierSegmentsOf(after(first))?.logBytes as number;
  assert.ok(logBytes > half.length && logBytes < LIMITS.logBytes);
  const end = endOf(
    after(first),
    succeeded({ steps: [step('two')], logs: [line('last')], logBytesDropped: 4 }),
    NOW_MS,
  );
  const told = JSON.parse(end.detail as string);
  assert.deepEqual([told.logs.length, told.log_bytes_dropped], [2, 3 + 4]);
});

test('a lost segment begins again from what is kept', () => {
  const first = endOf(claimedRun(7), waiting('delay', { steps: [step('one')] }), NOW_MS);
  for (const kind of ['unattributed', 'returned'] as const) {
    const end = endOf(after(first), { ...NO_OUTCOME, end: { kind } }, NOW_MS);
    assert.deepEqual([end.state, end.wait, end.detail, end.emissions], ['queued', null, null, []]);
  }
});

test('a trigger is heard by one workflow alone', () => {
  const out: Outgoing = { ...mail('x'), kind: 'trigger', name: 'p_2', body: utf8('{"n":1.0}') };
  const [emission] = endOf(claimedRun(7), succeeded({ outgoing: [out] }), NOW_MS).emissions;
  const { name, onlyListenerId, emitterId, traceId, lineage, hops, causeRun } = emission as NonNullable<
    typeof emission
  >;
  assert.deepEqual([name, onlyListenerId, emitterId, traceId], ['$run', 'p_2', 'p_1', 'e7']);
  assert.deepEqual([lineage, hops, causeRun], [['p_1'], 1, 7]);
});

test('mails of later segments are no repeats', () => {
  const emission = { ...claimedRun(7).emission, name: ERRORS, code: 'Error' };
  const run = claimedRun(7, { via: 'global', emission });
  const first = endOf(run, waiting('delay', { steps: [step('one')], outgoing: [mail('a'), mail('b')] }), NOW_MS);
  const last = endOf(after(first, { via: 'global', emission }), succeeded({ outgoing: [mail('c')] }), NOW_MS);
  const keys = [...first.emissions, ...last.emissions].map(({ digestKey }) => digestKey);
  assert.equal(new Set(keys).size, 3, String(keys));
});

test('steps are read as they were written', () => {
  const steps = [
    step('one', { returnValue: '{"x":1.0,"x":[2]}', exports: { 'a"b': '"]}"', $summary: 'null' } }),
    step('two', { resumeData: 'null', state: 'exited' }),
  ];
  const detail = detailOf({ steps, logs: [], logBytesDropped: 0 }) as string;
  assert.deepEqual(stepsIn(detail), steps);
  const earlier = earlierSegmentsOf({ checkpoint: checkpointFrom(steps), resumed: null });
  assert.deepEqual([earlier?.steps, earlier?.waits, earlier?.callback], [steps, 0, null]);
});
