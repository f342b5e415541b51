// One command for all packages, in which no name that code has chosen is more than a name.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { installCommand } from '../../../../src/engine/components/install-command.ts';
import { installable, readSpecifier } from '../../../../src/runner/bundling/specifier.ts';

const wordsOf = (command: string): string[] =>
  execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
    .trim()
    .split('\n');

test('each package is named once', () => {
  assert.equal(installCommand('/srv', []), null);
  const packages = ['luxon', '@scope/b', 'luxon@^3', 'luxon@^2', 'a', 'a'];
  assert.equal(installCommand('/srv', packages), 'npm install --prefix /srv @scope/b a luxon@^3');
});

test('a shell reads the words as they are', () => {
  const dir = "/srv/it's $HOME; *";
  const packages = ['a@>=1 <2 || *', 'b@~1.2', 'c@latest'];
  assert.deepEqual(wordsOf(installCommand(dir, packages) as string), ['npm', 'install', '--prefix', dir, ...packages]);
});

test('only names that npm has are installed', () => {
  const of = (text: string): string | null => {
    const specifier = readSpecifier(text);
    return specifier && installable(specifier);
  };
  for (const text of ['a$(id)', 'a;id', 'a`id`', "a'b", '--prefix', '-g', '@-a/b', '@a/-b', 'a|b', 'a&b', 'ä']) {
    assert.equal(of(text), null, text);
  }
  assert.deepEqual(['lodash.get', '@a/b@1.x/sub', 'a@latest', 'a@npm:evil', 'a@$(id)'].map(of), [
    'lodash.get',
    '@a/b@1.x',
    'a@latest',
    'a',
    'a',
  ]);
});
