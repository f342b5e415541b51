// Parameters of webhooks.

import type { Static } from 'typebox';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { WebhookInput } from '../../domain/requests.ts';
import { nullable, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { WEBHOOK_SETTINGS_INPUT, webhookSettingsInput } from './webhook-settings.ts';

const URL_WANTED = `an http or https address without credentials, at most ${LIMITS.urlChars} characters`;

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

const ACTIVE = {
  active: Type.Optional(
    Type.Boolean({ description: 'False: deliveries are held. True: what was held goes out.', examples: [true] }),
  ),
};

export const WEBHOOK_CREATE = { url: URL_TEXT, ...LABELS, ...ACTIVE, ...WEBHOOK_SETTINGS_INPUT };

export const WEBHOOK_UPDATE = {
  url: Type.Optional(URL_TEXT),
  ...LABELS,
  ...ACTIVE,
  ...WEBHOOK_SETTINGS_INPUT,
};

const MAX_OVERLAP_S = LIMITS.maxSecretOverlapMs / SECOND_MS;

export const ROTATE = {
  overlap_s: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_OVERLAP_S,
      description: `For how many seconds the secrets before sign along; ${LIMITS.secretOverlapMs / SECOND_MS} when not given. 0: not at all.`,
      examples: [LIMITS.secretOverlapMs / SECOND_MS],
    }),
  ),
};

const UPDATE = Type.Object(WEBHOOK_UPDATE);

type Parameters = Static<typeof UPDATE>;

/** Checks the shape of the address alone; the engine decides whether it may be reached. */
export function webhookInput(given: Parameters): WebhookInput {
  if (given.url !== undefined) checkUrl(given.url);
  const { url, name, description, active } = given;
  const settings = webhookSettingsInput(given);
  return {
    ...(url === undefined ? {} : { url }),
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(active === undefined ? {} : { active }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  };
}

function checkUrl(given: string): void {
  const url = URL.parse(given);
  const isFine = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (isFine && !/[\s\p{Cc}]/u.test(given)) return;
  // A password in the address must not come back in the answer, where logs would keep it.
  const was =
    url && (url.username !== '' || url.password !== '') ? 'it has credentials' : `was "${given.slice(0, 80)}"`;
  const message = `must be ${URL_WANTED}, but ${was}`;
  throw new Refusal('malformed', `url ${message}`, { errors: [{ parameter: 'url', message }] });
}
