import type { FastifyRequest } from 'fastify';
import { isGood } from '../../domain/keys.ts';
import type { Store } from '../../store/contract/store.ts';
import { bearerOf, sha256Hex } from './auth.ts';

/** Returns what tells, while a long answer is sent, whether its caller may still have it: the key is good, the session not over. */
export function stillGood(
  store: Pick<Store, 'keyByHash' | 'clock'>,
  { session, headers }: FastifyRequest,
): () => Promise<boolean> {
  const keyHash = session?.keyHash ?? sha256Hex(bearerOf(headers.authorization) ?? '');
  const endsAtMs = session?.endsAtMs ?? Number.POSITIVE_INFINITY;
  return async () => {
    const key = await store.keyByHash(keyHash);
    const nowMs = store.clock.nowMs();
    if (key === undefined || !isGood(key, nowMs) || nowMs >= endsAtMs) return false;
    return session === null || session.epoch === key.sessionEpoch;
  };
}
