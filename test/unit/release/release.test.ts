// What a release is checked for: licences, the list of what is in it, and known vulnerabilities.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };
import { auditVerdict } from '../../../release/audit.ts';
import { isPermissive, refusedAmong } from '../../../release/licences.ts';
import { faultsOf, makeSbom } from '../../../release/sbom.ts';
import { type Lock, readLock, shippedIn } from '../../../release/shipped.ts';
import { shrinkwrapOf, unpinnedIn } from '../../../release/shrinkwrap.ts';

test('licences that may be met without a duty to publish are taken', () => {
  for (const license of [
    'MIT',
    'Apache-2.0',
    '(MIT OR EUPL-1.1+)',
    'GPL-3.0-only OR MIT',
    '(MIT AND BSD-3-Clause)',
    '(GPL-2.0 OR (MIT AND Zlib))',
    'MIT AND (ISC OR AGPL-3.0)',
  ]) {
    assert.equal(isPermissive(license), true, license);
  }
});

test('copyleft, source-available and unknown licences are refused', () => {
  for (const license of [
    ...[null, '', ' ', 'UNLICENSED', 'GPL-3.0-only', 'AGPL-3.0', 'LGPL-2.1', 'MPL-2.0', 'EUPL-1.1+', 'CC-BY-NC-4.0'],
    ...['BUSL-1.1', 'SSPL-1.0', 'Elastic-2.0', 'SEE LICENSE IN LICENSE.md', 'mit', 'MIT-ish', 'Custom: https://x'],
    ...[
      'MIT AND GPL-3.0',
      '(MIT OR ISC) AND SSPL-1.0',
      'MIT OR',
      'OR MIT',
      '(MIT',
      'MIT)',
      'MIT MIT',
      '()',
      'MIT, GPL-3.0',
    ],
  ]) {
    assert.equal(isPermissive(license), false, `${license}`);
  }
});

test('what is shipped has licences that may be shipped', async () => {
  const shipped = shippedIn(await readLock());
  assert.deepEqual(refusedAmong(shipped), []);
  const names = new Set(shipped.map(({ name }) => name));
  for (const name of Object.keys(manifest.dependencies)) assert.ok(names.has(name), name);
  assert.ok(names.has('@esbuild/linux-x64'), 'binaries of one platform are shipped, too');
  assert.ok(!names.has('typescript') && !names.has('playwright-core'));
  const [one] = refusedAmong([{ name: 'a', version: '1.0.0', license: 'SSPL-1.0', isOptional: true }]);
  assert.equal(one, 'a@1.0.0: SSPL-1.0 is not one that we ship');
});

test('the shrinkwrap pins all that is shipped', async () => {
  const lock = await readLock();
  const shrinkwrap = shrinkwrapOf(lock);
  assert.deepEqual(shippedIn(shrinkwrap), shippedIn(lock));
  assert.deepEqual(unpinnedIn(shrinkwrap), []);
  const loose: Lock = { ...lock, packages: { 'node_modules/a': { version: '1.0.0', integrity: 'sha1-x' } } };
  assert.deepEqual(unpinnedIn(loose), ['node_modules/a']);
});

test('the SBOM names all that is shipped, with hashes', async () => {
  const shipped = shippedIn(await readLock());
  const sbom = await makeSbom();
  assert.deepEqual(faultsOf(sbom, shipped), []);
  const [first, ...others] = sbom.components;
  assert.ok(first);
  const short = faultsOf({ ...sbom, components: others }, shipped);
  assert.deepEqual(short, [`${first.name}@${first.version} is missing`]);
  const bare = faultsOf({ ...sbom, components: [{ ...first, hashes: [], licenses: [] }, ...others] }, shipped);
  assert.equal(bare.length, 2);
});

const found = (...severities: string[]): string =>
  JSON.stringify({
    vulnerabilities: Object.fromEntries(severities.map((severity, n) => [`p${n}`, { name: `p${n}`, severity }])),
    metadata: { vulnerabilities: {} },
  });

test('a high or critical vulnerability fails the audit', () => {
  assert.equal(auditVerdict(found('low', 'high')).isFailure, true);
  assert.equal(auditVerdict(found('critical')).isFailure, true);
  const mild = auditVerdict(found('moderate', 'low'));
  assert.deepEqual([mild.isFailure, mild.lines], [false, ['low: p1 *', 'moderate: p0 *']]);
  assert.deepEqual(auditVerdict(found()), { isFailure: false, lines: ['no known vulnerability in what is shipped'] });
});

test('a registry that cannot be asked is told, and passes', () => {
  for (const answer of [
    {
      message: '405 Method Not Allowed - POST https://registry.npmjs.org/-/npm/v1/security/advisories/bulk',
      statusCode: 405,
    },
    { message: 'request to https://registry.npmjs.org/x failed, reason: connect ECONNREFUSED 127.0.0.1:9' },
    { error: { code: 'ENOTFOUND', summary: 'getaddrinfo ENOTFOUND registry.npmjs.org' } },
    { error: { code: 'ETIMEDOUT', summary: 'it did not answer' } },
  ]) {
    const { isFailure, lines } = auditVerdict(JSON.stringify(answer));
    assert.equal(isFailure, false, JSON.stringify(answer));
    assert.match(lines[0] ?? '', /^the registry was not asked for vulnerabilities: ./);
  }
});

test('an audit that npm could not make fails', () => {
  for (const printed of [
    '',
    'garbage',
    '[]',
    'null',
    '{}',
    JSON.stringify({ error: { code: 'ENOLOCK', summary: 'no lockfile' } }),
  ]) {
    assert.equal(auditVerdict(printed).isFailure, true, printed);
  }
});
