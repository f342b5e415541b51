// Webhooks as shown.

import type { Static } from 'typebox';
import type { WebhookHealth } from '../../domain/delivery/health.ts';
import type { Scope } from '../../domain/keys.ts';
import type { Webhook } from '../../domain/resource.ts';
import { CREATED_AT, id, mostlyNull, nullable, oneOf, text, toSeconds, UPDATED_AT } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { publicKeysOf, SHOWN_KEY } from './webhook-keys.ts';
import { WEBHOOK_SETTINGS, webhookSettingsToWire } from './webhook-settings.ts';

const HEALTH = Type.Object(
  {
    status: oneOf(
      ['healthy', 'failing', 'paused', 'disabled'],
      '`failing`: no attempt has succeeded since the last one that failed. `paused`: the receiver asked to be left alone. `disabled`: it is not active.',
    ),
    failing_since_ms: mostlyNull(
      'When the first attempt failed since the last success, in milliseconds since the Unix epoch; null: none has.',
    ),
    exhausted_in_row: Type.Integer({ description: 'Deliveries given up since the last success.', examples: [0] }),
    paused_until_ms: mostlyNull(
      'Nothing is sent to it before then (`Retry-After`), in milliseconds since the Unix epoch; null: it is not paused.',
    ),
  },
  { title: 'WebhookHealth', description: 'Whether deliveries succeed.' },
);

const FIELDS = {
  id: id('wh_'),
  owner_id: id('u_'),
  user_id: id('u_', 'The same as `owner_id`, by the name that callers of webhooks know.'),
  url: text({ description: 'Where events are delivered.', example: 'https://example.com/hooks/errand' }),
  name: nullable(text({ description: 'Label for your own use.', example: 'Errors to chat' })),
  description: nullable(
    text({ description: 'Longer description for your own use.', example: 'Posts every error into #alerts' }),
  ),
  active: Type.Boolean({ description: 'False: deliveries are held.', examples: [true] }),
  ...WEBHOOK_SETTINGS,
  health: HEALTH,
  public_keys: Type.Array(SHOWN_KEY, { description: 'For `v1a` signatures, newest first.' }),
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
};

export const WEBHOOK = Type.Object(FIELDS, { title: 'Webhook' });

export const NEW_WEBHOOK = Type.Object(
  {
    ...FIELDS,
    secret: text({
      description: 'Signs what is delivered (Standard Webhooks, `v1`). Shown here and never again.',
      example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    }),
  },
  { title: 'NewWebhook' },
);

/** What a webhook is shown with, and to which caller. */
export interface WebhookView {
  readonly health: WebhookHealth;
  readonly nowMs: number;
  readonly scopes: readonly Scope[];
}

export function webhookToWire(webhook: Webhook, { health, nowMs, scopes }: WebhookView): Static<typeof WEBHOOK> {
  return {
    id: webhook.id,
    owner_id: webhook.ownerId,
    user_id: webhook.ownerId,
    url: webhook.url,
    name: webhook.name,
    description: webhook.description,
    active: webhook.active,
    // A caller who may change the webhook could send its headers anywhere; other callers see no credentials.
    ...webhookSettingsToWire(webhook.settings, !scopes.includes('write')),
    health: healthToWire(webhook.active, health, nowMs),
    public_keys: publicKeysOf(webhook, nowMs),
    created_at: toSeconds(webhook.createdAtMs),
    updated_at: toSeconds(webhook.updatedAtMs),
  };
}

export function newWebhookToWire(webhook: Webhook, view: WebhookView): Static<typeof NEW_WEBHOOK> {
  const newest = webhook.secrets.find(({ publicKey }) => publicKey === null);
  if (!newest) throw new Error(`${webhook.id} has no secret`);
  return { ...webhookToWire(webhook, view), secret: newest.secret };
}

function healthToWire(active: boolean, health: WebhookHealth, nowMs: number): Static<typeof HEALTH> {
  const { failingSinceMs, exhaustedInRow, pausedUntilMs } = health;
  const isPaused = pausedUntilMs !== null && pausedUntilMs > nowMs;
  const status = isPaused ? 'paused' : failingSinceMs === null ? 'healthy' : 'failing';
  return {
    status: active ? status : 'disabled',
    failing_since_ms: failingSinceMs,
    exhausted_in_row: exhaustedInRow,
    paused_until_ms: isPaused ? pausedUntilMs : null,
  };
}
