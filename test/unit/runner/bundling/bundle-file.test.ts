// Workflow files with what they import, bundled and run.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Deployment } from '../../../../src/domain/resource.ts';
import { type BundledFile, bundleFile, stepBundles } from '../../../../src/runner/bundling/bundle-file.ts';
import { MAX_BUNDLE_BYTES } from '../../../../src/runner/bundling/bundle-options.ts';
import { NONE_OUTSIDE } from '../../../../src/runner/bundling/outside.ts';
import { faultOf, type Kit, kit, returned } from '../kit.ts';

type Files = Readonly<Record<string, string>>;

async function folder(t: TestContext, files: Files): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-files-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return dir;
}

async function bundled(t: TestContext, files: Files, path = 'order.ts'): Promise<BundledFile & { dir: string }> {
  const dir = await folder(t, files);
  return { ...(await bundleFile({ dir, path })), dir };
}

async function deployed(t: TestContext, files: Files, namespaces: readonly string[]): Promise<Deployment> {
  const made = await bundled(t, files);
  assert.ok(made.kind === 'workflow', JSON.stringify(made));
  const steps = stepBundles(namespaces, made).map((step) => ({ ...step, id: `c_${step.namespace}`, code: '' }));
  return { id: 'd_1', ownerId: 'u_1', runnableId: 'p_1', steps, createdAtMs: 0 };
}

async function problems(t: TestContext, files: Files) {
  const made = await bundled(t, files);
  assert.ok(made.kind === 'broken', made.kind);
  return made.problems.map(({ file, line, column, text }) => [`${file}:${line}:${column}`, text] as const);
}

function workflow(steps: string, head = ''): string {
  return `import { defineWorkflow } from 'errand/workflow';\n${head}\nexport default defineWorkflow({ name: 'Orders', steps: ${steps} });\n`;
}

async function described(runner: Kit['runner'], deployment: Deployment) {
  return await runner.describe(deployment);
}

test('steps of a file run one after the other', async (t) => {
  const code = workflow(`(flow) => flow
    .step('validate', ({ event, context }) => ({ total: event.total, id: context.id }))
    .step('charge', { async run({ steps, $ }) { $.export('cents', 1); return steps.validate.$return_value.total * 100; } })`);
  const deployment = await deployed(t, { 'order.ts': code }, ['validate', 'charge']);
  const outcome = await kit(t).run(deployment, { event: Buffer.from('{"total":3}'), context: { id: 'e1' } });
  assert.equal(returned(outcome), 300);
  assert.deepEqual(
    outcome.steps.map(({ id, namespace, returnValue, exports }) => [id, namespace, returnValue, { ...exports }]),
    [
      ['c_validate', 'validate', '{"total":3,"id":"e1"}', {}],
      ['c_charge', 'charge', '300', { cents: '1' }],
    ],
  );
});

test('packages and other files are bundled along', async (t) => {
  const deployment = await deployed(
    t,
    {
      'order.ts': workflow(
        '{ sum: () => [add(1, 2), tax.rate, older, sep, typeof here] }',
        `import add from 'adder'; import tax from './lib/tax.json'; import { older, here } from './lib/older'; import { sep } from 'path';`,
      ),
      'lib/tax.json': '{"rate": 19}',
      'lib/older.ts': `export { default as older } from 'older'; export { here } from 'older';`,
      'node_modules/adder/package.json': '{"name":"adder","type":"module","exports":"./add.js"}',
      'node_modules/adder/add.js': 'export default (a, b) => a + b',
      'node_modules/older/index.js': `const { EOL } = require('os'); exports.default = EOL; exports.__esModule = true; exports.here = __dirname;`,
    },
    ['sum'],
  );
  assert.deepEqual(returned(await kit(t).run(deployment)), [3, 19, '\n', '/', 'string']);
});

test('a file may wait at its top, or be CommonJS', async (t) => {
  const waiting = workflow('{ a: () => two }', 'const two = await Promise.resolve(2);');
  const common = `const { defineWorkflow } = require('errand/workflow');
module.exports = defineWorkflow({ name: 'x', steps: { a: () => require('node:path').sep } });`;
  const { run } = kit(t);
  assert.equal(returned(await run(await deployed(t, { 'order.ts': waiting }, ['a']))), 2);
  assert.equal(returned(await run({ ...(await deployed(t, { 'order.ts': common }, ['a'])), id: 'd_2' })), '/');
});

