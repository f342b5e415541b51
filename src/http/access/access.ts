// Who may call a route, and when it answers. A route's own definition (operation.ts) says both, and the route that the
// router matched decides. Nothing here reads the address: two parsers that disagree about a path cannot open a route. A
// route that declares no access stops the start.

import type { FastifyRequest } from 'fastify';
import type { ApiKey, Scope } from '../../domain/keys.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { prefersHtml } from '../ingress/resume-page.ts';
import { refused, writeProblem } from '../problem.ts';
import { countOf } from '../server/head.ts';
import { pathOf } from '../server/target.ts';
import type { Session } from '../session/session-token.ts';
import { Sessions } from '../session/sessions.ts';
import { authenticate, authorize, goodSessionKey } from './auth.ts';
import { KeyUses } from './key-uses.ts';

/** The scope that the caller's key needs. `public`: no key is needed, and there is no `caller`. */
export type Access = Scope | 'public';

/** When almost all routes answer 503: the process is stopping, or does not have the role `api`. */
export type Outage = 'stopping' | 'no_api';

/** What a route's definition declares. */
export interface RouteAccess {
  readonly access: Access;
  /** Outages in which this route still answers. */
  readonly answersWhile?: readonly Outage[];
  /** The page of the dashboard that shows the same: a browser that opens the address is sent there, to sign in. */
  readonly page?: PageOf;
}

export type PageOf = (params: Readonly<Record<string, string>>) => string;

declare module 'fastify' {
  interface FastifyRequest {
    /** The key of this request; set before the handler of every route that needs a scope. */
    caller: ApiKey;
    /** The dashboard's session that the request came with; null: it came with the key itself. */
    session: Session | null;
  }
  interface FastifySchema {
    access?: Access;
    answersWhile?: readonly Outage[];
    page?: PageOf;
  }
  interface FastifyContextConfig {
    readonly access?: RouteAccess;
  }
}

/** A page for people, left out of the OpenAPI document. */
export const PUBLIC_PAGE = { hide: true, access: 'public' } as const;

/** Adds the check of access. It is called before any route is added: it checks each route as it is added. */
export function addAccess(app: App, deps: HttpDeps): void {
  app.decorateRequest('caller');
  app.decorateRequest('session', null);
  const sessions = new Sessions(deps);
  const uses = new KeyUses(deps.store);
  app.addHook('onRoute', (route) => {
    const { access, answersWhile, page } = route.schema ?? {};
    if (access === undefined) {
      throw new Error(`The route ${route.method} ${route.url} does not say who may call it: its schema needs "access"`);
    }
    route.config = { ...route.config, access: { access, answersWhile, ...(page && { page }) } };
  });
  app.addHook('onRequest', async (request, reply) => {
    const outage = outageOf(deps, accessOf(request));
    if (!outage) return;
    reply.hijack();
    reply.raw.shouldKeepAlive = false;
    writeProblem(request.raw, reply.raw, refused(outage, request.id, deps));
  });
  app.addHook('onRequest', async (request, reply) => {
    const { access, page } = accessOf(request);
    if (access === 'public') return;
    // The same for every record, whether there is one or not: what is there shows behind the sign-in.
    if (page && request.headers.authorization === undefined && prefersHtml(request.headers.accept)) {
      return reply.redirect(page(request.params as Record<string, string>), 303);
    }
    // Node would take the first one, and a proxy in front of it may have checked another one.
    if (countOf(request.raw.rawHeaders, 'authorization') > 1) throw TWO_KEYS;
    const { authorization } = request.headers;
    const session = authorization === undefined ? sessions.of(request.raw) : null;
    request.caller = session
      ? await goodSessionKey(deps.store, session)
      : await authenticate(deps.store, authorization);
    request.session = session;
    uses.used(request.caller, deps.store.clock.nowMs());
    if (!request.is404) authorize(request.caller, access);
    deps.quotas.takeRequest(request.caller.ownerId);
    // An owner that has used up its stored bytes can still read and delete, and an admin can change the quota.
    if (access !== 'admin' && access !== 'read' && STORING.has(request.method)) {
      deps.quotas.takeStored(request.caller.ownerId, Number(request.headers['content-length'] ?? 0));
    }
  });
}

/** Returns the access of the matched route. An unknown path under `/v1` or `/sse` needs a key, as all routes there do. */
function accessOf(request: FastifyRequest): RouteAccess {
  if (request.is404) return { access: isUnderKey(pathOf(request.url)) ? 'read' : 'public' };
  return request.routeOptions.config.access ?? { access: 'admin' };
}

function isUnderKey(path: string): boolean {
  return /^\/(v1|sse)(\/|$)/.test(path);
}

const STORING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

const TWO_KEYS = new Refusal('malformed', 'The request has more than one Authorization header; send one');
const STOPPING = new Refusal('unavailable', 'This process is stopping; try again');
/** Not 404: an event sent to the wrong process must be sent again, and most senders give up at a 404. */
const NO_API = new Refusal(
  'unavailable',
  'This process does not have the role "api" (ERRAND_ROLES): it answers only /healthz, /readyz and /metrics. Send the request to a process that has it.',
);

/** Returns why the route does not answer now; null: it does. */
export function outageOf(
  { draining, isApi }: Pick<HttpDeps, 'draining' | 'isApi'>,
  { answersWhile = [] }: Pick<RouteAccess, 'answersWhile'>,
): Refusal | null {
  if (draining() && !answersWhile.includes('stopping')) return STOPPING;
  if (!isApi && !answersWhile.includes('no_api')) return NO_API;
  return null;
}
