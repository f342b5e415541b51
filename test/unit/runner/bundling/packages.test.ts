// What the server's bundler takes from the folder of packages, and what it leaves alone.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bundleStep } from '../../../../src/runner/bundling/bundle.ts';

type Files = Readonly<Record<string, string>>;

async function folder(t: TestContext, files: Files): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'errand-packages-')));
  t.after(() => rm(dir, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return dir;
}

const PACKAGES: Files = {
  'node_modules/common/package.json': '{"name":"common","version":"4.17.21","main":"lib/main.js"}',
  'node_modules/common/lib/main.js': `const { EOL } = require('os'); exports.eol = EOL; exports.dir = typeof __dirname; exports.data = require('../data.json');`,
  'node_modules/common/data.json': '{"a": 1}',
  'node_modules/common/sub.js': 'module.exports = "sub";',
  'node_modules/@scope/modern/package.json':
    '{"name":"@scope/modern","version":"2.3.4-beta.1","type":"module","exports":{".":"./index.js","./deep":"./src/deep.ts"}}',
  'node_modules/@scope/modern/index.js': `import flagged from 'flagged'; export { inner } from './inner.js'; export default flagged;`,
  'node_modules/@scope/modern/inner.js': 'export const inner = "inner"; export const unused = "not wanted";',
  'node_modules/@scope/modern/src/deep.ts': 'enum Deep { A = 5 } const a: number = Deep.A; export default a;',
  'node_modules/flagged/index.js':
    'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = 1;',
};

async function loaded(dir: string, code: string): Promise<unknown> {
  const result = await bundleStep({ namespace: 'step', code }, dir);
  assert.ok(result.ok, JSON.stringify(result));
  const file = join(dir, `bundle-${Math.random()}.mjs`);
  await writeFile(
    file,
    `import { createRequire } from 'node:module'; globalThis.require = createRequire('/');\n${result.bundle}`,
  );
  return ((await import(file)) as { default: unknown }).default;
}

async function refused(dir: string | null, code: string): Promise<string> {
  const result = await bundleStep({ namespace: 'step', code }, dir);
  assert.ok(!result.ok, code);
  return result.problems.map(({ file, line, text }) => `${file}:${line}: ${text}`).join('\n');
}

test('packages of every kind are bundled', async (t) => {
  const dir = await folder(t, PACKAGES);
  const code = `import common, { data } from 'common'; import sub from 'common/sub.js'; import modern, { inner } from '@scope/modern';
    import deep from '@scope/modern/deep'; import table from 'common/data.json';
    const later = await import('common'); const old = require('@scope/modern');
    export default [common.eol, common.dir, data, sub, inner, deep, table.a, later.data, old.inner, typeof modern];`;
  assert.deepEqual(await loaded(dir, code), [
    '\n',
    'string',
    { a: 1 },
    'sub',
    'inner',
    5,
    1,
    { a: 1 },
    'inner',
    'object',
  ]);
  assert.deepEqual(await loaded(dir, 'module.exports = require("common").data'), { a: 1 });
});

test('a pinned version is what has to be there', async (t) => {
  const dir = await folder(t, PACKAGES);
  for (const pin of ['4.17.21', '^4', '~4.17.0', '4', '>=4 <5', 'latest', '^3 || ^4']) {
    assert.equal(await loaded(dir, `import sub from 'common@${pin}/sub.js'; export default sub;`), 'sub', pin);
  }
  assert.equal(await loaded(dir, `import { inner } from '@scope/modern@^2.3.4-beta'; export default inner;`), 'inner');
  for (const pin of ['4.17.20', '^3', '~4.16', '>5', '5.x']) {
    assert.equal(
      await refused(dir, `import 'common@${pin}'; export default 1;`),
      `step.ts:1: "common@${pin}" is not available here: common is there in version 4.17.21`,
    );
  }
});

test('a package that is missing says how to add it', async (t) => {
  const dir = await folder(t, PACKAGES);
  const message = await refused(dir, '\nimport { x } from "@not/there@1.2.3/sub"; export default x;');
  assert.match(message, /^step\.ts:2: "@not\/there" is not available here: there is no such package: add it with/);
  assert.ok(message.includes(`"npm install --prefix ${dir} @not/there@1.2.3"`), message);
  assert.match(message, /errand deploy/);
  assert.match(await refused(dir, 'import "common/none.js"; export default 1'), /"common" is not available|none\.js/);
  assert.match(await refused(null, 'import "common"; export default 1'), /ERRAND_PACKAGES_DIR/);
  assert.match(await refused(join(dir, 'nowhere'), 'import "common"; export default 1'), /no such package/);
});

test('what a package lacks is told in its file', async (t) => {
  const dir = await folder(t, {
    'node_modules/lacks/index.js': '\nmodule.exports = require("gone");',
    'node_modules/tries/index.js': 'try { require("gone") } catch { module.exports = "without"; }',
    'node_modules/binary/index.js': 'module.exports = require("./build/it.node");',
    'node_modules/binary/build/it.node': '\0',
    'node_modules/pure/index.js': `const tried = (it) => { try { return it(); } catch ({ code }) { return code; } };
      module.exports = [tried(() => require('./build/gone.node')), tried(() => require('binary'))];`,
  });
  assert.match(await refused(dir, 'import "lacks"; export default 1'), /^node_modules\/lacks\/index\.js:2: .*"gone"/);
  assert.equal(await loaded(dir, 'import it from "tries"; export default it'), 'without');
  await assert.rejects(
    loaded(dir, 'import "binary"; export default 1'),
    /binary\/build\/it\.node is a binary for Node/,
  );
  assert.deepEqual(await loaded(dir, 'import pure from "pure"; export default pure'), [
    'MODULE_NOT_FOUND',
    'ERR_DLOPEN_DISABLED',
  ]);
});

test('nothing outside of the folder is read', async (t) => {
  const outer = await folder(t, {
    'secret.json': '{"secret": 1}',
    'node_modules/outer/index.js': 'module.exports = "outer";',
    'packages/node_modules/climbs/index.js': 'module.exports = require("../../../secret.json");',
    'packages/node_modules/imports/index.js': 'import outer from "outer"; export default outer;',
    'packages/node_modules/asks/index.js': 'module.exports = require("outer");',
    'packages/node_modules/tries/index.js':
      'try { module.exports = require("outer") } catch { module.exports = "without"; }',
    'packages/node_modules/mapped/index.js': 'module.exports = 1;\n//# sourceMappingURL=../../../secret.json',
    'packages/node_modules/named/package.json': '{"main": "../../../secret.json"}',
  });
  const dir = join(outer, 'packages');
  await symlink(join(outer, 'node_modules/outer'), join(dir, 'node_modules/linked'));
  await symlink(join(outer, 'secret.json'), join(dir, 'node_modules/climbs/linked.json'));
  for (const name of [
    'climbs',
    'climbs/linked.json',
    'imports',
    'outer',
    'linked',
    'named',
    'esbuild',
    '../secret.json',
  ]) {
    assert.match(await refused(dir, `import x from "${name}"; export default x`), /not available here/, name);
  }
  for (const path of [
    join(outer, 'secret.json'),
    `file://${outer}/secret.json`,
    './node_modules/tries/index.js',
    '#a',
  ]) {
    assert.match(await refused(dir, `import x from "${path}"; export default x`), /not available here/, path);
  }
  assert.equal(await loaded(dir, 'import it from "tries"; export default it'), 'without');
  await assert.rejects(loaded(dir, 'import it from "asks"; export default it'), /outer/);
  assert.equal(await loaded(dir, 'import it from "mapped"; export default it'), 1);
});

test('a package goes before what the platform provides', async (t) => {
  const dir = await folder(t, {
    'node_modules/@pipedream/types/index.js': 'exports.defineSource = () => "own";',
    'node_modules/uses/index.js':
      'exports.wait = require("@pipedream/platform").DEFAULT_POLLING_SOURCE_TIMER_INTERVAL;',
  });
  const code = `import { defineSource } from '@pipedream/types'; import { axios } from '@pipedream/platform@3.0.0';
    import { wait } from 'uses'; export default [defineSource(), typeof axios, wait];`;
  assert.deepEqual(await loaded(dir, code), ['own', 'function', 900]);
});

const ofOthers = (sources: string[]): string[] => sources.filter((source) => !source.startsWith('errand:'));

test('the map names files, and no place', async (t) => {
  const dir = await folder(t, PACKAGES);
  const result = await bundleStep({ namespace: 'step', code: 'export { default } from "common"' }, dir);
  assert.ok(result.ok);
  const { sources } = JSON.parse(result.sourceMap) as { sources: string[] };
  assert.deepEqual(ofOthers(sources), ['node_modules/common/data.json', 'node_modules/common/lib/main.js', 'step.ts']);
  assert.ok(!(result.bundle + result.sourceMap).includes(dir));
});

test('a file is made of its folder and of packages', async (t) => {
  const dir = await folder(t, {
    'secret.mjs': 'export default 1;',
    'components/shop/shop.app.mjs': 'export default { type: "app", rate: 19 };',
    'components/shop/sources/new.ts':
      'import shop from "../shop.app.mjs"; import base from "./common/base"; import n from "common@^4/data.json"; export default { ...base, rate: shop.rate as number, n: n.a };',
    'components/shop/sources/common/base.ts': 'import own from "own"; export default { own };',
    'components/shop/node_modules/own/index.js': 'module.exports = "own";',
    'components/old.cjs': 'module.exports = { old: require("./shop/shop.app.mjs").default.rate };',
    'components/climbs.mjs': 'export { default } from "../secret.mjs";',
    'components/absolute.mjs': 'export { default } from "/etc/hostname";',
    'components/lacks.mjs': '\nexport { default } from "./none.mjs";',
    'components/breaks.mjs': 'import "./shop/broken.mjs";\nexport default 1;',
    'components/shop/broken.mjs': 'const a = 1;\nconst a = 2;',
    ...Object.fromEntries(Object.entries(PACKAGES).map(([path, text]) => [`packages/${path}`, text])),
  });
  const bundle = (path: string) =>
    bundleStep({ namespace: 'source', dir: join(dir, 'components'), path }, join(dir, 'packages'));
  const result = await bundle('shop/sources/new.ts');
  assert.ok(result.ok, JSON.stringify(result));
  const file = join(dir, 'out.mjs');
  await writeFile(file, result.bundle);
  assert.deepEqual(((await import(file)) as { default: unknown }).default, { own: 'own', rate: 19, n: 1 });
  const { sources } = JSON.parse(result.sourceMap) as { sources: string[] };
  assert.ok(
    sources.includes('shop/sources/new.ts') && sources.includes('node_modules/common/data.json'),
    String(sources),
  );
  assert.ok((await bundle('old.cjs')).ok);
  const problem = async (path: string): Promise<string> => {
    const broken = await bundle(path);
    assert.ok(!broken.ok, path);
    return broken.problems.map((one) => `${one.file}:${one.line}: ${one.text}`).join('\n');
  };
  assert.match(await problem('climbs.mjs'), /^climbs\.mjs:1: .*not available here/);
  assert.match(await problem('absolute.mjs'), /not available here/);
  assert.match(await problem('lacks.mjs'), /^lacks\.mjs:2: there is no file "\.\/none\.mjs" here/);
  assert.match(await problem('breaks.mjs'), /^shop\/broken\.mjs:2: The symbol "a" has already been declared/);
});
