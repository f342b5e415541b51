import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../../../support/wait.ts';
import { deploymentOf, foldersOf, kit } from '../kit.ts';

test('a source says what it is', async (t) => {
  const deployment = await deploymentOf(`export default {
    name: 'New items', version: '0.1.2', key: 'k', dedupe: 'unique',
    props: {
      db: '$.service.db',
      timer: { type: '$.interface.timer', default: { intervalSeconds: 60 } },
      item: { type: 'string', async options() { return [] }, min: 1 },
    },
    methods: { a() {} }, hooks: { deploy() {}, activate: async () => {}, nothing: 1 },
    run() {},
  }`);
  assert.deepEqual(await kit(t).runner.describe(deployment), {
    ok: true,
    shape: {
      type: 'source',
      isTyped: false,
      key: 'k',
      name: 'New items',
      description: null,
      version: '0.1.2',
      dedupe: 'unique',
      props: {
        db: { type: '$.service.db' },
        timer: { type: '$.interface.timer', default: { intervalSeconds: 60 } },
        item: { type: 'string', min: 1, remoteOptions: true },
      },
      hooks: ['deploy', 'activate'],
      members: ['name', 'version', 'key', 'dedupe', 'props', 'methods', 'hooks', 'run'],
      hasRun: true,
      hasAdditionalProps: false,
    },
  });
});

test('functions, actions and apps are told apart', async (t) => {
  const { runner } = kit(t);
  const types = ['() => 1', '{ type: "action", run() {} }', '{ type: "app" }', '{ props: {} }'];
  const shapes = await Promise.all(
    types.map(async (code) => runner.describe(await deploymentOf(`export default ${code}`))),
  );
  assert.deepEqual(
    shapes.map((shape) => shape.ok && [shape.shape.type, shape.shape.hasRun]),
    [
      ['function', true],
      ['action', true],
      ['app', false],
      ['source', false],
    ],
  );
});

test('very many of one owner hold up no other', async (t) => {
  const { runner } = kit(t);
  const all = await Promise.all(
    Array.from({ length: 12 }, (_, n) => deploymentOf(`export default { name: 'source ${n}', run() {} }`)),
  );
  const other = { ...(await deploymentOf(`export default { name: 'other', run() {} }`)), ownerId: 'u_other' };
  let done = 0;
  const described = all.map((deployment) => runner.describe(deployment).then(() => done++));
  assert.equal((await runner.describe(other)).ok, true);
  assert.ok(done < 8, `${done} came before`);
  await Promise.all(described);
});

test('circular props are cut, not fatal', async (t) => {
  const described = await kit(t).runner.describe(
    await deploymentOf(`const app = { type: 'app', n: 1n, fn() {} }; app.self = app;
    export default { props: { app, both: [app, app] } }`),
  );
  assert.ok(described.ok);
  assert.deepEqual(described.shape.props, {
    app: { type: 'app', n: '1' },
    both: { unresolved: 'has neither a type nor a propDefinition: [app, "name"]' },
  });
});

test('only the first step is loaded', async (t) => {
  const deployment = await deploymentOf(['export default () => 1', 'throw new Error("second"); export default 1']);
  assert.equal((await kit(t).runner.describe(deployment)).ok, true);
});

test('code that cannot be loaded is reported', async (t) => {
  const described = await kit(t).runner.describe(await deploymentOf('\nthrow new Error("at load"); export default {}'));
  assert.deepEqual(described, { ok: false, message: 'at load', stack: '    at one.ts:2:7' });
});

test('code that kills the process is reported', async (t) => {
  const { runner } = kit(t);
  const garbage = await runner.describe(
    await deploymentOf('import fs from "fs"; fs.closeSync(3); await new Promise(() => {}); export default {}'),
  );
  assert.ok(!garbage.ok);
  assert.match(garbage.message, /ended while loading/);
});

test('nothing of it stays behind', async (t) => {
  const { runner, tmpDir } = kit(t);
  await runner.describe(await deploymentOf('export default {}'));
  await until('the folder is removed', () => foldersOf(tmpDir).length === 0);
  assert.deepEqual(runner.stats(), { processes: 0, inFlight: 0 });
});

for (const [how, code] of [
  ['loops', 'for (;;);'],
  ['waits', 'await new Promise(() => setInterval(() => {}, 1000));'],
]) {
  test(`code that ${how} while it is loaded is refused in its time`, async (t) => {
    const described = await kit(t, { loadMs: 500 }).runner.describe(await deploymentOf(`${code} export default {}`));
    assert.deepEqual(described, { ok: false, message: 'The code had not been loaded after 500 ms', stack: '' });
  });
}

test('a machine that stands still takes nothing from the time of code', async (t) => {
  const loadMs = 3000;
  const { runner } = kit(t, { loadMs });
  const deployment = await deploymentOf('export default { run() {} }');
  const children = (): string => readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1');
  const before = children();
  const describing = runner.describe(deployment);
  // The process loads its code while the server stands still.
  await until('a process', () => children() !== before);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, loadMs + 500);
  const described = await describing;
  assert.ok(described.ok, JSON.stringify(described));
});
