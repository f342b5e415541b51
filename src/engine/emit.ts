// Accepting events: one append, and what it claimed is started.

import type { NewEmission } from '../domain/emission.ts';
import type { Answered } from '../domain/requests.ts';
import type { RunOutcome } from '../domain/run.ts';
import type { Appended, Idempotency, Store } from '../store/store.ts';
import type { Dispatch } from './dispatch.ts';
import type { Metrics } from './metrics.ts';
import type { Slots } from './slots.ts';
import type { Waiters } from './waiters.ts';

export interface EmitDeps {
  readonly store: Store;
  readonly slots: Slots;
  readonly dispatch: Dispatch;
  readonly waiters: Waiters;
  readonly metrics: Metrics;
}

export interface EmitOptions {
  readonly idempotency?: Idempotency;
  /** Wait for what the first run answers its caller. */
  readonly wantsAnswer?: boolean;
  /** Wait for the first run's end. */
  readonly wantsEnd?: boolean;
}

export interface Emitted {
  readonly appended: Appended;
  readonly answer: Promise<Answered> | null;
  /** Null also when there is no such run, or its queue was full. */
  readonly ended: Promise<RunOutcome> | null;
}

export type Emit = ReturnType<typeof createEmit>;

export function createEmit(deps: EmitDeps) {
  const { store, slots, dispatch, waiters, metrics } = deps;

  /** Durable when it resolves. */
  async function emit(emission: NewEmission, options: EmitOptions = {}): Promise<Emitted> {
    const appended = await store.append(emission, slots, options.idempotency);
    metrics.accepted.inc();
    const answer = options.wantsAnswer ? answerTo(emission.ownerId, appended) : null;
    const { firstRun } = appended;
    const hasRun = firstRun !== null && !appended.firstRunRefused;
    const ended = options.wantsEnd && hasRun ? waiters.endOf(firstRun) : null;
    dispatch.take(appended.claims);
    return { appended, answer, ended };
  }

  async function answerTo(ownerId: string, appended: Appended): Promise<Answered> {
    const { repeated, firstRun } = appended;
    if (repeated?.answer) return { kind: 'answer', answer: repeated.answer };
    if (firstRun === null) return { kind: 'none' };
    if (appended.firstRunRefused) return { kind: 'full' };
    // Registered before anything is awaited, so that no end is missed.
    const answer = waiters.answerOf(firstRun);
    if (!repeated) return answer;
    const run = await store.getRun(ownerId, firstRun).catch(() => undefined);
    const isOver = !run || !['queued', 'running', 'waiting'].includes(run.state);
    return isOver ? { kind: run?.errorCode === 'Timeout' ? 'timeout' : 'none' } : answer;
  }

  return emit;
}
