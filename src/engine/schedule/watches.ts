// Judges watches that are due (domain/watch/), and takes pings. What was decided is written with what it tells, for the version
// of the watch that it was made of; a watch that has changed meanwhile is read and judged again.

import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { excused, missed, type Ping, pinged, type WatchedHeartbeat } from '../../domain/watch/heartbeat.ts';
import {
  type Ended,
  firstPart,
  judged,
  type NamedWatch,
  partOf,
  type WatchJudgement,
} from '../../domain/watch/watch.ts';
import { emissionOf, faultOf, type Seen } from '../../domain/watch/watch-emissions.ts';
import type { Clock, Wake } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { StoreUnavailable } from '../../store/contract/unavailable.ts';
import type { DueWatch, WatchDecision } from '../../store/contract/watches.ts';
import type { Dispatch } from '../accept/dispatch.ts';
import type { Slots } from '../capacity/slots.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { firstTickMs } from './cron.ts';

export interface WatchDeps {
  readonly store: Pick<Store, 'keepWatch' | 'dueWatches' | 'endedRuns' | 'decideWatch' | 'heartbeatByKey' | 'getOwner'>;
  readonly slots: Slots;
  readonly dispatch: Pick<Dispatch, 'take'>;
  readonly metrics: Pick<Metrics, 'pings' | 'watchErrors' | 'watchesJudged'>;
  readonly clock: Clock;
  readonly wake: Wake;
}

export type Watches = ReturnType<typeof createWatches>;

const WATCHES_AT_ONCE = 200;
/** How often a ping is judged again because another one came first. */
const MAX_TRIES = 50;
const NO_RUNS: Ended = { succeeded: 0, failed: 0 };

/** Pings of one heartbeat that are taken together. */
interface PendingPing {
  readonly kind: Ping['kind'];
  times: number;
  isWaiting: boolean;
  over: Promise<void>;
}

export function createWatches(deps: WatchDeps) {
  const { store, slots, dispatch, metrics, clock, wake } = deps;
  /** The last turn of each heartbeat, by its key. */
  const turns = new Map<string, PendingPing>();

  /**
   * Excuses watches for a time without a server, and returns the time up to which they may be judged. To be called before the
   * first ping, too: with the job's start that came before the stop, one that came behind it would be forgotten.
   */
  function excuseStop(): Promise<number> {
    return store.keepWatch((of, gap) => excused(of, gap, { nowMs: gap.nowMs, nextTick: firstTickMs }));
  }

  /** Judges what is due. Returns whether more is. */
  async function tickWatches(): Promise<boolean> {
    const nowMs = await excuseStop();
    const due = await store.dueWatches(nowMs, WATCHES_AT_ONCE);
    await Promise.all(due.map((one) => judge(one, nowMs)));
    metrics.watchesJudged.set(nowMs / SECOND_MS);
    return due.length === WATCHES_AT_ONCE;
  }

  async function judge({ watch, heartbeat }: DueWatch, nowMs: number): Promise<void> {
    if (heartbeat) {
      await decide(watch, missed(heartbeat, nowMs), { seen: { nowMs } });
      return;
    }
    const { rule } = watch;
    if ('schedule' in rule) return;
    const ratio = 'errorRatio' in rule ? rule.errorRatio : null;
    const from = ratio === null ? null : firstPart(ratio, nowMs);
    const ended =
      ratio === null || from === null ? NO_RUNS : await store.endedRuns(watch.id, { from, to: partOf(ratio, nowMs) });
    await decide(watch, judged(watch, { nowMs, ended }), { seen: { nowMs, ended }, forgetBefore: from });
  }

  /** Returns false when the watch has changed since it was read. */
  async function decide(
    watch: NamedWatch,
    { next, told }: WatchJudgement,
    { seen, forgetBefore = null }: { seen: Seen; forgetBefore?: number | null },
  ): Promise<boolean> {
    const decision: WatchDecision = {
      next,
      // The times in the message are those before the decision.
      emissions: told.map((one) => emissionOf({ ...watch, counts: next.counts }, one, seen)),
      heardDueAtMs: next.kind === 'ratio' ? seen.nowMs + LIMITS.watchPauseMs : next.dueAtMs,
      over: told.flatMap((one) => (one.kind === 'recovered' ? [faultOf(one.code, one.why)] : [])),
      forgetBefore,
    };
    const claims = await store.decideWatch(decision, slots);
    if (claims === null) return false;
    for (const { kind, code } of told) if (kind === 'error') metrics.watchErrors.inc({ code });
    dispatch.take(claims);
    return true;
  }

  /** Finds the heartbeat of an address; `not_found` for any other one. */
  async function findHeartbeat(key: string): Promise<WatchedHeartbeat> {
    const found = await store.heartbeatByKey(key);
    if (!found) throw new Refusal('not_found', 'There is no heartbeat at this address');
    if ((await store.getOwner(found.heartbeat.ownerId))?.deletion) {
      throw new Refusal('owner_deleted', 'The owner of this heartbeat is being deleted');
    }
    return found;
  }

  /**
   * Takes a ping; durable when it resolves. Pings of one heartbeat take turns, since each is judged by what the one before has
   * left. Those of a flood that wait for their turn, and report no failure, are one with how many they are: 1,000 at once, each
   * with its own decision, would read and lose against each other half a million times.
   */
  function ping(key: string, taken: Ping): Promise<void> {
    const last = turns.get(key);
    if (last?.isWaiting && last.kind === taken.kind && taken.kind !== 'fail') {
      last.times++;
      return last.over;
    }
    const turn: PendingPing = { kind: taken.kind, times: 1, isWaiting: true, over: Promise.resolve() };
    const begin = async (): Promise<void> => {
      turn.isWaiting = false;
      try {
        await take(key, { ...taken, times: turn.times });
      } finally {
        if (turns.get(key) === turn) turns.delete(key);
      }
    };
    turn.over = (last?.over ?? Promise.resolve()).then(begin, begin);
    turns.set(key, turn);
    return turn.over;
  }

  async function take(key: string, taken: Ping & { readonly times: number }): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await findHeartbeat(key);
      const { heartbeat, watch } = found;
      const nowMs = clock.nowMs();
      const decision = pinged(found, taken, { nowMs, nextTick: firstTickMs });
      const named = { ...watch, name: heartbeat.name, deploymentId: null };
      if (!(await decide(named, decision, { seen: { nowMs, ping: taken } }))) continue;
      metrics.pings.inc({ kind: taken.kind }, taken.times);
      // It may be due before all else that is.
      if (decision.next.dueAtMs !== null && watch.dueAtMs === null) wake.notify('schedules');
      return;
    }
    throw new StoreUnavailable(`heartbeat ${key.slice(0, 4)}… changes all the time`);
  }

  return { excuseStop, tickWatches, findHeartbeat, ping };
}
