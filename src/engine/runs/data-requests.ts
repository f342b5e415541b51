// What code asks of data stores: a run's, or that of a component which is being configured. User code shares the pipe on
// which it asks and could forge any request: so each is bound to the owner and to the stores that the configured props
// name, and every argument is checked.

import type { DataRecord } from '../../domain/data.ts';
import { isResourceId, PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { givenValue, type PropValues } from '../../domain/props.ts';
import type { Wake } from '../../ports.ts';
import type { ChildReply, ChildRequest } from '../../runner/runner.ts';
import type { DataPlace } from '../../store/contract/data.ts';
import type { Store } from '../../store/contract/store.ts';
import { StoreUnavailable } from '../../store/contract/unavailable.ts';
import { dataStoreIdOf } from '../components/references.ts';
import { whyFull } from '../resources/data-stores.ts';

export interface DataReadDeps {
  readonly store: Pick<Store, 'getRecord' | 'hasRecord' | 'getDataStore' | 'listRecordKeys' | 'listRecords'>;
}

export interface DataRequestDeps {
  readonly store: Store;
  readonly wake: Wake;
}

/** Which data stores: the owner's, as far as configured props name them. */
export interface DataAccess {
  readonly ownerId: string;
  readonly storeIds: () => ReadonlySet<string>;
}

export type AnswerRequest = (request: ChildRequest) => Promise<ChildReply>;

/** Why a request has no answer. */
class Unanswerable extends Error {
  override readonly name: 'ConfigurationError' | 'DataStoreError';

  constructor(name: Unanswerable['name'], message: string) {
    super(message);
    this.name = name;
  }
}

/** The answer, as JSON text. */
type DataCall<Deps> = (deps: Deps, place: DataPlace, request: ChildRequest) => Promise<string>;

const READS: Readonly<Record<string, DataCall<DataReadDeps>>> = {
  get: async ({ store }, place, { args }) => {
    const { record } = found(await store.getRecord(place, keyIn(args)), place);
    return record ? `[${record.value}]` : '[]';
  },
  has: async ({ store }, place, { args }) => String(found(await store.hasRecord(place, keyIn(args)), place)),
  size: async ({ store }, place) => String(found(await store.getDataStore(place.ownerId, place.storeId), place).size),
  keys: async ({ store }, place, { args }) =>
    JSON.stringify(found(await store.listRecordKeys(place, afterIn(args)), place)),
  entries: async ({ store }, place, { args }) => {
    const after = afterIn(args);
    const page = { limit: LIMITS.keysPerPage, ...(after === null ? {} : { after }) };
    const { items } = found(await store.listRecords(place, page), place);
    return `[${items.map(entryOf).join()}]`;
  },
};

const WRITES: Readonly<Record<string, DataCall<DataRequestDeps>>> = {
  set: async ({ store }, place, { args, value }) => {
    if (value === null || Buffer.byteLength(value) > LIMITS.recordBytes) throw malformed();
    const answer = found(await store.setRecord(place, { key: keyIn(args), value, ttlMs: ttlIn(args) }), place);
    if ('full' in answer) throw new Unanswerable('DataStoreError', whyFull(place.storeId, answer));
    return 'null';
  },
  setTtl: async ({ store }, place, { args }) => {
    const { record } = found(await store.expireRecord(place, keyIn(args), ttlIn(args)), place);
    return String(record !== null);
  },
  delete: async ({ store }, place, { args }) => {
    const { record } = found(await store.deleteRecord(place, keyIn(args)), place);
    return String(record !== null);
  },
  clear: async ({ store, wake }, place) => {
    found(await store.clearRecords(place), place);
    wake.notify('deletions');
    return 'null';
  },
};

/** Returns what answers the requests of one run. It rejects for bugs alone. */
export function answerData(deps: DataRequestDeps, access: DataAccess): AnswerRequest {
  return answering(access, deps, deps);
}

/**
 * Returns what answers the requests of `options` and `additionalProps`: reads alone, since a write would last although
 * nothing has been deployed. It rejects for bugs alone.
 */
export function answerReads(deps: DataReadDeps, access: DataAccess): AnswerRequest {
  return answering(access, deps, null);
}

/** Returns the functions that answer the requests of code. `forWrites`: null refuses them. */
function answering(access: DataAccess, forReads: DataReadDeps, forWrites: DataRequestDeps | null): AnswerRequest {
  // Most runs ask nothing.
  let order: RequestOrder | undefined;
  let storeIds: ReadonlySet<string> | undefined;
  return async (request) => {
    try {
      const { store: storeId } = request.args;
      const read = ownOf(READS, request.verb);
      const write = ownOf(WRITES, request.verb);
      if (!(read || write) || typeof storeId !== 'string') throw malformed();
      storeIds ??= access.storeIds();
      if (!storeIds.has(storeId)) {
        throw new Unanswerable('ConfigurationError', `no configured prop names the data store ${storeId.slice(0, 40)}`);
      }
      const place = { ownerId: access.ownerId, storeId };
      order ??= new RequestOrder();
      if (read) return { ok: true, json: await order.take(true, () => read(forReads, place, request)) };
      if (!write || forWrites === null) throw new Unanswerable('ConfigurationError', READ_ONLY);
      return { ok: true, json: await order.take(false, () => write(forWrites, place, request)) };
    } catch (error) {
      return { ok: false, ...reasonOf(error) };
    }
  };
}

const READ_ONLY = '`options` and `additionalProps` may read data stores, not write them: `run` and hooks may';

function ownOf<T>(all: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/**
 * The order of a run's requests, as far as it can be seen: reads go on together, and so do writes, which the store does
 * in the order in which it is asked; between the two, one waits for the other. (Rejected: one at a time. A thousand
 * writes, each with a commit of its own, took 12 s on a busy disk.)
 */
class RequestOrder {
  /** What those that come now wait for, and what all of them have come to their end with. */
  #before: Promise<void> = Promise.resolve();
  #now: Promise<void> = Promise.resolve();
  #isReading = true;

  take<T>(isRead: boolean, work: () => Promise<T>): Promise<T> {
    if (isRead !== this.#isReading) this.#before = this.#now;
    this.#isReading = isRead;
    const done = this.#before.then(work);
    const settled = done.then(ignore, ignore);
    this.#now = this.#now.then(() => settled);
    return done;
  }
}

/** Returns the data stores that props name. */
export function dataStoresIn(propsOfAll: readonly PropValues[]): ReadonlySet<string> {
  const values = propsOfAll.flatMap((props) => Object.values(props));
  const ids = values.map((value) => dataStoreIdOf(givenValue({ type: 'data_store' }, value)));
  return new Set(ids.filter((id) => id !== null && isResourceId(id, PREFIX.dataStore)) as string[]);
}

function ignore(): void {}

function reasonOf(error: unknown): { name: string; message: string } {
  if (error instanceof Unanswerable) return { name: error.name, message: error.message };
  if (!(error instanceof StoreUnavailable)) throw error;
  const outcome = error.mayBeWritten ? 'whether it was written is not known' : 'nothing was read or written';
  return { name: 'DataStoreError', message: `the data store cannot be reached now: ${outcome}` };
}

function found<T>(answer: T | undefined, { storeId }: DataPlace): T {
  if (answer !== undefined) return answer;
  throw new Unanswerable('ConfigurationError', `the data store ${storeId} is not there any more`);
}

type Args = ChildRequest['args'];

function keyIn({ key }: Args): string {
  if (typeof key !== 'string' || !isKey(key)) throw malformed();
  return key;
}

function afterIn({ after }: Args): string | null {
  if (after === null || after === undefined) return null;
  return keyIn({ key: after });
}

function isKey(key: string): boolean {
  return key !== '' && key.length <= LIMITS.recordKeyChars && key.isWellFormed();
}

function ttlIn({ ttlMs }: Args): number | null {
  if (ttlMs === null || ttlMs === undefined) return null;
  if (!Number.isSafeInteger(ttlMs) || (ttlMs as number) < 1) throw malformed();
  if ((ttlMs as number) <= LIMITS.maxRecordTtlMs) return ttlMs as number;
  throw new Unanswerable('ConfigurationError', `a ttl is at most ${LIMITS.maxRecordTtlMs / 1000} seconds`);
}

function malformed(): Unanswerable {
  return new Unanswerable('ConfigurationError', 'this is no request that data stores answer');
}

function entryOf({ key, value }: DataRecord): string {
  return `[${JSON.stringify(key)},${value}]`;
}
