// A mail as its reader sees it, for a frame of the dashboard: anything may stand in it, so that the answer itself says that
// nothing of it runs, is loaded or leads away.

import { numberOf, PREFIX } from '../../../domain/ids.ts';
import { Refusal } from '../../../domain/refusal.ts';
import { maySeeSecrets } from '../../access/auth.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { found } from '../../found.ts';
import { idIn, operation } from '../../openapi/operation.ts';
import { Type } from '../../schema/type.ts';
import { contentOf, mailIn } from '../../wire/log/delivery-content.ts';

const HEADERS = {
  'content-security-policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

export function addMailPage(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'getDeliveryMail',
    tag: 'deliveries',
    access: 'read',
    summary: 'Show a mail',
    description:
      'The HTML of a mail or notice, as a page on which nothing runs and nothing is loaded from elsewhere. Needs the scope `write`, too: the links in it need no key. 404 when it has no HTML.',
    params: idIn(PREFIX.delivery, 'The delivery.'),
    mediaType: 'text/html',
    answer: Type.String({ examples: ['<h1>Orders: TypeError</h1>'] }),
  });
  app.get('/v1/deliveries/:id/mail', { schema }, async ({ params, caller }, reply) => {
    if (!maySeeSecrets(caller))
      throw new Refusal('forbidden', 'The links in a mail need no key: this key needs the scope write');
    const delivery = found(numberOf(PREFIX.delivery, params.id), 'delivery', params.id);
    const { record } = found(await store.getDelivery(caller.ownerId, delivery), 'delivery', params.id);
    const content = contentOf(record);
    const emission = content === null ? undefined : await store.getEmission(caller.ownerId, record.entry);
    const html = emission ? mailIn(content, emission.body)?.html : undefined;
    return reply
      .headers(HEADERS)
      .type('text/html; charset=utf-8')
      .send(found(html ?? undefined, 'mail', params.id));
  });
}
