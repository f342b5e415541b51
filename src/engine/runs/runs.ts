// Runs: the runner executes each one that is claimed, and its outcome is written in one transaction.

import { arrivedAtMs, REPLAY } from '../../domain/emission.ts';
import type { Urls } from '../../domain/endpoint.ts';
import { contextOf } from '../../domain/failure.ts';
import { numberedId, PREFIX, recordId } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { PLATFORM_CODES } from '../../domain/refusal.ts';
import type { Deployment } from '../../domain/resource.ts';
import { checkpointOf, earlierSegmentsOf } from '../../domain/run/checkpoint.ts';
import { retryInMs } from '../../domain/run/retry.ts';
import { type ClaimedRun, type HttpAnswer, NO_OUTCOME, type RunOutcome } from '../../domain/run/run.ts';
import { endOf, endOfAttempt, type RunEnd } from '../../domain/run/run-end.ts';
import type { Clock, StoreClock } from '../../ports.ts';
import type { RunRequest } from '../../runner/runner.ts';
import type { Finished, Store } from '../../store/contract/store.ts';
import type { Answers } from '../accept/answers.ts';
import type { Dispatch } from '../accept/dispatch.ts';
import type { Waiters } from '../accept/waiters.ts';
import type { Slots } from '../capacity/slots.ts';
import type { PropStores } from '../components/prop-stores.ts';
import { configuredIn, plainInputs, stepInputs } from '../components/step-props.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { Deployments } from '../resources/deployments.ts';
import { hooksOf } from '../sources/hooks.ts';
import { checkDedupe, sourceInput } from '../sources/source-run.ts';
import { retryStorage } from '../storage-retry.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { WakeUps } from '../wake-ups.ts';
import { answerData, dataStoresIn } from './data-requests.ts';
import type { ReadyRuns } from './ready-runs.ts';
import { mayHaveNotes, withNotes } from './run-notes.ts';
import { checkTargets, hasTargets } from './trigger-targets.ts';

export interface RunsDeps extends LoopPorts, Pick<Urls, 'publicUrl' | 'endpointUrl'> {
  readonly store: Store;
  readonly readyRuns: ReadyRuns;
  readonly slots: Slots;
  readonly dispatch: Dispatch;
  readonly waiters: Waiters;
  readonly answers: Pick<Answers, 'watch'>;
  readonly metrics: Metrics;
  readonly tracing: Tracing | null;
  readonly clock: StoreClock;
  readonly propStores: PropStores;
  readonly wake: WakeUps;
  /** Returns the address of a group's page, which is shown without a key. */
  readonly linkOf: (group: { readonly ownerId: string; readonly id: string }) => string;
  /** Returns the event as the run's code gets it. */
  readonly eventFor: (run: ClaimedRun) => Promise<Uint8Array>;
  /** Returns the run's end as it is to be stored. */
  readonly endFor: (run: ClaimedRun, end: RunEnd) => Promise<RunEnd>;
}

const CLAIMED_AT_ONCE = 64;
/** What the server's log says of a run that is queued again. */
const WHY_AGAIN = {
  alone: 'its process was ended because of one of several runs in it',
  returned: 'it was handed back before it ended',
} as const;
const POLL_MS = 1000;

export class Runs {
  readonly #deps: RunsDeps;
  readonly #deployments: Deployments;
  readonly #loop: Loop;
  /** The runs that are executed, until all that their ends lead to is written. */
  readonly #underWay = new Map<ClaimedRun, Promise<void>>();
  readonly #aborted = new AbortController();
  #waiting = true;

