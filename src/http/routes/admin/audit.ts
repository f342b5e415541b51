import { PREFIX } from '../../../domain/ids.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { AuditLog } from '../../access/audit-log.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../../list.ts';
import { idIn, operation } from '../../openapi/operation.ts';
import { AUDIT_QUERY, AUDIT_RECORD, auditQuery, auditToWire } from '../../wire/audit.ts';

export function addAuditRoutes(app: App, { store }: HttpDeps, log: AuditLog): void {
  const mine = operation({
    id: 'listAudit',
    tag: 'account',
    access: 'account',
    summary: 'List audit records',
    description:
      'Newest first: every request with one of your keys that was not a GET, also refused ones, and what an admin did to your owner. A record is written before anything is done, and kept as long as all else (`ERRAND_RETENTION_DAYS`). It has no body, no query string and no secret.',
    query: { ...AUDIT_QUERY, ...LIST_QUERY },
    answer: listOf(AUDIT_RECORD),
  });
  app.get('/v1/audit', { schema: mine }, async ({ query, caller }) => {
    const of = auditQuery(caller.ownerId, query);
    const page = pageOf(query, resourceCursor(PREFIX.audit));
    // The list includes every request that this process has answered.
    await log.flush();
    return listAnswer(await store.listAudit(of, page), auditToWire);
  });

  const ofOwner = operation({
    id: 'listOwnerAudit',
    tag: 'account',
    access: 'admin',
    summary: 'List audit records of an owner',
    description: 'The same as `GET /v1/audit`, of another owner. Needs the scope `admin`.',
    params: idIn(PREFIX.owner, 'The owner.'),
    query: { ...AUDIT_QUERY, ...LIST_QUERY },
    answer: listOf(AUDIT_RECORD),
  });
  app.get('/v1/owners/:id/audit', { schema: ofOwner }, async ({ params, query }) => {
    if (!(await store.getOwner(params.id))) throw new Refusal('not_found', `there is no owner ${params.id}`);
    const of = auditQuery(params.id, query);
    const page = pageOf(query, resourceCursor(PREFIX.audit));
    await log.flush();
    return listAnswer(await store.listAudit(of, page), auditToWire);
  });
}
