// What every contract test stands on: a clock that is set, ids that count, slots that keep count, and run outcomes.

import { deepEqual, equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { text, utf8 } from '../../src/domain/bytes.ts';
import type { Attempt } from '../../src/domain/delivery/delivery.ts';
import type { AskedRequest } from '../../src/domain/delivery/http-request.ts';
import { MINUTE_MS } from '../../src/domain/limits.ts';
import type { Runnable, Webhook } from '../../src/domain/resource.ts';
import { type Fault, NO_OUTCOME, type Outgoing, type RunOutcome } from '../../src/domain/run/run.ts';
import type { StepResult } from '../../src/domain/run/step-result.ts';
import type { WaitAsked } from '../../src/domain/run/wait.ts';
import type { Clock, Ids, Random } from '../../src/ports.ts';
import type { Page, PageQuery } from '../../src/store/contract/records.ts';
import type { Claims, FreeSlots, Store } from '../../src/store/contract/store.ts';

/** One store on data of its own. Disposing closes it and removes the data. */
export interface Opened extends AsyncDisposable {
  readonly store: Store;
  /** Closes without grace, as far as the backend can, and opens the same data as a new node; the old node is gone. */
  reopen(): Promise<Store>;
  /** All that the store keeps, as it stands on disk or in its tables. */
  raw(): Promise<string>;
  /** SQL behind the store's back, for what would take too long to bring about. */
  execute(sql: string): Promise<void>;
}

/** A process that runs `writeUntilKilled` (crash.ts) on data of its own. */
export interface Writer extends AsyncDisposable {
  /** Calls back with what the process says; resolves when it is dead. */
  readonly messages: (heard: (message: unknown) => void) => Promise<void>;
  /** With SIGKILL. */
  kill(): void;
  /** The same data, once the process is dead. */
  open(options: { clock: Clock }): Promise<Store>;
}

/** What a backend gives the suite. */
export interface Harness {
  open(options: { clock: Clock }): Promise<Opened>;
  startWriter(): Promise<Writer>;
  /** Share of random runs and crowds: 1 in full; less where each transaction takes its time. */
  readonly effort: number;
}

/** So many of `full` random runs, or of a crowd. */
export const shareOf = ({ effort }: Pick<Harness, 'effort'>, full: number): number => Math.ceil(full * effort);

/** Noon of a day, so that a test may go back and forth within it. */
export const START_MS = Date.UTC(2027, 0, 15, 12);

export class TestClock implements Clock {
  ms = START_MS;

  nowMs(): number {
    return this.ms;
  }

  advance(ms: number): void {
    this.ms += ms;
  }
}

/** Ids that count up, in the shape of domain/ids.ts; they sort by the order in which they were made. */
export class CountingIds implements Ids {
  #count = 0;

  next(prefix: string): string {
    this.#count++;
    return prefix + this.#count.toString(10).padStart(16, '0');
  }

  secret(): string {
    this.#count++;
    return `secret-${this.#count}`;
  }
}

export const strongRandom: Random = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
  fraction: () => randomBytes(4).readUInt32BE() / 2 ** 32,
};

interface Tally {
  taken: number;
  dropped: number;
}

/** An admission that takes what it is allowed to, and counts what it took and what was dropped. */
export class CountedSlots implements FreeSlots {
  readonly runs: Tally = { taken: 0, dropped: 0 };
  readonly deliveries: Tally = { taken: 0, dropped: 0 };
  /** What the store said of the listeners that it asked for. */
  readonly asked = new Map<string, Webhook | null>();
  readonly #limit: number;
  readonly #allows: (id: string) => boolean;

  /** `limit` counts runs and deliveries apart. */
  constructor(limit = Number.POSITIVE_INFINITY, allows: (id: string) => boolean = () => true) {
    this.#limit = limit;
    this.#allows = allows;
  }

  takeRun(runnable: Runnable): boolean {
    return this.#take(this.runs, runnable.id);
  }

  dropRun(): void {
    this.runs.dropped++;
  }

  takeDelivery(listenerId: string, webhook: Webhook | null): boolean {
    this.asked.set(listenerId, webhook);
    return this.#take(this.deliveries, listenerId);
  }

  dropDelivery(): void {
    this.deliveries.dropped++;
  }

  /** Each `true` ended in a claim of one of these answers, or in a drop. */
  assertAccountedFor(...answers: readonly Claims[]): void {
    const held = { runs: 0, deliveries: 0 };
    for (const { runs, deliveries } of answers) {
      held.runs += runs.length;
      held.deliveries += deliveries.length;
    }
    equal(this.runs.taken, held.runs + this.runs.dropped, 'runs: taken = claimed + dropped');
    equal(this.deliveries.taken, held.deliveries + this.deliveries.dropped, 'deliveries: taken = claimed + dropped');
  }