  constructor(deps: RunsDeps) {
    this.#deps = deps;
    this.#deployments = new Deployments(deps.store);
    this.#loop = new Loop({ name: 'runs', tick: () => this.#tick(), maxWaitMs: POLL_MS }, deps);
    deps.wake.subscribe('runs', () => {
      this.#waiting = true;
      this.#loop.wake();
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Executes a claimed run. Never throws. */
  execute(run: ClaimedRun): void {
    const done = this.#execute(run).catch((error) => {
      // Only a bug comes here. The lease stays, so that a restart rescues the run: it is not lost, and not silent.
      this.#deps.log.error({ err: error, run: numberedId(PREFIX.run, run.run) }, 'run could not be ended');
    });
    this.#underWay.set(run, done);
    done.finally(() => this.#underWay.delete(run));
  }

  /** Settles when the outcome of a run that is executed here is written; at once for any other. */
  written(run: number): Promise<unknown> {
    const executed = [...this.#underWay].filter(([claimed]) => claimed.run === run);
    return Promise.all(executed.map(([, done]) => done));
  }

  /** Waits until every outcome is written. The runner has been stopped before. */
  async stop(graceMs: number): Promise<void> {
    await this.#loop.stop();
    const timer = setTimeout(() => this.#aborted.abort(), graceMs);
    for (;;) {
      this.#deps.dispatch.startRuns();
      if (this.#underWay.size === 0) break;
      await Promise.allSettled(this.#underWay.values());
    }
    clearTimeout(timer);
  }

  async #tick(): Promise<number> {
    this.#waiting = false;
    const claims = await this.#deps.store.claimRuns(CLAIMED_AT_ONCE, this.#deps.slots);
    // The rest needs a free slot: the end of a run wakes this loop.
    this.#waiting ||= claims.runsWaiting;
    const full = claims.runs.length === CLAIMED_AT_ONCE;
    this.#deps.dispatch.take({ ...claims, runsWaiting: false });
    if (full) return 0;
    const { nextDueAtMs } = claims;
    return nextDueAtMs === null ? Number.POSITIVE_INFINITY : nextDueAtMs - this.#deps.clock.nowMs();
  }

  async #execute(run: ClaimedRun): Promise<void> {
    const { slots, store, dispatch, waiters, wake, endFor, outage } = this.#deps;
    const isAwaited = waiters.place(run.run, 'here') || run.isAwaitedElsewhere;
    let given: HttpAnswer | null = null;
    const outcome = await this.#outcomeOf(run, (answer) => {
      given = answer;
      this.#answer(run, answer);
    });
    slots.dropRun(run.runnable.id);
    if (this.#waiting) this.#loop.wake();
    // What was answered at once is kept, too, for a caller that asks again or was not reached.
    const answered = { ...outcome, answer: given ?? outcome.answer };
    const { signal } = this.#aborted;
    const whole = mayHaveNotes(run, answered)
      ? await withNotes(this.#deps, run, { outcome: answered, isAwaited, signal })
      : answered;
    const end = await this.#endOf(run, whole);
    const finish = async (ended: RunEnd): Promise<Finished> => store.finishRun(await endFor(run, ended), slots);
    const finished = end && (await retryStorage(() => finish(end), this.#aborted.signal, outage));
    if (!end || !finished) return;
    this.#report(run, { end, outcome, finished });
    this.#deps.tracing?.ran(run, { end, outcome, finished });
    // Before what was claimed is started: a run whose wait is over already may be among it.
    this.#answerCallers(end, whole, finished);
    dispatch.take(finished.claims);
    // An operation may wait for it.
    if (run.emission.name === REPLAY) wake.notify('replays');
  }

  /** Returns what follows from the outcome; undefined when storage, which is asked for it, stays away. */
  async #endOf(run: ClaimedRun, whole: RunOutcome): Promise<RunEnd | undefined> {
    const { clock, random } = this.#deps;
    const checked = hasTargets(whole)
      ? await retryStorage(() => checkTargets(this.#deps, run, whole), this.#aborted.signal)
      : { outcome: whole, isFinal: false };
    if (!checked) return undefined;
    const { outcome, isFinal } = checked;
    const { end } = outcome;
    const nowMs = clock.nowMs();
    const unsureMs = clock.latestMs() - nowMs;
    if (end.kind !== 'failed' || isFinal) return putOff(endOf(run, outcome, nowMs), unsureMs);
    const inMs = retryInMs(run, end.fault, { retries: checkpointOf(run)?.retries ?? 0, jitter: random.fraction() });
    if (inMs === null) return endOf(run, outcome, nowMs);
    return putOff(endOfAttempt(run, { ...outcome, end }, { nowMs, inMs }), unsureMs);
  }

  #answerCallers({ lease: { run }, state, wait }: RunEnd, whole: RunOutcome, { held, isCancelled }: Finished): void {
    const { waiters, answers, clock, wake } = this.#deps;
    if (held && isCancelled) waiters.end(run, { ...whole, end: { kind: 'cancelled' } });
    else if (held && state !== 'queued' && state !== 'waiting') waiters.end(run, whole);
    else {
      if (held && wait) {
        waiters.wait(run, wait, whole.answer);
        wake.notify('schedules', Math.max(0, wait.dueAtMs - clock.nowMs()));
      }
      // Callers here of a run that waits, expired or was handed back get its end, whichever node executes it next.
      answers.watch(run);
    }
  }

  /** Passes on an answer that does not wait for the run's end. */
  #answer(run: ClaimedRun, answer: HttpAnswer): void {
    const { store, waiters, log } = this.#deps;
    waiters.answer(run.run, { kind: 'answer', answer });
    if (!run.isAwaitedElsewhere) return;
    store.answerRun({ run: run.run, fence: run.fence }, answer).catch((error: unknown) => {
      // The end brings it again.
      log.warn({ err: error, run: numberedId(PREFIX.run, run.run) }, 'answer could not be handed over');
    });
  }

  async #outcomeOf(run: ClaimedRun, onAnswer: (answer: HttpAnswer) => void): Promise<RunOutcome> {
    const { runnable, emission, attempt } = run;
    const { readyRuns } = this.#deps;
    try {
      const { signal } = this.#aborted;
      // Most runs need nothing of the store here: they are not put off by promises, of which a retry makes three.
      const kept =
        this.#deployments.kept(runnable) ?? (await retryStorage(() => this.#deployments.get(runnable), signal));
      if (!kept) return { ...NO_OUTCOME, end: { kind: 'returned' } };
      const { deployment, resumeKey } = kept;
      const isSource = runnable.id.startsWith('dc_');
      const source = isSource
        ? await retryStorage(() => sourceInput(this.#deps, run, this.#deps.endpointUrl), signal)
        : null;
      if (source === undefined) return { ...NO_OUTCOME, end: { kind: 'returned' } };
      const inputs = isSource
        ? null
        : (plainInputs(deployment) ?? (await retryStorage(() => stepInputs(this.#deps, deployment), signal)));
      if (inputs === undefined) return { ...NO_OUTCOME, end: { kind: 'returned' } };
      const event = await retryStorage(() => this.#deps.eventFor(run), signal);
      if (event === undefined) return { ...NO_OUTCOME, end: { kind: 'returned' } };
      const request: RunRequest = {
        run: run.run,
        deployment,
        timeoutMs: timeoutOf(run),
        memoryMb: runnable.settings.memoryMb,
        env: runnable.settings.env,
        alone: run.alone,
        attempt,
        event,
        context: {
          ...contextOf(emission, runnable, attempt),
          event_name: emission.name,
          record_id: recordId(emission.entry),
          original_ts: new Date(arrivedAtMs(emission)).toISOString(),
          public_url: this.#deps.publicUrl(),
          ...pageOf(run, this.#deps),
        },
        source: source?.input ?? null,
        earlier: earlierSegmentsOf(run),
        resumeKey,
        stepProps: inputs?.props,
        stepDb: inputs?.db,
        onAnswer,
        onChildRequest: answerData(this.#deps, {
          ownerId: runnable.ownerId,
          storeIds: () => dataStoresIn(source ? [source.input.configuredProps] : configuredIn(inputs?.props ?? null)),
        }),
      };
      const outcome = await readyRuns.run(request, isSource ? LIMITS.concurrency : runnable.settings.concurrency);
      return source?.dedupe ? checkDedupe(outcome, { deployment, dedupe: source.dedupe }, this.#deps.clock) : outcome;
    } catch (error) {
      this.#deps.log.error({ err: error, run: numberedId(PREFIX.run, run.run) }, 'run could not be started');
      return failedBefore(
        'Internal',
        'The run could not be started because of a bug in the service; its log says more.',
        this.#deps.clock,
      );
    }
  }

  #report(run: ClaimedRun, ended: { end: RunEnd; outcome: RunOutcome; finished: Finished }): void {
    const { metrics, log } = this.#deps;
    const { end, outcome, finished } = ended;
    const state = stateAfter(end, finished);
    const tookMs = outcome.steps.reduce((sum, step) => sum + step.tookMs, 0);
    metrics.runs.inc({ state });
    metrics.runSeconds.observe(tookMs / 1000);
    // Of a failed attempt that is tried again, too.
    const code = end.fault?.code ?? (outcome.end.kind === 'failed' ? outcome.end.fault.code : undefined);
    if (code !== undefined) metrics.errors.inc({ code: isPlatformCode(code) ? code : 'user' });
    const fields = {
      run: numberedId(PREFIX.run, run.run),
      runnable: run.runnable.id,
      owner: run.runnable.ownerId,
      deployment: run.runnable.deploymentId,
      state,
      code,
      ...(end.again === null ? {} : { why: WHY_AGAIN[end.again] }),
      ...(end.wait ? { why: end.wait.kind, due: new Date(end.wait.dueAtMs).toISOString() } : {}),
      attempt: run.attempt,
      took_ms: tookMs,
      emitted: end.emissions.length,
      trace: run.emission.traceId,
    };
    const name = state === 'waiting' ? 'run waits' : 'run ended';
    if (state === 'succeeded' || (state === 'waiting' && code === undefined)) log.debug(fields, name);
    else log.info(fields, name);
  }
}

/** Returns the end with its wait counted from the latest time that it may be: a wait never ends before its time. */
function putOff(end: RunEnd, unsureMs: number): RunEnd {
  const { wait } = end;
  return wait === null ? end : { ...end, wait: { ...wait, dueAtMs: wait.dueAtMs + unsureMs } };
}

function isPlatformCode(code: string): boolean {
  return (PLATFORM_CODES as readonly string[]).includes(code);
}

function stateAfter(end: RunEnd, { held, isCancelled }: Finished): string {
  if (!held) return 'lease_lost';
  return isCancelled ? 'cancelled' : end.state;
}

function timeoutOf(run: ClaimedRun): number {
  const own = run.runnable.settings.timeoutMs;
  if (run.runnable.id.startsWith('dc_') && hooksOf(run.emission) !== null) return LIMITS.hooksTimeoutMs;
  return own ?? (run.emission.sourceType === 'TIMER' ? LIMITS.scheduleTimeoutMs : LIMITS.timeoutMs);
}

/** Returns the outcome of a run that could not be given to the runner. */
export function failedBefore(code: string, msg: string, clock: Clock, step?: Deployment['steps'][number]): RunOutcome {
  const fault = { code, msg, cellId: step?.id ?? '', namespace: step?.namespace ?? '', tsMs: clock.nowMs(), stack: '' };
  return { ...NO_OUTCOME, end: { kind: 'failed', fault } };
}

/**
 * Returns the address of a group's page. The global error workflow alone gets the page of its error's group: who has its
 * address may replay events of others.
 */
function pageOf({ via, emission: { ownerId, groupId } }: ClaimedRun, { linkOf }: Pick<RunsDeps, 'linkOf'>) {
  return via === 'global' && groupId !== null ? { page_url: linkOf({ ownerId, id: groupId }) } : {};
}
