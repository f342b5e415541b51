import { PREFIX } from '../../domain/ids.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { contentCheck, contentVersion, tag } from '../etag.ts';
import { found } from '../found.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { DATA_STORE, DATA_STORE_INPUT, dataStoreToWire } from '../wire/data-stores.ts';

const PARAMS = idIn(PREFIX.dataStore, 'The data store.');

export function addDataStoreRoutes(app: App, deps: HttpDeps): void {
  addCreate(app, deps);
  addList(app, deps);
  addOne(app, deps);
}

function addCreate(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'createDataStore',
    tag: 'data_stores',
    access: 'write',
    summary: 'Create a data store',
    description:
      'A data store has keys and values that code shares. A source or step uses it when the value of its `data_store` prop is the id.',
    body: DATA_STORE_INPUT,
    answer: dataOf(DATA_STORE),
  });
  app.post('/v1/data_stores', { schema }, async ({ body, caller }) => {
    return { data: dataStoreToWire(await actions.createDataStore(caller.ownerId, body)) };
  });
}

function addList(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listDataStores',
    tag: 'data_stores',
    access: 'read',
    summary: 'List data stores',
    description: 'Newest first.',
    query: LIST_QUERY,
    answer: listOf(DATA_STORE),
  });
  app.get('/v1/data_stores', { schema }, async ({ query, caller }) => {
    const page = pageOf(query, resourceCursor(PREFIX.dataStore));
    return listAnswer(await store.listDataStores(caller.ownerId, page), dataStoreToWire);
  });
}

function addOne(app: App, { actions, store }: HttpDeps): void {
  const answer = dataOf(DATA_STORE);
  const get = operation({
    id: 'getDataStore',
    tag: 'data_stores',
    access: 'read',
    summary: 'Read a data store',
    description: 'Returns the data store with the number of its records.',
    params: PARAMS,
    answer,
  });
  app.get('/v1/data_stores/:id', { schema: get }, async ({ params: { id }, caller }, reply) => {
    const dataStore = found(await store.getDataStore(caller.ownerId, id), 'data store', id);
    tag(reply, contentVersion(dataStore.name));
    return { data: dataStoreToWire(dataStore) };
  });

  const put = operation({
    id: 'updateDataStore',
    tag: 'data_stores',
    access: 'write',
    summary: 'Rename a data store',
    description: 'Its records stay.',
    params: PARAMS,
    put: { takes: 'members' },
    body: DATA_STORE_INPUT,
    takesIfMatch: true,
    answer,
  });
  app.put('/v1/data_stores/:id', { schema: put }, async (request, reply) => {
    const { params, body, caller } = request;
    const change = { name: body.name, check: contentCheck(request, params.id) };
    const renamed = await actions.updateDataStore(caller.ownerId, params.id, change);
    tag(reply, contentVersion(renamed.name));
    return { data: dataStoreToWire(renamed) };
  });

  const remove = operation({
    id: 'deleteDataStore',
    tag: 'data_stores',
    access: 'write',
    summary: 'Delete a data store',
    description: 'Deletes the data store with its records, even when it is in use: calls from code then fail.',
    params: PARAMS,
    answer,
  });
  app.delete('/v1/data_stores/:id', { schema: remove }, async ({ params, caller }) => {
    return { data: dataStoreToWire(await actions.deleteDataStore(caller.ownerId, params.id)) };
  });
}
