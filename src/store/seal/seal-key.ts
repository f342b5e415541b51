// The key that seals a store's secrets stands in the store itself, wrapped with the operator's key: so that key can be
// replaced without touching a row, a wrong one is noticed at once, and the rows move to another store as they are.
//
// `meta` has it as one line, which says how it is to be read:
//   wrapped1:hkdf:<salt>:<sealed>     with a key that Errand made: 256 random bits, which nothing makes stronger
//   wrapped1:scrypt:<salt>:<sealed>   with any other: a person may have chosen it, so each guess is made to cost
//   bare1:<key>                       not wrapped: several processes, and no key that all of them know

import { hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import { StoreUnavailable } from '../contract/store.ts';
import { createSeal, isSealed } from './seal.ts';

/** A key of the operator. */
export interface SecretKey {
  readonly key: string;
  /** Where it comes from, for people: a setting or a file. */
  readonly from: string;
  /** Everybody who opens the store has it: a key that stands there bare is wrapped with it. */
  readonly isShared: boolean;
}

export interface SealKey {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** What is to stand in the store from now on; null: what stands there. */
  readonly replacement: string | null;
  readonly isBare: boolean;
}

/** The operator's key is missing or another one. The message says which. */
export class SecretKeyRefused extends StoreUnavailable {}

/** Of the row in `meta`. */
export const SEAL_KEY = 'seal_key';

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const PLACE = 'the key of this store';
const WRAPPED = 'wrapped1';
const BARE = 'bare1';
/** What Errand makes begins with it. */
const MADE = 'esk_';
const MADE_FORM = /^esk_[A-Za-z0-9_-]{43}$/;
const HKDF_INFO = 'errand seal key';
/** 32 MiB and about 0.1 s a guess, and a start. They belong to the format: others need another name. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

type Derivation = 'hkdf' | 'scrypt';

/** `bytes`: 32 random ones. */
export function spellSecretKey(bytes: Uint8Array): string {
  return MADE + Buffer.from(bytes).toString('base64url');
}

/**
 * Opens what the store has (null: nothing yet, a key is made). The first of `keys` is the one that it is to be wrapped
 * with; the others may have wrapped it before. Throws `SecretKeyRefused`.
 */
export function openSealKey(kept: string | null, keys: readonly SecretKey[]): SealKey {
  const [first] = keys;
  if (kept === null) {
    const key = randomBytes(KEY_BYTES);
    return { key, replacement: first ? wrap(key, first.key) : spellBare(key), isBare: !first };
  }
  if (!isWrapped(kept)) {
    const key = readBare(kept);
    return first?.isShared
      ? { key, replacement: wrap(key, first.key), isBare: false }
      : { key, replacement: null, isBare: true };
  }
  for (const { key: secretKey } of keys) {
    const key = unwrap(kept, secretKey);
    if (key === null) continue;
    return { key, replacement: first?.key === secretKey ? null : wrap(key, first?.key as string), isBare: false };
  }
  throw refusal(keys);
}

/** The same key wrapped with `to`. Throws `SecretKeyRefused` when none of `keys` opens it. */
export function rewrapped(kept: string | null, keys: readonly SecretKey[], to: string): string {
  return wrap(openSealKey(kept, keys).key, to);
}

/** Returns, in words, which key opens what is kept. */
export function openedWith(kept: string | null, keys: readonly SecretKey[]): string {
  if (kept === null || !isWrapped(kept)) return 'no key';
  const opener = keys.find(({ key }) => unwrap(kept, key) !== null);
  return `the key ${opener ? `in ${opener.from}` : 'that servers are given as ERRAND_SECRET_KEY'}: keep that, and apart`;
}

export function isWrapped(kept: string): boolean {
  return kept.startsWith(`${WRAPPED}:`);
}

function spellBare(key: Uint8Array): string {
  return `${BARE}:${Buffer.from(key).toString('base64')}`;
}

function readBare(kept: string): Uint8Array {
  const [format, text = ''] = kept.split(':');
  const key = Buffer.from(text, 'base64');
  if (format === BARE && key.length === KEY_BYTES) return key;
  throw unknownFormat();
}

function wrap(key: Uint8Array, secretKey: string): string {
  const derivation = MADE_FORM.test(secretKey) ? 'hkdf' : 'scrypt';
  const salt = randomBytes(SALT_BYTES);
  const sealed = createSeal(derive(derivation, secretKey, salt)).seal(Buffer.from(key).toString('base64'), PLACE);
  return [WRAPPED, derivation, salt.toString('base64'), sealed].join(':');
}

/** Null: it was wrapped with another key. */
function unwrap(kept: string, secretKey: string): Uint8Array | null {
  const [, derivation, salt = '', ...rest] = kept.split(':');
  const sealed = rest.join(':');
  if ((derivation !== 'hkdf' && derivation !== 'scrypt') || !isSealed(sealed)) throw unknownFormat();
  const seal = createSeal(derive(derivation, secretKey, Buffer.from(salt, 'base64')));
  try {
    return Buffer.from(seal.open(sealed, PLACE), 'base64');
  } catch {
    return null;
  }
}

function derive(derivation: Derivation, secretKey: string, salt: Uint8Array): Uint8Array {
  if (derivation === 'scrypt') return scryptSync(secretKey, salt, KEY_BYTES, SCRYPT);
  return new Uint8Array(hkdfSync('sha256', secretKey, salt, HKDF_INFO, KEY_BYTES));
}

function unknownFormat(): SecretKeyRefused {
  return new SecretKeyRefused(
    'the key that seals the secrets of this store is kept in a way that this program does not know: it was written by a newer Errand, or is damaged',
  );
}

function refusal(keys: readonly SecretKey[]): SecretKeyRefused {
  const given = keys.map(({ from }) => from);
  return new SecretKeyRefused(
    given.length === 0
      ? 'the key for the secrets of this store is missing: set ERRAND_SECRET_KEY to it, or put its file secret-key back into the data dir'
      : `the secrets of this store are sealed with another key than the one in ${given.join(', and than the one in ')}: set ERRAND_SECRET_KEY to the right one, or put its file secret-key back into the data dir`,
  );
}
