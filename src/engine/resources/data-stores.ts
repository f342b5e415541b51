// Data stores: creating, renaming, deleting, and changes of their records by callers of the API.

import type { DataRecord, DataStore, DataStoreChange } from '../../domain/data.ts';
import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { RecordInput } from '../../domain/requests.ts';
import type { Clock, Ids, Wake } from '../../ports.ts';
import type { DataPlace, RecordCheck, SetRecord } from '../../store/contract/data.ts';
import type { Store } from '../../store/contract/store.ts';

export interface DataStoreDeps {
  readonly store: Pick<
    Store,
    'createDataStore' | 'renameDataStore' | 'deleteDataStore' | 'setRecord' | 'deleteRecord' | 'clearRecords'
  >;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly wake: Wake;
}

export function createDataStores({ store, clock, ids, wake }: DataStoreDeps) {
  async function createDataStore(ownerId: string, { name }: { name: string }): Promise<DataStore> {
    const nowMs = clock.nowMs();
    const id = ids.next(PREFIX.dataStore);
    const dataStore = { id, ownerId, name, size: 0, createdAtMs: nowMs, updatedAtMs: nowMs };
    await store.createDataStore(dataStore);
    return dataStore;
  }

  async function updateDataStore(ownerId: string, id: string, change: DataStoreChange): Promise<DataStore> {
    const renamed = await store.renameDataStore(ownerId, id, { ...change, atMs: clock.nowMs() });
    return found(renamed, id);
  }

  async function deleteDataStore(ownerId: string, id: string): Promise<DataStore> {
    const deleted = found(await store.deleteDataStore(ownerId, id), id);
    wake.notify('deletions');
    return deleted;
  }

  async function setRecord(place: DataPlace, input: RecordInput & RecordCheck): Promise<DataRecord> {
    const answer = found(await store.setRecord(place, input), place.storeId);
    if ('record' in answer) return answer.record;
    throw new Refusal('impossible', whyFull(place.storeId, answer));
  }

  async function deleteRecord(place: DataPlace, input: { key: string } & RecordCheck): Promise<DataRecord> {
    const { key } = input;
    const { record } = found(await store.deleteRecord(place, key, input), place.storeId);
    if (record) return record;
    throw new Refusal('not_found', `there is no record ${JSON.stringify(key)} in ${place.storeId}`);
  }

  async function clearRecords(place: DataPlace): Promise<void> {
    found(await store.clearRecords(place), place.storeId);
    wake.notify('deletions');
  }

  return { createDataStore, updateDataStore, deleteDataStore, setRecord, deleteRecord, clearRecords };
}

function found<T>(thing: T | undefined, id: string): T {
  if (thing === undefined) throw new Refusal('not_found', `there is no data store ${id}`);
  return thing;
}

/** Says why a data store takes no more. */
export function whyFull(storeId: string, { full }: Extract<SetRecord, { full: unknown }>): string {
  const most =
    full === 'records' ? `${LIMITS.recordsPerDataStore} records` : `${LIMITS.dataStoreBytes} bytes of keys and values`;
  return `the data store ${storeId} is full: it has at most ${most}`;
}
