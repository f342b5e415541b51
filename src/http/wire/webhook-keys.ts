// Public keys of webhooks, with which receivers check `v1a` signatures.

import { createHash } from 'node:crypto';
import type { Static } from 'typebox';
import type { Webhook } from '../../domain/resource.ts';
import { id, mostlyNull, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

const PUBLIC_KEY = text({
  description: '`whpk_` and the base64 of the 32 bytes of an ed25519 public key.',
  example: 'whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAAAAAAAAAAA=',
});
const UNTIL_MS = mostlyNull(
  'Until when a replaced key still signs, in milliseconds since the Unix epoch; null: no end is set.',
);

export const SHOWN_KEY = Type.Object({ public_key: PUBLIC_KEY, until_ms: UNTIL_MS }, { title: 'PublicKey' });

export const WEBHOOK_KEY = Type.Object(
  {
    id: text({ description: 'Names the key in lists.', example: 'wh_0Vj3aBc9dEfGhIjK.9f86d081884c' }),
    webhook_id: id('wh_'),
    public_key: PUBLIC_KEY,
    until_ms: UNTIL_MS,
  },
  { title: 'WebhookKey' },
);

const KEY_ID = /^wh_[0-9A-Za-z]{16}\.[0-9a-f]{12}$/;

/** Reads cursors that are ids of keys. */
export function keyCursor(cursor: string): string | undefined {
  return KEY_ID.test(cursor) ? cursor : undefined;
}

/** Returns the public keys that sign now or soon, newest first. */
export function publicKeysOf({ secrets }: Webhook, nowMs: number): Static<typeof SHOWN_KEY>[] {
  return secrets.flatMap(({ publicKey, untilMs }) =>
    publicKey === null || (untilMs !== null && untilMs <= nowMs) ? [] : [{ public_key: publicKey, until_ms: untilMs }],
  );
}

export function webhookKeysOf(webhook: Webhook, nowMs: number): Static<typeof WEBHOOK_KEY>[] {
  return publicKeysOf(webhook, nowMs).map((key) => {
    const fingerprint = createHash('sha256').update(key.public_key).digest('hex').slice(0, 12);
    return { id: `${webhook.id}.${fingerprint}`, webhook_id: webhook.id, ...key };
  });
}
