// The reading of an export, page by page.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { concat, utf8 } from '../../../src/domain/bytes.ts';
import { entryOf, NUMBERS_PER_MS, recordId } from '../../../src/domain/ids.ts';
import { exportErrors } from '../../../src/http/routes/log/export-errors.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import type { LoggedRecord } from '../../../src/store/contract/streams.ts';

const FIRST = 1_782_000_000_000 * NUMBERS_PER_MS;
const PAGE = 10;
const BEFORE = utf8('{"original_event":');
const CHANNEL = { ownerId: 'u_1', emitterId: 'u_1', name: '$errors' };

function errorWith(n: number, event: Uint8Array = utf8(`{"n": ${n}}`)): LoggedRecord {
  const rest = utf8(`,"original_context":{"id":"e${n}"},"error":{"code":"C${n % 3}","namespace":"step","msg":"no"}}`);
  const head = {
    emitId: `e${n}`,
    emitterId: 'p_1',
    name: '$errors',
    summary: null,
    itemId: null,
    itemTs: null,
    groupId: null,
    ledBy: [],
  };
  const original = { start: BEFORE.byteLength, length: event.byteLength };
  return { entry: FIRST + n, ...head, code: `C${n % 3}`, body: concat([BEFORE, event, rest]), original };
}

function storeOf(records: readonly LoggedRecord[]) {
  const reads: number[] = [];
  const store = {
    logEnd: async () => FIRST + 1_000_000,
    emissionsAfter: async (_channel: unknown, { after, upTo }: { after: number; upTo: number }) => {
      reads.push(after);
      return records.filter(({ entry }) => entry > after && entry <= upTo).slice(0, PAGE);
    },
  } as Partial<Store> as Store;
  return { store, reads };
}

const times = (count: number): LoggedRecord[] => Array.from({ length: count }, (_, n) => errorWith(n));
const linesIn = (bytes: Uint8Array): Record<string, unknown>[] =>
  Buffer.from(bytes)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

async function read(lines: AsyncGenerator<Buffer>): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for await (const bytes of lines) all.push(...linesIn(bytes));
  return all;
}

test('a page is read when the one before was taken', async () => {
  const { store, reads } = storeOf(times(95));
  const lines = exportErrors(store, { channel: CHANNEL, filter: {}, after: null, mayGoOn: async () => true });
  await lines.next();
  await new Promise((resolve) => setImmediate(resolve));
  equal(reads.length, 1);
  await lines.next();
  equal(reads.length, 2);
  await lines.return(undefined);
  equal(reads.length, 2);
});

test('every page is exported once, and the end says so', async () => {
  const { store } = storeOf(times(95));
  const all = await read(exportErrors(store, { channel: CHANNEL, filter: {}, after: null, mayGoOn: async () => true }));
  deepEqual(
    all.slice(0, -1).map(({ id }) => id),
    times(95).map(({ entry }) => recordId(entry)),
  );
  deepEqual(all.at(-1), { end: { complete: true, cursor: recordId(FIRST + 1_000_000), count: 95 } });
});

test('an export that must end says where to go on', async () => {
  const { store } = storeOf(times(95));
  let pages = 0;
  const mayGoOn = async () => ++pages <= 3;
  const first = await read(exportErrors(store, { channel: CHANNEL, filter: { code: 'C1' }, after: null, mayGoOn }));
  const { end } = first.at(-1) as { end: { complete: boolean; cursor: string; count: number } };
  deepEqual([end.complete, end.count], [false, first.length - 1]);
  const after = entryOf(end.cursor) ?? 0;
  equal(after, FIRST + 29);
  const rest = await read(
    exportErrors(store, { channel: CHANNEL, filter: { code: 'C1' }, after, mayGoOn: async () => true }),
  );
  const got = [...first.slice(0, -1), ...rest.slice(0, -1)];
  equal(got.length, times(95).filter(({ code }) => code === 'C1').length);
  ok(got.every(({ error }) => (error as { code: string }).code === 'C1'));
});

test('an event whose bytes are no UTF-8 comes as base64', async () => {
  const bytes = Uint8Array.from([0x22, 0xff, 0x22]);
  const { store } = storeOf([errorWith(0, bytes), errorWith(1)]);
  const [odd, plain] = await read(
    exportErrors(store, { channel: CHANNEL, filter: {}, after: null, mayGoOn: async () => true }),
  );
  deepEqual(Buffer.from(String(odd?.original_event_base64), 'base64'), Buffer.from(bytes));
  equal(odd?.original_event_text, undefined);
  equal(plain?.original_event_text, '{"n": 1}');
});
