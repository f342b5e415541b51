// Amounts of bytes as the dashboard writes them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesText } from '../../../dashboard/src/parts/text/bytes.ts';

test('bytes stand in their largest unit, behind a blank', () => {
  const shown = [0, 999, 1000, 1_400_000, 2.5e9, 3e12].map(bytesText);
  assert.deepEqual(shown, ['0 byte', '999 byte', '1 kB', '1.4 MB', '2.5 GB', '3 TB']);
});
