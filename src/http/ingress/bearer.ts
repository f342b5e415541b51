import { hash, timingSafeEqual } from 'node:crypto';
import { bearerOf } from '../access/auth.ts';

/** Whether the header carries the token with this SHA-256 (hex). Takes the same time wherever they differ. */
export function isBearer(authorization: string | undefined, tokenHash: string): boolean {
  const token = bearerOf(authorization);
  if (token === undefined) return false;
  const wanted = Buffer.from(tokenHash, 'hex');
  const given = hash('sha256', token, 'buffer');
  return wanted.length === given.length && timingSafeEqual(given, wanted);
}
