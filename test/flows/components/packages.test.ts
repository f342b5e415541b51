// Packages that stay outside of bundles: what Node loads runs, at both levels of isolation, and what the folder holds is the
// only thing that code reads there.

import assert from 'node:assert/strict';
import { chmod, rm } from 'node:fs/promises';
import { test } from 'node:test';
import { createStep, runStep, tryStep } from '../../support/actions.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createComponents } from '../../support/sources/components.ts';
import { createSource, emissions, post } from '../../support/sources/sources.ts';
import { noJail } from '../../unit/runner/isolation/jail-kit.ts';

const skip = await noJail();
const PACKAGES = {
  'packages/node_modules/big/package.json': '{"version":"2.0.0","main":"lib/big"}',
  'packages/node_modules/big/lib/big.js': `exports.size = ${JSON.stringify('x'.repeat(9_000_000))}.length;`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a module
  'packages/node_modules/dynamic/index.js': 'exports.load = (name) => require(`./${name}`);',
  'packages/node_modules/dynamic/webhook.js': "module.exports = 'webhook';",
  'packages/node_modules/dynamic/table.json': '{"a":1}',
  'packages/node_modules/dynamic/folder/index.js': "module.exports = 'folder';",
  'packages/node_modules/beside/index.js':
    "module.exports = [require(__dirname + '/reserved.js'), require('fs').readFileSync(__dirname + '/note.txt', 'utf8')];",
  'packages/node_modules/beside/reserved.js': "module.exports = 'reserved';",
  'packages/node_modules/beside/note.txt': 'a note',
  'packages/node_modules/sloppy/index.js':
    'var package = 1; undeclared = 2; module.exports = [package, undeclared, this === exports];',
  'packages/node_modules/binary/index.js': `
    const tried = (path) => { try { return require(path); } catch (error) { return error.code; } };
    module.exports = [tried('./build/there.node'), tried('./build/gone.node'), tried('not-installed')];`,
  'packages/node_modules/binary/build/there.node': '\u007fELF',
  'packages/node_modules/modern/package.json':
    '{"version":"3.1.0","type":"module","exports":{".":"./index.js","./sub":"./sub.js"}}',
  'packages/node_modules/modern/index.js':
    "import big from 'big'; export const named = big.size; export default 'modern';",
  'packages/node_modules/modern/sub.js': 'export const sub = import.meta.url.includes("/node_modules/modern/");',
  'packages/node_modules/dual/package.json': '{"exports":{"import":"./index.mjs","require":"./index.cjs"}}',
  'packages/node_modules/dual/index.mjs': "export default 'as a module';",
  'packages/node_modules/dual/index.cjs': "module.exports = 'as CommonJS';",
  'packages/node_modules/flagged/index.js':
    'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = 1; for (const n of ["late"]) exports[n] = 2;',
  'packages/node_modules/typed/index.ts': 'enum Typed { A = 5 } const a: number = Typed.A; export default a;',
  'packages/node_modules/thrower/index.js': "\nmodule.exports = () => { throw new Error('from the package'); };",
  'packages/node_modules/@scope/one/package.json': '{"version":"1.2.3"}',
  'packages/node_modules/@scope/one/index.js': "module.exports = 'scoped';",
  'components/node_modules/own/package.json': '{"type":"module","main":"main.js"}',
  'components/node_modules/own/main.js': "import part from 'part'; export default 'own ' + part;",
  'components/node_modules/part/index.js': "module.exports = 'part';",
  'components/node_modules/big/index.js': "module.exports = 'the components’ own';",
  'components/own.mjs': `import { createRequire } from 'node:module';
    import own from 'own'; import big from 'big'; import scoped from '@scope/one@^1';
    const required = createRequire(import.meta.url)('@scope/one');
    export default { props: { http: '$.interface.http' }, run() { this.$emit({ own, big, scoped, required }); } };`,
};

const STEP = `
  import { createRequire } from 'node:module';
  import { size } from 'big@^2';
  import * as dynamic from 'dynamic';
  import beside from 'beside';
  import sloppy from 'sloppy';
  import binary from 'binary';
  import modern, { named } from 'modern';
  import { sub } from 'modern/sub';
  import dual from 'dual';
  import flagged, { late } from 'flagged';
  import typed from 'typed';
  const old = require('dual');
  export default async () => ({
    size, names: ['webhook', 'table', 'folder'].map((name) => dynamic.load(name)), beside, sloppy, binary,
    modern: [modern, named, sub], dual: [dual, old, (await import('dual')).default], flagged: [flagged, late], typed,
    required: createRequire(import.meta.url)('@scope/one'),
  });`;
const SEEN = {
  size: 9_000_000,
  names: ['webhook', { a: 1 }, 'folder'],
  beside: ['reserved', 'a note'],
  sloppy: [1, 2, true],
  binary: ['ERR_ACCESS_DENIED', 'MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'],
  modern: ['modern', 9_000_000, true],
  dual: ['as a module', 'as CommonJS', 'as a module'],
  flagged: [1, 2],
  typed: 5,
  required: 'scoped',
};

