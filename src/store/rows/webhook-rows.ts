// Rows of webhooks to records and back. Settings and secrets are sealed.

import { HEALTHY, type WebhookHealth } from '../../domain/delivery/health.ts';
import {
  DEFAULT_WEBHOOK_SETTINGS,
  type SigningSecret,
  type Webhook,
  type WebhookSettings,
} from '../../domain/resource.ts';
import type { Seal } from '../seal/seal.ts';
import { webhookSecretsPlace, webhookSettingsPlace } from '../seal/sealed-columns.ts';
import { flag, number, numberIfRead, numberOrNull, text, textOrNull } from './cells.ts';
import type { Row } from './rows.ts';

export function toWebhook(row: Row, seal: Seal): Webhook {
  const id = text(row, 'id');
  return {
    id,
    ownerId: text(row, 'owner_id'),
    url: text(row, 'url'),
    name: textOrNull(row, 'name'),
    description: textOrNull(row, 'description'),
    active: flag(row, 'active'),
    settings: toWebhookSettings(row, seal),
    secrets: JSON.parse(seal.open(text(row, 'secrets'), webhookSecretsPlace(id))) as SigningSecret[],
    createdAtMs: number(row, 'created_at_ms'),
    updatedAtMs: number(row, 'updated_at_ms'),
  };
}

/** Reads the settings; a missing one has its default. */
function toWebhookSettings(row: Row, seal: Seal): WebhookSettings {
  const settings = seal.open(text(row, 'settings'), webhookSettingsPlace(text(row, 'id')));
  return { ...DEFAULT_WEBHOOK_SETTINGS, ...(JSON.parse(settings) as Partial<WebhookSettings>) };
}

/** Returns HEALTHY itself for most webhooks, so that comparing identities is enough. */
export function toHealth(row: Row): WebhookHealth {
  const failingSinceMs = numberIfRead(row, 'failing_since_ms');
  const pausedUntilMs = numberIfRead(row, 'paused_until_ms');
  if (failingSinceMs === null && pausedUntilMs === null) return HEALTHY;
  return {
    failingSinceMs,
    exhaustedInRow: number(row, 'exhausted_in_row'),
    noticedAtMs: numberOrNull(row, 'noticed_at_ms'),
    pausedUntilMs,
  };
}

/** Returns the sealed columns. */
export function sealedCells({ id, settings, secrets }: Webhook, seal: Seal): { settings: string; secrets: string } {
  return {
    settings: seal.seal(JSON.stringify(settings), webhookSettingsPlace(id)),
    secrets: seal.seal(JSON.stringify(secrets), webhookSecretsPlace(id)),
  };
}