test('a package may put together paths of its own folder', async (t) => {
  const code = workflow(
    '{ a: ({ event }) => (event.fails ? fail() : names.map(tried)) }',
    "import { names, tried, fail } from 'dynamic';",
  );
  const deployment = await deployed(
    t,
    {
      'order.ts': code,
      'node_modules/dynamic/index.js': `exports.names = ['one', 'one.js', 'table', 'deep', 'deep/index', 'README.md', 'LICENSE', 'run', 'gone'];
        exports.tried = (name) => { try { return require(\`./\${name}\`); } catch (error) { return error.code ?? error.message; } };
        exports.fail = () => { throw new Error('as asked'); };`,
      'node_modules/dynamic/one.js': 'module.exports = "one";',
      'node_modules/dynamic/table.json': '{"a":1}',
      'node_modules/dynamic/deep/index.js': 'module.exports = "deep";',
      'node_modules/dynamic/run': '#!/usr/bin/env node\nmodule.exports = "run";',
      'node_modules/dynamic/README.md': '# A text, no code',
      'node_modules/dynamic/LICENSE': 'Permission is hereby granted, free of charge',
    },
    ['a'],
  );
  const { run } = kit(t);
  assert.deepEqual(returned(await run(deployment)), [
    ...['one', 'one', { a: 1 }, 'deep', 'deep'],
    ...['ERR_UNKNOWN_FILE_EXTENSION', 'ERR_UNKNOWN_FILE_EXTENSION', 'run', 'No file ./gone'],
  ]);
  const { stack } = faultOf(await run(deployment, { event: Buffer.from('{"fails":true}') }));
  assert.match(stack, /node_modules\/dynamic\/index\.js:3:38/, 'the source map is still right');
});

test('steps share the state of their module', async (t) => {
  const code = workflow(
    `(flow) => flow.step('a', () => ++count).step('b', () => ++count).step('c', () => ++count)`,
    'let count = 0;',
  );
  const deployment = await deployed(t, { 'order.ts': code }, ['a', 'b', 'c']);
  const { run } = kit(t);
  assert.equal(returned(await run(deployment)), 3);
  assert.equal(returned(await run(deployment)), 6);
  const [first, ...others] = deployment.steps;
  for (const { bundle, sourceMap } of others) assert.ok(bundle.length + sourceMap.length < 200);
  assert.ok((first?.bundle.length ?? 0) > 500);
});

test('a stack names the file and line', async (t) => {
  const deployment = await deployed(
    t,
    {
      'order.ts': workflow(
        `(flow) => flow
  .step('fine', () => 1)
  .step('charge', function charge() {
    return check({ total: 'none' });
  })`,
        `import { check } from './lib/check.ts';\ninterface Unused { a: 1 }`,
      ),
      'lib/check.ts': `import deep from 'deep';
export function check(order: { total: string }): number {
  return deep(() => order.missing.total);
}`,
      'node_modules/deep/index.js': 'module.exports = function below(run) {\n  return run();\n};',
    },
    ['fine', 'charge'],
  );
  const fault = faultOf(await kit(t).run(deployment));
  assert.deepEqual([fault.namespace, fault.cellId, fault.code], ['charge', 'c_charge', 'TypeError']);
  assert.deepEqual(fault.stack.split('\n'), [
    '    at lib/check.ts:3:35',
    '    at below (node_modules/deep/index.js:2:10)',
    '    at check (lib/check.ts:3:10)',
    '    at charge (order.ts:7:12)',
  ]);
});