for (const level of ['process', 'jail'] as const) {
  test(`packages are loaded as Node loads them, at level ${level}`, { skip: level === 'jail' && skip }, async () => {
    await using folder = await createComponents(PACKAGES);
    await using errand = await startErrand({ ...folder.settings, ERRAND_ISOLATION: level });
    const workflow = await createStep(errand, STEP);
    assert.deepEqual(await runStep(errand, workflow), SEEN);
    await errand.restart();
    const { data: kept } = await errand.client.get(`/v1/workflows/${workflow.id}`);
    assert.deepEqual(await runStep(errand, kept, 2), SEEN);
    const source = await errand.client.post('/v1/sources', { component_path: 'own.mjs' });
    await post(source, {});
    const [{ event }] = await emissions(errand, source.id, 1);
    assert.deepEqual(event, { own: 'own part', big: 'the components’ own', scoped: 'scoped', required: 'scoped' });
    await showsPackagesInStacks(errand, folder.dir);
    await readsNothingElse(errand, folder.dir);
  });
}

async function showsPackagesInStacks(errand: Errand, dir: string): Promise<void> {
  const workflow = await createStep(errand, "import thrower from 'thrower'; export default () => thrower();");
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  assert.ok(error);
  const { msg, stack } = error.event.error as { msg: string; stack: string };
  assert.equal(msg, 'from the package');
  assert.match(stack, /^ +at .*\(?node_modules\/thrower\/index\.js:2:\d+\)?$/m);
  assert.match(stack, /act\.ts:1:/);
  assert.ok(!stack.includes(dir) && !stack.includes('/errand/'), stack);
}

async function readsNothingElse(errand: Errand, dir: string): Promise<void> {
  const tries = `
    import { readFileSync, writeFileSync } from 'node:fs';
    const tried = (act) => { try { act(); return 'done'; } catch (error) { return error.code; } };
    export default () => [
      () => readFileSync(${JSON.stringify(`${dir}/packages/package.json`)}),
      () => readFileSync(${JSON.stringify(`${dir}/components/own.mjs`)}),
      () => writeFileSync(${JSON.stringify(`${dir}/packages/node_modules/big/lib/big.js`)}, ''),
      () => writeFileSync(new URL('../node_modules/big/lib/big.js', import.meta.url), ''),
    ].map(tried);`;
  const codes = await runStep(errand, await createStep(errand, tries));
  for (const code of codes) assert.match(code, /^(ERR_ACCESS_DENIED|ENOENT|EROFS)$/);
}

test('packages may lie below /tmp, where code has a folder of its own', async () => {
  await using folder = await createComponents(PACKAGES, '/tmp');
  await using errand = await startErrand(folder.settings);
  assert.deepEqual(await runStep(errand, await createStep(errand, STEP)), SEEN);
  const own = await createStep(
    errand,
    `import fs from 'node:fs'; import beside from 'beside';
    export default () => { fs.writeFileSync('/tmp/note', 'own'); return [beside, fs.readFileSync('/tmp/note', 'utf8'), fs.existsSync(${JSON.stringify(`${folder.dir}/packages/package.json`)})]; };`,
  );
  assert.deepEqual(await runStep(errand, own), [['reserved', 'a note'], 'own', false]);
});

test('packages that the code’s user may not read become part of the bundle', async () => {
  await using folder = await createComponents({
    'packages/node_modules/one/index.js': 'module.exports = 1;',
  });
  await chmod(folder.dir, 0o700);
  await using errand = await startErrand(folder.settings);
  const workflow = await createStep(errand, "import one from 'one'; export default () => one;");
  assert.equal(await runStep(errand, workflow), 1);
});

test('a package that goes away is told by the runs that need it', async () => {
  await using folder = await createComponents({
    'packages/node_modules/one/index.js': 'module.exports = 1;',
  });
  await using errand = await startErrand(folder.settings);
  const workflow = await createStep(errand, "import one from 'one'; export default () => one;");
  assert.equal(await runStep(errand, workflow), 1);
  await rm(`${folder.dir}/packages/node_modules/one`, { recursive: true });
  await errand.restart();
  const { data: kept } = await errand.client.get(`/v1/workflows/${workflow.id}`);
  await errand.send(kept, {});
  const [error] = await errand.errors(workflow.id, 1);
  assert.match(error?.event.error.msg, /Cannot find module 'one'/);
  const refused = await tryStep(errand, "import one from 'one'; export default () => one;");
  assert.equal(refused.status, 422);
  assert.match(refused.json.error, /npm install --prefix/);
});

test('what is installed while the server runs is loaded', async () => {
  await using folder = await createComponents({});
  await using errand = await startErrand(folder.settings);
  assert.equal((await tryStep(errand, "import one from 'one'; export default () => one;")).status, 422);
  await folder.write({ 'packages/node_modules/one/index.js': 'module.exports = 1;' });
  const source = await createSource(
    errand,
    "import one from 'one'; export default { props: { http: '$.interface.http' }, run() { this.$emit({ one }); } };",
  );
  await post(source, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual(event, { one: 1 });
});
