// Each test file runs in exactly one part of `npm test`.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { argumentsOf, filesOf, groupsOf, ownFiles, type Part, repeatedFiles } from '../../parts.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PARTS: readonly Part[] = ['unit', 'sqlite', 'slow', 'postgres'];
const RARE: readonly Part[] = ['rare', 'postgres:all'];

const sorted = (files: readonly string[]): string[] => files.toSorted();

test('each test file is of exactly one part', () => {
  const all = filesOf(['test/**/*.test.ts']);
  assert.ok(all.length > 300, `${all.length} files`);
  assert.deepEqual(sorted([...PARTS, ...RARE].flatMap(ownFiles)), all);
});

test('what is rare is named in full', () => {
  assert.deepEqual(ownFiles('rare'), [
    'test/cli/closed-files.test.ts',
    'test/cli/examples/examples.test.ts',
    'test/cli/hostile.test.ts',
    'test/dashboard/slow.test.ts',
    'test/flows/notices/killed.test.ts',
    'test/http/reports/sentry-versions.test.ts',
    'test/http/start/hostile-settings.test.ts',
    'test/package/nodes.test.ts',
    'test/package/projects.test.ts',
    'test/prove/disks.test.ts',
    'test/prove/mixed.test.ts',
    'test/unit/store/attempt-kills.test.ts',
    'test/unit/store/move/backup-interrupted.test.ts',
    'test/unit/store/move/backup-secrets.test.ts',
    'test/unit/store/move/move-interrupted.test.ts',
    'test/unit/store/move/move-refused.test.ts',
    'test/unit/store/move/salvage-kills.test.ts',
    'test/unit/store/move/salvage.test.ts',
    'test/unit/store/seal/rekey-kills.test.ts',
    'test/unit/store/seal/secret-key-postgres.test.ts',
  ]);
  assert.deepEqual(ownFiles('postgres:all'), [
    'test/contract/postgres-15.test.ts',
    'test/postgres/faults/mixed.test.ts',
    'test/postgres/faults/nodes.test.ts',
    'test/postgres/faults/rarer.test.ts',
    'test/postgres/many-replays.test.ts',
    'test/postgres/nodes/clocks.test.ts',
    'test/postgres/nodes/config/secrets.test.ts',
    'test/postgres/nodes/config/source-changes.test.ts',
    'test/postgres/nodes/config/subscriptions.test.ts',
    'test/postgres/nodes/config/workflow-files.test.ts',
    'test/postgres/nodes/counters.test.ts',
  ]);
});

test('files that share a process are of one group each, and of their part', () => {
  for (const [part, least] of [
    ['sqlite', 40],
    ['postgres', 3],
  ] as const) {
    const groups = groupsOf(part);
    assert.ok(groups.length > least && groups.every(({ length }) => length > 0 && length < 8), part);
    const grouped = groups.flat();
    assert.equal(new Set(grouped).size, grouped.length);
    assert.ok(grouped.every((file) => ownFiles(part).includes(file)));
  }
  for (const part of ['unit', 'slow', ...RARE] as const) assert.deepEqual(groupsOf(part), [], part);
});

test('what runs again runs on SQLite elsewhere', () => {
  const elsewhere = [...ownFiles('sqlite'), ...ownFiles('slow'), ...ownFiles('rare')];
  for (const part of ['postgres', 'postgres:all'] as const) {
    const again = repeatedFiles(part);
    assert.ok(again.length >= 5, part);
    assert.deepEqual(
      again.filter((file) => !elsewhere.includes(file)),
      [],
    );
  }
});

test('what is repeated more often before a release runs in npm test, too', () => {
  const again = repeatedFiles('rare');
  assert.ok(again.length >= 3);
  for (const file of again)
    assert.ok(
      PARTS.some((part) => ownFiles(part).includes(file)),
      file,
    );
});

test('no pattern of a part matches nothing', () => {
  for (const file of [
    'config/config',
    'domain/delivery',
    'engine/answers',
    'mail/smtp',
    'verifier/fetch',
    'webhook/sign',
  ]) {
    assert.ok(ownFiles('unit').includes(`test/unit/${file}.test.ts`), file);
  }
  for (const file of ['attacks/attacks', 'demo/docs', 'package/package', 'prove/crash', 'unit/store/move/move']) {
    assert.ok(ownFiles('slow').includes(`test/${file}.test.ts`), file);
  }
  for (const file of ['contract/postgres', 'contract/postgres-2', 'unit/support/postgres', 'postgres/churn']) {
    assert.ok(ownFiles('postgres').includes(`test/${file}.test.ts`), file);
  }
  for (const file of [
    'http/errors',
    'http/interface/if-match',
    'flows/ledger',
    'flows/runs/replay',
    'flows/runs/waits',
  ]) {
    assert.ok(repeatedFiles('postgres').includes(`test/${file}.test.ts`), file);
  }
});

test('npm test is all parts, each with a time limit', async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  assert.equal(scripts.test, PARTS.map((part) => `npm run test:${part}`).join(' && '));
  for (const part of [...PARTS, ...RARE]) {
    assert.equal(scripts[`test:${part}`], `node test/run.ts ${part}`);
    assert.ok(
      argumentsOf(part).some((argument) => /^--test-timeout=\d+$/.test(argument)),
      part,
    );
  }
  for (const [name, script] of Object.entries(scripts)) {
    if (/\bnode --test\b/.test(script)) assert.match(script, /--test-timeout=\d/, name);
  }
});
