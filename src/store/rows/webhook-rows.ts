// Rows to webhooks and back. What is secret is sealed.

import {
  DEFAULT_WEBHOOK_SETTINGS,
  type SigningSecret,
  type Webhook,
  type WebhookSettings,
} from '../../domain/resource.ts';
import type { Seal } from '../seal/seal.ts';
import { webhookSecretsPlace, webhookSettingsPlace } from '../seal/sealed-columns.ts';
import type { Row } from './rows.ts';

export function toWebhook(row: Row, seal: Seal): Webhook {
  const id = row.id as string;
  return {
    id,
    ownerId: row.owner_id as string,
    url: row.url as string,
    name: row.name as string | null,
    description: row.description as string | null,
    active: Boolean(row.active),
    settings: toWebhookSettings(row, seal),
    secrets: JSON.parse(seal.open(row.secrets as string, webhookSecretsPlace(id))) as SigningSecret[],
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

/** A setting that is not there has its default. */
function toWebhookSettings({ id, settings }: Row, seal: Seal): WebhookSettings {
  const text = seal.open(settings as string, webhookSettingsPlace(id as string));
  return { ...DEFAULT_WEBHOOK_SETTINGS, ...(JSON.parse(text) as Partial<WebhookSettings>) };
}

/** The columns that hold what is sealed. */
export function sealedCells({ id, settings, secrets }: Webhook, seal: Seal): { settings: string; secrets: string } {
  return {
    settings: seal.seal(JSON.stringify(settings), webhookSettingsPlace(id)),
    secrets: seal.seal(JSON.stringify(secrets), webhookSecretsPlace(id)),
  };
}
