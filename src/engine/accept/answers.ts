// Answers across nodes: a caller of this node waits for a run that another node executes, or that has not begun. What
// has become of such runs is asked of the store, often at first and then less so, and at once when another node says that
// there is news. While no caller waits, nothing is asked. With a store of one node only, this is never started: there every
// run is executed here, and its end is heard here.

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
/** While no caller waits, a tick does nothing. */
const IDLE_MS = MINUTE_MS;

export class Answers {
  readonly #deps: AnswersDeps;
  readonly #loop: Loop;
  #waitMs = FIRST_WAIT_MS;

  constructor(deps: AnswersDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'answers', tick: () => this.tick(), maxWaitMs: IDLE_MS }, deps);
    deps.wake.subscribe('answers', () => this.#loop.wake());
  }

  start(): void {
    this.#loop.start();
  }

  /** This node does not execute the run (any more); callers that wait for it here get its answer all the same. */
  watch(run: number): void {
    if (!this.#deps.waiters.place(run, 'elsewhere')) return;
    this.#waitMs = FIRST_WAIT_MS;
    this.#loop.wake(FIRST_WAIT_MS);
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  async tick(): Promise<number> {
    const { store, waiters } = this.#deps;
    const runs = waiters.elsewhere();
    if (runs.length === 0) return Number.POSITIVE_INFINITY;
    let isNews = false;
    for (const told of await store.awaited(runs)) isNews = this.#tell(told) || isNews;
    const waitMs = isNews ? FIRST_WAIT_MS : this.#waitMs;
    this.#waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
    return waitMs;
  }

  /** False: what was told is known already. */
  #tell({ run, answer, ended, waiting }: Awaited): boolean {
    const { waiters } = this.#deps;
    if (waiting) return waiters.wait(run, waiting, answer);
    if (!ended) return answer !== null && waiters.answer(run, { kind: 'answer', answer });
    waiters.end(run, outcomeOf(ended, answer));
    return true;
  }
}

/** What a waiting caller needs: the answer, and how the run ended. */
function outcomeOf(ended: NonNullable<Awaited['ended']>, answer: HttpAnswer | null): RunOutcome {
  const { state, fault } = ended;
  if (state === 'succeeded') return { ...NO_OUTCOME, answer, end: { kind: 'succeeded' } };
  if (state === 'failed') return { ...NO_OUTCOME, answer, end: { kind: 'failed', fault: fault ?? UNTOLD } };
  return { ...NO_OUTCOME, answer, end: { kind: 'cancelled' } };
}

const UNTOLD: Fault = { code: 'Internal', msg: 'The run failed.', cellId: '', namespace: '', tsMs: 0, stack: '' };
