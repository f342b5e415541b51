// Which components would run here, of code, of a folder of the server's, and at the command line; what is in the way of the
// others, and the one command that adds their packages.

import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { SHOP } from '../../support/actions.ts';
import type { Answer, Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner, runCommand, withScopes } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { type ComponentFolder, createComponents } from '../../support/sources/components.ts';
import { noJail } from '../../unit/runner/isolation/jail-kit.ts';

const action = (members: string, head = ''): string =>
  `${head}export default {\n  key: 'a',\n  name: 'A',\n  version: '0.0.1',\n  type: 'action',\n${members}\n};\n`;

const FILES = {
  'components/shop/shop.app.mjs': `${SHOP}export default shop;`,
  'components/shop/common/base.mjs': `export default { props: { hook: { type: '$.interface.apphook' } }, async run() {} };`,
  'components/shop/common/words.mjs': `export const words = ['a'];`,
  'components/shop/common/list.mjs': `export default ['a', 'b'];`,
  'components/shop/common/text.mjs': `export default 'text';`,
  'components/shop/common/lacking.mjs': `import one from 'gone-one'; export const two = one;`,
  'components/shop/acting.mjs': `export default { type: 'action', props: { n: 'integer' }, methods: { twice() { return 2 * this.n; } } };`,
  'components/shop/inherits.mjs': action(`  props: { http: '$.interface.http' },\n  run() {},`),
  'components/shop/account.mjs': action('  props: { shop },\n  run() {}', `import shop from './shop.app.mjs';\n`),
  'components/shop/hook.mjs': `import base from './common/base.mjs';\nexport default { ...base, key: 'hook', name: 'Hook' };`,
  'components/shop/typed.mjs': action(`  props: {\n    base: { type: '$.airtable.baseId' },\n  },\n  run() {},`),
  'components/shop/sends.mjs': action('  async run({ $ }) {\n    await $.send.s3({}); // $.send.sms(1)\n  },'),
  'components/shop/lacks.mjs': action(
    '  run: () => [one, two],',
    `import one from 'gone-one';\nimport two from 'gone-two@^3';\n`,
  ),
  'components/shop/lacks-more.ts': action(
    '  run: () => [one, three],',
    `import one from 'gone-one';\nimport three from '@gone/three/sub';\n`,
  ),
  'components/shop/injected.mjs': `import x from 'a$(id)'; import y from '--prefix'; export default { key: x, run: y };`,
  'components/shop/syntax.mjs': `export default {\n  key: 'syntax',\n  name: 'Syntax',\n  run() { return ::; },\n};\n`,
  'components/shop/throws.mjs': `const a = 1;\nnull.x;\nexport default { key: 'throws', run() {} };`,
  'components/shop/fine-source.mjs': `import { axios } from '@pipedream/platform';\nimport fs from 'node:fs';\nimport nine from 'nine';\nexport default { key: 'fine-source', name: 'Fine', version: '1.0.0', props: { http: '$.interface.http' }, run() { this.$emit([axios, fs, nine]); } };`,
  'components/shop/programs.mjs': action('  run: () => spawn,', `import { spawn } from 'child_process';\n`),
  'components/shop/links.mjs': `export default { key: 'links', props: { dir: { type: 'dir', accessMode: 'write' } }, run() { this.$emit(1); } };`,
  'components/shop/test/skipped.mjs': 'oops(',
  'components/shop/skipped.test.mjs': 'oops(',
  'components/node_modules/own/skipped.mjs': 'oops(',
  'packages/node_modules/nine/package.json': '{"version":"9.1.0"}',
  'packages/node_modules/nine/index.js': 'module.exports = 9;',
};

/** Kind, and whether it runs. */
const VERDICTS = {
  'shop/account.mjs': ['action', true],
  'shop/acting.mjs': ['module', true],
  'shop/common/base.mjs': ['module', true],
  'shop/common/lacking.mjs': ['module', true],
  'shop/common/list.mjs': ['module', true],
  'shop/common/text.mjs': ['module', true],
  'shop/common/words.mjs': ['module', true],
  'shop/fine-source.mjs': ['source', true],
  'shop/hook.mjs': ['source', false],
  'shop/inherits.mjs': ['action', true],
  'shop/injected.mjs': ['broken', false],
  'shop/lacks-more.ts': ['broken', false],
  'shop/lacks.mjs': ['broken', false],
  'shop/programs.mjs': ['action', true],
  'shop/links.mjs': ['source', true],
  'shop/sends.mjs': ['action', false],
  'shop/shop.app.mjs': ['app', true],
  'shop/syntax.mjs': ['broken', false],
  'shop/throws.mjs': ['broken', false],
  'shop/typed.mjs': ['action', false],
};

