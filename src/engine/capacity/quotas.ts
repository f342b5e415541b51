// Checks owners' use against their quotas, in memory: an owner without quotas costs one lookup in a map. Quotas are read
// again every few seconds, so that those set at another node apply here, too; stored bytes are measured from time to
// time, by one node for all, in small steps.
//
// Each node counts requests, processes and CPU for itself: several nodes together allow a multiple. (Rejected: dividing by
// the number of nodes. Behind a balancer that sends an owner's requests to one node, only a part of the quota would be
// usable.) Stored bytes are those of the database, as last measured, and those accepted by this node
// since then.

import { LIMITS } from '../../domain/limits.ts';
import { NO_QUOTAS, type Quotas, type QuotaUse } from '../../domain/quota.ts';
import { Refusal } from '../../domain/refusal.ts';
import { CLOCK_LIMITS } from '../../domain/watch/clock-limits.ts';
import type { Clock } from '../../ports.ts';
import type { RunnerUse } from '../../runner/runner.ts';
import { MEASURING_BEGINS, type MeasuringPlace, type StoredBytes } from '../../store/contract/quotas.ts';
import type { Store } from '../../store/contract/store.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import { StoredSince } from './stored-since.ts';
import { RequestRate } from './token-bucket.ts';

export interface QuotaDeps extends LoopPorts {
  readonly store: Pick<
    Store,
    'setQuotas' | 'listQuotas' | 'measureBytes' | 'keepMeasured' | 'storedBytes' | 'getOwner'
  >;
  readonly clock: Clock;
  /** Returns the use of user code at this node. */
  readonly runnerUse: (ownerId: string) => RunnerUse;
}

/** Retry-After for an owner that must free stored bytes first, by deleting or by retention. */
const STORED_RETRY_S = 60;
const UNBOUNDED = { ...NO_QUOTAS, isFull: false };

interface Measuring {
  readonly place: MeasuringPlace;
  readonly byOwner: Map<string, number>;
  readonly beganAtMs: number;
}

