import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { DataRecord } from '../../domain/data.ts';
import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { changedMeanwhile } from '../../domain/requests.ts';
import type { RecordCheck } from '../../store/contract/data.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { contentCheck, contentVersion, createsOnly, tag } from '../etag.ts';
import { found, notFound } from '../found.ts';
import { LIST_QUERY, listOf, pageOf } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { text } from '../openapi/schema.ts';
import { jsonOf } from '../params.ts';
import { Type } from '../schema/type.ts';
import {
  checkedKey,
  DATA_RECORD,
  DATA_RECORD_INPUT,
  DATA_STORE,
  dataStoreToWire,
  recordInput,
  recordToWire,
} from '../wire/data-stores.ts';

const PARAMS = idIn(PREFIX.dataStore, 'The data store.');
const RECORD_PARAMS = {
  ...PARAMS,
  key: Type.String({ description: 'The record’s key, percent-encoded.', examples: ['order-17'] }),
};
const ANSWER = dataOf(DATA_RECORD);

export function addDataRecordRoutes(app: App, deps: HttpDeps): void {
  addList(app, deps);
  addClear(app, deps);
  addRead(app, deps);
  addWrites(app, deps);
}

const KEY_CURSORS = {
  after: Type.Optional(text({ description: 'Cursor, a key: only records whose keys come behind it.' })),
  before: Type.Optional(
    text({ description: 'Cursor, a key: only records whose keys come in front of it, those next to it.' }),
  ),
};

function addList(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listDataRecords',
    tag: 'data_stores',
    access: 'read',
    summary: 'List the records of a data store',
    description: `In the order of their keys, which are the cursors: \`after\` goes on behind a key, \`before\` gives those in front of it. A page ends early when its values have ${LIMITS.recordPageBytes} bytes together; the last page is the one that is empty.`,
    params: PARAMS,
    query: { ...LIST_QUERY, ...KEY_CURSORS },
    answer: listOf(DATA_RECORD),
  });
  app.get('/v1/data_stores/:id/records', { schema }, async ({ params: { id }, query, caller }) => {
    const { after, before } = query;
    for (const [parameter, key] of Object.entries({ after, before })) if (key !== undefined) checkedKey(parameter, key);
    const place = { ownerId: caller.ownerId, storeId: id };
    const page = found(await store.listRecords(place, pageOf(query, String)), 'data store', id);
    const records: Static<typeof DATA_RECORD>[] = page.items.map(recordToWire);
    const cursors = { start_cursor: records[0]?.key ?? null, end_cursor: records.at(-1)?.key ?? null };
    const info = { total_count: page.totalCount, count: records.length, ...cursors };
    return { page_info: info, data: records };
  });
}

function addClear(app: App, { actions, store }: HttpDeps): void {
  const schema = operation({
    id: 'clearDataStore',
    tag: 'data_stores',
    access: 'write',
    summary: 'Delete all records of a data store',
    description: 'Deletes them at once. The data store itself stays.',
    params: PARAMS,
    answer: dataOf(DATA_STORE),
  });
  app.delete('/v1/data_stores/:id/records', { schema }, async ({ params: { id }, caller }) => {
    await actions.clearRecords({ ownerId: caller.ownerId, storeId: id });
    return { data: dataStoreToWire(found(await store.getDataStore(caller.ownerId, id), 'data store', id)) };
  });
}

function addRead(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'getDataRecord',
    tag: 'data_stores',
    access: 'read',
    summary: 'Read a record',
    description: 'Its value as it was written.',
    params: RECORD_PARAMS,
    answer: ANSWER,
  });
  app.get('/v1/data_stores/:id/records/:key', { schema }, async ({ params: { id, key }, caller }, reply) => {
    const place = { ownerId: caller.ownerId, storeId: id };
    const { record } = found(await store.getRecord(place, checkedKey('key', key)), 'data store', id);
    if (!record) throw notFound('record', key);
    tag(reply, contentVersion(contentOf(record)));
    return { data: recordToWire(record) };
  });
}

function addWrites(app: App, { actions }: HttpDeps): void {
  const put = operation({
    id: 'setDataRecord',
    tag: 'data_stores',
    access: 'write',
    summary: 'Write a record',
    description: `Creates or replaces the record. Keys have 1 to ${LIMITS.recordKeyChars} characters; a data store has at most ${LIMITS.recordsPerDataStore} records. With \`If-Match\`, a record that is not there is not created, and with \`If-None-Match: *\` one that is there is not replaced: 412.`,
    params: RECORD_PARAMS,
    body: DATA_RECORD_INPUT,
    takesIfMatch: true,
    takesIfNoneMatch: true,
    example: { value: { total: 12.5 } },
    answer: ANSWER,
  });
  app.put('/v1/data_stores/:id/records/:key', { schema: put }, async (request, reply) => {
    const { params, body, caller } = request;
    // The schema requires it.
    const value = jsonOf(request, { name: 'value', maxBytes: LIMITS.recordBytes }) as Uint8Array;
    const place = { ownerId: caller.ownerId, storeId: params.id };
    const input = { ...recordInput(params.key, value, body.ttl), ...recordCheck(request) };
    const record = await actions.setRecord(place, input);
    tag(reply, contentVersion(contentOf(record)));
    return { data: recordToWire(record) };
  });

  const remove = operation({
    id: 'deleteDataRecord',
    tag: 'data_stores',
    access: 'write',
    summary: 'Delete a record',
    description:
      'The answer is the record as it was. With `If-Match`, a record that was changed or deleted since it was read: 412.',
    params: RECORD_PARAMS,
    takesIfMatch: true,
    answer: ANSWER,
  });
  app.delete('/v1/data_stores/:id/records/:key', { schema: remove }, async (request) => {
    const { params, caller } = request;
    const place = { ownerId: caller.ownerId, storeId: params.id };
    const input = { key: checkedKey('key', params.key), ...recordCheck(request) };
    return { data: recordToWire(await actions.deleteRecord(place, input)) };
  });
}

/** Returns what the version of a record is made of: counting its writes would cost code, which writes most of them and compares none. */
function contentOf({ value, expiresAtMs }: DataRecord): object {
  return { value, expiresAtMs };
}

function recordCheck(request: Pick<FastifyRequest<{ Params: { key: string } }>, 'headers' | 'params'>): RecordCheck {
  const isNew = createsOnly(request);
  const isChange = request.headers['if-match'] !== undefined;
  if (!isNew && !isChange) return {};
  const name = `the record ${JSON.stringify(request.params.key)}`;
  const check = contentCheck(request, name);
  return {
    check: (before) => {
      if (isNew && before)
        throw new Refusal('precondition_failed', `${name} exists, and If-None-Match: * only creates`);
      if (isChange && !before) throw changedMeanwhile(name);
      if (before) check(contentOf(before));
    },
  };
}
