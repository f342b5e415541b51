// Runs that are leased ahead of their slot. With few slots, the time between two short runs is not theirs: the end of one is
// committed and synced before the next one is claimed. So of a workflow whose runs are short, the store leases more runs than
// it has slots, and they wait here, where each begins as soon as an earlier one has ended. Some of them wait in the process of
// the code, so that the next one begins before the server has read the earlier one's end. At most `concurrency` are executed
// at once, in the order of their claims.
//
// Only with SQLite: on Postgres the slots of all nodes together are counted in the database.

import type { Runnable } from '../../domain/resource.ts';
import { NO_OUTCOME, type RunOutcome } from '../../domain/run/run.ts';
import type { Runner, RunRequest } from '../../runner/runner.ts';

/** The outcome of a run that was cancelled before it began. */
export const CANCELLED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'cancelled' } };

/** What is leased ahead should have begun after so long. */
const AHEAD_MS = 10;
/**
 * With 8 slots and 64 callers, 47 % of the runs began with their append at 4 for each slot, and 71 to 78 % at 16. A run that is
 * queued first takes half as much CPU again.
 */
const AHEAD_PER_SLOT = 16;
const MAX_AHEAD = 128;
/** Of those, how many wait in the process of their code already, where the next one begins without the server. */
const MAX_HELD = 56;
/** Events that wait there take its memory. */
const MAX_HELD_EVENT_BYTES = 16 * 1024;
/**
 * None are held for so long after a run of another workflow: with many ends at once, the main thread would be long at them.
 * Beside a queue of 50,000 quick runs with 8 slots, a single run waits as long as beside one with 64.
 */
const UNHELD_MS = 1000;
/** Runs of a workflow before its pace is known. */
const MIN_SEEN = 32;
/** The weight of the latest run in the mean of their times. */
const NEWEST = 0.1;
/** Workflows whose pace is remembered while none of their runs is executed. */
const MAX_IDLE = 10_000;

interface QueuedRun {
  readonly request: RunRequest;
  readonly atOnce: number;
  readonly resolve: (outcome: RunOutcome | Promise<RunOutcome>) => void;
}

interface Pace {
  /** What the runner has, also what is held in a process. */
  given: number;
  readonly waiting: QueuedRun[];
  seen: number;
  meanMs: number;
}

export class ReadyRuns {
  readonly #runner: Pick<Runner, 'run' | 'runsBeside' | 'cancel'>;
  readonly #paces = new Map<string, Pace>();
  /** The workflow of the latest run, and when one came after that of another workflow. */
  #latest: string | undefined;
  #changedAtMs = -Infinity;

  constructor(runner: Pick<Runner, 'run' | 'runsBeside' | 'cancel'>) {
    this.#runner = runner;
  }

  /** Returns how many runs more than its slots may be leased. */
  ahead({ id, settings: { concurrency } }: Runnable): number {
    const pace = this.#paces.get(id);
    return pace === undefined ? 0 : aheadOf(pace, concurrency);
  }

  /** Executes a run when fewer than `atOnce` of its workflow's are executed. */
  run(request: RunRequest, atOnce: number): Promise<RunOutcome> {
    const { runnableId } = request.deployment;
    const pace = this.#paceOf(runnableId);
    if (this.#latest !== runnableId) {
      if (this.#latest !== undefined) this.#changedAtMs = performance.now();
      this.#latest = runnableId;
    }
    if (pace.waiting.length === 0 && this.#takes(pace, request, atOnce)) {
      return this.#begin(runnableId, pace, { request, atOnce });
    }
    return new Promise((resolve) => pace.waiting.push({ request, atOnce, resolve }));
  }

  /** Ends a run. Returns false when it is not here. */
  cancel(run: number): boolean {
    if (this.#runner.cancel(run)) return true;
    for (const { waiting } of this.#paces.values()) {
      const index = waiting.findIndex(({ request }) => request.run === run);
      if (index === -1) continue;
      waiting.splice(index, 1)[0]?.resolve(CANCELLED);
      return true;
    }
    return false;
  }

  /**
   * Returns whether the runner gets the run: it may begin, or it can be held, as long as no other workflow has runs. A process
   * counts only its own runs, so it holds none while others of the workflow are elsewhere, or wait for a process.
   */
  #takes(pace: Pace, request: RunRequest, atOnce: number): boolean {
    if (pace.given < atOnce) return true;
    if (pace.given >= atOnce + Math.min(MAX_HELD, aheadOf(pace, atOnce))) return false;
    if (request.alone || request.event.byteLength > MAX_HELD_EVENT_BYTES) return false;
    if (performance.now() - this.#changedAtMs < UNHELD_MS) return false;
    return this.#runner.runsBeside(request) === pace.given;
  }

  async #begin(id: string, pace: Pace, { request, atOnce }: Omit<QueuedRun, 'resolve'>): Promise<RunOutcome> {
    const isHeld = pace.given >= atOnce;
    pace.given++;
    let before = performance.now();
    const onBegun = (): void => {
      before = performance.now();
    };
    try {
      return await this.#runner.run(isHeld ? { ...request, atOnce, onBegun } : request);
    } finally {
      pace.given--;
      this.#observe(pace, performance.now() - before);
      this.#beginNext(id, pace);
      if (pace.given === 0 && this.#paces.size > MAX_IDLE) this.#paces.delete(id);
    }
  }

  #beginNext(id: string, pace: Pace): void {
    for (;;) {
      const [next] = pace.waiting;
      if (next === undefined || !this.#takes(pace, next.request, next.atOnce)) return;
      pace.waiting.shift();
      next.resolve(this.#begin(id, pace, next));
    }
  }

  #observe(pace: Pace, tookMs: number): void {
    pace.seen++;
    pace.meanMs += Math.max(NEWEST, 1 / pace.seen) * (tookMs - pace.meanMs);
  }

  #paceOf(id: string): Pace {
    const known = this.#paces.get(id);
    if (known) return known;
    const made: Pace = { given: 0, waiting: [], seen: 0, meanMs: 0 };
    this.#paces.set(id, made);
    return made;
  }
}

function aheadOf({ seen, meanMs }: Pace, concurrency: number): number {
  // One at a time means one after the other: the end of the earlier run is on disk before the next one begins.
  if (concurrency < 2 || seen < MIN_SEEN) return 0;
  return Math.min(AHEAD_PER_SLOT * concurrency, MAX_AHEAD, Math.floor((AHEAD_MS * concurrency) / meanMs));
}
