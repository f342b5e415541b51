// Code that fails in every way there is, at a whole server: each failure is one record, says what it was, and does no
// harm to anything else: not to a run in the same process, not to another workflow's, and not to the server.
//
// The codes that no code inside a run causes, and those that leave nobody to share a process with, are told elsewhere:
// StartFailed and QueueFull in http/run-failures, what becomes of requests in http-sends-outcomes.
//
// On SQLite only: what is claimed here is about processes and their runs, and the store has no part in it. That errors,
// losses and the ledger are written alike on both is what the contract tests say.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { HOSTILE_CASES, type HostileCase } from '../../support/data/hostile-cases.ts';
import { isThorough } from '../../support/data/thorough.ts';
import { API_KEY } from '../../support/errand.ts';
import { createErrandOn, type ErrandActions } from '../../support/flows.ts';
import { createFolder, type Folder } from '../../support/folders/folder.ts';
import { startGate } from '../../support/gate.ts';
import { type ErrandProcess, spawnErrand } from '../../support/process.ts';
import { until } from '../../support/wait.ts';

/** A run's time, at least. */
const LEAST_TIMEOUT_MS = 2500;
/** Two runs begin in it, which counts, too: so many times what one takes from event to end, process started, on this machine. */
const TIMEOUT_RUNS = 6;
/** Of the server's memory at its peak over all cases, beyond the 165 MiB that it begins with; measured: 47. */
const MOST_GROWTH_MIB = 150;

const OWN_CASES: Record<string, HostileCase> = {
  'a value nested too deep': {
    body: 'return JSON.parse("[".repeat(50_000) + "]".repeat(50_000))',
    code: 'PayloadTooLarge',
    msg: /^The return value of the step two is nested deeper than 256 levels$/,
    line: null,
  },
  'a mail without subject': {
    body: '$.send.email({ text: "no subject" })',
    code: 'ConfigurationError',
    msg: /needs a subject/,
    line: 3,
  },
};

/** What run-failures says in full, since nothing but the thrown value is special about it. */
const TOLD_ELSEWHERE: ReadonlySet<string> = new Set(['a throw', 'a thrown string', 'a thrown null']);
/** One loop after the other burns a core until its time is over: unit/runner/isolation/hostile has them all. */
const MORE_LOOPS = ['an endless loop of microtasks', 'endless microtasks beside it', 'endless ticks'];
const LEFT_OUT = new Set([...TOLD_ELSEWHERE, ...(isThorough ? [] : MORE_LOOPS)]);
const CASES = Object.entries({ ...HOSTILE_CASES, ...OWN_CASES }).filter(([name]) => !LEFT_OUT.has(name));

/** A run that is told of a gate says there in which process it is, and waits to be let on; one that is good then ends. */
const AT_GATE = `const { gate, poison } = steps.trigger.event.body; if (gate) await fetch(gate + '/' + process.pid); if (!poison) return 'good'`;

function stepsOf(body: string) {
  const two = `const forEver = new Promise(() => {});\nexport default async ({ steps, $ }) => { ${AT_GATE};\n${body}\n}`;
  return [
    { namespace: 'one', code: 'export default ({ $ }) => { $.send.emit("of the first"); return 1 }' },
    { namespace: 'two', code: two },
  ];
}

/** The server, in a process of its own so that its memory is nobody else's. */
/** It is held for as long as a case takes, on however slow a machine. */
const BESIDE: Json = { timeout_ms: 600_000 };

interface Stage extends ErrandActions {
  readonly client: Client;
  readonly process: ErrandProcess;
  readonly folder: Folder;
  /** The workflow of runs that go on beside each case. */
  readonly beside: Json;
  /** The longest that a run took that began with its process. */
  slowestMs: number;
}

async function startStage(): Promise<Stage> {
  const folder = await createFolder();
  const errand = await spawnErrand({ ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: API_KEY });
  const client = createClient(errand.url, API_KEY);
  const actions = createErrandOn(() => client);
  const beside = await actions.workflow('', { name: 'beside', steps: stepsOf('return 1'), settings: BESIDE });
  return { ...actions, client, process: errand, folder, beside, slowestMs: 0 };
}

interface Played {
  readonly workflow: Json;
  readonly errorId: string;
}

