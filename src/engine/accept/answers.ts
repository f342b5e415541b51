// Answers across nodes: a caller of this node waits for a run that another node executes, or that has not begun. This loop
// reads from the store what has become of such runs: often at first and then less so, and at once when another node
// notifies. While no caller waits, it reads nothing. A store of one node never starts it: every run is executed here.

import { MINUTE_MS } from '../../domain/limits.ts';
import { type Fault, type HttpAnswer, NO_OUTCOME, type RunOutcome } from '../../domain/run/run.ts';
import type { Awaited } from '../../store/contract/nodes.ts';
import type { Store } from '../../store/contract/store.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import type { WakeUps } from '../wake-ups.ts';
import type { Waiters } from './waiters.ts';

export interface AnswersDeps extends LoopPorts {
  readonly store: Pick<Store, 'awaited'>;
  readonly waiters: Waiters;
  readonly wake: WakeUps;
}

const FIRST_WAIT_MS = 25;
const MAX_WAIT_MS = 250;
/** Less than a connection is kept for at a stop. */
const OTHERS_MS = 5000;
/** While no caller waits, a tick does nothing. */
const IDLE_MS = MINUTE_MS;

export class Answers {
  readonly #deps: AnswersDeps;
  readonly #loop: Loop;
  #waitMs = FIRST_WAIT_MS;
  #isStarted = false;
  #leaving: NodeJS.Timeout | undefined;

  constructor(deps: AnswersDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'answers', tick: () => this.tick(), maxWaitMs: IDLE_MS }, deps);
    deps.wake.subscribe('answers', () => this.#loop.wake());
  }

  start(): void {
    this.#isStarted = true;
    this.#loop.start();
  }

  /**
   * Tells callers here that this process stops, now that it runs nothing any more: at once where no other process could answer them,
   * else when those had some time.
   */
  leave(): void {
    const { waiters } = this.#deps;
    if (this.#isStarted) this.#leaving = setTimeout(() => waiters.stop(), OTHERS_MS);
    else waiters.stop();
  }

  /** Watches a run that this node does not execute, or no longer: callers that wait for it here get its answer. */
  watch(run: number): void {
    if (!this.#deps.waiters.place(run, 'elsewhere')) return;
    this.#waitMs = FIRST_WAIT_MS;
    this.#loop.wake(FIRST_WAIT_MS);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#leaving);
    await this.#loop.stop();
  }

  async tick(): Promise<number> {
    const { store, waiters } = this.#deps;
    const runs = waiters.elsewhere();
    if (runs.length === 0) return Number.POSITIVE_INFINITY;
    let isNews = false;
    for (const awaited of await store.awaited(runs)) isNews = this.#pass(awaited) || isNews;
    const waitMs = isNews ? FIRST_WAIT_MS : this.#waitMs;
    this.#waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
    return waitMs;
  }

  /** Returns whether a caller here got something new. */
  #pass({ run, answer, ended, waiting }: Awaited): boolean {
    const { waiters } = this.#deps;
    if (waiting) return waiters.wait(run, waiting, answer);
    if (!ended) return answer !== null && waiters.answer(run, { kind: 'answer', answer });
    waiters.end(run, outcomeOf(ended, answer));
    return true;
  }
}

/** Returns what a waiting caller needs: the answer, and how the run ended. */
function outcomeOf(ended: NonNullable<Awaited['ended']>, answer: HttpAnswer | null): RunOutcome {
  const { state, fault } = ended;
  if (state === 'succeeded') return { ...NO_OUTCOME, answer, end: { kind: 'succeeded' } };
  if (state === 'failed') return { ...NO_OUTCOME, answer, end: { kind: 'failed', fault: fault ?? UNKNOWN } };
  return { ...NO_OUTCOME, answer, end: { kind: 'cancelled' } };
}

const UNKNOWN: Fault = { code: 'Internal', msg: 'The run failed.', cellId: '', namespace: '', tsMs: 0, stack: '' };
