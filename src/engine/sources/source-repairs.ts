// Abandoned changes of sources: their node died, or storage failed in the middle. Each is finished by one node. A source
// whose creator got no answer is deleted; an update continues from the row; a deletion continues.
//
// Runs of hooks show what the hooks did. Waiting ones are cancelled first, and those that a living node executes are
// waited for: other hooks would run beside them, and a hook that registers a webhook at a vendor would do so
// twice. They are not cancelled, since a registration that they have made would stay there without a record.

import { setTimeout as pause } from 'node:timers/promises';
import { HOUR_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { RunState } from '../../domain/run/run.ts';
import type { HookRun, SourceChange } from '../../store/contract/source-changes.ts';
import { StoreUnavailable } from '../../store/contract/unavailable.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import { releaseCallers } from '../runs/manual-runs.ts';
import type { WakeUps } from '../wake-ups.ts';
import { runHooks } from './hooks.ts';
import { described, marked, type Phase, wholeSource, written } from './source-writes.ts';
import { deactivateLast, type SourceDeps } from './sources.ts';

export interface SourceRepairsDeps extends SourceDeps, LoopPorts {
  readonly cancelRun: (ownerId: string, run: number) => Promise<RunState>;
  readonly wake: WakeUps;
}

/** The result of a repair. */
type Repaired = 'gone' | 'deleted' | 'on' | 'off' | 'unchanged';

interface TakenChange extends SourceChange {
  /** Runs of hooks that have begun: the store may have deleted one that is over. */
  readonly begun: Set<number>;
  isUnderWay: boolean;
}

const RETRY_MS = 5000;
const POLL_MS = 100;

const isOpen = ({ state }: HookRun): boolean => state === 'queued' || state === 'running' || state === 'waiting';

/** Thrown when another node has taken over the mark; that node finishes the change. */
class TakenOver extends Error {
  override readonly name = 'TakenOver';
}

export class SourceRepairs {
  readonly #deps: SourceRepairsDeps;
  readonly #loop: Loop;
  readonly #taken = new Map<string, TakenChange>();
  #isStopped = false;

  constructor(deps: SourceRepairsDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'source repairs', tick: () => this.#tick(), maxWaitMs: HOUR_MS }, deps);
    deps.wake.subscribe('sourceChanges', () => this.#loop.wake());
    deps.wake.subscribe('takeovers', () => this.#loop.wake());
  }

  start(): void {
    this.#loop.start();
  }

  /** Leaves unfinished repairs to another node, or to the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#loop.stop();
  }

  /**
   * Takes over the changes of dead processes; also before the start, before this process claims anything: waiting hooks are
   * cancelled before they begin.
   */
  async take(): Promise<void> {
    const { store, changes } = this.#deps;
    const found = await store.takeSourceChanges([...changes.underWay, ...this.#taken.keys()]);
    for (const change of found) {
      // The change may have begun here during the search.
      if (changes.underWay.has(change.sourceId)) this.#loop.wake(RETRY_MS);
      else this.#taken.set(change.sourceId, { ...change, begun: new Set(), isUnderWay: false });
    }
    for (const taken of this.#waiting()) {
      await this.#cancelHooks(taken).catch((error: unknown) => {
        if (!(error instanceof TakenOver)) throw error;
        this.#taken.delete(taken.sourceId);
      });
    }
  }

  async #tick(): Promise<number> {
    await this.take();
    for (const taken of this.#waiting()) void this.#finish(taken);
    return Number.POSITIVE_INFINITY;
  }

  #waiting(): TakenChange[] {
    return [...this.#taken.values()].filter(({ isUnderWay }) => !isUnderWay);
  }

  /** Finishes a change. Never throws: a failed repair is retried. */
  async #finish(taken: TakenChange): Promise<void> {
    const { log } = this.#deps;
    const { ownerId: owner, sourceId: source, kind } = taken;
    taken.isUnderWay = true;
    try {
      const repaired = await this.#repair(taken);
      log.warn({ owner, source, change: kind, repaired }, 'finished a change of a source that was cut off');
      this.#taken.delete(source);
    } catch (error) {
      taken.isUnderWay = false;
      if (error instanceof TakenOver) this.#taken.delete(source);
      else if (!this.#isStopped) this.#reportFailure(error, { owner, source, change: kind });
    }
  }

  #reportFailure(error: unknown, fields: object): void {
    const { log } = this.#deps;
    const level = error instanceof StoreUnavailable || error instanceof Refusal ? 'warn' : 'error';
    log[level]({ err: error, ...fields }, 'could not finish a change of a source; trying again');
    this.#loop.wake(RETRY_MS);
  }

  async #repair(taken: TakenChange): Promise<Repaired> {
    const { ownerId, sourceId, kind } = taken;
    const last = await this.#lastHook(taken);
    if (!(await this.#deps.store.getSource(ownerId, sourceId))) return 'gone';
    // The purge waits for this change, and would delete the source after it.
    const owner = await this.#deps.store.getOwner(ownerId);
    if (owner === undefined || owner.deletion?.hasBegun) return this.#delete(taken, true);
    if (kind === 'update') return this.#goOn(taken, last);
    const isOff = last?.name === '$deactivate' && last.state !== 'cancelled';
    // A source that was never enabled, or whose hook threw, needs no deactivation.
    const isOn = kind === 'delete' || (last !== undefined && last.state !== 'failed');
    return this.#delete(taken, isOn && !isOff);
  }

  async #delete({ ownerId, sourceId }: TakenChange, isOn: boolean): Promise<Repaired> {
    const { store, runner } = this.#deps;
    const whole = await wholeSource(store, ownerId, sourceId);
    if (whole.source.active && isOn) await deactivateLast(this.#deps, whole);
    this.#goAhead();
    if (!(await store.deleteSource(ownerId, sourceId))) throw new TakenOver();
    runner.retire(whole.source.deploymentId);
    await releaseCallers(this.#deps, ownerId);
    return 'deleted';
  }

  /** Finishes an update: undone if no hook had begun, else continued from the row. */
  async #goOn(taken: TakenChange, last: HookRun | undefined): Promise<Repaired> {
    const { store } = this.#deps;
    const { ownerId, sourceId } = taken;
    const whole = await wholeSource(store, ownerId, sourceId);
    const { active, settings } = whole.source;
    if (settings.inHooks === true) return this.#switchOn(taken, last);
    // A hook that threw has changed nothing.
    if (!active || last?.name !== '$deactivate' || last.state === 'failed') {
      if (settings.inHooks === 'leaving') {
        this.#goAhead();
        if (!(await store.updateSource(marked(whole.source, 'on')))) throw new TakenOver();
        return 'unchanged';
      }
      if (!(await store.endSourceChange(ownerId, sourceId))) throw new TakenOver();
      return 'unchanged';
    }
    if (last.state === 'cancelled') await deactivateLast(this.#deps, whole);
    await this.#write(taken, 'in hooks');
    return this.#switchOn(taken, undefined);
  }

  /** Enables the source, or disables it when its hook fails: the run has the error. */
  async #switchOn(taken: TakenChange, last: HookRun | undefined): Promise<Repaired> {
    const isOn = last?.name === '$activate' && last.state === 'succeeded';
    if (!isOn && !(await this.#activate(taken))) return this.#write(taken, 'off');
    await this.#write(taken, 'on');
    this.#deps.wake.notify('schedules');
    return 'on';
  }

  async #activate({ ownerId, sourceId }: TakenChange): Promise<boolean> {
    const { store } = this.#deps;
    try {
      const source = await described(this.#deps, await wholeSource(store, ownerId, sourceId));
      await runHooks(this.#deps, source, ['activate']);
      return true;
    } catch (error) {
      // Its queue is full: retried later.
      if (error instanceof Refusal && error.code !== 'rate_limited') return false;
      throw error;
    }
  }

  async #write<P extends Phase>({ ownerId, sourceId }: TakenChange, phase: P): Promise<P> {
    const { store } = this.#deps;
    const { source, triggers } = await wholeSource(store, ownerId, sourceId);
    this.#goAhead();
    const planned = { source: { ...source, active: phase !== 'off' }, triggers, deployment: null };
    if (!(await store.updateSource(written(this.#deps, planned, phase)))) throw new TakenOver();
    return phase;
  }

  /** Throws when this process is being stopped: failures since then say nothing about the source. */
  #goAhead(): void {
    if (this.#isStopped) throw new Error('stopped');
  }

  /** Returns the last hook run that has begun, once none is open. A running one has its time limit. */
  async #lastHook(taken: TakenChange): Promise<HookRun | undefined> {
    for (;;) {
      const runs = await this.#cancelHooks(taken);
      if (!runs.some(isOpen)) return runs.find(({ run }) => taken.begun.has(run));
      this.#goAhead();
      await pause(POLL_MS);
    }
  }

  /** Cancels waiting hook runs. Returns all as they were before. */
  async #cancelHooks({ ownerId, sourceId, begun }: TakenChange): Promise<readonly HookRun[]> {
    const { store, cancelRun } = this.#deps;
    const runs = await store.hookRuns(ownerId, sourceId);
    if (!runs) throw new TakenOver();
    for (const { run, hasBegun } of runs) if (hasBegun) begun.add(run);
    for (const { run, state } of runs) if (state === 'queued' || state === 'waiting') await cancelRun(ownerId, run);
    return runs;
  }
}
