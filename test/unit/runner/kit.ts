// A runner of a test's own, and short ways to ask it.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Deployment } from '../../../src/domain/resource.ts';
import type { Fault, HttpAnswer, RunOutcome } from '../../../src/domain/run/run.ts';
import type { StepResult } from '../../../src/domain/run/step-result.ts';
import type { EarlierSegments } from '../../../src/domain/run/wait.ts';
import { bundleStep } from '../../../src/runner/bundling/bundle.ts';
import type { IsolationSettings } from '../../../src/runner/isolation/isolation.ts';
import { createRunner, type ProcessRunner, type RunnerOptions } from '../../../src/runner/pool/pool.ts';
import type { RunRequest, SourceRunInput } from '../../../src/runner/runner.ts';

export interface LogEntry {
  readonly level: string;
  readonly name: string;
  readonly fields: Record<string, unknown>;
}

export interface Kit {
  readonly runner: ProcessRunner;
  readonly tmpDir: string;
  readonly isolation: IsolationSettings;
  readonly logged: LogEntry[];
  /** Runs one step's code, or several steps' (`one`, `two`, …), or a deployment. */
  run(code: string | readonly string[] | Deployment, given?: Partial<RunRequest>): Promise<RunOutcome>;
  /** Runs the body of an async step, all of them in one process: `$`, `steps` and `node(module)` are there. */
  evaluate(body: string, given?: Partial<RunRequest>): Promise<RunOutcome>;
  /** Runs a source's code. */
  source(code: string, given?: Partial<SourceRunInput>, event?: string): Promise<RunOutcome>;
}

/** As the server would set it: root runs code as an unprivileged user. */
export const ISOLATION: IsolationSettings = {
  level: 'process',
  network: 'full',
  user: process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null,
};

const EVALUATOR = `const node = (name) => process.getBuiltinModule('node:' + name);
  export default async ({ steps, $ }) => await eval('(async () => {' + steps.trigger.event + '})()')`;
/** It only ends a test that would hang: a run may take long on a busy machine. */
export const DEADLINE_MS = 120_000;
const NAMES = ['one', 'two', 'three'];
let numbers = 0;

export function kit(t: TestContext, options: Partial<RunnerOptions> = {}): Kit {
  const tmpDir = mkdtempSync(join(tmpdir(), 'errand-runner-'));
  const logged: LogEntry[] = [];
  const line = (level: string) => (fields: object, name: string) =>
    void logged.push({ level, name, fields: fields as Record<string, unknown> });
  const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  const runner = createRunner({
    log,
    clock: { nowMs: Date.now },
    tmpDir,
    isolation: ISOLATION,
    graceMs: GRACE_MS,
    // Tests set the timers themselves.
    standstill: { watch: () => undefined, rest: () => undefined, totalMs: () => 0 },
    ...options,
  });
  t.after(async () => {
    await runner.stop(0);
    await rm(tmpDir, { recursive: true, force: true });
  });
  const run: Kit['run'] = async (code, given = {}) => {
    const deployment = typeof code === 'object' && 'steps' in code ? code : await deploymentOf(code);
    return await runner.run(requestOf(deployment, given));
  };
  const source: Kit['source'] = async (code, given = {}, event = '{}') => {
    const deployment = await deploymentOf(code, 'dc_1');
    const input = { sourceId: 'dc_1', call: 'run', configuredProps: {}, endpoints: {}, db: {}, ...given } as const;
    let answer: HttpAnswer | null = null;
    const onAnswer = (given: HttpAnswer): void => {
      answer = given;
    };
    const outcome = await runner.run(requestOf(deployment, { source: input, event: Buffer.from(event), onAnswer }));
    return { ...outcome, answer: answer ?? outcome.answer };
  };
  let evaluator: Promise<Deployment> | undefined;
  const evaluate: Kit['evaluate'] = async (body, given = {}) => {
    evaluator ??= deploymentOf(EVALUATOR);
    return await run(await evaluator, { event: Buffer.from(JSON.stringify(body)), ...given });
  };
  return { runner, tmpDir, isolation: options.isolation ?? ISOLATION, logged, run, evaluate, source };
}

