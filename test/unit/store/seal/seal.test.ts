// What is sealed, and what does not open.

import { deepEqual, equal, match, notEqual, ok, throws } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createSeal, isSealed } from '../../../../src/store/seal/seal.ts';

const KEY = randomBytes(32);
const PLACE = 'webhook secrets wh_1';
const PLAIN = JSON.stringify(['whsec_é😀']);

test('what is sealed opens as it was', () => {
  const seal = createSeal(KEY);
  for (const plain of ['', PLAIN, 'x'.repeat(100_000)]) {
    const sealed = seal.seal(plain, PLACE);
    match(sealed, /^sealed1:[A-Za-z0-9+/]+=*$/);
    ok(isSealed(sealed));
    // Once out of what was kept, and once out of what it is.
    deepEqual([seal.open(sealed, PLACE), seal.open(sealed, PLACE)], [plain, plain]);
    equal(createSeal(KEY).open(sealed, PLACE), plain);
  }
});

test('the same text is never sealed alike', () => {
  const seal = createSeal(KEY);
  notEqual(seal.seal(PLAIN, PLACE), seal.seal(PLAIN, PLACE));
});

test('what was never sealed does not open unless it is empty', () => {
  const seal = createSeal(KEY);
  for (const plain of ['[]', '{}']) deepEqual([seal.open(plain, PLACE), seal.openOnce(plain, PLACE)], [plain, plain]);
  for (const plain of [PLAIN, '', 'null', '["whsec_bmV3"]', '{"ordered":true}']) {
    throws(() => seal.open(plain, PLACE), /not/);
    throws(() => seal.openOnce(plain, PLACE), /not/);
  }
});

test('nothing opens elsewhere or with another key', () => {
  const sealed = createSeal(KEY).seal(PLAIN, PLACE);
  throws(() => createSeal(KEY).open(sealed, 'webhook secrets wh_2'));
  throws(() => createSeal(KEY).open(sealed, 'webhook settings wh_1'));
  throws(() => createSeal(randomBytes(32)).open(sealed, PLACE));
  // Also once it is known at its own place.
  const seal = createSeal(KEY);
  seal.open(sealed, PLACE);
  throws(() => seal.open(sealed, 'webhook secrets wh_2'));
});

test('nothing opens that was changed or cut', () => {
  const bytes = Buffer.from(createSeal(KEY).seal(PLAIN, PLACE).slice('sealed1:'.length), 'base64');
  const open = (changed: Uint8Array): string =>
    createSeal(KEY).open(`sealed1:${Buffer.from(changed).toString('base64')}`, PLACE);
  equal(open(bytes), PLAIN);
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes);
    changed[i] = (bytes[i] as number) ^ 1;
    throws(() => open(changed), `byte ${i}`);
  }
  for (let length = 0; length < bytes.length; length++)
    throws(() => open(bytes.subarray(0, length)), `${length} bytes`);
});
