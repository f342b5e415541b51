// Rows to webhooks and back. What is secret is sealed; what an older process wrote is not, and says less.

import {
  DEFAULT_WEBHOOK_SETTINGS,
  type SigningSecret,
  type Webhook,
  type WebhookSettings,
} from '../../domain/resource.ts';
import type { Seal } from '../seal.ts';
import type { Pool } from './pool.ts';
import type { Row } from './values.ts';

const settingsPlace = (id: string): string => `webhook settings ${id}`;
const secretsPlace = (id: string): string => `webhook secrets ${id}`;

export function toWebhook(row: Row, seal: Seal): Webhook {
  const id = row.id as string;
  return {
    id,
    ownerId: row.owner_id as string,
    url: row.url as string,
    name: row.name as string | null,
    description: row.description as string | null,
    active: row.active as boolean,
    settings: toSettings(row.settings === null ? null : seal.open(row.settings as string, settingsPlace(id))),
    secrets: toSecrets(seal.open(row.secrets as string, secretsPlace(id))),
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

function toSettings(text: string | null): WebhookSettings {
  if (text === null) return DEFAULT_WEBHOOK_SETTINGS;
  return { ...DEFAULT_WEBHOOK_SETTINGS, ...(JSON.parse(text) as Partial<WebhookSettings>) };
}

function toSecrets(text: string): SigningSecret[] {
  const kept = JSON.parse(text) as (SigningSecret | string)[];
  return kept.map((one) => (typeof one === 'string' ? { secret: one, publicKey: null, untilMs: null } : one));
}

/** The columns that hold what is sealed. */
export function sealedCells({ id, settings, secrets }: Webhook, seal: Seal): { settings: string; secrets: string } {
  return {
    settings: seal.seal(JSON.stringify(settings), settingsPlace(id)),
    secrets: seal.seal(JSON.stringify(secrets.map(plainest)), secretsPlace(id)),
  };
}

/** As an older process wrote it, which goes on signing with what is not sealed yet. */
function plainest(one: SigningSecret): SigningSecret | string {
  return one.publicKey === null && one.untilMs === null ? one.secret : one;
}

/** Webhooks that were moved here from another store: only who has the key can tell which are ordered. */
export async function tellOrdered(pool: Pool, seal: Seal): Promise<void> {
  const rows = await pool.all('SELECT id, settings FROM webhooks WHERE is_ordered IS NULL');
  for (const row of rows) {
    const id = row.id as string;
    const { ordered } = toSettings(row.settings === null ? null : seal.open(row.settings as string, settingsPlace(id)));
    await pool.write('UPDATE webhooks SET is_ordered = $2 WHERE id = $1 AND is_ordered IS NULL', id, ordered);
  }
}
