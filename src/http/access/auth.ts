// Authentication and scopes. The owner comes from the key alone, never from a parameter.

import { createHash } from 'node:crypto';
import { type ApiKey, isGood, isoOf, type Scope } from '../../domain/keys.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Session } from '../session/session-token.ts';

const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

/** Returns the token of `Authorization: Bearer …`; undefined when the header is missing or something else. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

export function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns the caller's key. Throws `Refusal` (401) that says what is wrong with the header. */
export async function authenticate(store: Store, authorization: string | undefined): Promise<ApiKey> {
  const token = bearerOf(authorization);
  if (token === undefined) {
    const was = authorization === undefined ? 'is missing' : 'is malformed';
    throw new Refusal('unauthenticated', `The Authorization header ${was}; send "Authorization: Bearer <API key>"`);
  }
  return keyOf(store, token);
}

/** Returns the key that a caller has sent. Throws `Refusal` (401) when it is no good one. */
export async function keyOf(store: Store, token: string): Promise<ApiKey> {
  return goodKey(store, sha256Hex(token));
}

/** Returns the key with that hash. Throws `Refusal` (401) when it is unknown, revoked or expired. */
export async function goodKey(store: Store, keyHash: string): Promise<ApiKey> {
  const key = await store.keyByHash(keyHash);
  const nowMs = store.clock.nowMs();
  if (key && isGood(key, nowMs)) return key;
  if (key?.revokedAtMs === null && key.ownerPurgeAtMs !== undefined) throw ownerDeleted(key.ownerPurgeAtMs);
  const expiredAtMs = key?.revokedAtMs === null ? key.expiresAtMs : null;
  const why = expiredAtMs === null ? UNKNOWN : `This API key expired at ${isoOf(expiredAtMs)}; use another one`;
  throw new Refusal('unauthenticated', why);
}

/** Returns the key of a session. Throws `Refusal` (401) when it is no good one, or all of its sessions were ended. */
export async function goodSessionKey(store: Store, { keyHash, epoch }: Session): Promise<ApiKey> {
  const key = await goodKey(store, keyHash);
  if (key.sessionEpoch !== epoch) throw new Refusal('unauthenticated', ENDED);
  return key;
}

const ENDED = 'This session was ended by a sign-out everywhere; sign in again';
/** Returns the refusal of what belongs to an owner that is being deleted. */
export function ownerDeleted(purgeAtMs: number): Refusal {
  return new Refusal(
    'owner_deleted',
    `The owner of this key or address is being deleted; until ${isoOf(purgeAtMs)} a key with the scope "admin" can restore it`,
  );
}

const UNKNOWN = 'This API key is unknown or was revoked';

export function authorize(key: ApiKey, scope: Scope): void {
  if (key.scopes.includes(scope)) return;
  const has = key.scopes.length > 0 ? key.scopes.join(', ') : 'none';
  throw new Refusal('forbidden', `This needs the scope "${scope}", but the key "${key.label}" has ${has}`);
}

/** Returns whether the caller may see the credentials in what was sent. */
export function maySeeSecrets({ scopes }: ApiKey): boolean {
  return scopes.includes('write');
}
