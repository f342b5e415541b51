import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { bundleStep } from '../../../../src/runner/bundling/bundle.ts';

async function bundled(code: string): Promise<{ bundle: string; sourceMap: string }> {
  const result = await bundleStep({ namespace: 'parse_order', code });
  assert.ok(result.ok, JSON.stringify(result));
  return result;
}

async function problems(code: string) {
  const result = await bundleStep({ namespace: 'parse_order', code });
  assert.ok(!result.ok);
  return result.problems;
}

/** The bundle's default export, loaded from its text. */
async function loaded(code: string): Promise<unknown> {
  const { bundle } = await bundled(code);
  const module = (await import(`data:text/javascript,${encodeURIComponent(bundle)}`)) as { default: unknown };
  return module.default;
}

test('JavaScript and TypeScript become one module', async () => {
  assert.equal(await loaded('export default 5'), 5);
  assert.equal(
    await loaded('enum E { A = 7 } const x: number = E.A; export { x as default }; export type T = string'),
    7,
  );
});

test('module.exports ends up as the default export', async () => {
  assert.deepEqual(await loaded('module.exports = { a: 1 }'), { a: 1 });
  assert.deepEqual(await loaded('exports.a = 2'), { a: 2 });
});

test('the source map names the step', async () => {
  const { sourceMap } = await bundled('export default 5');
  const map = JSON.parse(sourceMap) as { sources: string[]; sourcesContent?: unknown };
  assert.deepEqual(map.sources, ['parse_order.ts']);
  assert.equal(map.sourcesContent, undefined);
});

test('modules of Node may be imported', async () => {
  assert.equal(
    await loaded('import { sep } from "node:path"; import { EOL } from "os"; export default sep + EOL'),
    '/\n',
  );
});

test('code that does not parse says where', async () => {
  assert.deepEqual(await problems('export default {\n  a: 1,\n  b:: 2\n}'), [
    { file: 'parse_order.ts', line: 3, column: 5, text: 'Unexpected ":"' },
  ]);
});

test('columns count characters, not bytes', async () => {
  const [problem] = await problems('const x = "äöü☃"; export default ::');
  assert.deepEqual([problem?.line, problem?.column], [1, 34]);
});

test('what only V8 judges is told, and where it is', async () => {
  const code = 'export default (event: { id: string }) => {\n  return event.id.match(/(?<a>.)\\k<b>/);\n};';
  const text = 'Invalid regular expression: /(?<a>.)\\k<b>/: Invalid named capture referenced';
  assert.deepEqual(await problems(code), [{ file: 'parse_order.ts', line: 2, column: 25, text }]);
  assert.equal(await loaded('export default 6'), 6, 'and the next is judged by itself');
});

test('a thread that ends while it parses holds up no bundle', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(globalThis, 'clearTimeout', () => {});
  await bundled('export default 1');
  const longCode = `export default [${'1,'.repeat(1_000_000)}]`;
  const judged = [bundled(longCode), problems('export default /(/'), bundled('export default 2')];
  const ending = setInterval(() => t.mock.timers.tick(10_000), 1);
  t.after(() => clearInterval(ending));
  const [, found] = await Promise.all(judged);
  assert.match(JSON.stringify(found), /Unterminated group/);
});

test('what V8 can parse is taken', async () => {
  for (const code of [
    'export default 1; await 5; using x = null;',
    'const a = 1;\nexport { unknown };\nexport default a;',
    'module.exports = 1; return;',
    `export default ${'('.repeat(5000)}1${')'.repeat(5000)}`,
  ]) {
    await bundled(code);
  }
});

test('every problem is told', async () => {
  assert.equal((await problems('import "one"; import "two"; export default 1')).length, 2);
});

