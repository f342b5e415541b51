import { PREFIX } from '../../../domain/ids.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, pageOfAll, resourceCursor } from '../../list.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { id } from '../../openapi/schema.ts';
import {
  KEY,
  KEY_CREATE,
  keyInput,
  keyToWire,
  NEW_KEY,
  NEW_OWNER,
  newKeyToWire,
  OWNER,
  OWNER_CREATE,
  ownerToWire,
} from '../../wire/owners.ts';
import { addOwnerExport } from './export/owner-export.ts';

export function addOwnerRoutes(app: App, deps: HttpDeps): void {
  addOwners(app, deps);
  addDeletion(app, deps);
  addOwnerExport(app, deps);
  addOwnerKeys(app, deps);
}

function addOwners(app: App, { actions, store }: HttpDeps): void {
  const list = operation({
    id: 'listOwners',
    tag: 'account',
    access: 'admin',
    summary: 'List the owners',
    description: 'Of this whole installation, newest first. Needs the scope `admin`.',
    query: LIST_QUERY,
    answer: listOf(OWNER),
  });
  app.get('/v1/owners', { schema: list }, async ({ query }) => {
    const page = pageOf(query, resourceCursor(PREFIX.owner));
    return listAnswer(pageOfAll((await store.listOwners()).toReversed(), page), ownerToWire);
  });

  const create = operation({
    id: 'createOwner',
    tag: 'account',
    access: 'admin',
    summary: 'Create an owner',
    description:
      'A tenant whose workflows, sources and webhooks are apart from yours, with a first key and a global error workflow. Needs the scope `admin`.',
    body: OWNER_CREATE,
    answer: dataOf(NEW_OWNER),
  });
  app.post('/v1/owners', { schema: create }, async ({ body, caller }) => {
    const { name, email = null } = body;
    const { owner, key, apiKey } = await actions.createOwner({ name, email, by: caller });
    return { data: { ...ownerToWire(owner), key: keyToWire(key), api_key: apiKey } };
  });
}

function addDeletion(app: App, { actions }: HttpDeps): void {
  const params = idIn(PREFIX.owner, 'The owner.');
  const remove = operation({
    id: 'deleteOwner',
    tag: 'account',
    access: 'admin',
    summary: 'Delete an owner with all that it owns',
    description:
      'From now on its keys, addresses and sessions are refused, nothing of it begins, and what waits is cancelled. At `purge_at` (`ERRAND_OWNER_GRACE_DAYS`) all that it owns is deleted; until then it can be exported and restored. An owner that is being deleted keeps its `purge_at`. Neither your own owner nor the first one of the installation can be deleted (409). Needs the scope `admin`.',
    params,
    answer: dataOf(OWNER),
  });
  app.delete('/v1/owners/:id', { schema: remove }, async ({ params: { id }, caller }) => {
    return { data: ownerToWire(await actions.deleteOwner(id, caller)) };
  });

  const restore = operation({
    id: 'restoreOwner',
    tag: 'account',
    access: 'admin',
    summary: 'Restore a deleted owner',
    description:
      'Until its purge has begun (409 from then on): its keys and addresses work again, and its schedules, sources and watches go on. What the deletion has cancelled stays cancelled: retry those runs, and resend those deliveries. Needs the scope `admin`.',
    params,
    answer: dataOf(OWNER),
  });
  app.post('/v1/owners/:id/restore', { schema: restore }, async ({ params: { id } }) => {
    return { data: ownerToWire(await actions.restoreOwner(id)) };
  });
}

function addOwnerKeys(app: App, { actions, store, urls }: HttpDeps): void {
  const list = operation({
    id: 'listOwnerKeys',
    tag: 'account',
    access: 'admin',
    summary: 'List the keys of an owner',
    description: 'Newest first, revoked ones too, never the keys themselves. Needs the scope `admin`.',
    params: idIn(PREFIX.owner, 'The owner.'),
    query: LIST_QUERY,
    answer: listOf(KEY),
  });
  app.get('/v1/owners/:id/keys', { schema: list }, async ({ params, query }) => {
    if (!(await store.getOwner(params.id))) throw new Refusal('not_found', `there is no owner ${params.id}`);
    const page = pageOf(query, resourceCursor(PREFIX.key));
    return listAnswer(pageOfAll(await store.listKeys(params.id), page), keyToWire);
  });

  const createKey = operation({
    id: 'createOwnerKey',
    auditTarget: 'answer',
    tag: 'account',
    access: 'admin',
    summary: 'Create a key for an owner',
    description:
      'For example for an owner who has lost all keys. Needs the scope `admin`, and every scope that the key gets.',
    params: idIn(PREFIX.owner, 'The owner.'),
    body: KEY_CREATE,
    example: { label: 'replacement' },
    answer: dataOf(NEW_KEY),
  });
  app.post('/v1/owners/:id/keys', { schema: createKey }, async ({ params, body, caller }) => {
    const made = await actions.createKey(params.id, keyInput(body), caller);
    return { data: newKeyToWire(made, urls.publicUrl()) };
  });

  const revoke = operation({
    id: 'revokeOwnerKey',
    auditTarget: 'key_id',
    tag: 'account',
    access: 'admin',
    summary: 'Revoke a key of an owner',
    description: 'From now on it is refused with 401. Needs the scope `admin`, and every scope that the key has.',
    params: { ...idIn(PREFIX.owner, 'The owner.'), key_id: id('key_', 'The key’s id.') },
    answer: dataOf(KEY),
  });
  app.delete('/v1/owners/:id/keys/:key_id', { schema: revoke }, async ({ params, caller }) => {
    return { data: keyToWire(await actions.revokeKey(params.id, params.key_id, caller)) };
  });
}
