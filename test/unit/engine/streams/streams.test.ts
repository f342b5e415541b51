// Streams over a log in memory, round by round.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NUMBERS_PER_MS } from '../../../../src/domain/ids.ts';
import { DAY_MS, LIMITS } from '../../../../src/domain/limits.ts';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import { FIRST, Sink, settled, stage } from './streams-kit.ts';

describe('streams', () => {
  it('give each reader what comes, once', async () => {
    const { log, streams, open } = stage();
    const sink = new Sink();
    log.emit(0);
    await open(sink);
    log.emit(1);
    log.emit(2);
    await streams.tickNews();
    log.emit(3);
    await streams.tickNews();
    await streams.tickNews();
    equal(sink.got, 'hello 1 2 3 ');
  });

  it('read once for a thousand readers', async () => {
    const { log, streams, open } = stage();
    const sinks = await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const sink = new Sink();
        await open(sink);
        return sink;
      }),
    );
    log.reads = 0;
    log.emit(1);
    await streams.tickNews();
    ok(sinks.every(({ got }) => got === 'hello 1 '));
    equal(log.reads, 1);
  });

  it('ask nothing for those who hear nothing', async () => {
    const { log, streams, open } = stage();
    await open(new Sink(), { emitterId: 'dc_2' });
    await streams.tickNews();
    log.reads = 0;
    for (let n = 0; n < 10; n++) {
      log.emit(n);
      await streams.tickNews();
    }
    equal(log.reads, 0);
  });

  it('give a newcomer nothing of before', async () => {
    const { log, streams, open } = stage();
    const [early, late] = [new Sink(), new Sink()];
    await open(early);
    log.emit(1);
    // Nobody has looked since.
    await open(late);
    log.emit(2);
    await streams.tickNews();
    deepEqual([early.got, late.got], ['hello 1 2 ', 'hello 2 ']);
  });

  it('go on behind the entry that is named', async () => {
    const { log, streams, open } = stage();
    for (let n = 1; n <= 2 * LIMITS.streamRecords; n++) log.emit(n);
    const sink = new Sink();
    await open(sink, { after: log.records[4]?.entry as number });
    log.emit(9999);
    await streams.tickNews();
    const numbers = sink.got.split(' ').slice(1, -1).map(Number);
    deepEqual(numbers, [...Array.from({ length: 2 * LIMITS.streamRecords - 5 }, (_, i) => i + 6), 9999]);
  });

  it('wait for the log to come to a reader ahead of it', async () => {
    const { log, streams, open } = stage();
    const sink = new Sink();
    await open(sink, { after: log.end + 2 });
    for (const n of [1, 2, 3]) {
      log.emit(n);
      await streams.tickNews();
      await settled();
    }
    equal(sink.got, 'hello 3 ');
  });

  it('give a reader that was ahead nothing twice, beside another', async () => {
    const { log, streams, open } = stage();
    const [beside, ahead] = [new Sink(), new Sink()];
    await open(beside);
    await open(ahead, { after: log.end + 2 });
    log.emit(1);
    log.emit(2);
    await streams.tickNews();
    log.emit(3);
    await streams.tickNews();
    await settled();
    deepEqual([beside.got, ahead.got], ['hello 1 2 3 ', 'hello 3 ']);
  });

  it('miss nothing that comes while they are opened beside others', async () => {
    const { log, streams, open } = stage();
    await open(new Sink(), { emitterId: 'dc_2' });
    log.emit(1);
    await streams.tickNews();
    log.meanwhile = () => {
      log.emit(2);
      return streams.tickNews();
    };
    const sink = new Sink();
    await open(sink, { after: log.records[0]?.entry as number });
    log.emit(3, 'dc_2');
    await streams.tickNews();
    equal(sink.got, 'hello 2 ');
  });

  it('refuse an entry far ahead of the log', async () => {
    const { log, open } = stage();
    await rejects(open(new Sink(), { after: log.end + DAY_MS * NUMBERS_PER_MS }), /no record that was given/);
  });

  it('read for a slow reader at its own pace', async () => {
    const { log, streams, open } = stage();
    const [slow, quick] = [new Sink(2), new Sink()];
    const reader = await open(slow);
    await open(quick);
    for (const n of [1, 2, 3]) {
      log.emit(n);
      await streams.tickNews();
    }
    equal(quick.got, 'hello 1 2 3 ');
    equal(slow.got, 'hello 1 ');
    slow.room = 10;
    reader.resume();
    await settled();
    equal(slow.got, 'hello 1 2 3 ');
    log.emit(4);
    await streams.tickNews();
    equal(slow.got, 'hello 1 2 3 4 ');
  });

  it('cut off who takes nothing for four rounds', async () => {
    const { log, streams, open, quiet } = stage();
    const sink = new Sink(2);
    await open(sink);
    log.emit(1);
    await streams.tickNews();
    await quiet(3);
    equal(sink.over, null);
    await quiet(1);
    equal(sink.over, 'cut');
    deepEqual([streams.open, streams.cut], [0, 1]);
  });

  it('spare who takes a little', async () => {
    const { log, streams, open, quiet } = stage();
    const sink = new Sink(2);
    await open(sink);
    log.emit(1);
    await streams.tickNews();
    sink.bufferedCount = 1000;
    for (let n = 0; n < 12; n++) {
      sink.bufferedCount -= 10;
      await quiet(1);
    }
    equal(sink.over, null);
  });

  it('give a sign of life with each round', async () => {
    const { open, quiet } = stage();
    const sink = new Sink();
    await open(sink);
    await quiet(3);
    equal(sink.got, 'hello . . . ');
  });

  it('end when the reader may go on no more', async () => {
    const { streams, open, quiet } = stage();
    let isAllowed = true;
    const sink = new Sink();
    await open(sink, { isAllowed: () => isAllowed });
    await quiet(8);
    equal(sink.over, null);
    isAllowed = false;
    await quiet(4);
    equal(sink.over, 'end');
    equal(streams.open, 0);
  });

  it('give nothing to a reader who may go on no more when they begin', async () => {
    const { log, streams } = stage();
    const channel = { ownerId: 'u_1', emitterId: 'dc_1', name: '' };
    for (const isAllowed of [true, false]) {
      const opened = await streams.openStream({ channel, after: FIRST, isAllowed: async () => isAllowed });
      log.emit(1);
      const sink = new Sink();
      opened.begin(sink);
      await settled();
      deepEqual([sink.over, sink.got.startsWith('hello')], isAllowed ? [null, true] : ['end', false]);
      opened.close();
    }
    equal(streams.open, 0);
  });

  it('end before they begin when a key is revoked meanwhile', async () => {
    const { streams, wake } = stage();
    const channel = { ownerId: 'u_1', emitterId: 'dc_1', name: '' };
    const first = Promise.withResolvers<boolean>();
    const answers = [first.promise, Promise.resolve(false)];
    const opened = await streams.openStream({
      channel,
      after: null,
      isAllowed: () => answers.shift() ?? first.promise,
    });
    const sink = new Sink();
    opened.begin(sink);
    wake.notify('keys');
    await settled();
    // What was asked first was answered before the key was revoked.
    first.resolve(true);
    await settled();
    deepEqual([sink.over, sink.got, streams.open], ['end', '', 0]);
  });

  it('end for a slow reader, too, who may go on no more', async () => {
    const { log, streams, open, quiet } = stage();
    let isAllowed = true;
    const sink = new Sink(2);
    const opened = await open(sink, { isAllowed: () => isAllowed });
    const round = async (n: number): Promise<void> => {
      log.emit(n);
      await streams.tickNews();
      // Takes some of it just in time, and is full again.
      sink.room = 2;
      sink.bufferedCount = 0;
      opened.resume();
      await settled();
      await quiet(1);
    };
    for (let n = 0; n < 8; n++) await round(n);
    equal(sink.over, null);
    isAllowed = false;
    for (let n = 8; n < 12; n++) await round(n);
    ok(sink.over !== null);
    equal(streams.open, 0);
  });

  it('read for each owner in its turn, whatever the reads of another one take', async () => {
    const { log, streams, open } = stage();
    for (let n = 0; n < 50; n++) await open(new Sink(), { name: `of many ${n}` });
    const other = new Sink();
    const channel = { ownerId: 'u_2', emitterId: 'dc_2', name: '' };
    (await streams.openStream({ channel, after: null, isAllowed: async () => true })).begin(other);
    await streams.tickNews();
    const held: (() => void)[] = [];
    log.reading = async (ownerId) => {
      if (ownerId === 'u_1') await new Promise<void>((resolve) => held.push(resolve));
    };
    log.emit(1);
    await streams.tickNews();
    log.emit(2, 'dc_2');
    await streams.tickNews();
    equal(other.got, 'hello ', 'as many are read as may be at a time');
    held.shift()?.();
    await settled();
    equal(other.got, 'hello 2 ');
    log.reading = async () => undefined;
    for (const end of held) end();
    await settled();
    await streams.stop();
  });

  it('lose nothing while storage is away', async () => {
    const { log, streams, open } = stage();
    const sink = new Sink();
    await open(sink);
    log.emit(1);
    log.isAway = true;
    await rejects(streams.tickNews(), StoreUnavailable);
    log.isAway = false;
    log.emit(2, 'dc_2');
    await streams.tickNews();
    equal(sink.got, 'hello 1 ');
    equal(sink.over, null);
  });

  it('tell of a gap when something may be gone', async () => {
    const { log, open } = stage();
    const longAgo = FIRST - 40 * DAY_MS * NUMBERS_PER_MS;
    const told = async (after: number): Promise<string> => {
      const sink = new Sink();
      await open(sink, { after });
      return sink.got.split(' ', 1)[0] as string;
    };
    for (let n = 0; n < LIMITS.listedPerEmitterAndName - 1; n++) log.emit(n);
    equal(await told(longAgo), 'hello', 'the newest are always kept, and these are all');
    log.emit(100);
    equal(await told(longAgo), 'gap');
    equal(await told(log.records[0]?.entry as number), 'hello');
    equal(await told(FIRST - 1), 'gap', 'an entry of this month that is not there');
  });

  it('tell of no gap in errors that are kept longer', async () => {
    const { log, open } = stage();
    log.end = FIRST - 40 * DAY_MS * NUMBERS_PER_MS;
    log.emit(0, 'p_1');
    const after = log.end;
    log.end = FIRST;
    for (let n = 0; n < LIMITS.listedPerEmitterAndName; n++) log.emit(n, 'p_1');
    const told = async (name: string): Promise<string> => {
      const sink = new Sink();
      await open(sink, { after, emitterId: 'p_1', name });
      return sink.got.split(' ', 1)[0] as string;
    };
    equal(await told('$errors'), 'gap');
    log.daysOfErrors = 365;
    deepEqual([await told('$errors'), await told('')], ['hello', 'gap']);
  });

  it('end in order when the process stops', async () => {
    const { streams, open } = stage();
    const sinks = [new Sink(), new Sink()];
    for (const sink of sinks) await open(sink);
    await streams.stop();
    deepEqual(
      sinks.map(({ over }) => over),
      ['end', 'end'],
    );
    await rejects(open(new Sink()), /stopping/);
    await streams.stop();
  });

  it('forget who has left before it began', async () => {
    const { streams } = stage();
    const channel = { ownerId: 'u_1', emitterId: 'dc_1', name: '' };
    const opened = await streams.openStream({ channel, after: null, isAllowed: async () => true });
    opened.close();
    opened.close();
    const sink = new Sink();
    opened.begin(sink);
    equal(sink.over, 'end');
    equal(streams.open, 0);
  });
});
