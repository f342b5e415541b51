import type { Random } from '../ports.ts';

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
const CHARS = 5;

/** Returns the tag of a new store, which begins its emit ids. */
export function newStoreTag(random: Random): string {
  return [...random.bytes(CHARS)].map((byte) => DIGITS[byte % DIGITS.length]).join('');
}
