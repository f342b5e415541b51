// Accepting events: one append, and what it claimed is started.

import { text } from '../../domain/bytes.ts';
import type { NewEmission } from '../../domain/emission.ts';
import { hadNoRoom, Refusal } from '../../domain/refusal.ts';
import type { Answered, WhenGone } from '../../domain/requests.ts';
import { isOfRefusedAnswer } from '../../domain/run/refused-answer.ts';
import { type Fault, isOver, type RunOutcome } from '../../domain/run/run.ts';
import type { RunWhole } from '../../store/contract/records.ts';
import type { Appended, AppendOptions, Idempotency, Store } from '../../store/contract/store.ts';
import type { Slots } from '../capacity/slots.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Answers } from './answers.ts';
import type { Dispatch } from './dispatch.ts';
import type { Waiters } from './waiters.ts';

export interface EmitDeps {
  readonly store: Pick<Store, 'append' | 'getRun'>;
  readonly slots: Slots;
  readonly dispatch: Pick<Dispatch, 'take'>;
  readonly waiters: Waiters;
  readonly answers: Pick<Answers, 'watch'>;
  readonly metrics: Pick<Metrics, 'accepted'>;
  readonly tracing: Tracing | null;
}

export interface EmitOptions {
  readonly idempotency?: Idempotency;
  /** Wait for what the first run answers its caller. */
  readonly wantsAnswer?: boolean;
  /** Removes the caller that waits for that answer. */
  readonly whenGone?: WhenGone | undefined;
  /** Wait for the first run's end. */
  readonly wantsEnd?: boolean;
  /** The first run goes on where another one failed. */
  readonly continuation?: AppendOptions['continuation'];
  readonly unlessReplayed?: AppendOptions['unlessReplayed'];
}

export interface Emitted {
  readonly appended: Appended;
  readonly answer: Promise<Answered> | null;
  /** Null also when there is no such run, or its queue was full. */
  readonly ended: Promise<RunOutcome> | null;
}

export type Emit = ReturnType<typeof createEmit>;

export function createEmit(deps: EmitDeps) {
  const { store, slots, dispatch, waiters, answers, metrics, tracing } = deps;

  /** Accepts an event, which is durable when this resolves. */
  async function emit(given: NewEmission, options: EmitOptions = {}): Promise<Emitted> {
    const { idempotency, continuation, unlessReplayed, wantsAnswer = false, wantsEnd = false } = options;
    const isAwaited = wantsAnswer || wantsEnd;
    const traced = tracing?.begin();
    const emission = tracing?.received(given) ?? given;
    const appended = await store.append(emission, slots, {
      ...(idempotency && { idempotency }),
      ...(continuation && { continuation }),
      ...(unlessReplayed && { unlessReplayed }),
      isAwaited,
    });
    const { firstRun, claims, repeated } = appended;
    if (repeated && !repeated.isSameRequest) {
      dispatch.take(claims);
      throw keyReused();
    }
    if (!appended.lastReplay) {
      metrics.accepted.inc();
      if (traced) tracing?.accepted(emission, appended, traced);
    }
    // Both register before anything is awaited, so that no end is missed.
    const answer = wantsAnswer ? answerTo(emission, appended, options) : null;
    const hasRun = firstRun !== null && !appended.firstRunRefused;
    const ended = wantsEnd && hasRun ? waiters.endOf(firstRun) : null;
    if (isAwaited && hasRun && !claims.runs.some(({ run }) => run === firstRun)) answers.watch(firstRun);
    dispatch.take(claims);
    return { appended, answer, ended };
  }

  async function answerTo(emission: NewEmission, appended: Appended, options: EmitOptions): Promise<Answered> {
    const { idempotency, whenGone } = options;
    const { repeated, firstRun } = appended;
    if (repeated?.answer) return { kind: 'answer', answer: repeated.answer };
    if (firstRun === null) return { kind: 'none' };
    if (appended.firstRunRefused) return { kind: 'full' };
    if (!repeated || !idempotency) return waiters.answerOf(firstRun, whenGone).answered;
    return answerOfRepeat(emission, firstRun, { idempotency, whenGone });
  }

  /**
   * Returns the answer to a repeated call. A repeat waits with the first call; what that one got is kept with the key from the
   * run's end on.
   */
  async function answerOfRepeat(
    emission: NewEmission,
    run: number,
    { idempotency, whenGone }: { idempotency: Idempotency; whenGone: WhenGone | undefined },
  ): Promise<Answered> {
    let isGone = false;
    whenGone?.(() => {
      isGone = true;
    });
    const waiting = waiters.answerOf(run, whenGone);
    const record = await store.getRun(emission.ownerId, run).catch(() => undefined);
    const isOpen = record && !isOver(record.state);
    if (!isOpen) waiting.leave();
    else if (record.waiting) waiters.wait(run, record.waiting, null);
    const answered: Answered = isOpen ? await waiting.answered : { kind: kindOfEnded(record) };
    if (answered.kind === 'answer' || isGone) return answered;
    const again = await store.append(emission, slots, { idempotency }).catch(() => null);
    if (again) dispatch.take(again.claims);
    return again?.repeated?.answer ? { kind: 'answer', answer: again.repeated.answer } : answered;
  }

  return emit;
}

function keyReused(): Refusal {
  const message = 'came with another request before; send the same request again, or another key';
  const errors = [{ parameter: 'Idempotency-Key', message }];
  return new Refusal('key_reused', `This Idempotency-Key ${message}`, { errors });
}

/** Returns what the first call got from a run that ended without an answer. */
function kindOfEnded(record: RunWhole | undefined): Exclude<Answered['kind'], 'answer'> {
  if (record?.errorCode === 'Timeout') return 'timeout';
  if (record?.state === 'succeeded') return 'silent';
  if (record?.errorBody && isOfRefusedAnswer(JSON.parse(text(record.errorBody)) as Fault)) return 'refused';
  return record?.startedAtMs === null && hadNoRoom(record.errorCode) ? 'full' : 'none';
}
