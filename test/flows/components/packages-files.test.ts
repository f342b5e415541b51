// Workflow files with packages of the server's folder: those stay outside of their bundles, at both levels of isolation.

import assert from 'node:assert/strict';
import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { answering, answers, call, deploymentsOf, logged, named } from '../../support/folders/workflow-files.ts';
import { createComponents } from '../../support/sources/components.ts';
import { noJail } from '../../unit/runner/isolation/jail-kit.ts';

const skip = await noJail();
/** Too large for a bundle. */
const BIG = `exports.size = ${JSON.stringify('x'.repeat(9_000_000))}.length;`;

const FILES = {
  'packages/node_modules/big/package.json': '{"version":"2.0.0"}',
  'packages/node_modules/big/index.js': BIG,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a module
  'packages/node_modules/dynamic/index.js': 'exports.load = (name) => require(`./${name}`);',
  'packages/node_modules/dynamic/hook.js': "module.exports = 'hook';",
  'packages/node_modules/dynamic/README.md': 'A text.',
  'packages/node_modules/both/index.js': "module.exports = 'of the server';",
  'packages/node_modules/modern/package.json': '{"type":"module","exports":"./index.js"}',
  'packages/node_modules/modern/index.js': "import big from 'big'; export default big.size;",
  'packages/node_modules/typed/index.ts': 'enum Typed { A = 5 } export default Typed.A;',
  'workflows/node_modules/both/index.js': "module.exports = 'of the folder';",
  'workflows/node_modules/near/index.js': "module.exports = require('both') + ' and ' + require('big').size;",
  'workflows/lib/text.ts': "import { load } from 'dynamic'; export const text: string = load('hook');",
  'workflows/order.ts': answering(
    'Order',
    '[size, text, both, near, modern, typed, need("big").size, again === size]',
    `import { createRequire } from 'node:module';
     import { size } from 'big';
     import both from 'both';
     import near from 'near';
     import modern from 'modern';
     import typed from 'typed';
     import { text } from './lib/text.ts';
     const need = createRequire(import.meta.url);
     const { size: again } = await import('big');`,
  ),
};
const SEEN = '[9000000,"hook","of the folder","of the folder and 9000000",9000000,5,9000000,true]';

for (const level of ['process', 'jail'] as const) {
  test(`files load the server's packages, at level ${level}`, { skip: level === 'jail' && skip }, async () => {
    await using folder = await createComponents(FILES);
    const settings = { ...folder.settings, ERRAND_WORKFLOWS_DIR: join(folder.dir, 'workflows') };
    await using errand = await startErrand({ ...settings, ERRAND_ISOLATION: level });
    const order = await named(errand, 'Order');
    assert.ok(order, JSON.stringify(errand.logged));
    assert.equal(await call(order), `200 ${SEEN}`);
    await errand.restart();
    const kept = await named(errand, 'Order');
    assert.ok(kept);
    assert.equal(await call(kept), `200 ${SEEN}`);
    assert.equal((await deploymentsOf(errand, kept)).length, 1, 'nothing has changed');
  });
}

test('a folder of workflows may link to the packages, or lie beside them', async () => {
  await using folder = await createComponents({
    'packages/node_modules/big/index.js': BIG,
    'packages/a.ts': answering('Beside', 'size', "import { size } from 'big';"),
    'workflows/b.ts': answering('Linked', 'size', "import { size } from 'big';"),
  });
  await symlink(join(folder.dir, 'packages/node_modules'), join(folder.dir, 'workflows/node_modules'));
  for (const [dir, name] of [
    ['packages', 'Beside'],
    ['workflows', 'Linked'],
  ] as const) {
    await using errand = await startErrand({ ...folder.settings, ERRAND_WORKFLOWS_DIR: join(folder.dir, dir) });
    const workflow = await named(errand, name);
    assert.ok(workflow, JSON.stringify(errand.logged));
    assert.equal(await call(workflow), '200 9000000');
  }
});

test('a file is deployed again when a package of the server has changed', async () => {
  await using folder = await createComponents({
    'workflows/one.ts': answering('One', 'String(one)', "import one from 'one';"),
  });
  await using errand = await startErrand({
    ...folder.settings,
    ERRAND_WORKFLOWS_DIR: join(folder.dir, 'workflows'),
  });
  const { problems } = await logged(errand, /refused/, 'one.ts');
  assert.match(problems[0], /"npm install one" in .*, or "npm install --prefix .*packages one"$/);
  const install = async (version: number): Promise<void> => {
    await folder.write({ 'packages/node_modules/one/new.js': `module.exports = ${version};` });
    const at = join(folder.dir, 'packages/node_modules/one');
    await rename(join(at, 'new.js'), join(at, 'index.js'));
    await folder.write({ 'packages/node_modules/.package-lock.json': `{"version":${version}}` });
  };
  await install(1);
  await logged(errand, /deployed/, 'one.ts');
  const one = await named(errand, 'One');
  assert.ok(one);
  await answers(one, '200 1');
  await install(2);
  await answers(one, '200 2');
});

test('a bundle that is too large says where its packages should be', async () => {
  await using folder = await createComponents({
    'workflows/node_modules/big/index.js': BIG,
    'workflows/big.ts': answering('Big', 'size', "import { size } from 'big';"),
  });
  await using errand = await startErrand({
    ...folder.settings,
    ERRAND_WORKFLOWS_DIR: join(folder.dir, 'workflows'),
  });
  const { problems } = await logged(errand, /refused/, 'big.ts');
  assert.match(problems[0], /at most 8388608 are taken: install such packages in .*ERRAND_PACKAGES_DIR/);
});
