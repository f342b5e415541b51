// Which global error workflows get the code that new owners begin with.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { GLOBAL_ERROR_CODE } from '../../../../src/engine/resources/global-error-code.ts';
import { isFormerCode } from '../../../../src/engine/resources/global-error-upgrade.ts';

test('a code that owners began with is known when it has another one', () => {
  const current = '552c65c241be58b7a68e01a5d26360ed44d67181b5c0a3293cdff4410f252dcc';
  assert.equal(
    hash('sha256', GLOBAL_ERROR_CODE),
    current,
    `the code was changed: add ${current} to FORMER_CODES (global-error-upgrade.ts), and put the new hash here`,
  );
  assert.equal(isFormerCode(GLOBAL_ERROR_CODE), false);
});