function tryCheck(errand: Pick<Errand, 'client'>, asked: object): Promise<Answer> {
  return errand.client.request('POST', '/v1/components/check', asked);
}

async function check(errand: Pick<Errand, 'client'>, asked: object): Promise<Json> {
  const answer = await tryCheck(errand, asked);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

const verdictsIn = (data: Json[]): object =>
  Object.fromEntries(data.map(({ path, kind, runs }) => [path, [kind, runs]]));
const lineOf = ({ file, line, column, text }: Json): string => `${file}:${line}:${column}: ${text}`;
const commandFor = ({ settings }: ComponentFolder): string =>
  `npm install --prefix ${settings.ERRAND_PACKAGES_DIR} @gone/three gone-one gone-two@^3`;

test('a folder is checked file by file', async () => {
  await using folder = await createComponents(FILES);
  await using errand = await startErrand(folder.settings);
  const { data, install, truncated } = await check(errand, { component_path: 'shop' });
  assert.deepEqual(verdictsIn(data), VERDICTS);
  assert.deepEqual([install, truncated], [commandFor(folder), false]);
  const of = (path: string): Json => data.find((one: Json) => one.path === `shop/${path}`);
  assert.deepEqual(of('fine-source.mjs'), {
    path: 'shop/fine-source.mjs',
    kind: 'source',
    runs: true,
    name: 'Fine',
    key: 'fine-source',
    version: '1.0.0',
    imports: ['@pipedream/platform', 'nine', 'node:fs'],
    missing_packages: [],
    accounts: [],
    problems: [],
    warnings: [],
  });
  assert.deepEqual(of('account.mjs').accounts, ['shop']);
  assert.deepEqual(of('lacks.mjs').missing_packages, ['gone-one', 'gone-two@^3']);
  assert.deepEqual(of('lacks-more.ts').missing_packages, ['@gone/three', 'gone-one']);
  assert.deepEqual([of('lacks.mjs').key, of('lacks.mjs').name, of('lacks.mjs').version], ['a', 'A', '0.0.1']);
  assert.equal(of('lacks.mjs').problems.length, 2);
  assert.deepEqual(of('injected.mjs').missing_packages, []);
  assert.match(
    of('hook.mjs').problems.map(lineOf).join(),
    /^shop\/common\/base\.mjs:1:\d+: .*apphook.*cannot run here$/,
  );
  assert.match(
    of('typed.mjs').problems.map(lineOf).join(),
    /^shop\/typed\.mjs:7:20: .*airtable\.baseId, which only the vendor's service fills in: it cannot run here$/,
  );
  assert.match(of('sends.mjs').problems.map(lineOf).join(), /^shop\/sends\.mjs:7:11: \$\.send\.s3 is not available/);
  assert.deepEqual(of('sends.mjs').problems.length, 1, 'a comment calls nothing');
  assert.match(of('syntax.mjs').problems.map(lineOf).join(), /^shop\/syntax\.mjs:4:18: Unexpected "::?"$/);
  assert.match(of('throws.mjs').problems.map(lineOf).join(), /^shop\/throws\.mjs:2:\d+: .*properties of null/);
  assert.match(of('programs.mjs').warnings.map(lineOf).join(), /child_process starts programs/);
  assert.match(
    of('links.mjs').warnings.map(lineOf).join(),
    /^shop\/links\.mjs:1:\d+: prop "dir" is a folder of a file store/,
  );
});

test('what is missing shows once it is installed', async () => {
  await using folder = await createComponents(FILES);
  await using errand = await startErrand(folder.settings);
  const asked = { component_path: 'shop/lacks.mjs' };
  assert.equal((await check(errand, asked)).data[0].runs, false);
  await folder.write({
    'packages/node_modules/gone-one/index.js': 'module.exports = 1;',
    'packages/node_modules/gone-two/package.json': '{"version":"2.0.0"}',
    'packages/node_modules/gone-two/index.js': 'module.exports = 2;',
  });
  const [other] = (await check(errand, asked)).data;
  assert.deepEqual([other.runs, other.missing_packages, other.problems.length], [false, [], 1]);
  assert.match(other.problems[0].text, /gone-two is there in version 2\.0\.0/);
  await folder.write({ 'packages/node_modules/gone-two/package.json': '{"version":"3.1.0"}' });
  const { data, install } = await check(errand, asked);
  assert.deepEqual([data[0].kind, data[0].runs, install], ['action', true, null]);
});

test('a jail checks alike', { skip: await noJail() }, async () => {
  await using folder = await createComponents(FILES);
  await using errand = await startErrand({ ...folder.settings, ERRAND_ISOLATION: 'jail' });
  const { data, install } = await check(errand, { component_path: 'shop' });
  assert.deepEqual(verdictsIn(data), VERDICTS);
  assert.equal(install, commandFor(folder));
});

test('all packages of a file are told at once', async () => {
  await using errand = await startErrand();
  const names = Array.from({ length: 30 }, (_, i) => `gone-${10 + i}`);
  const component_code = `${names.map((name) => `import '${name}';`).join('')} export default { key: 'k', run() {} };`;
  const { data } = await check(errand, { component_code });
  assert.deepEqual([data[0].missing_packages, data[0].problems.length], [names, 30]);
});

test('code is checked without a folder', async () => {
  await using errand = await startErrand();
  const component_code = `import gone from 'gone'; import fs from 'fs';\nexport default { key: 'k', run: () => [gone, fs] };`;
  const { data, install } = await check(errand, { component_code });
  const [{ path, kind, runs, imports, missing_packages, problems }] = data;
  assert.deepEqual([path, kind, runs, imports, missing_packages], [null, 'broken', false, ['fs', 'gone'], ['gone']]);
  assert.match(problems[0].text, /has no folder of packages/);
  assert.equal(install, null, 'there is no folder to install in');
  const app = await check(errand, { component_code: `${SHOP}export default { key: 'k', props: { shop }, run() {} };` });
  assert.deepEqual([app.data[0].kind, app.data[0].runs, app.data[0].accounts], ['source', true, ['shop']]);
  assert.deepEqual((await errand.client.get('/v1/sources')).data, [], 'nothing is kept');
});

test('what nothing calls or reads is told', async () => {
  await using errand = await startErrand();
  const http = `http: '$.interface.http'`;
  const cases: [component: string, ...warnings: RegExp[]][] = [
    [
      `{ name: 'Dead', prop: { ${http} }, run() {} }`,
      /the member "prop" has no effect: "props" may be meant/,
      /no prop is an interface/,
    ],
    [
      `{ props: { ${http} }, hooks: { activated() {}, deploy() {} }, run() {} }`,
      /the hook "activated" is never called: "activate" may be meant/,
    ],
    [
      `{ props: { ${http} }, hook: { activate() {} }, run() {} }`,
      /the member "hook" has no effect: "hooks" may be meant/,
    ],
    [`{ props: { ${http} }, additionalprops() {}, run() {} }`, /"additionalProps" may be meant/],
    [`{ props: {}, run() {} }`, /no prop is an interface/],
    [`{ props: {}, additionalProps: () => ({}), run() {} }`],
    [`{ type: 'action', key: 'a', version: '0.0.1', annotations: {}, ai: 1, sampleEmit: {}, run() {} }`],
  ];
  for (const [component, ...expected] of cases) {
    const { data } = await check(errand, { component_code: `export default ${component}` });
    const [{ runs, warnings }] = data;
    assert.deepEqual([runs, warnings.length], [true, expected.length], `${component} ${JSON.stringify(warnings)}`);
    for (const [i, text] of expected.entries()) assert.match(warnings[i].text, text);
  }
  const modules = ['child_process', 'node:cluster', 'worker_threads', 'node:wasi', 'inspector'];
  const imports = modules.map((name, i) => `import * as m${i} from '${name}';`).join('');
  const used = modules.map((_, i) => `m${i}`).join();
  const { data } = await check(errand, {
    component_code: `${imports} export default ${action(`run: () => [${used}]`).slice(15)}`,
  });
  assert.deepEqual(data[0].warnings.map(({ text }: Json) => text.split(' ', 1)[0]).sort(), modules.toSorted());
  const dedupe = `export default { dedupe: 5, props: { ${http} }, run() {} };`;
  assert.match((await check(errand, { component_code: dedupe })).data[0].problems[0].text, /dedupe "5" is not known/);
  const answer = await errand.client.request('POST', '/v1/sources', { component_code: dedupe });
  assertProblem(answer, 422, 'is not known: it is one of unique');
});

test('what cannot be checked is refused', async () => {
  await using folder = await createComponents({ ...FILES, 'secret.mjs': `export default { key: 'secret' };` });
  await using errand = await startErrand(folder.settings);
  const components = join(folder.dir, 'components');
  await symlink(join(folder.dir, 'secret.mjs'), join(components, 'link.mjs'));
  await symlink(folder.dir, join(components, 'out'));
  for (const path of [
    '../secret.mjs',
    '..',
    '/',
    'shop/../..',
    'shop\\a',
    'link.mjs',
    'out',
    'out/secret.mjs',
    'gone',
  ]) {
    const answer = await tryCheck(errand, { component_path: path });
    assertProblem(answer, 422, 'component_path');
    assert.doesNotMatch(answer.text, new RegExp(folder.dir), path);
  }
  const whole = await check(errand, { component_path: '.' });
  assert.deepEqual(verdictsIn(whole.data), VERDICTS, 'links are not followed');
  assertProblem(await tryCheck(errand, {}), 400, 'component_code');
  assertProblem(await tryCheck(errand, { component_code: 'a', component_path: 'b' }), 400, 'component_code');
  assertProblem(await tryCheck(errand, { component_path: 7, component_code: '' }), 400);
  await using other = await startErrand();
  assertProblem(await tryCheck(other, { component_path: 'shop' }), 422, 'ERRAND_COMPONENTS_DIR');
});

test('any owner checks, with a key that writes', async () => {
  await using folder = await createComponents(FILES);
  await using errand = await startErrand(folder.settings);
  const asked = { component_path: 'shop/account.mjs' };
  const other = await createOwner(errand);
  assert.deepEqual((await check(other, asked)).data, (await check(errand, asked)).data);
  assertProblem(await tryCheck(await withScopes(errand.client, ['read']), asked), 403);
});

test('large folders are checked in pages', async () => {
  const count = LIMITS.componentsChecked + 2;
  const names = Array.from({ length: count }, (_, i) => `m${String(i).padStart(4, '0')}.mjs`);
  const files = Object.fromEntries(names.map((name) => [`components/${name}`, 'export const a = 1;']));
  await using folder = await createComponents(files);
  await using errand = await startErrand(folder.settings);
  const first = await check(errand, { component_path: '.' });
  const after = first.data.at(-1).path;
  const second = await check(errand, { component_path: '.', after });
  assert.deepEqual([first.truncated, second.truncated], [true, false]);
  assert.deepEqual(
    [...first.data, ...second.data].map(({ path }: Json) => path),
    names,
  );
});

test('the command line checks here and at a server', async () => {
  await using folder = await createComponents({
    ...FILES,
    'mine/uses.mjs': `import above from 'above'; export default { key: 'k', props: { http: '$.interface.http' }, run: () => above };`,
    'node_modules/above/index.js': 'module.exports = 1;',
  });
  await using errand = await startErrand(folder.settings);
  const { client } = errand;
  const shop = join(folder.dir, 'components/shop');
  const here = await runCommand(errand, ['components', 'check', shop, '--json']);
  const there = await runCommand(errand, ['components', 'check', 'shop', '--json', '--url', client.url], {
    ERRAND_API_KEY: client.key,
  });
  assert.deepEqual([here.code, there.code], [1, 1], here.stderr + there.stderr);
  assert.deepEqual(verdictsIn(JSON.parse(here.stdout).data), VERDICTS);
  assert.deepEqual(JSON.parse(here.stdout), JSON.parse(there.stdout));
  const table = await runCommand(errand, ['components', 'check', shop]);
  assert.match(table.stdout, /^source {2}runs {2}shop\/fine-source\.mjs$/m);
  assert.match(table.stdout, /^action {2}runs {2}shop\/account\.mjs +accounts: shop$/m);
  assert.match(table.stdout, /^broken {2}no {4}shop\/lacks\.mjs +packages: gone-one, gone-two@\^3$/m);
  assert.ok(table.stdout.endsWith(`5 of 13 components would run here\n${commandFor(folder)}\n`), table.stdout);
  const mine = await runCommand(errand, ['components', 'check', join(folder.dir, 'mine')]);
  assert.deepEqual([mine.code, mine.stderr], [0, '']);
  assert.match(mine.stdout, /^source {2}runs {2}uses\.mjs\n1 of 1 /);
  const gone = await runCommand(errand, ['components', 'check', join(folder.dir, 'gone')]);
  assert.deepEqual([gone.code, gone.stdout], [3, '']);
  assert.match(gone.stderr, /there is no file or folder/);
});
