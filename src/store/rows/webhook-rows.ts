// Rows to webhooks and back. What is secret is sealed; what an older version wrote is not, and says less.

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
    secrets: toSecrets(seal.open(row.secrets as string, webhookSecretsPlace(id))),
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

export function toWebhookSettings({ id, settings }: Row, seal: Seal): WebhookSettings {
  if (settings === null) return DEFAULT_WEBHOOK_SETTINGS;
  const text = seal.open(settings as string, webhookSettingsPlace(id as string));
  return { ...DEFAULT_WEBHOOK_SETTINGS, ...(JSON.parse(text) as Partial<WebhookSettings>) };
}

function toSecrets(text: string): SigningSecret[] {
  const kept = JSON.parse(text) as (SigningSecret | string)[];
  return kept.map((one) => (typeof one === 'string' ? { secret: one, publicKey: null, untilMs: null } : one));
}

/** The columns that hold what is sealed. */
export function sealedCells({ id, settings, secrets }: Webhook, seal: Seal): { settings: string; secrets: string } {
  return {
    settings: seal.seal(JSON.stringify(settings), webhookSettingsPlace(id)),
    secrets: seal.seal(JSON.stringify(secrets.map(plainest)), webhookSecretsPlace(id)),
  };
}

/** As an older process wrote it, which goes on signing with what is not sealed yet. */
function plainest(one: SigningSecret): SigningSecret | string {
  return one.publicKey === null && one.untilMs === null ? one.secret : one;
}
