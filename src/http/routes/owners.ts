import { PREFIX } from '../../domain/ids.ts';
import type { App } from '../app.ts';
import type { HttpDeps } from '../deps.ts';
import { dataOf, idIn, operation } from '../operation.ts';
import { KEY_CREATE, keyToWire, NEW_KEY, NEW_OWNER, OWNER_CREATE, ownerToWire } from '../wire/owners.ts';

export function addOwnerRoutes(app: App, { actions }: HttpDeps): void {
  const create = operation({
    id: 'createOwner',
    tag: 'account',
    summary: 'Create an owner',
    description:
      'Somebody whose workflows, sources and webhooks are apart from yours, with a first key and a global error workflow. Needs the scope `admin`.',
    body: OWNER_CREATE,
    answer: dataOf(NEW_OWNER),
  });
  app.post('/v1/owners', { schema: create, config: { scope: 'admin' } }, async ({ body }) => {
    const { owner, key, apiKey } = await actions.createOwner({ name: body.name, email: body.email ?? null });
    return { data: { ...ownerToWire(owner), key: keyToWire(key), api_key: apiKey } };
  });

  const createKey = operation({
    id: 'createOwnerKey',
    tag: 'account',
    summary: 'Create a key for an owner',
    description: 'For an owner who lost every key, say. Needs the scope `admin`.',
    params: idIn(PREFIX.owner, 'The owner.'),
    body: KEY_CREATE,
    example: { label: 'replacement' },
    answer: dataOf(NEW_KEY),
  });
  app.post('/v1/owners/:id/keys', { schema: createKey, config: { scope: 'admin' } }, async ({ params, body }) => {
    const { label, scopes = ['read', 'write'] } = body;
    const { key, apiKey } = await actions.createKey(params.id, { label, scopes });
    return { data: { ...keyToWire(key), api_key: apiKey } };
  });
}
