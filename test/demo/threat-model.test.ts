// The threat model names a test for each attacker, and tests that are there.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { linksOf, tableOf } from './markdown.ts';
import { ROOT, readDocument } from './reader.ts';

test('each row of the threat model names tests that exist', async () => {
  const rows = tableOf(await readDocument('docs/threat-model.md'), 'Attacker');
  assert.ok(rows.length >= 14);
  for (const [attacker = '', stops = '', doesNot = '', shown = ''] of rows) {
    const files = [...shown.matchAll(/`([^`]+)`/g)].map(([, file]) => file as string);
    assert.ok(files.length > 0, attacker);
    for (const file of files) {
      assert.match(file, /^test\/.*\.test\.ts$/, attacker);
      assert.ok(existsSync(join(ROOT, file)), `${attacker}: ${file}`);
    }
    assert.ok(stops.length > 20 && doesNot.length > 20, `${attacker}: what stops it, and what does not`);
  }
});

test('the threat model and the releases are linked', async () => {
  for (const path of ['docs/threat-model.md', 'docs/releasing.md']) {
    for (const { path: link } of linksOf(await readDocument(path))) {
      if (link !== '') assert.ok(existsSync(join(ROOT, dirname(path), link)), `${path}: ${link}`);
    }
    for (const from of ['README.md', 'SECURITY.md']) assert.ok((await readDocument(from)).includes(`(${path})`), from);
  }
});
