// errand data-stores list | create | delete | records | get | set | unset

import type { Command } from 'commander';
import type { DataRecord, DataStore } from '../../client/client.ts';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { withExamples } from '../shell/examples.ts';
import { findId } from '../shell/find.ts';
import { exactDataOf, exactIn, readData } from '../shell/json-text.ts';
import { addDeleting, addListing, type Fields, type Limited } from '../shell/listing.ts';
import { printFields, printFirst, printJson, timeColumn } from '../shell/output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { jsonText, msOf, secondsText } from '../shell/text.ts';
import { countValue, LIST_LIMIT, take } from '../shell/values.ts';

const fields = ({ id, name, size, created_at: createdAt }: DataStore): Fields => ({
  'data store': id,
  name,
  records: size,
  created: secondsText(createdAt),
});

export function addDataStores(program: Command, connect: Connect): void {
  const stores = program
    .command('data-stores')
    .description('list, make and delete data stores, and read and write their records: what code keeps between runs');
  const list = addListing<DataStore, Limited>(stores, connect, {
    description: 'list data stores, newest first',
    none: 'no data stores',
    columns: [
      { title: 'ID', of: ({ id }) => id },
      { title: 'RECORDS', of: ({ size }) => size },
      timeColumn('CHANGED', ({ updated_at: s }) => msOf(s)),
      { title: 'NAME', of: ({ name }) => name },
    ],
    list: (errand) => errand.listDataStores(),
  });
  withExamples(list, 'errand data-stores list');
  addCreate(stores, connect);
  const deleting = addDeleting(stores, connect, {
    ...{ kind: 'data-store', description: 'delete a data store with its records, even when it is in use', fields },
    act: async (errand, id) => (await errand.deleteDataStore({ id })).data,
  });
  withExamples(deleting, 'errand data-stores delete "Seen orders" --yes');
  addRecords(stores, connect);
  addReading(stores, connect);
  addWriting(stores, connect);
}

function addCreate(stores: Command, connect: Connect): void {
  const create = serverCommand(
    stores,
    'create <name>',
    'make a data store, whose id is the value of a data_store prop',
  );
  withExamples(create, 'errand data-stores create "Seen orders"');
  create.action(async (name: string, options: ServerOptions) => {
    const { errand, out, isJson } = await connect(options);
    const { data } = await errand.createDataStore({ name });
    if (isJson) return printJson(out, data);
    await printFields(out, fields(data));
  });
}

function addRecords(stores: Command, connect: Connect): void {
  const records = serverCommand(stores, 'records <id>', 'list the records of a data store, by their keys')
    .option('--after <key>', 'only those whose keys come behind this one')
    .option('--limit <n>', 'how many to show; 0: all', countValue(0), LIST_LIMIT);
  withExamples(records, 'errand data-stores records "Seen orders" --limit 0 --json');
  records.action(async (given: string, { after, ...options }: Limited & { readonly after?: string }) => {
    const { errand, out, isJson } = await connect(options);
    const id = await findId(errand, 'data-store', given);
    const found = errand.listDataRecords({ id, ...(after === undefined ? {} : { after }) });
    const taken = await take<DataRecord>(exactIn(found, 'value'), options.limit);
    if (isJson) return printJson(out, taken.records);
    if (taken.records.length === 0) return out.note('no records');
    await printFirst<DataRecord>(out, taken, [
      { title: 'KEY', of: ({ key }) => key, isWhole: true },
      timeColumn('CHANGED', ({ updated_at: s }) => msOf(s)),
      timeColumn('GONE', ({ expires_at: s }) => msOf(s)),
      { title: 'VALUE', of: ({ value }) => jsonText(value) },
    ]);
  });
}

function addReading(stores: Command, connect: Connect): void {
  const get = serverCommand(stores, 'get <id> <key>', 'print the value of a record, as JSON');
  withExamples(get, 'errand data-stores get "Seen orders" order-17');
  get.action(async (given: string, key: string, options: ServerOptions) => {
    const { errand, out, isJson } = await connect(options);
    const id = await findId(errand, 'data-store', given);
    const data = exactDataOf(await errand.getDataRecord({ id, key }));
    await printJson(out, isJson ? data : data.value);
  });
}

const MAX_TTL_S = LIMITS.maxRecordTtlMs / SECOND_MS;

interface SetOptions extends ServerOptions {
  readonly ttl?: number;
}

function addWriting(stores: Command, connect: Connect): void {
  const set = serverCommand(
    stores,
    'set <id> <key> <json>',
    'write a record: JSON, @ and the name of a file, or - for standard input',
  ).option('--ttl <seconds>', 'delete it after so many seconds', countValue(1, MAX_TTL_S));
  withExamples(
    set,
    `errand data-stores set "Seen orders" order-17 '{"total": 12.5}'`,
    'errand data-stores set "Seen orders" order-18 @event.json --ttl 3600',
  );
  set.action(async (given: string, key: string, json: string, { ttl, ...options }: SetOptions) => {
    const value = await readData(json, 'the value');
    const remote = await connect(options);
    const id = await findId(remote.errand, 'data-store', given);
    // As it was given: what is read and written again may have other numbers.
    const bodyText = `{"value":${value}${ttl === undefined ? '' : `,"ttl":${ttl}`}}`;
    const { data } = await remote.errand.setDataRecord({ id, key, value: null }, { bodyText });
    await printRecord(remote, data, { 'data store': id, key, written: 'yes', gone: secondsText(data.expires_at) });
  });
  const unset = serverCommand(stores, 'unset <id> <key>', 'delete a record');
  withExamples(unset, 'errand data-stores unset "Seen orders" order-17');
  unset.action(async (given: string, key: string, options: ServerOptions) => {
    const remote = await connect(options);
    const id = await findId(remote.errand, 'data-store', given);
    const { data } = await remote.errand.deleteDataRecord({ id, key });
    await printRecord(remote, data, { 'data store': id, key, deleted: 'yes' });
  });
}

async function printRecord({ out, isJson }: Remote, record: DataRecord, shown: Fields): Promise<void> {
  await (isJson ? printJson(out, record) : printFields(out, shown));
}
