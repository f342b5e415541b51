// What is remembered of bundles and descriptions, and until when.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Bundled } from '../../../../src/runner/bundling/bundle.ts';
import { type BundleStep, createBundler } from '../../../../src/runner/bundling/bundler.ts';
import { LruCache } from '../../../../src/runner/pool/lru-cache.ts';
import { DescriptionCache } from '../../../../src/runner/process/description-cache.ts';
import type { DescribeResult } from '../../../../src/runner/runner.ts';
import { deploymentOf } from '../kit.ts';

async function packages(t: TestContext): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'errand-bundler-')));
  t.after(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, 'node_modules/one'), { recursive: true });
  await writeFile(join(dir, 'node_modules/one/index.js'), 'module.exports = "first";');
  return dir;
}

test('the same code is bundled once', async (t) => {
  const { bundle } = createBundler({ packagesDir: await packages(t) });
  const source = { namespace: 'a', code: 'import one from "one"; export default one;' };
  const [first, atOnce] = await Promise.all([bundle(source), bundle({ ...source })]);
  assert.equal(first, atOnce);
  assert.equal(await bundle({ ...source }), first);
  assert.notEqual(await bundle({ ...source, namespace: 'b' }), first);
});

test('an owner does not wait in the turn of another one', async () => {
  const asked: (string | undefined)[] = [];
  const open = Promise.withResolvers<void>();
  const bundleStep: BundleStep = async (_source, _dir, { ownerId }) => {
    asked.push(ownerId);
    if (ownerId === 'u_1') throw new Error('bundles of yours wait already');
    await open.promise;
    return { ok: true, bundle: '1', sourceMap: '', inputs: [] } as unknown as Bundled;
  };
  const { bundle } = createBundler({ packagesDir: null, bundleStep });
  const source = { namespace: 'a', code: 'export default 1;' };
  const first = bundle(source, 'u_1');
  const others = [bundle(source, 'u_2'), bundle(source, 'u_2')];
  await assert.rejects(first, /yours/);
  open.resolve();
  assert.deepEqual(
    (await Promise.all(others)).map(({ ok }) => ok),
    [true, true],
  );
  assert.deepEqual(asked, ['u_1', 'u_2']);
});

test('a package that has changed is bundled anew', async (t) => {
  const packagesDir = await packages(t);
  const { bundle } = createBundler({ packagesDir });
  const source = { namespace: 'a', code: 'import one from "one"; export default one;' };
  const first = await bundle(source);
  await writeFile(join(packagesDir, 'node_modules/one/index.js'), 'module.exports = "another";');
  const second = await bundle(source);
  assert.ok(first.ok && second.ok && second.bundle.includes('another'));
  await writeFile(join(packagesDir, 'node_modules/.package-lock.json'), '{}');
  assert.notEqual(await bundle(source), second);
});

test('what failed is tried again', async (t) => {
  const packagesDir = await packages(t);
  const { bundle } = createBundler({ packagesDir });
  const source = { namespace: 'a', code: 'import two from "two"; export default two;' };
  assert.equal((await bundle(source)).ok, false);
  await mkdir(join(packagesDir, 'node_modules/two'));
  await writeFile(join(packagesDir, 'node_modules/two/index.js'), 'module.exports = 2;');
  assert.equal((await bundle(source)).ok, true);
});

test('one code of an owner is described once', async () => {
  const before = new DescriptionCache();
  const answers: DescribeResult[] = [];
  const ask = async (ok: boolean): Promise<DescribeResult> => {
    const described = (ok ? { ok, shape: {} } : { ok, message: '', stack: '' }) as DescribeResult;
    answers.push(described);
    return described;
  };
  const deployment = await deploymentOf('export default {}', 'dc_1');
  const same = { ...deployment, id: 'd_2', runnableId: 'dc_2' };
  await Promise.all([deployment, same, same].map((one) => before.get(one, {}, () => ask(true))));
  assert.equal(answers.length, 1);
  await before.get(same, { A: '1' }, () => ask(true));
  await before.get(await deploymentOf('export default { a: 1 }'), {}, () => ask(false));
  await before.get(await deploymentOf('export default { a: 1 }'), {}, () => ask(false));
  assert.equal(answers.length, 4);
  await before.get({ ...same, ownerId: 'u_2' }, {}, () => ask(true));
  assert.equal(answers.length, 5);
});

test('the oldest is forgotten first', () => {
  const recent = new LruCache<string>({ max: 3, maxWeight: 10, weigh: (text) => text.length });
  for (const [key, value] of Object.entries({ a: '1', b: '2', c: '3' })) recent.set(key, value);
  recent.get('a');
  recent.set('d', '4');
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => recent.get(key)),
    ['1', undefined, '3', '4'],
  );
  recent.set('e', 'nine long');
  assert.deepEqual(
    ['a', 'c', 'd', 'e'].map((key) => recent.get(key)),
    [undefined, undefined, '4', 'nine long'],
  );
});
