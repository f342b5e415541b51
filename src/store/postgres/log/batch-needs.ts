// What verbs declare before anything is read, and what their plan finds missing. See batch.ts.

import type { DeliveryLease } from '../../../domain/delivery/delivery.ts';
import type { RunLease } from '../../../domain/run/run.ts';
import type { ReplayStep } from '../../contract/operations.ts';
import type { Idempotency, RunFailure, Tick } from '../../contract/store.ts';
import type { WatchDecision } from '../../contract/watches.ts';
import { Missed } from './routes.ts';

export const pairKey = (a: string, b: string): string => `${a} ${b}`;
export const tickKey = (triggerId: string, dueAtMs: number): string => `${triggerId} ${dueAtMs}`;
export const leaseKey = (number: number, fence: number): string => `${number} ${fence}`;

/** What verbs know that they need before anything is read. */
export class Needs {
  readonly owners = new Set<string>();
  /** Leases of runs that end, of runs that are queued again or wait, and of deliveries that were attempted. */
  readonly endings: RunLease[] = [];
  readonly returns: RunLease[] = [];
  readonly attempts: DeliveryLease[] = [];
  readonly #leases = new Set<string>();
  readonly keys = new Map<string, Idempotency>();
  readonly ticks: Tick[] = [];
  /** By watch: of several about the same one, the first one counts. */
  readonly decisions = new Map<string, WatchDecision>();
  /** Of sources and workflows. */
  readonly memories = new Set<string>();
  /** Steps of operations that replay errors. */
  readonly replays: ReplayStep[] = [];
  /** Errors whose event is run again, unless it was already, by owner. */
  readonly retried = new Map<string, RunFailure[]>();
  overDigests = false;
  dueLater = false;
  fallbacks = false;
  expired = false;

  /** Adds a lease. If several verbs name it, the first one counts. */
  endRun(lease: RunLease): void {
    if (this.#isFirst('run', leaseKey(lease.run, lease.fence))) this.endings.push(lease);
  }

  returnRun(lease: RunLease): void {
    if (this.#isFirst('run', leaseKey(lease.run, lease.fence))) this.returns.push(lease);
  }

  attempt(lease: DeliveryLease): void {
    if (this.#isFirst('delivery', leaseKey(lease.delivery, lease.fence))) this.attempts.push(lease);
  }

  decide(decision: WatchDecision): void {
    const watch = pairKey(decision.next.id, decision.next.kind);
    if (!this.decisions.has(watch)) this.decisions.set(watch, decision);
  }

  retry(ownerId: string, error: RunFailure): void {
    this.retried.set(ownerId, [...(this.retried.get(ownerId) ?? []), error]);
  }

  #isFirst(kind: string, lease: string): boolean {
    const key = pairKey(kind, lease);
    if (this.#leases.has(key)) return false;
    this.#leases.add(key);
    return true;
  }
}

export interface DigestNeed {
  readonly ownerId: string;
  readonly digestKey: string;
  readonly windowMs: number;
}

export interface QueueNeed {
  readonly ownerId: string;
  readonly listenerId: string;
  readonly isRun: boolean;
}

/** What the tries of a batch leave to the next one. */
export interface EarlierTries {
  /** Digests and queues that were needed: the next try locks all of them at once, in the order of their keys. */
  readonly digests: Map<string, DigestNeed>;
  readonly queues: Map<string, QueueNeed>;
  /** Decisions about watches that have changed meanwhile, by decisionKey. */
  readonly lostDecisions: Set<string>;
  /** A try had locked queues, and needed others: the next one expects none. */
  lockedTooFew: boolean;
}

/** What a plan needed and had not read. */
export class Misses {
  readonly owners = new Set<string>();
  readonly routes = new Missed();
  readonly digests = new Map<string, DigestNeed>();
  readonly queues = new Map<string, QueueNeed>();

  get isEmpty(): boolean {
    return this.owners.size + this.digests.size + this.queues.size === 0 && this.routes.isEmpty;
  }
}
