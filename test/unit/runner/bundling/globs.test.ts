// Paths that code puts together: refused in code that is no file, before any folder is read.

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is code to be bundled

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Bundled, bundleStep } from '../../../../src/runner/bundling/bundle.ts';

async function folder(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'errand-globs-')));
  t.after(() => rm(dir, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return dir;
}

/** `…:line:column: text` of each problem; empty when there is none. */
const told = (bundled: Bundled): string[] =>
  bundled.ok ? [] : bundled.problems.map(({ file, line, column, text }) => `${file}:${line}:${column}: ${text}`);

const bundle = async (code: string, dir: string | null = null): Promise<string[]> =>
  told(await bundleStep({ namespace: 'a', code }, dir));

const PATTERNS = [
  `require('./../' + n + '')`,
  `require("../../root/." + n)`,
  'import(`./${n}.js`)',
  'import(`../../root/${n}`)',
  `import('./' + n, { with: { type: 'json' } })`,
  `require('.' + '/' + n)`,
  `require('..' + ('/' + n))`,
  `require('' + ('./' + n))`,
  'require(`${"./" + n}x`)',
  'require(`${"."}/${n}`)',
  `require(n ? './a' + n : './b' + n)`,
  `require('\\x2e\\u002f' + n)`,
  `r\\u0065quire('./' + n)`,
  `import/* not so fast */('./' + n)`,
  `import\n('./' + n)`,
  `[...require('./' + n)]`,
  `false || require('./' + n)`,
  `(require)('./' + n)`,
  `require((('./') + n))`,
  `require(true && './' + n)`,
  `require(('./' + n) as string)`,
  `require('./</script>' + n)`,
  `require('./"' + n)`,
  'new (require("./" + n))',
];

test('a path that is put together is refused by its place', async (t) => {
  const packages = await folder(t, { 'secret/hidden.js': 'throw 1;', 'node_modules/one/index.js': '' });
  for (const pattern of PATTERNS) {
    for (const dir of [null, packages]) {
      const code = `const n = 'x';\nexport default () =>\n  ${pattern};`;
      const [problem, ...more] = await bundle(code, dir);
      assert.match(problem ?? '', /^a\.ts:3:\d+: a path that is put together .*is not available here/, code);
      assert.deepEqual(more, [], 'and nothing is said of what lies there');
    }
  }
  const [place] = await bundle(`export default (n) => [1, require('./' + n)];`);
  assert.match(place ?? '', /^a\.ts:1:27: /);
});

test('constants do not hide a path', async () => {
  const code = `enum E { A = '../', B = A + A, C = B + B }\nconst n = process.argv[0];\nexport default () => require(E.C + n);`;
  assert.match((await bundle(code))[0] ?? '', /^a\.ts:3:22: a path that is put together/);
});

test('no length hides a path', async () => {
  const far = `export default (n) => require(f(${'('.repeat(500)}1${')'.repeat(500)}, "${'x'.repeat(10_000)}") ? './' + n : n);`;
  assert.match((await bundle(far))[0] ?? '', /a path that is put together/);
  const deep = `export default (n) => ${'require('.repeat(3000)}n${')'.repeat(3000)};`;
  assert.match((await bundle(deep)).join(), /^(|.*a path that is put together.*)$/);
});

test('what only looks like one is taken', async () => {
  for (const code of [
    `const a = "require('./' + n)"; const b = 'import("./" + n)'; export default [a, b];`,
    'export default (n) => `import("./" + ${n})`;',
    `export default /require\\(".\\/"\\+n\\)/;`,
    `// require('./' + n)\nexport default 1; /* import('./' + n) */`,
    `export default (n) => [require(n), import(n), import('node:' + n), require(n + './x')];`,
    `export default (m, n) => [m.require('./' + n), m?.require('../' + n), m.$require('./' + n)];`,
    `export default (n, require) => n + require.resolve;`,
    'export default (n) => import(`data:text/javascript,./${n}`);',
    'export default (n) => String.raw`§` + [..."§"] + "require(\'./\' + n)";',
    `export default (n) => "§" + n + "require('./' + n)";`,
  ]) {
    assert.deepEqual(await bundle(code), [], code);
  }
});

test('what is taken reads no folder', async (t) => {
  const dir = await folder(t, { 'hidden.js': 'throw "hidden";', 'node_modules/one/index.js': '' });
  for (const code of [
    `export default (n) => false && require('./' + n);`,
    `export default (n) => require?.('./' + n);`,
    `export default (n) => (0, require)('./' + n);`,
    `export default (n) => require((1, './') + n);`,
    `export default (n) => { const at = './'; return import(at + n); }`,
    `export default (n) => import('./'.concat(n));`,
    `export default (n) => import(['./', n].join(''));`,
    'export default (n) => import(String.raw`./${n}`);',
    `export default (n) => new URL('./' + n, import.meta.url);`,
    `export default (n) => require.resolve('./' + n);`,
    `export default (n, require) => require('./' + n);`,
    `export default (n) => import(n ?? './hidden.js');`,
  ]) {
    const result = await bundleStep({ namespace: 'a', code }, dir);
    assert.ok(!JSON.stringify(result).includes('hidden"') && !JSON.stringify(result).includes('node_modules'), code);
  }
});

test('a fault beside a path is told as the fault', async () => {
  assert.match((await bundle(`require('./' + n); const = 1`))[0] ?? '', /^a\.ts:1:26: Expected identifier/);
  assert.match((await bundle(`export default require('./x')`))[0] ?? '', /"\.\/x" is not available here/);
});

test('a package may put paths of its own together', async (t) => {
  const dir = await folder(t, {
    'node_modules/locales/index.js': 'module.exports = (n) => require("./locale/" + n + ".js");',
    'node_modules/locales/locale/de.js': 'module.exports = "Hallo";',
    'node_modules/@a/b/lib/x.js': 'module.exports = (n) => import(`../data/${n}.js`);',
    'node_modules/@a/b/data/one.js': 'export default "one of b";',
  });
  for (const [name, part] of Object.entries({ locales: 'Hallo', '@a/b/lib/x.js': 'one of b' })) {
    const bundled = await bundleStep({ namespace: 'a', code: `import x from '${name}'; export default x;` }, dir);
    assert.ok(bundled.ok && bundled.bundle.includes(part), name);
  }
});

test('no package puts paths of others together', async (t) => {
  const outer = await folder(t, {
    'p/node_modules/climbs/index.js': 'module.exports = (n) => require("../../../" + n);',
    'p/node_modules/other/index.js': 'module.exports = (n) =>\n import(`../climbs/${n}`);',
    'p/node_modules/@a/b/index.js': 'module.exports = (n) => require( "../c/" + n);',
    'p/node_modules/@a/c/index.js': '',
    'components/out.mjs': 'export default (n) => import("../p/" + n);',
    'components/in/in.mjs': 'export default (n) => import("../parts/" + n + ".mjs");',
    'components/parts/one.mjs': 'export default "a part";',
    'secret.js': 'throw new Error("secret")',
  });
  for (const name of ['climbs', 'other', '@a/b']) {
    const problems = await bundle(`import x from '${name}'; export default x;`, join(outer, 'p'));
    assert.match(problems.join('\n'), /leads out of its folder/, name);
    assert.doesNotMatch(problems.join('\n'), /secret/);
  }
  const component = (path: string) => bundleStep({ namespace: 'source', dir: join(outer, 'components'), path });
  assert.match(told(await component('out.mjs'))[0] ?? '', /^out\.mjs:1:23: .*leads out of its folder/);
  const inside = await component('in/in.mjs');
  assert.ok(inside.ok && inside.bundle.includes('a part'));
});
