// Webhooks as they are shown and asked for.

import { type Static, Type } from 'typebox';
import { Refusal } from '../../domain/fault.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { WebhookInput } from '../../domain/requests.ts';
import type { Webhook } from '../../domain/resource.ts';
import { id, nullable, SECONDS, text, toSeconds } from '../schema.ts';

const URL_WANTED = `an http or https address without credentials, at most ${LIMITS.urlChars} characters`;

const FIELDS = {
  id: id('wh_'),
  user_id: id('u_'),
  url: text({ example: 'https://example.com/hooks/errand' }),
  name: nullable(text({ example: 'Errors to chat' })),
  description: nullable(text({ example: 'Posts every error into #alerts' })),
  active: Type.Boolean({ examples: [true] }),
  created_at: SECONDS,
  updated_at: SECONDS,
};

export const WEBHOOK = Type.Object(FIELDS, { title: 'Webhook' });

export const NEW_WEBHOOK = Type.Object(
  {
    ...FIELDS,
    secret: text({
      description: 'Signs what is delivered (Standard Webhooks). Shown here and never again.',
      example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    }),
  },
  { title: 'NewWebhook' },
);

const URL_TEXT = text({
  description: `Where events are delivered: ${URL_WANTED}.`,
  minLength: 1,
  maxLength: LIMITS.urlChars,
  expected: URL_WANTED,
  example: 'https://example.com/hooks/errand',
});

const LABELS = {
  name: Type.Optional(
    nullable(text({ description: 'Label for your own use.', maxLength: LIMITS.nameChars, example: 'Errors to chat' })),
  ),
  description: Type.Optional(
    nullable(
      text({
        description: 'Longer description.',
        maxLength: LIMITS.descriptionChars,
        example: 'Posts every error into #alerts',
      }),
    ),
  ),
};

export const WEBHOOK_CREATE = { url: URL_TEXT, ...LABELS };

export const WEBHOOK_UPDATE = {
  url: Type.Optional(URL_TEXT),
  ...LABELS,
  active: Type.Optional(
    Type.Boolean({ description: 'False: deliveries are held. True: what was held goes out.', examples: [true] }),
  ),
};

export function webhookToWire(webhook: Webhook): Static<typeof WEBHOOK> {
  return {
    id: webhook.id,
    user_id: webhook.ownerId,
    url: webhook.url,
    name: webhook.name,
    description: webhook.description,
    active: webhook.active,
    created_at: toSeconds(webhook.createdAtMs),
    updated_at: toSeconds(webhook.updatedAtMs),
  };
}

/** Whether the address may ever be reached is judged by the engine; this is its shape alone. */
export function webhookInput<T extends WebhookInput>(input: T): T {
  if (input.url === undefined) return input;
  const url = URL.parse(input.url);
  const isFine = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (isFine && !/[\s\p{Cc}]/u.test(input.url)) return input;
  // A password in the address must not come back in the answer, where logs would keep it.
  const was =
    url && (url.username !== '' || url.password !== '') ? 'it has credentials' : `was "${input.url.slice(0, 80)}"`;
  const message = `must be ${URL_WANTED}, but ${was}`;
  throw new Refusal('malformed', `url ${message}`, { errors: [{ parameter: 'url', message }] });
}
