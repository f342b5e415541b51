import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { expectedBy, tag } from '../etag.ts';
import { found } from '../found.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { ACCOUNT, ACCOUNT_CREATE, ACCOUNT_UPDATE, accountInput, accountToWire } from '../wire/accounts.ts';

const PARAMS = idIn(PREFIX.account, 'The account.');

export function addAccountRoutes(app: App, deps: HttpDeps): void {
  addCreate(app, deps);
  addList(app, deps);
  addOne(app, deps);
}

function addCreate(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'createAccount',
    tag: 'accounts',
    access: 'write',
    summary: 'Create an account',
    description:
      'An account holds the credentials with which code calls an app for you. A source or step uses it when the value of its app prop is `{"authProvisionId": "apn_…"}`.',
    body: ACCOUNT_CREATE,
    answer: dataOf(ACCOUNT),
  });
  app.post('/v1/accounts', { schema }, async ({ body, caller }) => {
    const input = { ...accountInput(body), app: body.app };
    return { data: accountToWire(await actions.createAccount(caller.ownerId, input)) };
  });
}

function addList(app: App, { store }: HttpDeps): void {
  for (const [url, id] of [
    ['/v1/accounts', 'listAccounts'],
    ['/v1/users/me/accounts', 'listMyAccounts'],
  ] as const) {
    const schema = operation({
      id,
      tag: 'accounts',
      access: 'read',
      summary: id === 'listAccounts' ? 'List accounts' : 'List your accounts',
      description: id === 'listAccounts' ? 'Newest first.' : 'The same as `GET /v1/accounts`.',
      query: {
        app: Type.Optional(text({ description: 'Only those of this app.', maxLength: LIMITS.appChars })),
        ...LIST_QUERY,
      },
      answer: listOf(ACCOUNT),
    });
    app.get(url, { schema }, async ({ query, caller }) => {
      const { app: name } = query;
      const of = { ownerId: caller.ownerId, ...(name === undefined ? {} : { app: name }) };
      const page = await store.listAccounts(of, pageOf(query, resourceCursor(PREFIX.account)));
      return listAnswer(page, accountToWire);
    });
  }
}

function addOne(app: App, { actions, store }: HttpDeps): void {
  const answer = dataOf(ACCOUNT);
  const get = operation({
    id: 'getAccount',
    tag: 'accounts',
    access: 'read',
    summary: 'Read an account',
    description: 'Returns the names of its fields; their values are never shown.',
    params: PARAMS,
    answer,
  });
  app.get('/v1/accounts/:id', { schema: get }, async ({ params, caller }, reply) => {
    const account = found(await store.getAccount(caller.ownerId, params.id), 'account', params.id);
    tag(reply, account);
    return { data: accountToWire(account) };
  });

  const put = operation({
    id: 'updateAccount',
    tag: 'accounts',
    access: 'write',
    summary: 'Change an account',
    description:
      'Changes single `fields` and members of `oauth`: those that are left out stay as they are, null removes one. The next run that uses the account gets the new values.',
    params: PARAMS,
    put: { takes: 'members', oneByOne: ['fields', 'oauth'] },
    body: ACCOUNT_UPDATE,
    takesIfMatch: true,
    example: { fields: { oauth_access_token: 'xoxb-5678' } },
    answer,
  });
  app.put('/v1/accounts/:id', { schema: put }, async (request, reply) => {
    const { params, body, caller } = request;
    const input = { ...accountInput(body), ...expectedBy(request) };
    const account = await actions.updateAccount(caller.ownerId, params.id, input);
    tag(reply, account);
    return { data: accountToWire(account) };
  });

  const renew = operation({
    id: 'renewAccount',
    tag: 'accounts',
    access: 'write',
    summary: 'Renew the token of an account',
    description:
      'Gets a new `oauth_access_token` now, as is done before runs when it is due. Refused with what the token server said when it gives none (422).',
    params: PARAMS,
    answer,
  });
  app.post('/v1/accounts/:id/renew', { schema: renew }, async ({ params, caller }) => {
    return { data: accountToWire(await actions.renewAccount(caller.ownerId, params.id)) };
  });

  const remove = operation({
    id: 'deleteAccount',
    tag: 'accounts',
    access: 'write',
    summary: 'Delete an account',
    description:
      'An account in use can be deleted, too: runs of a source or step that names it then fail with `ConfigurationError`.',
    params: PARAMS,
    answer,
  });
  app.delete('/v1/accounts/:id', { schema: remove }, async ({ params, caller }) => {
    return { data: accountToWire(await actions.deleteAccount(caller.ownerId, params.id)) };
  });
}
