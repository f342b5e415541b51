import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSpecifier, satisfies } from '../../../../src/runner/bundling/specifier.ts';

test('specifiers are read with their pins', () => {
  const cases = {
    lodash: ['lodash', null, ''],
    'lodash@4': ['lodash', '4', ''],
    'lodash/get.js': ['lodash', null, '/get.js'],
    '@a/b': ['@a/b', null, ''],
    '@a/b@^2.0.0/x/y': ['@a/b', '^2.0.0', '/x/y'],
  };
  for (const [text, [name, pin, sub]] of Object.entries(cases)) {
    assert.deepEqual(readSpecifier(text), { name, pin, sub });
  }
  for (const text of ['./x', '../x', '/x', '#x', '@a', '', 'https://x/y', 'data:text', 'file:///x', '.']) {
    assert.equal(readSpecifier(text), null, text);
  }
});

test('ranges mean what npm says', () => {
  const within = {
    '1.2.3': ['1.2.3'],
    '1': ['1.0.0', '1.99.1'],
    '1.x': ['1.5.0'],
    '1.2': ['1.2.0', '1.2.9'],
    '^1.2.3': ['1.2.3', '1.9.0'],
    '^0.2.3': ['0.2.3', '0.2.9'],
    '^0.0.3': ['0.0.3'],
    '~1.2.3': ['1.2.3', '1.2.9'],
    '>=1.2 <2': ['1.2.0', '1.9.9'],
    '1.2.3 - 2': ['1.2.3', '2.9.9'],
    '^1 || ^3': ['1.1.1', '3.0.0'],
    '*': ['0.0.1'],
    '': ['9.9.9'],
    next: ['1.0.0'],
    'v2.0.0-beta.2': ['2.0.0-beta.2'],
    '^2.0.0-beta.2': ['2.0.0-beta.10', '2.1.0'],
  };
  for (const [range, versions] of Object.entries(within)) {
    for (const version of versions) assert.ok(satisfies(version, range), `${version} is within ${range}`);
  }
  const outside = {
    '1.2.3': ['1.2.4', '1.2.3-rc.1'],
    '1': ['2.0.0', '0.9.0', '2.0.0-rc.1'],
    '^1.2.3': ['1.2.2', '2.0.0'],
    '^0.2.3': ['0.3.0', '0.2.2'],
    '^0.0.3': ['0.0.4'],
    '~1.2.3': ['1.3.0'],
    '>=1.2 <2': ['1.1.9', '2.0.0'],
    '>1.2': ['1.2.9'],
    '<=1.2': ['1.3.0'],
    '1.2.3 - 2': ['3.0.0'],
    '^1 || ^3': ['2.0.0'],
    '^2.0.0-beta.2': ['2.0.0-beta.1', '3.0.0'],
  };
  for (const [range, versions] of Object.entries(outside)) {
    for (const version of versions) assert.ok(!satisfies(version, range), `${version} is outside of ${range}`);
  }
});
