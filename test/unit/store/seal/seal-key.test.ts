// How the key of a store is kept, and whose key opens it.

import { deepEqual, equal, match, notDeepEqual, ok, throws } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  openedWith,
  openSealKey,
  rewrapped,
  type SealKey,
  type SecretKey,
  SecretKeyRefused,
  spellSecretKey,
} from '../../../../src/store/seal/seal-key.ts';

const SETTING = of('ERRAND_SECRET_KEY', 'correct-horse-battery-staple-and-more');
const FILE = of('/data/secret-key', spellSecretKey(randomBytes(32)));
const OTHER = of('ERRAND_SECRET_KEY', 'another-horse-battery-staple-and-more');

function of(from: string, key: string, isShared = true): SecretKey {
  return { from, key, isShared };
}

/** A new store's, and what it keeps. */
function made(...keys: SecretKey[]): { key: Uint8Array; kept: string } {
  const { key, replacement } = openSealKey(null, keys);
  return { key, kept: replacement as string };
}

function assertOpens(opened: SealKey, key: Uint8Array, replaced: boolean): void {
  deepEqual([Buffer.from(opened.key), opened.replacement !== null], [Buffer.from(key), replaced]);
}

test('a new store gets a key of its own', () => {
  const [one, two] = [made(SETTING), made(SETTING)];
  equal(one.key.length, 32);
  notDeepEqual(one.key, two.key);
  assertOpens(openSealKey(one.kept, [SETTING]), one.key, false);
});

test('the operator’s key is stretched unless Errand made it', () => {
  match(made(SETTING).kept, /^wrapped1:scrypt:[A-Za-z0-9+/=]+:sealed1:[A-Za-z0-9+/=]+$/);
  match(made(FILE).kept, /^wrapped1:hkdf:[A-Za-z0-9+/=]+:sealed1:[A-Za-z0-9+/=]+$/);
  match(FILE.key, /^esk_[A-Za-z0-9_-]{43}$/);
});

test('what is kept shows neither of the keys', () => {
  const { key, kept } = made(SETTING);
  for (const secret of [SETTING.key, Buffer.from(key).toString('base64'), Buffer.from(key).toString('hex')]) {
    ok(!kept.includes(secret));
  }
});

test('a made key works as a setting too', () => {
  const { key, kept } = made(FILE);
  assertOpens(openSealKey(kept, [of('ERRAND_SECRET_KEY', FILE.key)]), key, false);
});

test('a new setting takes the place of the file', () => {
  const { key, kept } = made(FILE);
  const opened = openSealKey(kept, [SETTING, FILE]);
  assertOpens(opened, key, true);
  const now = opened.replacement as string;
  assertOpens(openSealKey(now, [SETTING, FILE]), key, false);
  assertOpens(openSealKey(now, [SETTING]), key, false);
  throws(() => openSealKey(now, [FILE]), SecretKeyRefused);
});

test('a wrong or missing key is refused by name', () => {
  const { kept } = made(SETTING);
  const refused = (...keys: SecretKey[]) => {
    try {
      openSealKey(kept, keys);
    } catch (error) {
      ok(error instanceof SecretKeyRefused);
      ok(!error.message.includes('\n') && keys.every(({ key }) => !error.message.includes(key)));
      return error.message;
    }
    return 'opened';
  };
  match(refused(), /is missing: set ERRAND_SECRET_KEY to it, or put its file secret-key back into the data dir$/);
  match(refused(OTHER), /with another key than the one in ERRAND_SECRET_KEY: set/);
  match(refused(FILE), /with another key than the one in \/data\/secret-key: set ERRAND_SECRET_KEY/);
  match(refused(OTHER, FILE), /than the one in ERRAND_SECRET_KEY, and than the one in \/data\/secret-key/);
});

test('without a key it stands bare, until all have one', () => {
  const { key, kept } = made();
  match(kept, /^bare1:/);
  const still = openSealKey(kept, []);
  assertOpens(still, key, false);
  ok(still.isBare);
  // What only one of several processes has would shut the others out.
  const own = openSealKey(kept, [{ ...FILE, isShared: false }]);
  assertOpens(own, key, false);
  ok(own.isBare);
  const wrapped = openSealKey(kept, [SETTING]);
  assertOpens(wrapped, key, true);
  ok(!wrapped.isBare);
  assertOpens(openSealKey(wrapped.replacement, [SETTING]), key, false);
  throws(() => openSealKey(wrapped.replacement, []), SecretKeyRefused);
});

test('a replaced key opens what it did before', () => {
  for (const keys of [[SETTING], [FILE], []]) {
    const { key, kept } = made(...keys);
    const again = rewrapped(kept, keys, OTHER.key);
    assertOpens(openSealKey(again, [OTHER]), key, false);
    throws(() => openSealKey(again, [SETTING, FILE]), SecretKeyRefused);
  }
  throws(() => rewrapped(made(SETTING).kept, [FILE], OTHER.key), SecretKeyRefused);
});

test('what a newer program keeps is refused', () => {
  const [, ...rest] = made(SETTING).kept.split(':');
  const kept = [`wrapped2:${rest.join(':')}`, `wrapped1:argon2:${rest.slice(1).join(':')}`, 'bare1:c2hvcnQ=', ''];
  for (const text of kept) throws(() => openSealKey(text, [SETTING]), /a newer Errand wrote it, or it is damaged/);
  for (const text of ['wrapped1:scrypt', 'wrapped1:hkdf::', 'wrapped1:scrypt:AAAA:sealed1:AAAA']) {
    throws(() => openSealKey(text, [SETTING]), SecretKeyRefused);
  }
});

test('one is told which key a copy needs', () => {
  equal(openedWith(null, [SETTING]), 'no key');
  equal(openedWith(made().kept, [SETTING]), 'no key');
  match(openedWith(made(FILE).kept, [SETTING, FILE]), /^the key in \/data\/secret-key: keep that/);
  match(openedWith(made(SETTING).kept, [FILE]), /^the key that servers are given as ERRAND_SECRET_KEY/);
});
