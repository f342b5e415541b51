import { PREFIX } from '../../../domain/ids.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { contentCheck, contentVersion, tag } from '../../etag.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { QUOTAS, QUOTAS_SET, quotasFromWire, quotasSet, quotasToWire } from '../../wire/quotas.ts';

export function addQuotaRoutes(app: App, { quotas }: HttpDeps): void {
  const mine = operation({
    id: 'getMyQuotas',
    tag: 'account',
    access: 'read',
    summary: 'Read your quotas',
    description: 'Your quotas, and how much of them you use.',
    answer: dataOf(QUOTAS),
  });
  app.get('/v1/users/me/quotas', { schema: mine }, async ({ caller }) => {
    return { data: quotasToWire(caller.ownerId, await quotas.show(caller.ownerId)) };
  });

  const get = operation({
    id: 'getOwnerQuotas',
    tag: 'account',
    access: 'admin',
    summary: 'Read the quotas of an owner',
    description: 'Its quotas, and how much of them it uses. Needs the scope `admin`.',
    params: idIn(PREFIX.owner, 'The owner.'),
    answer: dataOf(QUOTAS),
  });
  app.get('/v1/owners/:id/quotas', { schema: get }, async ({ params }, reply) => {
    const shown = await quotas.show(params.id);
    tag(reply, contentVersion(quotasSet(shown.limits)));
    return { data: quotasToWire(params.id, shown) };
  });

  const put = operation({
    id: 'setOwnerQuotas',
    tag: 'account',
    access: 'admin',
    summary: 'Set the quotas of an owner',
    description:
      'Null removes a quota. A change takes effect at once here, and at all nodes within seconds. Needs the scope `admin`.',
    params: idIn(PREFIX.owner, 'The owner.'),
    put: { takes: 'members' },
    body: QUOTAS_SET,
    takesIfMatch: true,
    example: { processes: 8, requests_per_second: 100 },
    answer: dataOf(QUOTAS),
  });
  app.put('/v1/owners/:id/quotas', { schema: put }, async (request, reply) => {
    const { id } = request.params;
    const check = contentCheck(request, `the quotas of ${id}`);
    await quotas.set(id, quotasFromWire(request.body), (before) => check(quotasSet(before)));
    const shown = await quotas.show(id);
    tag(reply, contentVersion(quotasSet(shown.limits)));
    return { data: quotasToWire(id, shown) };
  });
}