/** Plays the case while another run is held in its process, and one of another workflow beside it. */
async function play(stage: Stage, name: string, given: HostileCase): Promise<Json> {
  await using besideGate = await startGate();
  await using goodGate = await startGate();
  await using poisonGate = await startGate();
  const workflow = await stage.workflow('', { name, steps: stepsOf(given.body), settings: settingsOf(given, stage) });
  const beside = await stage.send(stage.beside, { gate: besideGate.url });
  await besideGate.wait(1);
  // The process is there before the clocks of those that share it begin.
  await first(stage, workflow);
  // The poison first: in a process that hangs, a run whose time alone is over is taken for the one that hung.
  await stage.send(workflow, { gate: poisonGate.url, poison: true });
  const [poisonAt] = await poisonGate.wait(1);
  await stage.send(workflow, { gate: goodGate.url });
  const [goodAt] = await goodGate.wait(1);
  assert.equal(goodAt, poisonAt, 'both are in one process');
  poisonGate.open();
  // Held any longer, the good run would be late itself.
  if (given.timeoutMs !== undefined) goodGate.open();
  await stage.errors(workflow.id, 1);
  goodGate.open();
  const runs = await stage.runs(workflow.id, 3);
  assert.deepEqual(
    runs.map(({ state }) => state),
    ['succeeded', 'failed', 'succeeded'],
  );
  besideGate.open();
  await endOf(stage, beside);
  assert.equal(besideGate.asked.length, 1, 'what goes on beside it is not run again');
  return workflow;
}

/** A workflow's first run, to its end. */
async function first(stage: Stage, workflow: Json): Promise<void> {
  const from = performance.now();
  await stage.send(workflow, {});
  await stage.runs(workflow.id, 1);
  stage.slowestMs = Math.max(stage.slowestMs, performance.now() - from);
}

function settingsOf({ memoryMb, timeoutMs }: HostileCase, { slowestMs }: Stage): Json {
  const enoughMs = Math.max(LEAST_TIMEOUT_MS, Math.ceil(TIMEOUT_RUNS * slowestMs));
  return {
    ...(memoryMb !== undefined && { memory_mb: memoryMb }),
    ...(timeoutMs !== undefined && { timeout_ms: enoughMs }),
  };
}

/** Waits until the run beside, for the event with that emit id, has succeeded. */
function endOf({ client, beside }: Stage, emitId: string): Promise<Json> {
  return until('the end of the run beside', async () => {
    const { data } = await client.get(`/v1/workflows/${beside.id}/runs`);
    const run = data.find((each: Json) => each.emission_id === emitId);
    assert.notEqual(run?.state, 'failed');
    return run?.state === 'succeeded' && run;
  });
}

/** The one record of the workflow. */
async function recordOf({ client }: Stage, workflow: Json): Promise<Json> {
  const { page_info, data } = await client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`);
  assert.equal(page_info.total_count, 1, `exactly one record: ${workflow.name}`);
  return data[0];
}

function assertTold({ event }: Json, { code, msg, line }: HostileCase, workflow: Json): void {
  const { error, original_event: original } = event;
  const step = workflow.steps.find((each: Json) => each.namespace === 'two');
  assert.deepEqual([error.code, error.namespace, error.cellId], [code, 'two', step.id], error.msg);
  assert.match(error.msg, msg);
  assert.equal(original.body.poison, true);
  const frame = error.stack.split('\n').find((each: string) => each.includes('.ts:')) ?? '';
  if (line === null) assert.doesNotMatch(error.stack, /one\.ts/);
  else assert.match(frame, new RegExp(`two\\.ts:${line}:`));
}

/** A figure of the server's memory: `VmRSS` as it is, `VmHWM` the most it ever was. */
function mibOf({ child }: ErrandProcess, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
}

const skip =
  (process.env.TEST_STORE === 'postgres' && 'the store has no part in it') ||
  (!existsSync('/proc/self/status') && 'needs /proc');

describe('poison at a whole server', { skip }, () => {
  let stage: Stage;
  let startMib = 0;
  const played: Played[] = [];
  before(async () => {
    stage = await startStage();
    await first(stage, stage.beside);
    startMib = mibOf(stage.process, 'VmRSS');
  });
  after(async () => {
    await stage.process[Symbol.asyncDispose]();
    await stage.folder[Symbol.asyncDispose]();
  });

  describe('told as what it is, harming nobody', { concurrency: 2 }, () => {
    for (const [name, given] of CASES) {
      it(name, async () => {
        const workflow = await play(stage, name, given);
        const record = await recordOf(stage, workflow);
        assertTold(record, given, workflow);
        // Nothing comes after it either.
        const last = played.at(-1);
        if (last) assert.equal((await recordOf(stage, last.workflow)).id, last.errorId);
        played.push({ workflow, errorId: record.id });
      });
    }
  });

  it('the ledger adds up after all of it', async () => {
    const { runs, errors } = await stage.settled();
    for (const { workflow, errorId } of played) assert.equal((await recordOf(stage, workflow)).id, errorId);
    assert.equal(played.length, CASES.length);
    assert.equal(errors.captured, CASES.length);
    // Each case: three of its own, one beside it, and one of the global error workflow; and the first one beside.
    const { succeeded, failed, total } = runs;
    assert.deepEqual([failed, succeeded, total], [CASES.length, 4 * CASES.length + 1, 5 * CASES.length + 1]);
  });

  it('the server is as small as before', () => {
    const grown = mibOf(stage.process, 'VmHWM') - startMib;
    assert.ok(grown < MOST_GROWTH_MIB, `${grown} MiB`);
  });
});
