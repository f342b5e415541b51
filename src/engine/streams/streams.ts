// Streams: what emitters emit, sent to readers as it comes.
//
// - The store is the truth. A wake-up says only that something was emitted; who has emitted is asked once for all readers,
//   and what, once for all readers of a channel that are at its head (group.ts).
// - No reader is given an entry beyond the end of the log (StreamStore.logEnd): so the order is that of the entries,
//   and the last id that a reader was given tells all that it has.
// - Nothing waits in memory for a slow reader, and an idle one costs neither a timer nor a question (reader.ts).

import { ERRORS } from '../../domain/emission.ts';
import { errorJudge } from '../../domain/errors/error-judge.ts';
import { keptForDays } from '../../domain/errors/retention.ts';
import { NUMBERS_PER_MS } from '../../domain/ids.ts';
import { DAY_MS, LIMITS, MINUTE_MS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { AHEAD, type OpenStream, type StreamAsked, type StreamChannel } from '../../domain/stream.ts';
import type { Clock } from '../../ports.ts';
import type { EmissionRecord } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { announcementOf } from '../../store/contract/streams.ts';
import { StoreUnavailable } from '../../store/contract/unavailable.ts';
import { limitTime } from '../../time-limit.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import type { WakeUps } from '../wake-ups.ts';
import { Group, type ReadFrames } from './group.ts';
import { Permits } from './permits.ts';
import { Reader } from './reader.ts';

/** How what is sent is written down. */
export interface Frames {
  /** Returns the first frame of a stream. `at`: where the stream begins, for a reader that is lost before the first record. */
  hello(at: number, gapAfter: number | null): Uint8Array;
  of(records: readonly EmissionRecord[]): Uint8Array;
  readonly quiet: Uint8Array;
}

export interface StreamsDeps extends LoopPorts {
  readonly store: Store;
  readonly frames: Frames;
  readonly clock: Clock;
  readonly wake: WakeUps;
  readonly retentionDays: number;
}

/** While a stream is open; emissions of other processes are mostly announced. */
const POLL_MS = SECOND_MS;
/** What is emitted at the same time is looked for together. */
const GATHER_MS = 2;
/** What was emitted in the very millisecond in which it was looked for shows with the second look. */
const LOOKS = 2;
const LOOK_AGAIN_MS = 20;
/** Beyond so much log, each group reads the log itself: which emitters have emitted is not asked any more. */
const MAX_LOG = MINUTE_MS * NUMBERS_PER_MS;
const READS_AT_ONCE = 8;
/** How long reads are waited for before it is looked again who has emitted. */
const READS_MS = 20;
/** A comment goes to each reader at least every 15 s: to one in so many with each round. */
const SHARES = 15;
const ROUND_MS = 900;

export class Streams {
  readonly #deps: StreamsDeps;
  readonly #groups = new Map<string, Group>();
  readonly #readers = new Set<Reader>();
  readonly #shares: Set<Reader>[] = Array.from({ length: SHARES }, () => new Set());
  readonly #permits = new Permits(READS_AT_ONCE);
  readonly #news: Loop;
  readonly #quiet: Loop;
  #round = 0;
  #looks = 0;
  /** As far as it is known who has emitted; null: nothing is known. */
  #knownTo: number | null = null;
  #opening = 0;
  #isStopped = false;
  #cut = 0;

  constructor(deps: StreamsDeps) {
    this.#deps = deps;
    this.#news = new Loop({ name: 'streams', tick: () => this.tickNews(), maxWaitMs: POLL_MS }, deps);
    this.#quiet = new Loop({ name: 'streams.quiet', tick: () => this.tickQuiet(), maxWaitMs: ROUND_MS }, deps);
    deps.wake.subscribe('emissions', () => this.#onEmission());
    deps.wake.subscribe('keys', () => this.#onKeys());
  }

  start(): void {
    this.#news.start();
    this.#quiet.start();
  }

  /** Ends all of them in order: the readers come again, and go on elsewhere. May be called twice. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const reader of [...this.#readers]) reader.end();
    await Promise.all([this.#news.stop(), this.#quiet.stop()]);
  }

  #onEmission(): void {
    if (this.#readers.size === 0) return;
    this.#looks = LOOKS;
    this.#news.wake(GATHER_MS);
  }

  /** Ends the streams of keys and sessions that are over. A wake-up that is lost costs a minute: `Reader.quiet` asks, too. */
  #onKeys(): void {
    for (const reader of this.#readers) reader.judge().catch(() => reader.end());
  }

  get open(): number {
    return this.#readers.size;
  }

  /** Returns how many readers were cut off since the start. */
  get cut(): number {
    return this.#cut;
  }

  /** Throws `Refusal`: for an entry that was never given, and when there are too many. */
  async openStream(asked: StreamAsked): Promise<OpenStream> {
    if (this.#isStopped) throw new Refusal('unavailable', 'This process is stopping; try again');
    if (this.#readers.size + this.#opening >= LIMITS.streams) {
      throw new Refusal('unavailable', `This process has ${LIMITS.streams} streams open already; try again later`);
    }
    this.#opening++;
    try {
      return await this.#open(asked);
    } finally {
      this.#opening--;
    }
  }

  async #open({ channel, after, isAllowed }: StreamAsked): Promise<OpenStream> {
    const end = await this.#deps.store.logEnd();
    if (after !== null && after > end + AHEAD) throw neverGiven();
    const hasGap = after !== null && (await this.#mayMissSome(channel, after));
    const group = this.#groupOf(channel, end);
    // What was emitted before goes to the readers that are here already, and not to the new one.
    await group.advance(end);
    if (this.#isStopped) throw new Refusal('unavailable', 'This process is stopping; try again');
    // While that was read the group may have been left by its last reader.
    const now = this.#groupOf(channel, group.head);
    const reader: Reader = new Reader({
      group: now,
      cursor: after ?? end,
      hello: this.#deps.frames.hello(after ?? end, hasGap ? after : null),
      isAllowed,
      onClose: () => this.#forget(now, reader),
      onCut: () => {
        this.#cut++;
      },
    });
    this.#readers.add(reader);
    this.#shares[(this.#round + SHARES - 1) % SHARES]?.add(reader);
    return reader;
  }

  /** Sends what is new. Returns how long to wait. */
  async tickNews(): Promise<number> {
    if (this.#readers.size === 0) {
      this.#knownTo = null;
      return Number.POSITIVE_INFINITY;
    }
    this.#looks--;
    const upTo = await this.#deps.store.logEnd();
    const emitters = await this.#whoEmitted(upTo);
    const waiting: Promise<void>[] = [];
    for (const [key, group] of [...this.#groups]) {
      // Left by a stream that could not be opened.
      if (group.members.size === 0 && this.#opening === 0) this.#groups.delete(key);
      if (emitters === null || group.isBehind || emitters.has(announcementOf(group.channel)))
        waiting.push(group.advance(upTo));
      else group.skipTo(upTo);
    }
    this.#knownTo = upTo;
    const reads = Promise.allSettled(waiting);
    // Those that take longer go on by themselves: what comes meanwhile is for other readers, too. One that fails leaves its group behind.
    const done = await inTime(reads, READS_MS);
    if (done === null) void reads.then((late) => this.#reportLate(late));
    for (const one of done ?? []) if (one.status === 'rejected') throw one.reason;
    return this.#looks > 0 ? LOOK_AGAIN_MS : Number.POSITIVE_INFINITY;
  }

  /** Logs why reads failed that were not waited for. That storage is away, the next look at the log says. */
  #reportLate(reads: readonly PromiseSettledResult<void>[]): void {
    const failed = reads.find((one) => one.status === 'rejected' && !(one.reason instanceof StoreUnavailable));
    if (failed?.status === 'rejected') this.#deps.log.error({ err: failed.reason }, 'a read for streams failed');
  }

  /** Sends a sign of life to one share of the readers. Returns how long to wait. */
  async tickQuiet(): Promise<number> {
    const share = this.#shares[this.#round % SHARES] as Set<Reader>;
    this.#round++;
    await Promise.all([...share].map((reader) => reader.quiet(this.#deps.frames.quiet).catch(() => reader.end())));
    return Number.POSITIVE_INFINITY;
  }

  /** Returns null when it is not known: each group has to read. */
  async #whoEmitted(upTo: number): Promise<ReadonlySet<string> | null> {
    const after = this.#knownTo;
    if (after === null || upTo - after > MAX_LOG) return null;
    return upTo > after ? this.#deps.store.emittersAfter({ after, upTo }) : new Set();
  }

  /**
   * Returns whether something behind that entry may be gone. Retention takes what is old, but none of the newest that lists
   * show: so when fewer than those are there behind it, all of them are.
   */
  async #mayMissSome(channel: StreamChannel, after: number): Promise<boolean> {
    const { store, clock, retentionDays } = this.#deps;
    const nowMs = clock.nowMs();
    const before = (nowMs - retentionDays * DAY_MS) * NUMBERS_PER_MS;
    const days = await this.#daysOfErrors(channel);
    const keptFrom = keptForDays({ days }, { before, nowMs });
    const isOld = after < keptFrom || (await store.getEmission(channel.ownerId, after)) === undefined;
    if (!isOld) return false;
    const stretch = { after, upTo: Number.MAX_SAFE_INTEGER };
    return (await store.emissionsAfter(channel, stretch, false)).length >= LIMITS.listedPerEmitterAndName;
  }

  /** Returns how long the workflow of a channel keeps its errors; null: as everything is kept. */
  async #daysOfErrors({ ownerId, emitterId, name }: StreamChannel): Promise<number | null> {
    if (name !== ERRORS) return null;
    const workflow = await this.#deps.store.getWorkflow(ownerId, emitterId);
    return workflow?.settings.errorRetention?.days ?? null;
  }

  #groupOf(channel: StreamChannel, end: number): Group {
    const key = keyOf(channel);
    const known = this.#groups.get(key);
    if (known) return known;
    // Up to where emitters were looked for they are not looked for again: the reader itself reads what came since `end`.
    const group = new Group(channel, Math.max(end, this.#knownTo ?? end), this.#read);
    this.#groups.set(key, group);
    return group;
  }

  #forget(group: Group, reader: Reader): void {
    this.#readers.delete(reader);
    for (const share of this.#shares) share.delete(reader);
    if (group.members.size === 0) this.#groups.delete(keyOf(group.channel));
  }

  readonly #read: ReadFrames = (channel, stretch) =>
    this.#permits.with(channel.ownerId, async () => {
      // All readers are gone.
      if (this.#isStopped) return null;
      const records = await this.#deps.store.emissionsAfter(channel, stretch, true);
      // A store that answers without waiting would keep all other work waiting while many read much.
      await new Promise((resolve) => setImmediate(resolve));
      const last = records.at(-1);
      if (!last) return null;
      const shown = channel.filter ? records.filter(errorJudge(channel.filter)) : records;
      return { bytes: this.#deps.frames.of(shown), last: last.entry };
    });
}

/** Returns what the promise resolves with; null when it takes longer. */
async function inTime<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let endTime = (): void => undefined;
  const time = new Promise<null>((resolve) => {
    endTime = limitTime(ms, () => resolve(null));
  });
  return Promise.race([promise, time]).finally(endTime);
}

function keyOf({ ownerId, emitterId, name, filter }: StreamChannel): string {
  return JSON.stringify([ownerId, emitterId, name, filter]);
}

function neverGiven(): Refusal {
  const message = 'is the id of no record that was given so far';
  return new Refusal('malformed', `Last-Event-ID ${message}`, { errors: [{ parameter: 'Last-Event-ID', message }] });
}