test('a missing package is named with its remedy', async (t) => {
  const [stripe, scoped] = await problems(t, {
    'order.ts': workflow('{ a: () => Stripe }', `import Stripe from 'stripe/node';\nimport '@acme/tools/x';`),
  });
  assert.equal(stripe?.[0], 'order.ts:2:20');
  assert.match(stripe?.[1] ?? '', /^the package "stripe" is not there: run "npm install stripe" in \//);
  assert.equal(scoped?.[0], 'order.ts:3:8');
  assert.match(scoped?.[1] ?? '', /"npm install @acme\/tools"/);
});

test('packages of the server are found in their folder alone', async (t) => {
  const server = await folder(t, {
    'node_modules/servers/index.js': 'module.exports = "of the server";',
    'data/packages/node_modules/one/index.js': 'module.exports = "one";',
  });
  const dir = await folder(t, {
    'one.ts': workflow('{ a: () => one }', "import one from 'one';"),
    'not.ts': workflow('{ a: () => servers }', "import servers from 'servers';"),
  });
  const packages = { dir: join(server, 'data/packages'), outside: NONE_OUTSIDE };
  const one = await bundleFile({ dir, path: 'one.ts' }, packages);
  assert.ok(one.kind === 'workflow' && one.bundle.includes('"one"'), JSON.stringify(one));
  const not = await bundleFile({ dir, path: 'not.ts' }, packages);
  assert.ok(not.kind === 'broken', not.kind);
  assert.match(not.problems[0]?.text ?? '', /^the package "servers" is not there/);
});

test('code that does not compile says where', async (t) => {
  assert.deepEqual(
    await problems(t, { 'order.ts': 'import "./lib/a.ts";\nexport default 1', 'lib/a.ts': 'const ä = ;' }),
    [['lib/a.ts:1:11', 'Unexpected ";"']],
  );
  assert.deepEqual(await problems(t, { 'order.ts': `\nimport './gone.ts';\nexport default 1` }), [
    ['order.ts:2:8', 'Could not resolve "./gone.ts"'],
  ]);
  assert.deepEqual(
    await problems(t, {
      'order.ts': workflow('{ a: () => [text, pattern] }', `import { text, pattern } from './lib/a.ts';`),
      'lib/a.ts': `export const text = '${'x'.repeat(2000)}';\nexport const pattern =\n  /(/;`,
    }),
    [['lib/a.ts:3:3', 'Invalid regular expression: /(/: Unterminated group']],
    'also in a line of the bundle that is long',
  );
});

test('a file without default export is a module', async (t) => {
  const made = await bundled(t, { 'order.ts': 'import "./a.ts"; export const a = 1', 'a.ts': '' });
  assert.equal(made.kind, 'module');
  assert.ok(made.kind === 'module');
  assert.deepEqual(
    [...made.inputs].sort(),
    ['a.ts', 'order.ts'].map((name) => join(made.dir, name)),
  );
});

test('a module says whether it uses defineWorkflow', async (t) => {
  const using =
    "import { defineWorkflow } from 'errand/workflow'; export const w = defineWorkflow({ name: 'w', steps: {} });";
  for (const [text, uses] of [
    [using, true],
    [using.replace('{ defineWorkflow }', '* as sdk').replace('defineWorkflow(', 'sdk.defineWorkflow('), true],
    ["import { http } from 'errand/workflow'; export const hook = http();", false],
    ["import type { Workflow } from 'errand/workflow'; export const defineWorkflow = (w: Workflow) => w;", false],
    ["import './a.ts'; export const defineWorkflow = 1;", false],
  ] as const) {
    const made = await bundled(t, { 'order.ts': text, 'a.ts': using });
    assert.deepEqual([made.kind, made.kind === 'module' && made.definesWorkflow], ['module', uses], text);
  }
});

test('a file with nothing but types is a module', async (t) => {
  for (const text of ['', '// later', 'export interface Order { readonly total: number }']) {
    assert.equal((await bundled(t, { 'order.ts': text })).kind, 'module', text);
  }
});

test('a bundle that is too large is refused', async (t) => {
  const text = JSON.stringify('x'.repeat(MAX_BUNDLE_BYTES));
  const [problem] = await problems(t, { 'order.ts': workflow(`{ a: () => ${text} }`) });
  assert.match(
    problem?.[1] ?? '',
    /^with what it imports it has \d+ bytes, but at most 8388608 are taken: install such packages in .*ERRAND_PACKAGES_DIR/,
  );
});

test('the bundle is the same in another folder', async (t) => {
  const files = {
    'sub/order.ts': workflow(`{ a: () => b }`, `import { b } from '../b.ts';`),
    'b.ts': 'export const b = 1',
  };
  const [one, two] = [await bundled(t, files, 'sub/order.ts'), await bundled(t, files, 'sub/order.ts')];
  assert.ok(one.kind === 'workflow' && two.kind === 'workflow');
  assert.notEqual(one.dir, two.dir);
  assert.deepEqual([one.bundle, one.sourceMap], [two.bundle, two.sourceMap]);
});

test('modules of the component API are there', async (t) => {
  const files = {
    'order.ts': workflow(
      '{ a: () => [typeof axios, new ConfigurationError("x").name] }',
      `import { axios, ConfigurationError } from '@pipedream/platform';`,
    ),
  };
  const { run } = kit(t);
  assert.deepEqual(returned(await run(await deployed(t, files, ['a']))), ['function', 'ConfigurationError']);
  const own = {
    ...files,
    'node_modules/@pipedream/platform/index.js':
      'exports.axios = 1; exports.ConfigurationError = class { name = "own" }',
  };
  assert.deepEqual(returned(await run({ ...(await deployed(t, own, ['a'])), id: 'd_2' })), ['number', 'own']);
});

test('a file says what it is in a child', async (t) => {
  const { runner } = kit(t);
  const code = `import { defineWorkflow, http } from 'errand/workflow';
export default defineWorkflow({
  name: \`Orders of \${process.env.REGION}\`,
  triggers: [http({ custom_response: true })],
  settings: { timeout_ms: 5 },
  steps: { a: () => 1, b: () => 2 },
});`;
  const deployment = await deployed(t, { 'order.ts': code }, ['workflow']);
  const answer = await runner.describe(deployment, { REGION: 'eu' });
  assert.ok(answer.ok, JSON.stringify(answer));
  assert.deepEqual(answer.shape.workflow, {
    name: 'Orders of eu',
    triggers: [{ type: 'http', custom_response: true }],
    settings: { timeout_ms: 5 },
    steps: ['a', 'b'],
  });
});

test('what is no workflow says so when loaded', async (t) => {
  const { runner } = kit(t);
  for (const [code, message] of [
    ['export default () => 1', /is no workflow: it must be what defineWorkflow returns/],
    [workflow('{}'), /has no steps/],
    [workflow('{ a: 5 }'), /Step a is neither a function/],
    ['const x = 1;\nthrow new RangeError("at load");\nexport default x', /at load/],
  ] as const) {
    const answer = await described(runner, await deployed(t, { 'order.ts': code }, ['workflow']));
    assert.ok(!answer.ok);
    assert.match(answer.message, message);
    assert.equal(answer.stack, code.includes('at load') ? '    at order.ts:2:7' : '');
  }
});
