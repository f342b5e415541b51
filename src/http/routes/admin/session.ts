// The dashboard's session: signing in with a key or with the link of the start, and signing out.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { ApiKey } from '../../../domain/keys.ts';
import { SECOND_MS } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { Owner } from '../../../domain/resource.ts';
import { VERSION } from '../../../domain/version.ts';
import { authorize, goodKey, sha256Hex } from '../../access/auth.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { found } from '../../found.ts';
import { dataOf, operation } from '../../openapi/operation.ts';
import { mostlyNull, oneOf, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { foreignFault } from '../../session/same-origin.ts';
import { sessionCookie } from '../../session/session-cookie.ts';
import { Sessions } from '../../session/sessions.ts';
import { KEY, keyToWire, OWNER, ownerToWire } from '../../wire/owners.ts';

const SESSION = Type.Object(
  {
    owner: OWNER,
    key: KEY,
    ends_at_ms: mostlyNull('When the session ends, in milliseconds since the Unix epoch; null: this is no session.'),
    version: text({ description: 'Of the server.', example: '0.1.0' }),
  },
  { title: 'Session' },
);

const ENDED = Type.Object({ ended: Type.Boolean({ description: 'False: there was no session.' }) });

const ALL_ENDED = Type.Object({
  keys: Type.Integer({ description: 'Of how many keys the sessions were ended.', examples: [1] }),
});

const OF = ['key', 'owner'] as const;

const SIGN_IN = {
  api_key: Type.Optional(
    text({ description: 'An API key that may read.', maxLength: 1000, example: 'Qk3vJ8nZ5tX1bL7c', 'x-secret': true }),
  ),
  link: Type.Optional(
    text({
      description: 'The end of the link that the server printed when it started.',
      maxLength: 1000,
      example: 'x8Zq0Lr5',
      'x-secret': true,
    }),
  ),
};

const LINK_USED =
  'This link was used, is older than ten minutes, or was opened on another machine; sign in with an API key';

export function addSessionRoutes(app: App, deps: HttpDeps): void {
  const { store, urls, actions } = deps;
  const sessions = new Sessions(deps);
  const show = (owner: Owner, key: ApiKey, endsAtMs: number | null): Static<typeof SESSION> => {
    return { owner: ownerToWire(owner), key: keyToWire(key), ends_at_ms: endsAtMs, version: VERSION };
  };
  const ownerOf = async ({ ownerId }: ApiKey): Promise<Owner> => found(await store.getOwner(ownerId), 'owner', ownerId);

  const create = operation({
    id: 'createSession',
    tag: 'account',
    access: 'public',
    summary: 'Sign in to the dashboard',
    description:
      'With an API key. The answer sets a cookie, which stands for the key for seven days, in the dashboard’s own requests alone: a change also needs the header `x-errand-dashboard`. Programs send the key itself.',
    body: SIGN_IN,
    example: { api_key: 'Qk3vJ8nZ5tX1bL7cR0sW2yAe' },
    answer: dataOf(SESSION),
  });
  app.post('/v1/session', { schema: create }, async (request, reply) => {
    // A foreign page must not sign a browser in: what is then typed would go to the owner of its key.
    const fault = foreignFault(request.raw, urls.publicUrl());
    if (fault) throw fault;
    const keyHash = keyHashOf(deps, request, request.body);
    const key = await goodKey(store, keyHash);
    authorize(key, 'read');
    request.caller = key;
    const { session, token } = sessions.start(keyHash, key);
    setCookie(request, reply, {
      value: token,
      maxAgeS: Math.ceil((session.endsAtMs - session.startedAtMs) / SECOND_MS),
    });
    return { data: show(await ownerOf(key), key, session.endsAtMs) };
  });

  const get = operation({
    id: 'getSession',
    tag: 'account',
    access: 'read',
    summary: 'Read the current key',
    description: 'The key of the request with its scopes, its owner, and, in the dashboard, when its session ends.',
    answer: dataOf(SESSION),
  });
  app.get('/v1/session', { schema: get }, async ({ caller, session }) => {
    return { data: show(await ownerOf(caller), caller, session?.endsAtMs ?? null) };
  });

  const end = operation({
    id: 'endSession',
    tag: 'account',
    access: 'read',
    summary: 'Sign out of the dashboard',
    description:
      'Removes the cookie of this browser. `DELETE /v1/sessions` ends all sessions of the key, and so does revoking it.',
    answer: dataOf(ENDED),
  });
  app.delete('/v1/session', { schema: end }, async (request, reply) => {
    if (request.session === null) return { data: { ended: false } };
    setCookie(request, reply, { value: '', maxAgeS: 0 });
    return { data: { ended: true } };
  });

  const endAll = operation({
    id: 'endAllSessions',
    tag: 'account',
    access: 'read',
    summary: 'Sign out everywhere',
    description:
      'Ends all sessions of your key in all browsers, at once and at every node, and the streams that they have open. With `of=owner`, those of all keys of the owner, which needs the scope `account`. The keys themselves stay good.',
    query: { of: Type.Optional(oneOf(OF, 'Whose sessions; `key` when not given.')) },
    answer: dataOf(ALL_ENDED),
  });
  app.delete('/v1/sessions', { schema: endAll }, async (request, reply) => {
    const { caller, query, session } = request;
    const isOfOwner = query.of === 'owner';
    if (isOfOwner) authorize(caller, 'account');
    const keys = await actions.endSessions(caller.ownerId, isOfOwner ? null : caller.id);
    if (session !== null) setCookie(request, reply, { value: '', maxAgeS: 0 });
    return { data: { keys } };
  });

  function setCookie({ raw }: FastifyRequest, reply: FastifyReply, given: { value: string; maxAgeS: number }): void {
    reply.header('set-cookie', sessionCookie(raw, urls.publicUrl(), given));
  }
}

function keyHashOf(
  { signInLinks, store }: HttpDeps,
  { raw }: FastifyRequest,
  { api_key: apiKey, link }: { api_key?: string; link?: string },
): string {
  if ((apiKey === undefined) === (link === undefined)) {
    throw new Refusal('malformed', 'Send either api_key or link', {
      errors: [{ parameter: 'api_key', message: 'is needed, unless link is given' }],
    });
  }
  if (link === undefined) return sha256Hex((apiKey as string).trim());
  const keyHash = signInLinks.use(link, raw, store.clock.nowMs());
  if (keyHash === null) throw new Refusal('unauthenticated', LINK_USED);
  return keyHash;
}
