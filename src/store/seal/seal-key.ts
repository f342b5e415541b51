// The key that seals a store's secrets is kept in the store, wrapped with the operator's key. So the operator's key can be
// replaced without changing a row, a wrong one is noticed at once, and rows move to another store unchanged.
//
// `meta` has it as one line that names its format:
//   wrapped1:hkdf:<salt>:<sealed>     with a key that Errand made: 256 random bits need no stretching
//   wrapped1:scrypt:<salt>:<sealed>   with any other key: a person may have chosen it, so each guess must be expensive
//   bare1:<key>                       not wrapped: several processes without a key that all of them know

import { hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import { basename } from 'node:path';
import { StoreUnavailable } from '../contract/unavailable.ts';
import type { CommandRecord } from '../rows/command-record.ts';
import { createSeal, isSealed } from './seal.ts';

/** A key of the operator. */
export interface SecretKey {
  readonly key: string;
  /** Its origin, for people: a setting or a file. */
  readonly from: string;
  /** All processes that open the store have it, so it wraps a bare key. */
  readonly isShared: boolean;
}

export interface SealKey {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** The line that replaces the one in the store; null: no change. */
  readonly replacement: string | null;
  /** Where the key is from that opened it, and that another one replaces; null: none is replaced. */
  readonly replaces: string | null;
  readonly isBare: boolean;
}

/** An order to wrap the kept key with another one. */
export interface Rekeying {
  readonly keys: readonly SecretKey[];
  readonly to: string;
  readonly record: CommandRecord;
}

/** The operator's key is missing or wrong. The message says which. */
export class SecretKeyRefused extends StoreUnavailable {}

/** For the log of a start that has replaced the key. */
export const REPLACED =
  'the key for the secrets of this store was replaced: from now on the store opens with this one only, and backups that were made before with the old one';

/** The name of its row in `meta`. */
export const SEAL_KEY = 'seal_key';

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const PLACE = 'the key of this store';
const WRAPPED = 'wrapped1';
const BARE = 'bare1';
/** In the data dir. */
const KEY_FILE = 'secret-key';
/** The prefix of keys that Errand makes. */
const MADE = 'esk_';
const MADE_FORM = /^esk_[A-Za-z0-9_-]{43}$/;
const HKDF_INFO = 'errand seal key';
/** 32 MiB and about 0.1 s for each guess, and for each start. Part of the format: other parameters need another format name. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

type Derivation = 'hkdf' | 'scrypt';

/** Returns a new key as text. `bytes`: 32 random ones. */
export function spellSecretKey(bytes: Uint8Array): string {
  return MADE + Buffer.from(bytes).toString('base64url');
}

/**
 * Opens the kept key (null: makes a new one). The first of `keys` is to wrap it; the others may have wrapped it before.
 * Throws `SecretKeyRefused`.
 */
export function openSealKey(kept: string | null, keys: readonly SecretKey[]): SealKey {
  const [first] = keys;
  if (kept === null) {
    const key = randomBytes(KEY_BYTES);
    return { key, replacement: first ? wrap(key, first.key) : spellBare(key), replaces: null, isBare: !first };
  }
  if (!isWrapped(kept)) {
    const key = readBare(kept);
    return first?.isShared
      ? { key, replacement: wrap(key, first.key), replaces: null, isBare: false }
      : { key, replacement: null, replaces: null, isBare: true };
  }
  for (const { key: secretKey, from } of keys) {
    const key = unwrap(kept, secretKey);
    if (key === null) continue;
    if (first === undefined || first.key === secretKey)
      return { key, replacement: null, replaces: null, isBare: false };
    return { key, replacement: wrap(key, first.key), replaces: from, isBare: false };
  }
  throw refusal(keys);
}

/** Returns the kept key wrapped with `to`. Throws `SecretKeyRefused` when none of `keys` opens it. */
export function rewrapped(kept: string | null, keys: readonly SecretKey[], to: string): string {
  return wrap(openSealKey(kept, keys).key, to);
}

/** Returns whether this key opens the kept key. */
export function isOpenedWith(kept: string | null, secretKey: string): boolean {
  return kept !== null && isWrapped(kept) && unwrap(kept, secretKey) !== null;
}

/** Returns in words which key opens the kept key. */
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

/** Returns the key; null: it was wrapped with another key. */
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
    'the key that seals the secrets of this store has an unknown format: a newer Errand wrote it, or it is damaged',
  );
}

function refusal(keys: readonly SecretKey[]): SecretKeyRefused {
  const given = keys.map(({ from }) => from);
  return new SecretKeyRefused(
    given.length === 0
      ? 'the key for the secrets of this store is missing: set ERRAND_SECRET_KEY to it, or put its file secret-key back into the data dir'
      : `the secrets of this store are sealed with another key than the one in ${given.join(', and than the one in ')}: ${remedy(given)}`,
  );
}

function remedy(given: readonly string[]): string {
  if (!given.some((from) => basename(from) === KEY_FILE))
    return 'set ERRAND_SECRET_KEY to the right one, or put its file secret-key back into the data dir';
  return 'set ERRAND_SECRET_KEY to the key that was last given to a start or to "errand store rekey". The one in the file was replaced since, or is of another store';
}
