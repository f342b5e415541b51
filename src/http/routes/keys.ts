import { Refusal } from '../../domain/fault.ts';
import { PREFIX } from '../../domain/ids.ts';
import type { App } from '../app.ts';
import type { HttpDeps } from '../deps.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, pageOfAll, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../operation.ts';
import { KEY, KEY_CREATE, keyToWire, NEW_KEY } from '../wire/owners.ts';

export function addKeyRoutes(app: App, { actions, store }: HttpDeps): void {
  const list = operation({
    id: 'listKeys',
    tag: 'account',
    access: 'read',
    summary: 'List API keys',
    description: 'Newest first, revoked ones too. The keys themselves are never shown again.',
    query: LIST_QUERY,
    answer: listOf(KEY),
  });
  app.get('/v1/keys', { schema: list }, async ({ query, caller }) => {
    const page = pageOf(query, resourceCursor(PREFIX.key));
    return listAnswer(pageOfAll(await store.listKeys(caller.ownerId), page), keyToWire, query);
  });

  const create = operation({
    id: 'createKey',
    tag: 'account',
    access: 'write',
    summary: 'Create an API key',
    description: 'With the scopes that your own key has, or fewer. `api_key` is shown here only.',
    body: KEY_CREATE,
    example: { label: 'dashboard', scopes: ['read'] },
    answer: dataOf(NEW_KEY),
  });
  app.post('/v1/keys', { schema: create }, async ({ body, caller }) => {
    const { label, scopes = ['read', 'write'] } = body;
    const beyond = scopes.find((scope) => !caller.scopes.includes(scope));
    if (beyond) throw new Refusal('forbidden', `A key with the scope "${beyond}" can only be made by one that has it`);
    const { key, apiKey } = await actions.createKey(caller.ownerId, { label, scopes });
    return { data: { ...keyToWire(key), api_key: apiKey } };
  });

  const revoke = operation({
    id: 'revokeKey',
    tag: 'account',
    access: 'write',
    summary: 'Revoke an API key',
    description: 'From now on it is refused with 401.',
    params: idIn(PREFIX.key, 'The key’s id.'),
    answer: dataOf(KEY),
  });
  app.delete('/v1/keys/:id', { schema: revoke }, async ({ params, caller }) => {
    return { data: keyToWire(await actions.revokeKey(caller.ownerId, params.id)) };
  });
}
