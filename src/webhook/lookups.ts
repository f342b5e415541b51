// Lookups of names for deliveries, a few at a time.
//
// Each lookup occupies a thread of libuv's pool until the name servers have answered, or were asked several times in vain,
// which takes 10 to 30 s; nothing ends it earlier. The pool has 16 threads for lookups (server/thread-pool.ts): 16 names whose
// servers do not answer would hold up every new connection of all owners. So a name that was slow is looked up next to
// other slow names alone, and of the places for all other names one owner gets half. Four threads are left for the
// connections of code (tunnel.ts).
//
// A lookup whose delivery has given up is made nevertheless: a name that answers again is fast from then on. (Rejected:
// c-ares, which needs no threads. It does not read what the system says of names: hosts files, modules of NSS.)

import { SECOND_MS } from '../domain/limits.ts';
import type { ResolveName } from './names.ts';

type Found = ReturnType<ResolveName>;

interface AskedName {
  readonly name: string;
  readonly ownerId: string;
  readonly start: () => Promise<void>;
  readonly drop: () => void;
}

interface LookupQueue {
  readonly places: number;
  readonly placesPerOwner: number;
  readonly waiting: AskedName[];
  readonly underWay: AskedName[];
}

/** A name whose last lookup took longer is slow. */
const SLOW_MS = SECOND_MS;
const SLOW_NAMES = 10_000;
/** More than deliveries of one owner wait for at a time; those beyond have given up. */
const WAITING_PER_OWNER = 512;

export class Lookups {
  readonly #lookup: ResolveName;
  readonly #nowMs: () => number;
  /** By name: all deliveries share a lookup that is under way. */
  readonly #underWay = new Map<string, Found>();
  /** By owner and name, until they are over: what waits for one owner's places holds up no other owner. */
  readonly #asked = new Map<string, Found>();
  /** The last one was found out last. */
  readonly #slowNames = new Set<string>();
  readonly #fast: LookupQueue = { places: 8, placesPerOwner: 4, waiting: [], underWay: [] };
  readonly #slow: LookupQueue = { places: 4, placesPerOwner: 4, waiting: [], underWay: [] };

  /** `nowMs`: of a monotonic clock. */
  constructor(lookup: ResolveName, nowMs: () => number = () => performance.now()) {
    this.#lookup = lookup;
    this.#nowMs = nowMs;
  }

  /** Looks up a name for a delivery of the owner. */
  find(name: string, ownerId: string): Found {
    const key = `${ownerId} ${name}`;
    const known = this.#underWay.get(name) ?? this.#asked.get(key);
    if (known) return known;
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<Found>>();
    const queue = this.#slowNames.has(name) ? this.#slow : this.#fast;
    const drop = (): void => {
      this.#asked.delete(key);
      reject(new Error('too many names are waiting to be looked up'));
    };
    const start = async (): Promise<void> => {
      this.#underWay.set(name, promise);
      try {
        resolve(await this.#lookup(name));
      } catch (error) {
        reject(error);
      }
      this.#underWay.delete(name);
      this.#asked.delete(key);
    };
    this.#asked.set(key, promise);
    queue.waiting.push({ name, ownerId, start, drop });
    dropOldest(queue, ownerId);
    this.#startNext(queue);
    return promise;
  }

  #startNext(queue: LookupQueue): void {
    for (;;) {
      const next = takeNext(queue);
      if (!next) return;
      const startedMs = this.#nowMs();
      void next.start().then(() => {
        queue.underWay.splice(queue.underWay.indexOf(next), 1);
        this.#learn(next.name, this.#nowMs() - startedMs);
        this.#startNext(queue);
      });
    }
  }

  #learn(name: string, tookMs: number): void {
    this.#slowNames.delete(name);
    if (tookMs <= SLOW_MS) return;
    const [oldest = ''] = this.#slowNames.size < SLOW_NAMES ? [] : this.#slowNames;
    this.#slowNames.delete(oldest);
    this.#slowNames.add(name);
  }
}

/** Moves the first one that has a place to those under way. */
function takeNext({ places, placesPerOwner, waiting, underWay }: LookupQueue): AskedName | undefined {
  if (underWay.length >= places) return undefined;
  const at = waiting.findIndex(({ ownerId }) => countOf(underWay, ownerId) < placesPerOwner);
  const [next] = at < 0 ? [] : waiting.splice(at, 1);
  if (next) underWay.push(next);
  return next;
}

function dropOldest({ waiting }: LookupQueue, ownerId: string): void {
  if (waiting.length <= WAITING_PER_OWNER || countOf(waiting, ownerId) <= WAITING_PER_OWNER) return;
  const at = waiting.findIndex((one) => one.ownerId === ownerId);
  waiting.splice(at, 1)[0]?.drop();
}

function countOf(asked: readonly AskedName[], ownerId: string): number {
  return asked.reduce((count, one) => count + (one.ownerId === ownerId ? 1 : 0), 0);
}