export function requestOf(deployment: Deployment, given: Partial<RunRequest> = {}): RunRequest {
  return {
    run: ++numbers,
    deployment,
    timeoutMs: DEADLINE_MS,
    memoryMb: 256,
    env: {},
    earlier: null,
    resumeKey: '00',
    alone: false,
    attempt: 1,
    event: Buffer.from('{}'),
    context: {},
    source: null,
    onAnswer: () => {},
    ...given,
  };
}

/** Returns what a resumed run gets of these steps, by their names. */
export function earlier(
  done: Readonly<Record<string, Partial<StepResult>>>,
  given: Partial<EarlierSegments> = {},
): EarlierSegments {
  const step = { state: 'succeeded', startedAtMs: 1, tookMs: 1, exports: {} } as const;
  const steps = Object.entries(done).map(([namespace, left]) => ({
    id: `c_${namespace}`,
    namespace,
    ...step,
    ...left,
  }));
  return { steps, waits: 1, reruns: null, callback: null, logBytes: 0, ...given };
}

export async function deploymentOf(code: string | readonly string[], runnableId = 'p_1'): Promise<Deployment> {
  const codes = typeof code === 'string' ? [code] : code;
  const steps = await Promise.all(
    codes.map(async (text, index) => {
      const namespace = NAMES[index] as string;
      const bundled = await bundleStep({ namespace, code: text });
      assert.ok(bundled.ok, JSON.stringify(bundled));
      return { id: `c_${namespace}`, namespace, code: text, bundle: bundled.bundle, sourceMap: bundled.sourceMap };
    }),
  );
  return { id: `d_${++numbers}`, ownerId: 'u_1', runnableId, steps, createdAtMs: 0 };
}

/** What the (last) step returned. */
export function returned(outcome: RunOutcome): unknown {
  assert.equal(outcome.end.kind, 'succeeded', JSON.stringify(outcome.end));
  const text = outcome.steps.at(-1)?.returnValue;
  return text === undefined ? undefined : JSON.parse(text);
}

export function faultOf(outcome: RunOutcome): Fault {
  assert.ok(outcome.end.kind === 'failed', JSON.stringify(outcome));
  return outcome.end.fault;
}

export function bodies(outcome: RunOutcome): unknown[] {
  return outcome.outgoing.map(({ body }) => JSON.parse(Buffer.from(body).toString()));
}

export function bodyText(answer: HttpAnswer | null): string {
  assert.ok(answer !== null);
  return Buffer.from(answer.body).toString();
}

/** Resolves when a step of the run calls `$.respond({immediate: true})`: the sign that its code has come so far. */
export function signal(): { readonly onAnswer: (answer: HttpAnswer) => void; readonly came: Promise<HttpAnswer> } {
  const { promise, resolve } = Promise.withResolvers<HttpAnswer>();
  return { onAnswer: resolve, came: promise };
}

/** Settles when the condition holds; for what announces itself by no event. */
export async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${holds}`);
    // A turn and no longer; as fast as it can, it would take the CPU from what it waits for.
    await turn();
  }
}

/** Resolves after a turn of real time, also with the timers of a test. */
async function turn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const next = setInterval(resolve, 1);
  await promise;
  clearInterval(next);
}

/** Returns what processes have in the runner's folder: all but the mark of the server that uses it. */
export function foldersOf(tmpDir: string): string[] {
  return readdirSync(tmpDir).filter((name) => !name.includes('-server-'));
}

/** Timers that only the test advances. */
interface ManualTimers {
  readonly pass: (ms: number) => void;
  /** Lets time pass, a little in each turn, until the promise settles: that of a run whose process never answers. */
  readonly passUntil: (settled: Promise<unknown>) => Promise<void>;
  readonly restore: () => void;
}

/**
 * Replaces this process's timers, so that a timeout comes when the code has come so far, however busy the machine is. To
 * be called before `kit`, whose end needs the real ones.
 */
export function manualTimers(t: TestContext): ManualTimers {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const restore = (): void => t.mock.timers.reset();
  t.after(restore);
  const pass = (ms: number): void => t.mock.timers.tick(ms);
  const passUntil = async (settled: Promise<unknown>): Promise<void> => {
    let isSettled = false;
    void settled.finally(() => {
      isSettled = true;
    });
    while (!isSettled) {
      pass(TURN_MS);
      await turn();
    }
  };
  return { pass, passUntil, restore };
}

const TURN_MS = 50;
/** How long a process of `kit` may take to answer before it is killed. */
export const GRACE_MS = 300;
