// `/n/{owner}/{group}/{expiry}.{signature}`: the link of a notice. GET shows the group and what may be done; behind it
// `/mute`, `/resolve` and `/replay` ask for a confirmation, and act with POST alone. Each POST is in the audit log first.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuditRecord } from '../../domain/audit.ts';
import { PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import { LINK_ACTIONS, type LinkAction, type LinkAddress } from '../../domain/requests.ts';
import type { HttpDeps } from '../deps.ts';
import { type Problem, problemOf, writeProblem } from '../problem.ts';
import type { Exchange, RequestHandler } from '../response.ts';
import { clientIp } from '../server/client-ip.ts';
import { askPage, donePage, groupPage } from './notice-page.ts';
import { prefersHtml, problemPage } from './resume-page.ts';

const ADDRESS = /^\/n\/(u_\w{1,32})\/(eg_\w{1,32})\/(\d{1,12})\.([\w-]{1,64})(?:\/(mute|resolve|replay))?(\/?)(?:\?|$)/;
const METHODS = 'GET, HEAD, OPTIONS, POST';

interface FollowedLink {
  readonly link: LinkAddress;
  /** The address without an action. */
  /** Relative to the address: a proxy may have put something before it. */
  readonly path: string;
  readonly action: LinkAction | null;
}

export function createNoticeLinkPages(deps: HttpDeps, nextRequestId: () => string): RequestHandler {
  return (req, res) => {
    const requestId = nextRequestId();
    follow(deps, { req, res, requestId }).catch((error: unknown) => {
      const problem = problemOf(error, requestId, deps);
      writeProblem(req, res, prefersHtml(req.headers.accept) ? problemPage(problem) : problem);
    });
  };
}

async function follow(deps: HttpDeps, exchange: Exchange): Promise<void> {
  const { req } = exchange;
  const followed = followedBy(req.url as string);
  if (!followed) throw new Refusal('not_found', 'This link is wrong, or it has expired');
  if (req.method === 'OPTIONS') return answer(exchange, { status: 204, headers: { allow: METHODS }, body: '' });
  if (req.method === 'POST') return act(deps, exchange, followed);
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    return answer(exchange, { status: 405, headers: { allow: METHODS }, body: '' });
  }
  const { link, path, action } = followed;
  const shown = await deps.actions.showLinked(link, action);
  deps.quotas.takeRequest(link.ownerId);
  const page = action === null ? groupPage(shown, path) : askPage(shown, path, action);
  answer(exchange, { status: 200, ...page });
}

async function act(deps: HttpDeps, exchange: Exchange, { link, action }: FollowedLink): Promise<void> {
  if (action === null) throw new Refusal('not_found', 'This link only shows what may be done');
  // Before anything is written: only who has a good link reaches an owner's audit log.
  await deps.actions.findLinked(link);
  deps.quotas.takeRequest(link.ownerId);
  const record = recordOf(deps, exchange, { link, action });
  await deps.store.writeAudit([record]);
  let status = 500;
  try {
    await deps.actions.actByLink(link, action);
    status = 200;
  } catch (error) {
    status = problemOf(error, exchange.requestId, deps).status;
    throw error;
  } finally {
    await deps.store.writeAudit([{ ...record, status }]);
  }
  answer(exchange, { status: 200, ...donePage(action) });
}

/**
 * Returns the record of the audit log for an action. The path is that of the group: the link itself would let readers of the
 * log act.
 */
function recordOf(
  { ids, store }: HttpDeps,
  { req, requestId }: Exchange,
  { link, action }: { readonly link: LinkAddress; readonly action: LinkAction },
): AuditRecord {
  return {
    id: ids.next(PREFIX.audit),
    ownerId: link.ownerId,
    keyId: null,
    keyLabel: 'link of a notice',
    byOwnerId: null,
    operation: action === 'replay' ? 'replayError' : 'updateErrorGroup',
    targetId: link.groupId,
    method: 'POST',
    path: `/n/${link.ownerId}/${link.groupId}/${action}`,
    clientIp: clientIp(req),
    requestId,
    status: null,
    count: 1,
    atMs: store.clock.nowMs(),
  };
}

function followedBy(url: string): FollowedLink | null {
  const [, ownerId = '', groupId = '', expiresS = '', mac = '', given, slash = ''] = ADDRESS.exec(url) ?? [];
  if (ownerId === '') return null;
  const action = LINK_ACTIONS.find((known) => known === given) ?? null;
  const up = slash === '' ? '' : '../';
  const path = action === null ? `${up}${expiresS}.${mac}` : `${up}.`;
  return { link: { ownerId, groupId, expiresS: Number(expiresS), mac }, path, action };
}

function answer({ req, res, requestId }: Exchange, { status, headers, body }: Problem): void {
  if ((res as ServerResponse).destroyed) return;
  const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  res.writeHead(status, { 'cache-control': 'no-store', 'x-request-id': requestId, ...headers, ...length });
  res.end((req as IncomingMessage).method === 'HEAD' ? '' : body);
}
