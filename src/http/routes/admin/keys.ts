import { PREFIX } from '../../../domain/ids.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, pageOfAll, resourceCursor } from '../../list.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { KEY, KEY_CREATE, keyInput, keyToWire, NEW_KEY, newKeyToWire } from '../../wire/owners.ts';

export function addKeyRoutes(app: App, { actions, store, urls }: HttpDeps): void {
  const list = operation({
    id: 'listKeys',
    tag: 'account',
    access: 'keys',
    summary: 'List API keys',
    description: 'Newest first, revoked ones too. The keys themselves are never shown again.',
    query: LIST_QUERY,
    answer: listOf(KEY),
  });
  app.get('/v1/keys', { schema: list }, async ({ query, caller }) => {
    const page = pageOf(query, resourceCursor(PREFIX.key));
    return listAnswer(pageOfAll(await store.listKeys(caller.ownerId), page), keyToWire);
  });

  const create = operation({
    id: 'createKey',
    tag: 'account',
    access: 'keys',
    summary: 'Create an API key',
    description:
      'The new key can have only scopes that your own key has, and cannot expire later. `api_key` is returned only here. With the scope `ingest` alone and a `workflow_id` or `service`, there is a `dsn` for clients of Sentry, too.',
    body: KEY_CREATE,
    example: { label: 'dashboard', scopes: ['read'] },
    answer: dataOf(NEW_KEY),
  });
  app.post('/v1/keys', { schema: create }, async ({ body, caller }) => {
    const made = await actions.createKey(caller.ownerId, keyInput(body), caller);
    return { data: newKeyToWire(made, urls.publicUrl()) };
  });

  const revoke = operation({
    id: 'revokeKey',
    tag: 'account',
    access: 'keys',
    summary: 'Revoke an API key',
    description: 'From now on it is refused with 401. A key that has more scopes than yours is refused with 403.',
    params: idIn(PREFIX.key, 'The key’s id.'),
    answer: dataOf(KEY),
  });
  app.delete('/v1/keys/:id', { schema: revoke }, async ({ params, caller }) => {
    return { data: keyToWire(await actions.revokeKey(caller.ownerId, params.id, caller)) };
  });
}
