// Lookups of names that users choose, a few at a time: for deliveries, the connections of code, and checks of targets.
//
// Each lookup occupies a thread of libuv's pool until the name servers have answered, or were asked several times in vain,
// which takes 10 to 30 s; nothing ends it earlier. The pool has 26 threads for lookups (server/thread-pool.ts): 26 names whose
// servers do not answer would hold up every new connection of all owners. So a name that was slow is looked up next to
// other slow names alone, and one owner gets half of the places, for slow names and for all others. Deliveries, code and
// checks have places of their own, which together are as many as the threads.
//
// A lookup whose caller has given up is made nevertheless: a name that answers again is fast from then on. (Rejected:
// c-ares, which needs no threads. It does not read what the system says of names: hosts files, modules of NSS.)

import { SECOND_MS } from '../domain/limits.ts';
import { countOf, nextInTurn } from '../domain/owners/turns.ts';
import type { ResolveName } from './names.ts';

type Found = ReturnType<ResolveName>;

interface AskedName {
  readonly name: string;
  readonly ownerId: string;
  readonly start: () => Promise<void>;
  readonly drop: () => void;
}

/** How many lookups are made at a time; of each number one owner gets half. */
interface LookupPlaces {
  readonly fast: number;
  readonly slow: number;
}

export const PLACES = {
  deliveries: { fast: 8, slow: 4 },
  /** All processes together. */
  code: { fast: 6, slow: 2 },
  checks: { fast: 4, slow: 2 },
} as const satisfies Readonly<Record<string, LookupPlaces>>;

interface LookupOptions {
  readonly places: LookupPlaces;
  /** Of a monotonic clock. */
  readonly nowMs?: () => number;
}

interface LookupQueue {
  readonly places: number;
  readonly waiting: AskedName[];
  readonly underWay: AskedName[];
}

/** A name whose last lookup took longer is slow. */
const SLOW_MS = SECOND_MS;
const SLOW_NAMES = 10_000;
/** More than the deliveries of one owner wait for at a time; those beyond have given up. */
const WAITING_PER_OWNER = 512;

export class Lookups {
  readonly #lookup: ResolveName;
  readonly #nowMs: () => number;
  /** By name: all callers share a lookup that is under way. */
  readonly #underWay = new Map<string, Found>();
  /** By owner and name, until they are over: what waits for one owner's places holds up no other owner. */
  readonly #asked = new Map<string, Found>();
  /** The last one was found out last. */
  readonly #slowNames = new Set<string>();
  readonly #fast: LookupQueue;
  readonly #slow: LookupQueue;

  constructor(lookup: ResolveName, { places, nowMs = () => performance.now() }: LookupOptions) {
    this.#lookup = lookup;
    this.#nowMs = nowMs;
    this.#fast = { places: places.fast, waiting: [], underWay: [] };
    this.#slow = { places: places.slow, waiting: [], underWay: [] };
  }

  /** Looks up a name for an owner. */
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

/** Moves the first name of the owner with the fewest under way to those under way, if there is a place for it. */
function takeNext({ places, waiting, underWay }: LookupQueue): AskedName | undefined {
  if (underWay.length >= places) return undefined;
  const first = nextInTurn(waiting, (ownerId) => countOf(underWay, ownerId), places / 2);
  if (first === undefined) return undefined;
  waiting.splice(waiting.indexOf(first), 1);
  underWay.push(first);
  return first;
}

function dropOldest({ waiting }: LookupQueue, ownerId: string): void {
  if (waiting.length <= WAITING_PER_OWNER || countOf(waiting, ownerId) <= WAITING_PER_OWNER) return;
  const at = waiting.findIndex((one) => one.ownerId === ownerId);
  waiting.splice(at, 1)[0]?.drop();
}