test('other packages are not available', async () => {
  const cases = [
    'lodash',
    'esbuild',
    './other.ts',
    '../x',
    '/etc/passwd',
    'file:///etc/passwd',
    'https://host/x.js',
    'data:text/javascript,1',
    '@pipedream/other',
    'node:nothing',
    '#internal',
    'tslib',
  ];
  for (const specifier of cases) {
    for (const code of [
      `\n import x from '${specifier}'; export default x`,
      `\nmodule.exports = require('${specifier}')`,
      `\nexport default () => import('${specifier}')`,
      `\nexport { default } from '${specifier}'`,
    ]) {
      const [problem, ...more] = await problems(code);
      assert.deepEqual([problem?.file, problem?.line, more], ['parse_order.ts', 2, []], code);
      assert.match(problem?.text ?? '', /is not available here/);
      assert.equal(problem?.column, (code.split('\n')[1] ?? '').indexOf(`'${specifier}'`) + 1);
    }
  }
});

test('no comment makes the bundler read a file', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'errand-runner-'));
  t.after(() => rm(dir, { recursive: true }));
  const file = join(dir, 'input.json');
  const map = JSON.stringify({ version: 3, sources: ['hidden'], mappings: 'AAAA', names: [] });
  writeFileSync(file, map);
  const plain = await bundled('export default 5');
  for (const address of [
    file,
    `file://${file}`,
    `http://localhost${file}`,
    `data:application/json,${encodeURIComponent(map)}`,
  ]) {
    for (const comment of [
      `\n//# sourceMappingURL=${address}`,
      `\n/*# sourceMappingURL=${address} */`,
      `\n//@ sourceMappingURL=${address}`,
    ]) {
      assert.deepEqual(await bundled(`export default 5${comment}`), plain, comment);
      assert.deepEqual(await bundled(`export default 5${comment}\n`), plain, comment);
    }
  }
  const within = await loaded('export default `\n//# sourceMappingURL=data:kept`');
  assert.equal(within, '\n//# sourceMappingURL=data:kept');
});

test('code that ends too early says where', async () => {
  for (const code of [
    'export default { /* open',
    'export default `open',
    'export default "open',
    '// only a comment',
  ]) {
    const [problem] = await problems(code);
    assert.deepEqual([problem?.line, (problem?.column ?? 99) <= code.length + 1], [1, true], code);
  }
});

test('a module without default export is a problem', async () => {
  // The last one as in a node of another product: a `return` makes it CommonJS.
  for (const code of ['export const a = 1', '1 + 1', '', 'import "node:fs"', 'const items = [1];\nreturn items;']) {
    const [problem] = await problems(code);
    assert.match(problem?.text ?? '', /no default export/, code);
    assert.deepEqual([problem?.line, problem?.column], [1, 1]);
  }
  assert.equal(await loaded('module.exports = 5; return;'), 5);
});

test('the provided modules may be imported, also pinned', async () => {
  const code =
    'import * as types from "@pipedream/types"; import * as platform from "@pipedream/platform@3.1.0"; export default { types, platform }';
  const { types, platform } = (await loaded(code)) as Record<'types' | 'platform', Record<string, unknown>>;
  assert.deepEqual(Object.keys(types).sort(), ['defineAction', 'defineApp', 'defineComponent', 'defineSource']);
  assert.deepEqual(Object.keys(platform).sort(), [
    '$end',
    '$event',
    '$send',
    '$sendConfigRuntimeTypeChecker',
    'ConfigurationError',
    'DEFAULT_POLLING_SOURCE_TIMER_INTERVAL',
    'END_NEEDLE',
    'HTTP_METHODS',
    'PD_OFFICIAL_GMAIL_OAUTH_CLIENT_ID',
    'SendConfigEmail',
    'SendConfigEmit',
    'SendConfigEmit_optional',
    'SendConfigEmit_required',
    'SendConfigHTTP',
    'SendConfigS3',
    'SendConfigSQL',
    'SendConfigSSE',
    'SendConfigSnowflake',
    'axios',
    'cloneSafe',
    'getFileStream',
    'getFileStreamAndMetadata',
    'jsonStringify',
    'jsonStringifySafe',
    'sendTypeMap',
    'sqlProp',
    'sqlProxy',
    'transformConfigForOauth',
  ]);
  assert.equal(platform.DEFAULT_POLLING_SOURCE_TIMER_INTERVAL, 900);
});