  #take(tally: Tally, id: string): boolean {
    if (tally.taken - tally.dropped >= this.#limit || !this.#allows(id)) return false;
    tally.taken++;
    return true;
  }
}

export const all = (): CountedSlots => new CountedSlots();
export const none = (): CountedSlots => new CountedSlots(0);
export const upTo = (limit: number): CountedSlots => new CountedSlots(limit);

export function only<T>(list: readonly T[]): T {
  equal(list.length, 1, `one expected, not ${list.length}`);
  return list[0] as T;
}

export function at<T>(list: readonly T[], index: number): T {
  const item = list.at(index);
  if (item === undefined) throw new Error(`nothing at ${index} of ${list.length}`);
  return item;
}

export function defined<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error(`expected a value, not ${value}`);
  return value;
}

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

export async function timesInTurn<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let i = 0; i < count; i++) made.push(await make(i));
  return made;
}

export const json = (value: unknown): Uint8Array => utf8(JSON.stringify(value));
export const parsed = (bytes: Uint8Array | null): unknown => JSON.parse(text(defined(bytes)));

export const sorted = <T extends string | number>(list: readonly T[]): T[] =>
  [...list].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** The same members, in whatever order. */
export function sameMembers<T extends string | number>(actual: readonly T[], expected: readonly T[]): void {
  deepEqual(sorted(actual), sorted(expected));
}

/** A whole list, page by page from the newest. */
export async function walk<T, Cursor>(
  list: (page: PageQuery<Cursor>) => Promise<Page<T>>,
  cursorOf: (item: T) => Cursor,
  limit = 100,
): Promise<T[]> {
  const found: T[] = [];
  let after: Cursor | undefined;
  while (true) {
    const { items } = await list({ limit, ...(after === undefined ? {} : { after }) });
    found.push(...items);
    if (items.length < limit) return found;
    after = cursorOf(at(items, -1));
  }
}

export function succeeded(more: Partial<RunOutcome> = {}): RunOutcome {
  return { ...NO_OUTCOME, ...more, end: { kind: 'succeeded' } };
}

export const ended = (kind: 'unattributed' | 'cancelled' | 'returned'): RunOutcome => ({
  ...NO_OUTCOME,
  end: { kind },
});

export function failed(code = 'TypeError', more: Partial<RunOutcome> = {}): RunOutcome {
  return { ...NO_OUTCOME, ...more, end: { kind: 'failed', fault: aFault(code) } };
}

/** Of a step that asked for it. */
export function waits(wait: Partial<WaitAsked> = {}, more: Partial<RunOutcome> = {}): RunOutcome {
  const asked = { kind: 'delay', ms: MINUTE_MS, context: null, ...wait } as const;
  return { ...NO_OUTCOME, ...more, end: { kind: 'waiting', wait: asked } };
}

export function aStep(namespace: string, more: Partial<StepResult> = {}): StepResult {
  const times = { startedAtMs: START_MS, tookMs: 3 };
  return { id: `c_${namespace}`, namespace, state: 'succeeded', ...times, exports: {}, ...more };
}

export function aFault(code = 'TypeError'): Fault {
  return {
    code,
    msg: `it went wrong: ${code}`,
    cellId: 'c_0000000000000009',
    namespace: 'code',
    tsMs: START_MS,
    stack: 'at run (code.ts:3:9)',
  };
}

export function emit(name: string, value: unknown = {}, more: Partial<Outgoing> = {}): Outgoing {
  return { kind: 'emit', name, body: json(value), summary: null, itemId: null, itemTs: null, ...more };
}

export function mail(subject: string): Outgoing {
  return { ...emit('', { subject, text: `about ${subject}` }), kind: 'email' };
}

/** What code asks the server to send. */
export function http(url: string, more: Partial<AskedRequest> = {}): Outgoing {
  return { ...emit('', { method: 'POST', url, headers: {}, ...more }), kind: 'http' };
}

export function anAttempt(more: Partial<Attempt> = {}): Attempt {
  return {
    startedAtMs: START_MS,
    tookMs: 12,
    timing: { dnsMs: 1, connectMs: 2, firstByteMs: 9 },
    outcome: 'answered',
    status: 200,
    responseHeaders: { 'content-type': 'text/plain' },
    responseBody: 'ok',
    detail: 'answered 200',
    permanent: false,
    ...more,
  };
}
