// A folder of workflow files: deployed at the start, on every change, and never twice.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import {
  answering,
  answers,
  call,
  createWorkflowFiles,
  deploymentsOf,
  type Files,
  logged,
  named,
  type WorkflowFiles,
} from '../../support/folders/workflow-files.ts';
import { until } from '../../support/wait.ts';

interface Started extends AsyncDisposable {
  readonly errand: Errand;
  readonly folder: WorkflowFiles;
  named(name: string): Promise<Json>;
}

async function start(files: Files): Promise<Started> {
  const folder = await createWorkflowFiles(files);
  const errand = await startErrand({ ERRAND_WORKFLOWS_DIR: folder.path });
  return {
    errand,
    folder,
    named: async (name) => {
      const workflow = await named(errand, name);
      assert.ok(workflow, `there is no workflow ${name}`);
      return workflow;
    },
    [Symbol.asyncDispose]: async () => {
      await errand[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const ORDER = `import { defineWorkflow, http } from 'errand/workflow';

interface Order {
  readonly total?: number;
}

export default defineWorkflow({
  name: 'Orders',
  triggers: [http<Order>(), { type: 'schedule', cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' }],
  settings: { timeout_ms: 5000, concurrency: 2, retry: { attempts: 3, base_ms: 0 }, throttle: { limit: 9, interval_ms: 1000 } },
  steps: (flow) =>
    flow
      .step('validate', ({ event, context }) => ({ total: 'body' in event ? event.body.total : 0, id: context.id }))
      .step('charge', ({ steps, $ }) => {
        $.export('$summary', 'charging');
        return steps.validate.$return_value.total!.toFixed(2);
      }),
});
`;

test('files are deployed before the first request', async () => {
  await using started = await start({ 'order.ts': ORDER, 'sub/hello.mjs': answering('Hello', '"hello"') });
  const { errand } = started;
  const order = await started.named('Orders');
  assert.equal(order.active, true);
  assert.deepEqual([order.settings.timeout_ms, order.settings.concurrency, order.settings.memory_mb], [5000, 2, 256]);
  assert.deepEqual([order.settings.retry.attempts, order.settings.throttle.limit], [3, 9]);
  assert.deepEqual(
    order.triggers.map(({ type, cron, timezone }: Json) => [type, cron, timezone]),
    [
      ['http', undefined, undefined],
      ['schedule', '0 9 * * 1-5', 'Europe/Berlin'],
    ],
  );
  const [first, second] = order.steps;
  assert.deepEqual([first.namespace, second.namespace], ['validate', 'charge']);
  assert.match(first.code, /^\/\/ "order\.ts" deployed: a workflow file, sha256 [0-9a-f]{64}\nimport /);
  assert.ok(first.code.endsWith(ORDER));
  assert.equal(second.code, '// Step charge of "order.ts": see step validate\n');
  await errand.send(order, { total: 2 });
  const [run] = await errand.runs(order.id, 1);
  assert.deepEqual([run.state, run.summary], ['succeeded', 'charging']);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.equal(data.steps[1].return_value, '2.00');
  assert.equal(await call(await started.named('Hello')), '200 hello');
});

test('an error names the file, line and step', async () => {
  await using started = await start({ 'order.ts': ORDER });
  const order = await started.named('Orders');
  await started.errand.send(order, {});
  const [record] = await started.errand.errors(order.id, 1);
  const { error } = record.event;
  assert.deepEqual([error.code, error.namespace, error.cellId], ['TypeError', 'charge', order.steps[1].id]);
  assert.match(error.stack, /^ {4}at .*order\.ts:16:52\)?$/);
});

test('a changed file is deployed again', async () => {
  await using started = await start({ 'a.ts': answering('A', '1'), 'b.ts': answering('B', '1') });
  const { errand, folder } = started;
  const [a, b] = [await started.named('A'), await started.named('B')];
  await folder.write({ 'a.ts': answering('A', '2') });
  await answers(a, '200 2');
  const after = await started.named('A');
  assert.deepEqual([after.id, after.steps[0].id, after.triggers], [a.id, a.steps[0].id, a.triggers]);
  const listed = await deploymentsOf(errand, a);
  assert.deepEqual(
    listed.map(({ id, active }) => [id, active]),
    [
      [after.deployment_id, true],
      [a.deployment_id, false],
    ],
  );
  assert.equal((await deploymentsOf(errand, b)).length, 1);
});

test('what is not a workflow is left out', async () => {
  const broken = 'this is no code';
  await using started = await start({
    'a.ts': answering('A', 'price', `import { price } from './prices.ts'; import { low } from './_lib/low.ts'; low;`),
    'prices.ts': 'export const price = 5;',
    '_lib/low.ts': 'export const low = 1;',
    '_later.ts': broken,
    '.hidden.ts': broken,
    'a.test.ts': broken,
    'types.d.ts': 'declare const x: 1;',
    'notes.txt': broken,
    'node_modules/x/index.ts': broken,
    '.git/hook.ts': broken,
  });
  assert.equal(await call(await started.named('A')), '200 5');
  const { data } = await started.errand.client.get('/v1/workflows');
  assert.deepEqual(data.map(({ name }: Json) => name).sort(), ['A', 'Global error workflow']);
  assert.deepEqual(
    started.errand.logged.filter(({ level }) => level === 'error'),
    [],
  );
});

test('a changed import redeploys those that import it', async () => {
  const head = `import { price } from './lib/prices.ts';`;
  await using started = await start({
    'a.ts': answering('A', 'price', head),
    'sub/b.ts': answering('B', 'price', head.replace('./', '../')),
    'c.ts': answering('C', '0'),
    'lib/prices.ts': 'export const price = 5;',
  });
  const [a, b, c] = [await started.named('A'), await started.named('B'), await started.named('C')];
  await started.folder.write({ 'lib/prices.ts': 'export const price = 6;' });
  await answers(a, '200 6');
  await answers(b, '200 6');
  assert.equal((await deploymentsOf(started.errand, c)).length, 1);
});

test('a broken file keeps its last good deployment', async () => {
  await using started = await start({ 'a.ts': answering('A', '1'), 'new.ts': '\nexport default oops(;' });
  const { errand, folder } = started;
  const a = await started.named('A');
  const fresh = await logged(errand, /^workflow file refused$/, 'new.ts');
  assert.deepEqual(fresh.problems, ['new.ts:2:21: Unexpected ";"']);

  await folder.write({ 'a.ts': `import x from 'not-there';\n${answering('A', 'x')}`, 'b.ts': answering('B', '7') });
  const broken = await logged(errand, /^workflow file refused: its last good deployment stays$/, 'a.ts');
  assert.match(
    broken.problems[0],
    /^a\.ts:1:15: the package "not-there" is not there: run "npm install not-there" in /,
  );
  const b = await until('the other file', () => named(errand, 'B'));
  assert.deepEqual([await call(a), await call(b)], ['200 1', '200 7']);

  await folder.write({ 'node_modules/not-there/index.js': 'module.exports = 3', 'package.json': '{}' });
  await answers(a, '200 3');
});

test('a file that throws when loaded is refused', async () => {
  await using started = await start({ 'a.ts': answering('A', '1') });
  const { errand, folder } = started;
  const a = await started.named('A');
  await folder.write({
    'a.ts': answering('A', '2', 'if (Date.now() > 0) throw new RangeError("not now");'),
    'none.ts': 'export default 5;',
    'bad.ts': answering('Bad', '1').replace(`'answer'`, `'Answer!'`),
  });
  const broken = await logged(errand, /stays$/, 'a.ts');
  assert.deepEqual(broken.problems, ['a.ts:2:27: not now']);
  const none = await logged(errand, /refused$/, 'none.ts');
  assert.deepEqual(none.problems, [
    'none.ts:1:1: The default export is no workflow: it must be what defineWorkflow returns',
  ]);
  const bad = await logged(errand, /refused$/, 'bad.ts');
  assert.match(bad.problems[0], /^bad\.ts:1:1: steps\[0\]\.namespace must be lower-case letters/);
  assert.equal(await call(a), '200 1');
  assert.equal((await deploymentsOf(errand, a)).length, 1);
});

test('a file that uses defineWorkflow and exports no workflow is told of', async () => {
  const unexported = answering('A', '1').replace('export default', 'export const workflow =');
  await using started = await start({ 'a.ts': unexported, 'b.ts': answering('B', '1') });
  const { errand, folder } = started;
  const { problems } = await logged(errand, /^workflow file not deployed$/, 'a.ts');
  assert.match(problems[0], /^it uses defineWorkflow, and has no default export: /);
  const lines = (name: RegExp) => errand.logged.filter((line) => name.test(line.name)).length;
  assert.equal(lines(/refused/), 0, 'other files may import it');
  await folder.write({ 'a.ts': answering('A', '2') });
  await logged(errand, /^workflow file deployed$/, 'a.ts');
  await folder.write({ 'a.ts': unexported });
  const lost = await logged(errand, /^workflow file refused: its last good deployment stays$/, 'a.ts');
  assert.deepEqual(lost.problems, ['a.ts:1:1: it no longer has a default export']);
  await folder.write({ 'c.ts': unexported });
  await logged(errand, /^workflow file not deployed$/, 'c.ts');
  await folder.write({ 'c.ts': 'export const price = 1;' });
  await logged(errand, /^workflow file is right again$/, 'c.ts');
  assert.equal(lines(/^workflow file not deployed$/), 2);
  // A definition is judged as `errand deploy` does.
  await folder.write({ 'd.ts': answering('D', '1').replace('triggers:', 'trigger:') });
  const wrong = await logged(errand, /^workflow file refused$/, 'd.ts');
  assert.match(wrong.problems[0], /trigger is not a known member; did you mean triggers\?/);
});

test('a removed file switches its workflow off', async () => {
  const text = answering('A', '1');
  await using started = await start({ 'sub/a.ts': text });
  const { errand, folder } = started;
  const a = await started.named('A');
  await folder.remove('sub/a.ts');
  await until('the workflow is off', async () => (await started.named('A')).active === false);
  assert.match(await call(a), /^404 /);
  await folder.write({ 'sub/a.ts': text });
  await answers(a, '200 1');
  const back = await started.named('A');
  assert.deepEqual([back.id, back.active, back.triggers], [a.id, true, a.triggers]);

  await errand.stop();
  await folder.remove('sub');
  await errand.restart();
  assert.equal((await started.named('A')).active, false);
  await errand.stop();
  await folder.write({ 'sub/a.ts': text });
  await errand.restart();
  assert.equal((await started.named('A')).active, true);
});

test('an empty folder switches nothing off', async () => {
  const files = { 'a.ts': answering('A', '1'), 'b.ts': answering('B', '1') };
  await using started = await start(files);
  const { errand, folder } = started;
  for (const path of Object.keys(files)) await folder.remove(path);
  await until('it is told', () => errand.logged.some(({ name }) => /is empty: no workflow is disabled$/.test(name)));
  await errand.restart();
  assert.equal(await call(await started.named('A')), '200 1');
  await folder.write({ 'b.ts': files['b.ts'] });
  await until('one is gone', async () => (await started.named('A')).active === false);
  assert.equal(await call(await started.named('B')), '200 1');
});

test('a restart keeps ids and endpoints', async () => {
  await using started = await start({ 'order.ts': ORDER, 'a.ts': answering('A', '1') });
  const { errand, folder } = started;
  const [order, a] = [await started.named('Orders'), await started.named('A')];
  await folder.touch('order.ts');
  await errand.restart();
  const at = (workflow: Json): Json => JSON.parse(JSON.stringify(workflow).replaceAll(/http:\/\/[^/"]+/g, 'http://x'));
  assert.deepEqual(at(await started.named('Orders')), at(order));
  assert.deepEqual(at(await started.named('A')), at(a));
  assert.equal((await deploymentsOf(errand, order)).length, 1);

  await errand.stop();
  await folder.write({ 'a.ts': answering('A', '2') });
  await errand.restart();
  const after = await started.named('A');
  assert.deepEqual([after.id, at(after.triggers)], [a.id, at(a.triggers)]);
  assert.equal(await call(after), '200 2');
});

test('a workflow switched off by hand stays off', async () => {
  await using started = await start({ 'a.ts': answering('A', '1') });
  const { errand, folder } = started;
  const a = await started.named('A');
  await errand.client.put(`/v1/workflows/${a.id}`, { active: false });
  await errand.restart();
  assert.equal((await started.named('A')).active, false);
  await folder.write({ 'a.ts': answering('A', '2') });
  await until('the new code', async () => (await started.named('A')).deployment_id !== a.deployment_id);
  assert.equal((await started.named('A')).active, false);
});

test('a variable comes from .env or the API', async () => {
  const head = 'const { REGION, TOKEN } = process.env; if (!REGION) throw new Error("no REGION");';
  await using started = await start({ 'a.ts': answering('A', 'REGION + TOKEN', head) });
  const { errand, folder } = started;
  const { problems } = await logged(errand, /refused$/, 'a.ts');
  assert.deepEqual(problems, ['a.ts:2:59: no REGION']);
  await folder.write({ '.env': 'REGION=eu\n' });
  const a = await until('the workflow', () => named(errand, 'A'));
  assert.deepEqual(a.settings.env, { REGION: 'eu' });
  await errand.client.put(`/v1/workflows/${a.id}`, { settings: { env: { REGION: 'eu', TOKEN: 't' } } });
  await folder.write({ '.env': 'REGION=us\n' });
  await answers(a, '200 ust');
});

test('a setting taken out has its default again', async () => {
  const text = answering('A', '1');
  const asked = text.replace('  steps:', `  settings: { memory_mb: 64 },\n  steps:`);
  await using started = await start({ 'a.ts': asked });
  assert.equal((await started.named('A')).settings.memory_mb, 64);
  await started.folder.write({ 'a.ts': text });
  await until('the default', async () => (await started.named('A')).settings.memory_mb === 256);
});

test('a folder that is not there stops the start', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'errand-none-'));
  await rm(dir, { recursive: true });
  await assert.rejects(
    startErrand({ ERRAND_WORKFLOWS_DIR: dir }),
    /^ConfigError: ERRAND_WORKFLOWS_DIR: ".*" is not a folder$/m,
  );
});

test('two files whose workflows have one name are told in the log', async () => {
  await using started = await start({ 'a.mjs': answering('Hello', '1'), 'b.mjs': answering('Hello', '2') });
  const { errand, folder } = started;
  const told = () => errand.logged.filter(({ name }) => name.endsWith('has the same name, "Hello"'));
  await until('the warning', () => told().length === 1);
  await folder.write({ 'b.mjs': answering('Hello', '3'), 'c.mjs': answering('Other', '3') });
  await until('another deployment', async () => (await named(errand, 'Other')) !== undefined);
  assert.equal(told().length, 1, 'once');
});

test('a file of variables may begin with the mark that editors of Windows write', async () => {
  await using started = await start({
    'a.mjs': answering('Hello', 'process.env.FIRST + process.env.SECOND'),
    '.env': '\ufeffFIRST=1\r\nSECOND=2\r\n',
  });
  const { settings } = await started.named('Hello');
  assert.deepEqual(settings.env, { FIRST: '1', SECOND: '2' });
});
