import assert from 'node:assert/strict';
import test from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };
import { VERSION } from '../../../src/domain/version.ts';

test('the platform version is the package version', () => {
  assert.equal(VERSION, manifest.version);
});