export class OwnerQuotas {
  readonly #deps: QuotaDeps;
  readonly #loop: Loop;
  #quotas: ReadonlyMap<string, Quotas> = new Map();
  /** Of owners with a quota of requests. */
  readonly #rates = new Map<string, RequestRate>();
  #stored: ReadonlyMap<string, StoredBytes> = new Map();
  /** Bytes since the last measurement, of owners with a quota of stored bytes. */
  readonly #since = new StoredSince();
  #measuring: Measuring | null = null;
  #measuredAtMs = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: QuotaDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'quotas', tick: () => this.tick(), maxWaitMs: LIMITS.quotasReadMs }, deps);
  }

  /** Reads all quotas. To be called before any check. */
  async read(): Promise<void> {
    const { store, clock } = this.#deps;
    const [quotas, stored] = await Promise.all([store.listQuotas(), store.storedBytes()]);
    this.#take(quotas);
    const measuredAtMs = Math.max(0, ...[...stored.values()].map((one) => one.measuredAtMs));
    const nowMs = clock.nowMs();
    this.#since.turnBack(nowMs);
    // What a clock that was set back since tells of says nothing of what came after it.
    if (!isAhead(measuredAtMs, nowMs)) this.#since.forgetUntil(measuredAtMs);
    [this.#stored, this.#measuredAtMs, this.#readAtMs] = [stored, measuredAtMs, nowMs];
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  of(ownerId: string): Quotas {
    return this.#quotas.get(ownerId) ?? NO_QUOTAS;
  }

  /** Returns the quotas of an owner for runs. The hot path: called for every run. */
  forRuns(ownerId: string): Quotas & { readonly isFull: boolean } {
    const found = this.#quotas.get(ownerId);
    return found === undefined ? UNBOUNDED : { ...found, isFull: this.isFull(ownerId) };
  }

  /** Throws `Refusal` (429). */
  takeRequest(ownerId: string): void {
    const rate = this.#rates.get(ownerId);
    if (rate === undefined) return;
    const retryAfterS = rate.take(this.#deps.clock.nowMs());
    if (retryAfterS === 0) return;
    throw new Refusal(
      'rate_limited',
      `The quota of ${rate.perSecond} requests per second is used up; wait, or ask the operator of this server for more`,
      { retryAfterS },
    );
  }

  /** Throws `Refusal` (429) when the owner may store nothing more. */
  takeStored(ownerId: string, bytes: number): void {
    if (!this.isFull(ownerId)) {
      if (this.of(ownerId).storedBytes !== null) this.#since.add(ownerId, bytes, this.#deps.clock.nowMs());
      return;
    }
    const { storedBytes } = this.of(ownerId);
    throw new Refusal(
      'rate_limited',
      `The quota of ${storedBytes} stored bytes is used up (${this.#bytesOf(ownerId)}); delete something, wait until old events are gone, or ask the operator of this server for more`,
      { retryAfterS: STORED_RETRY_S },
    );
  }

  isFull(ownerId: string): boolean {
    const { storedBytes } = this.of(ownerId);
    return storedBytes !== null && this.#bytesOf(ownerId) >= storedBytes;
  }

  /** Throws `Refusal` when the owner does not exist. `check` refuses by the quotas before the change. */
  async set(ownerId: string, change: Partial<Quotas>, check?: (before: Quotas) => void): Promise<void> {
    const quotas = await this.#deps.store.setQuotas(ownerId, change, check);
    if (!quotas) throw noOwner(ownerId);
    this.#take(new Map([...this.#quotas, [ownerId, quotas]]));
  }

  /** Returns the store's quotas, and the use at this node. Throws `Refusal` when the owner does not exist. */
  async show(ownerId: string): Promise<{ limits: Quotas; use: QuotaUse }> {
    const { store, clock, runnerUse } = this.#deps;
    if (!(await store.getOwner(ownerId))) throw noOwner(ownerId);
    await this.read();
    const { processes, cpuMs } = runnerUse(ownerId);
    const rate = this.#rates.get(ownerId);
    const stored = this.#measuredAtMs === 0 ? null : this.#measuredAtMs;
    return {
      limits: this.of(ownerId),
      use: {
        processes,
        cpuSecondsPerMinute: Math.round(cpuMs / 100) / 10,
        requestsPerSecond: rate === undefined ? null : rate.lastSecond(clock.nowMs()),
        storedBytes: stored === null ? null : this.#bytesOf(ownerId),
        storedBytesAtMs: stored,
      },
    };
  }

  /** Makes one bounded step. */
  async tick(): Promise<number> {
    const { clock } = this.#deps;
    if (this.#measuring === null || clock.nowMs() - this.#readAtMs >= LIMITS.quotasReadMs) await this.read();
    const isAsked = [...this.#quotas.values()].some(({ storedBytes }) => storedBytes !== null);
    const everyMs = isAsked ? LIMITS.measuredMs : LIMITS.measuredUnaskedMs;
    const nowMs = clock.nowMs();
    const isDue = nowMs - this.#measuredAtMs >= everyMs || isAhead(this.#measuredAtMs, nowMs);
    if (this.#measuring === null && isDue) {
      this.#measuring = { place: MEASURING_BEGINS, byOwner: new Map(), beganAtMs: nowMs };
    }
    if (this.#measuring === null) return LIMITS.quotasReadMs;
    await this.#measure(this.#measuring);
    return this.#measuring === null ? LIMITS.quotasReadMs : LIMITS.measuringPauseMs;
  }

  async #measure({ place, byOwner, beganAtMs }: Measuring): Promise<void> {
    const { store } = this.#deps;
    const { measured, next } = await store.measureBytes(place);
    for (const { ownerId, bytes } of measured) byOwner.set(ownerId, (byOwner.get(ownerId) ?? 0) + bytes);
    this.#measuring = next === null ? null : { place: next, byOwner, beganAtMs };
    if (next !== null) return;
    await store.keepMeasured(
      [...byOwner].map(([ownerId, bytes]) => ({ ownerId, bytes })),
      beganAtMs,
    );
    await this.read();
  }

  #take(quotas: ReadonlyMap<string, Quotas>): void {
    this.#quotas = quotas;
    const nowMs = this.#deps.clock.nowMs();
    for (const ownerId of this.#rates.keys()) if (!quotas.has(ownerId)) this.#rates.delete(ownerId);
    for (const [ownerId, { requestsPerSecond }] of quotas) {
      if (requestsPerSecond === null) this.#rates.delete(ownerId);
      else if (this.#rates.get(ownerId)?.perSecond !== requestsPerSecond) {
        this.#rates.set(ownerId, new RequestRate(requestsPerSecond, nowMs));
      }
    }
  }

  #bytesOf(ownerId: string): number {
    return (this.#stored.get(ownerId)?.bytes ?? 0) + this.#since.bytesOf(ownerId);
  }
}

/** Returns whether the clock was set back since. Nodes know the database's clock within what the network takes. */
const isAhead = (atMs: number, nowMs: number): boolean => atMs - nowMs > CLOCK_LIMITS.toleranceMs;

function noOwner(ownerId: string): Refusal {
  return new Refusal('not_found', `there is no owner ${ownerId}`);
}
