// Which global error workflows get the code that new owners begin with.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { GLOBAL_ERROR_CODE } from '../../../../src/engine/resources/global-error-code.ts';
import { isFormerCode } from '../../../../src/engine/resources/global-error-upgrade.ts';

test('a code that owners began with is known when it has another one', () => {
  const current = '27ae26585ee47adb6913c6bb00ebcf5c2c0782a1bfc222c01ca66d0c0d175888';
  assert.equal(
    hash('sha256', GLOBAL_ERROR_CODE),
    current,
    `the code was changed: add ${current} to FORMER_CODES (global-error-upgrade.ts), and put the new hash here`,
  );
  assert.equal(isFormerCode(GLOBAL_ERROR_CODE), false);
});
