// The signing secrets of a webhook: always one for `v1`, and one for `v1a` if requested; after a rotation, replaced secrets
// sign for a while, too.

import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { SignatureScheme, SigningSecret, Webhook } from '../../domain/resource.ts';
import type { Random } from '../../ports.ts';

export interface SecretDeps {
  readonly random: Random;
  /** Returns `whsec_…`, from 32 bytes. */
  readonly newSecret: (bytes: Uint8Array) => string;
  /** Returns `whsk_…` and its `whpk_…`, from 32 bytes. */
  readonly newSigningKey: (seed: Uint8Array) => { readonly secret: string; readonly publicKey: string };
}

const SECRET_BYTES = 32;

/** Returns the secrets of a webhook that had `before`, for these signature schemes. */
export function secretsFor(
  deps: SecretDeps,
  signature: readonly SignatureScheme[],
  before: readonly SigningSecret[],
): readonly SigningSecret[] {
  const shared = before.filter((known) => !isSigningKey(known));
  const keys = before.filter(isSigningKey);
  return [
    ...(shared.length > 0 ? shared : [madeSecret(deps)]),
    ...(signature.includes('v1a') ? (keys.length > 0 ? keys : [madeSigningKey(deps)]) : []),
  ];
}

/** Returns a new secret for each scheme; earlier ones end within `overlapMs`. Throws `Refusal` when too many still sign. */
export function rotated(
  deps: SecretDeps,
  webhook: Webhook,
  { nowMs, overlapMs }: { nowMs: number; overlapMs: number },
): readonly SigningSecret[] {
  const untilMs = nowMs + overlapMs;
  const left = webhook.secrets
    .map((secret) => ({ ...secret, untilMs: Math.min(secret.untilMs ?? untilMs, untilMs) }))
    .filter((secret) => secret.untilMs > nowMs);
  const keys = left.filter(isSigningKey);
  const shared = left.filter((known) => !isSigningKey(known));
  const newKeys = webhook.settings.signature.includes('v1a') ? [madeSigningKey(deps)] : [];
  const secrets = [madeSecret(deps), ...shared, ...newKeys, ...keys];
  if (secrets.length > LIMITS.secretsPerWebhook) {
    const first = new Date(Math.min(...left.map((secret) => secret.untilMs))).toISOString();
    throw new Refusal(
      'conflict',
      `${left.length} earlier secrets of ${webhook.id} would still sign, and with new ones there would be more than ${LIMITS.secretsPerWebhook}; the oldest ends at ${first}: rotate after that, or with a shorter overlap`,
    );
  }
  return secrets;
}

function isSigningKey({ publicKey }: SigningSecret): boolean {
  return publicKey !== null;
}

function madeSecret({ newSecret, random }: SecretDeps): SigningSecret {
  return { secret: newSecret(random.bytes(SECRET_BYTES)), publicKey: null, untilMs: null };
}

function madeSigningKey({ newSigningKey, random }: SecretDeps): SigningSecret {
  return { ...newSigningKey(random.bytes(SECRET_BYTES)), untilMs: null };
}
