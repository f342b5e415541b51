// Streams over a log in memory, and readers that tell what they got.

import { text, utf8 } from '../../../../src/domain/bytes.ts';
import { NUMBERS_PER_MS } from '../../../../src/domain/ids.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { Workflow } from '../../../../src/domain/resource.ts';
import type { OpenStream, StreamSink } from '../../../../src/domain/stream.ts';
import { Streams } from '../../../../src/engine/streams/streams.ts';
import { WakeUps } from '../../../../src/engine/wake-ups.ts';
import type { EmissionRecord } from '../../../../src/store/contract/records.ts';
import type { Store } from '../../../../src/store/contract/store.ts';
import type { LoggedRecord } from '../../../../src/store/contract/streams.ts';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';

export const NOW_MS = 1_782_000_000_000;
export const FIRST = NOW_MS * NUMBERS_PER_MS;
/** One share of the readers with each: so all of them have their turn. */
export const ROUND = 15;

export class Log {
  readonly records: LoggedRecord[] = [];
  end = FIRST;
  reads = 0;
  isAway = false;
  /** How many days the workflows keep their errors; null: as everything. */
  daysOfErrors: number | null = null;
  /** Called when an emission is looked up: a database answers a while later. */
  meanwhile: () => Promise<unknown> = async () => undefined;
  /** Called with each read of what was emitted. */
  reading: (ownerId: string) => Promise<unknown> = async () => undefined;

  emit(n: number, emitterId = 'dc_1'): void {
    this.end++;
    const rest = { name: '', summary: null, itemId: null, itemTs: null, code: null, groupId: null, ledBy: [] };
    this.records.push({ entry: this.end, emitId: `e${n}`, emitterId, ...rest, body: utf8(String(n)), original: null });
  }

  get store(): Store {
    const inside = (after: number, upTo: number) => this.records.filter((r) => r.entry > after && r.entry <= upTo);
    return {
      logEnd: async () => this.end,
      emissionsAfter: async ({ ownerId, emitterId }, { after, upTo }) => {
        await this.reading(ownerId);
        if (this.isAway) throw new StoreUnavailable('away');
        this.reads++;
        return inside(after, upTo)
          .filter((r) => r.emitterId === emitterId)
          .slice(0, LIMITS.streamRecords);
      },
      emittersAfter: async ({ after, upTo }) => new Set(inside(after, upTo).map((r) => r.emitterId)),
      getWorkflow: async () =>
        ({ settings: { errorRetention: { days: this.daysOfErrors, newest: null } } }) as Workflow,
      getEmission: async (_ownerId, entry) => {
        await this.meanwhile();
        return this.records.find((r) => r.entry === entry);
      },
    } as Partial<Store> as Store;
  }
}

export class Sink implements StreamSink {
  got = '';
  room: number;
  bufferedCount = 0;
  over: 'end' | 'cut' | null = null;

  constructor(room = Number.POSITIVE_INFINITY) {
    this.room = room;
  }

  write(bytes: Uint8Array): boolean {
    this.got += text(bytes);
    this.room--;
    if (this.room <= 0) this.bufferedCount += bytes.byteLength;
    return this.room > 0;
  }

  bufferedBytes(): number {
    return this.bufferedCount;
  }

  end(): void {
    this.over = 'end';
  }

  cut(): void {
    this.over = 'cut';
  }
}

interface Stage {
  readonly log: Log;
  readonly streams: Streams;
  readonly wake: WakeUps;
  /** What was logged as an error. */
  readonly failures: readonly object[];
  open(
    sink: Sink,
    more?: { after?: number; emitterId?: string; name?: string; isAllowed?: () => boolean },
  ): Promise<OpenStream>;
  quiet(rounds: number): Promise<void>;
}

export function stage(): Stage {
  const log = new Log();
  const frames = {
    hello: (_at: number, gapAfter: number | null) => utf8(gapAfter === null ? 'hello ' : 'gap '),
    of: (records: readonly EmissionRecord[]) =>
      utf8(records.map(({ body }) => `${text(body as Uint8Array)} `).join('')),
    quiet: utf8('. '),
  };
  const failures: object[] = [];
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: (fields: object) => failures.push(fields) };
  const wake = new WakeUps();
  const streams = new Streams({
    store: log.store,
    frames,
    clock: { nowMs: () => NOW_MS },
    wake,
    random: { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 },
    log: silent,
    retentionDays: 30,
  });
  return {
    log,
    streams,
    wake,
    failures,
    open: async (sink, { after, emitterId = 'dc_1', name = '', isAllowed = () => true } = {}) => {
      const channel = { ownerId: 'u_1', emitterId, name };
      const opened = await streams.openStream({ channel, after: after ?? null, isAllowed: async () => isAllowed() });
      opened.begin(sink);
      await settled();
      return opened;
    },
    quiet: async (rounds) => {
      for (let n = 0; n < rounds * ROUND; n++) await streams.tickQuiet();
    },
  };
}

/** What was begun and waits for nothing outside is over. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve));
}
