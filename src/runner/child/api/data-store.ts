// The API of a data store: asynchronous, durable as soon as a call resolves, shared by all code that uses the store.

import { ConfigurationError, platformError } from '../errors.ts';
import { jsonOf } from '../json-text.ts';
import type { ChildLimits } from '../protocol.ts';
import { quoted, textOf } from '../text.ts';
import type { PendingRequests } from './pending-requests.ts';

type Entry = [key: string, value: unknown];

/** A list that can be awaited as a whole, or iterated page by page. Nothing is read before one of the two. */
interface Listing<T> extends PromiseLike<T[]>, AsyncIterable<T> {
  catch<R>(onRejected: (error: unknown) => R): Promise<T[] | R>;
  finally(onFinally: () => void): Promise<T[]>;
}

/** Returns the API of one data store. Its functions may be destructured and called alone. */
export function dataStore(store: string, requests: Pick<PendingRequests, 'send'>, limits: ChildLimits): object {
  const send = (verb: string, args: object = {}, value?: string): Promise<unknown> =>
    requests.send(verb, { store, ...args }, value);
  const keyOf = (key: unknown): { key: string } => ({ key: checkedKey(key, limits) });
  const keys = (): Listing<string> =>
    listing(
      (after) => send('keys', { after }) as Promise<string[]>,
      (key) => key,
    );
  const entries = (): Listing<Entry> =>
    listing(
      (after) => send('entries', { after }) as Promise<Entry[]>,
      ([key]) => key,
    );
  return {
    get: async (key: unknown) => ((await send('get', keyOf(key))) as unknown[])[0],
    set: async (key: unknown, value: unknown, options?: unknown) => {
      const text = jsonOf(value, { what: 'The value', levels: null });
      if (Buffer.byteLength(text) > limits.recordBytes)
        throw platformError('PayloadTooLarge', `A value in a data store has at most ${limits.recordBytes} bytes`);
      const { ttl } = (options ?? {}) as { ttl?: unknown };
      await send('set', { ...keyOf(key), ttlMs: ttlOf(ttl) }, text);
    },
    setTtl: async (key: unknown, ttl: unknown) => await send('setTtl', { ...keyOf(key), ttlMs: ttlOf(ttl) }),
    has: async (key: unknown) => await send('has', keyOf(key)),
    delete: async (key: unknown) => await send('delete', keyOf(key)),
    clear: async () => {
      await send('clear');
    },
    size: async () => await send('size'),
    keys,
    entries,
    [Symbol.asyncIterator]: () => entries()[Symbol.asyncIterator](),
  };
}

function checkedKey(key: unknown, { recordKeyChars }: ChildLimits): string {
  const text = typeof key === 'number' || typeof key === 'bigint' ? String(key) : key;
  if (typeof text === 'string' && text !== '' && text.length <= recordKeyChars && text.isWellFormed()) return text;
  if (typeof text === 'string' && !text.isWellFormed())
    throw new ConfigurationError(`A key in a data store is valid Unicode, not ${quoted(text)}`);
  const was = typeof text === 'string' && text.length > 80 ? `one of ${text.length}` : textOf(key).slice(0, 80);
  throw new ConfigurationError(`A key in a data store is a string of 1 to ${recordKeyChars} characters, not ${was}`);
}

/** Converts seconds to milliseconds; null: the record does not expire. */
function ttlOf(ttl: unknown): number | null {
  if (ttl === undefined || ttl === null) return null;
  const ms = typeof ttl === 'number' ? Math.round(ttl * 1000) : Number.NaN;
  if (ms >= 1 && Number.isSafeInteger(ms)) return ms;
  throw new ConfigurationError(`A ttl is a number of seconds, more than 0, or null; not ${textOf(ttl).slice(0, 80)}`);
}

function listing<T>(read: (after: string | null) => Promise<T[]>, keyOf: (item: T) => string): Listing<T> {
  async function* walk(): AsyncGenerator<T, undefined, undefined> {
    for (let after: string | null = null; ; ) {
      const page: T[] = await read(after);
      const last = page.at(-1);
      if (last === undefined) return undefined;
      yield* page;
      after = keyOf(last);
    }
  }
  let all: Promise<T[]> | undefined;
  const gather = async (): Promise<T[]> => {
    const items: T[] = [];
    for await (const item of walk()) items.push(item);
    return items;
  };
  const whole = (): Promise<T[]> => {
    all ??= gather();
    return all;
  };
  return {
    // biome-ignore lint/suspicious/noThenProperty: it is there to be awaited
    then: (...handlers) => whole().then(...handlers),
    catch: (onRejected) => whole().catch(onRejected),
    finally: (onFinally) => whole().finally(onFinally),
    [Symbol.asyncIterator]: walk,
  };
}
