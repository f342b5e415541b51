// `errand deploy --check`, `--dry-run` and `--prune`; and files that are deployed by hand and watched, too.

import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Client, Json } from '../../support/client.ts';
import { API_KEY, startErrand } from '../../support/errand.ts';
import { answering, call, createWorkflowFiles, named } from '../../support/folders/workflow-files.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { call as command } from '../../unit/store/command.ts';

const newErrand = shareErrand();
const ROOT = join(import.meta.dirname, '../../..');
const TSCONFIG = JSON.stringify({
  compilerOptions: {
    ...{ module: 'nodenext', target: 'es2024', strict: true, noEmit: true, types: ['node'] },
    ...{ allowImportingTsExtensions: true, skipLibCheck: true },
    paths: { 'errand/workflow': [join(ROOT, 'src/sdk/workflow.ts')] },
  },
});

/** Deploys by the command line, and lists what is there by name. */
function deployerTo(client: Client) {
  const { url, key } = client;
  const deploy = (...args: string[]) => command(['deploy', ...args, '--url', url], { ERRAND_API_KEY: key });
  const names = async (): Promise<string[]> =>
    (await client.get('/v1/workflows')).data
      .map(({ name }: Json) => name)
      .filter((name: string) => name !== 'Global error workflow')
      .sort();
  return { deploy, names };
}

test('types are checked, changes shown, and what is gone asked about', async () => {
  await using errand = await newErrand();
  const { deploy, names } = deployerTo(errand.client);
  await using folder = await createWorkflowFiles({
    'a.ts': answering('A', '1'),
    'b.ts': answering('B', '2'),
    'lib/price.ts': 'export const price: number = 5;\n',
    'tsconfig.json': TSCONFIG,
    'package.json': '{"name": "shop"}',
  });
  const unchecked = await deploy(folder.path, '--check');
  assert.equal(unchecked.status, 1, 'a check that was asked for and cannot be made is none that passed');
  assert.match(
    unchecked.stderr,
    /nothing was deployed: no TypeScript is installed for .*tsconfig\.json \(npm install\)/,
  );
  assert.deepEqual(await names(), []);
  await symlink(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  const dry = await deploy(folder.path, '--dry-run');
  assert.equal(dry.status, 0, dry.stderr);
  assert.match(dry.stderr, /types are right: .*tsconfig\.json\nnew {6}a\.ts {2}\+\d+ −0\nnew {6}b\.ts {2}\+\d+ −0\n$/);
  assert.deepEqual([dry.stdout, await names()], ['', []]);

  assert.equal((await deploy(folder.path)).status, 0);
  await folder.write({ 'a.ts': answering('A', '11'), 'lib/price.ts': "export const price: number = 'five';\n" });
  const wrong = await deploy(folder.path, '--check');
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /types are wrong, and nothing was deployed:\nlib\/price\.ts\(1,14\): error TS2322/);
  assert.equal(await call(await named({ ...errand } as never, 'A')), '200 1');
  await folder.write({ 'lib/price.ts': 'export const price: number = 6;\n' });
  await folder.remove('b.ts');
  const changed = await deploy(folder.path, '--check');
  assert.equal(changed.status, 0, changed.stderr);
  assert.match(changed.stderr, /changed {2}a\.ts {2}\+1 −1\ngone {5}b\.ts {2}p_\w+ "B"\n/);
  assert.deepEqual(await names(), ['A', 'B'], 'it is only told');

  const asked = await deploy(folder.path, '--prune');
  assert.equal(asked.status, 2);
  assert.match(asked.stderr, /Delete the workflow "B" \(b\.ts\), whose files are gone\?.*--yes/);
  assert.deepEqual(await names(), ['A', 'B']);
  assert.equal((await deploy(folder.path, '--prune', '--yes')).status, 0);
  assert.deepEqual(await names(), ['A']);
  assert.equal((await deploy(join(folder.path, 'a.ts'), '--prune')).status, 2);
});

test('a deployment says what goes on whose file is gone', async () => {
  await using errand = await newErrand();
  const { deploy } = deployerTo(errand.client);
  await using folder = await createWorkflowFiles({
    'a.ts': answering('A', '1'),
    'b.ts': answering('B', '2'),
    'package.json': '{"name": "renaming"}',
  });
  const { status, stderr } = await deploy(folder.path);
  assert.deepEqual([status, stderr], [0, '']);
  await folder.remove('a.ts');
  await folder.remove('b.ts');
  await folder.write({ 'new.ts': answering('A', '1') });
  const renamed = await deploy(folder.path);
  assert.equal(renamed.status, 0);
  const [a, b] = ['A', 'B'].map((name) => `its workflow p_\\w+ "${name}" goes on`);
  const twice = `a\\.ts: the file is gone, but ${a}, as does new\\.ts, which has the same name: --prune deletes it\n`;
  assert.match(renamed.stderr, new RegExp(`^${twice}b\\.ts: the file is gone, but ${b}: --prune deletes it\n$`));
  const { data } = await errand.client.get('/v1/workflows');
  const old = data.filter(({ name }: Json) => name === 'B');
  await errand.client.put(`/v1/workflows/${old[0].id}`, { active: false });
  assert.match((await deploy(folder.path)).stderr, new RegExp(`^${twice}$`), 'what is switched off does not go on');
  assert.equal((await deploy(folder.path, '--prune', '--yes')).stderr, '');
});

test('a project prunes what it deployed itself', async () => {
  await using errand = await newErrand();
  const { deploy, names } = deployerTo(errand.client);
  await using shop = await createWorkflowFiles({
    'flows/a.ts': answering('A', '1'),
    'flows/b.ts': answering('B', '2'),
    'jobs/c.ts': answering('C', '3'),
    'package.json': '{"name": "@acme/shop"}',
  });
  await using desk = await createWorkflowFiles({ 'd.ts': answering('D', '4'), 'package.json': '{"name": "desk"}' });
  await using nameless = await createWorkflowFiles({ 'e.ts': answering('E', '5') });
  for (const path of [join(shop.path, 'flows'), join(shop.path, 'jobs'), desk.path, nameless.path]) {
    const { status, stderr } = await deploy(path);
    assert.deepEqual([status, /belong to no project.*--project/.test(stderr)], [0, path === nameless.path], path);
  }
  const refused = await deploy(nameless.path, '--prune', '--yes');
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /no package\.json with a name: name the project with --project/);
  await shop.remove('flows/b.ts');
  const pruned = await deploy(join(shop.path, 'flows'), '--prune', '--yes');
  assert.equal(pruned.status, 0, pruned.stderr);
  assert.match(pruned.stdout, /^deleted {2}b\.ts {2}p_\w+$/m);
  assert.deepEqual(await names(), ['A', 'C', 'D', 'E']);
  assert.equal((await deploy(nameless.path, '--project', 'desk', '--prune', '--yes')).status, 0);
  assert.deepEqual(await names(), ['A', 'C', 'E'], 'another folder may go on as that project');
});

/** A file that exports its workflow by name, where a workflow file has a default export. */
const unexported = (name: string): string => answering(name, '1').replace('export default', 'export const workflow =');

test('a file that has lost its export is refused, and not gone', async () => {
  await using errand = await newErrand();
  const { deploy, names } = deployerTo(errand.client);
  await using shop = await createWorkflowFiles({
    'a.ts': answering('A', '1'),
    'in.mjs': "export default { key: 'in', name: 'In', props: { http: '$.interface.http' }, run() {} };",
    'keyless.mjs': "export default { name: 'Keyless', props: { http: '$.interface.http' }, run() {} };",
    'package.json': '{"name": "shop"}',
  });
  assert.equal((await deploy(join(shop.path, 'keyless.mjs'))).status, 0);
  assert.equal((await deploy(shop.path)).status, 0);
  await shop.write({ 'a.ts': unexported('A'), 'in.mjs': "export default { type: 'app', app: 'in' };" });
  const ofA =
    /^errand: a\.ts: it no longer has a default export: the workflow "A" \(p_\w+\) stays as it was deployed$/m;
  const ofIn = /^errand: in\.mjs: it no longer exports a workflow or a source: the source "In" \(dc_\w+\) stays/m;
  for (const more of [['--dry-run'], [], ['--prune', '--yes']]) {
    const { status, stdout, stderr } = await deploy(shop.path, ...more);
    assert.equal(status, 1, stderr);
    assert.match(stderr, ofA);
    assert.match(stderr, ofIn);
    assert.doesNotMatch(stdout + stderr, /gone|deleted|keyless\.mjs: /);
  }
  assert.deepEqual(await names(), ['A']);
  assert.equal((await errand.client.get('/v1/sources')).data.length, 2);
  assert.match((await deploy(join(shop.path, 'a.ts'))).stderr, ofA, 'as a single file, too');
  // Of another project, the file is one that others import.
  const other = await deploy(shop.path, '--project', 'desk');
  assert.doesNotMatch(other.stderr, /no longer/);
  const { api_key: writes } = await errand.client.post('/v1/keys', { label: 'writes', scopes: ['write'] });
  const blind = await command(['deploy', shop.path, '--url', errand.client.url], { ERRAND_API_KEY: writes });
  assert.equal(blind.status, 0, 'a key that may not read deploys all the same');
  await shop.remove('a.ts');
  assert.match((await deploy(shop.path, '--prune', '--yes')).stdout, /^deleted {2}a\.ts/m);
});

test('a file that looks like a workflow is not passed over', async () => {
  await using errand = await newErrand();
  const { deploy, names } = deployerTo(errand.client);
  const [plain, step] = [
    "export default { name: 'P', steps: { a: () => 1 } };",
    'export default async ({ steps }) => 1;',
  ];
  await using folder = await createWorkflowFiles({
    'good.ts': answering('Good', 'price', "import { price } from './lib/price.ts';"),
    'lib/price.ts': 'export const price = 5;',
    'lib/types.ts':
      "import type { Workflow } from 'errand/workflow';\nexport type DefineWorkflow = Workflow; // of defineWorkflow",
    'lib/hooks.ts': "import { http } from 'errand/workflow';\nexport const hook = http();",
    'lib/steps.ts': "export default { name: 'a list', steps: [1], run() {} };",
    'shop/common/words.mjs': 'export default (text) => text;',
    'plain.ts': plain,
    'step.ts': step,
    'lost.ts': unexported('Lost'),
    '_make.ts': unexported('Made elsewhere'),
  });
  const whole = await deploy(folder.path, '--project', 'shop');
  assert.equal(whole.status, 1);
  const no =
    'and no workflow: a workflow file exports what defineWorkflow returns; when the file is for others to import, let its name begin with _';
  assert.deepEqual(whole.stderr.trimEnd().split('\n'), [
    'lost.ts: not deployed: it uses defineWorkflow, and has no default export: a workflow is deployed with "export default"; when the file is for others to import, let its name begin with _',
    `errand: plain.ts: the default export is an object, ${no}`,
    `errand: step.ts: the default export is a function, ${no}`,
  ]);
  assert.deepEqual(await names(), ['Good']);
  const dry = await deploy(folder.path, '--dry-run', '--project', 'shop');
  assert.equal(dry.status, 1, 'a dry run refuses what a deployment refuses');
  assert.match(dry.stderr, /^errand: step\.ts: the default export is a function/m);
  for (const [file, why] of [
    ['plain.ts', /the component has steps and no run\(event\): a workflow file exports what defineWorkflow returns/],
    ['step.ts', /the component is a function/],
    ['lost.ts', /it uses defineWorkflow, and has no default export/],
  ] as const) {
    const alone = await deploy(join(folder.path, file));
    assert.equal(alone.status, 1);
    assert.match(alone.stderr, why);
  }
  assert.deepEqual((await errand.client.get('/v1/sources')).data, []);
  for (const name of ['plain.ts', 'step.ts']) await folder.remove(name);
  assert.equal(
    (await deploy(folder.path, '--project', 'shop')).status,
    0,
    'a file that may be for others is only told of',
  );
});

test('a member that defineWorkflow does not know is refused', async () => {
  await using errand = await newErrand();
  const { deploy, names } = deployerTo(errand.client);
  const file = (members: string): string =>
    `import { defineWorkflow } from 'errand/workflow';\nexport default defineWorkflow({ name: 'W', ${members} steps: { a: () => 1 } });\n`;
  await using folder = await createWorkflowFiles({
    'active.ts': file('active: false,'),
    'kind.ts': file("kind: 'errand.workflow',"),
    'method.ts': file('onError() {},'),
    'settings.ts': file('settings: { timeout: 1 },'),
    'trigger.ts': file("trigger: [{ type: 'http' }],"),
    'triggers.ts': file("triggers: [{ type: 'http', custom: true }],"),
  });
  const { status, stderr } = await deploy(folder.path);
  assert.equal(status, 1);
  const unknown = (name: string): RegExp =>
    new RegExp(`${name} is not a known member; .*known are name, steps, triggers`);
  for (const name of ['active', 'kind', 'onError']) assert.match(stderr, unknown(name));
  assert.match(stderr, /^errand: trigger\.ts: trigger is not a known member; did you mean triggers\? known are/m);
  assert.match(stderr, /settings\.timeout is not a known member; did you mean timeout_ms\?/);
  assert.match(stderr, /triggers\[0\]\.custom is not a known member; known are/);
  assert.deepEqual(await names(), []);
});

test('a path and a name belong to one project', async () => {
  await using errand = await newErrand();
  const { url, key } = errand.client;
  const deploy = (...args: string[]) => command(['deploy', ...args, '--url', url], { ERRAND_API_KEY: key });
  await using shop = await createWorkflowFiles({ 'a.ts': answering('A', '1'), 'package.json': '{"name": "shop"}' });
  assert.equal((await deploy(shop.path)).status, 0);
  await using desk = await createWorkflowFiles({ 'a.ts': answering('Other', '2'), 'package.json': '{"name": "desk"}' });
  const taken = await deploy(desk.path);
  assert.equal(taken.status, 1);
  assert.match(taken.stderr, /a\.ts was deployed by the project "shop", and this one is "desk"/);
  await desk.remove('a.ts');
  await desk.write({ 'b.ts': answering('A', '3') });
  const twin = await deploy(desk.path);
  assert.equal(twin.status, 1);
  assert.match(twin.stderr, /"A" was deployed by hand from a\.ts of the project "shop" \(p_\w+\), and would run twice/);
  assert.equal(await call(await named({ ...errand } as never, 'A')), '200 1');
  // What says no project, such as an assistant that changes one file, changes the file of the project.
  const source =
    "import { defineWorkflow } from 'errand/workflow';\nexport default defineWorkflow({ name: 'A', steps: (flow) => flow.step('one', () => 1) });\n";
  const changed = await errand.client.put('/v1/workflow_files', { path: 'a.ts', source });
  assert.equal(changed.result, 'changed');
  const still = await deploy(desk.path, '--project', 'shop', '--dry-run');
  assert.match(still.stderr, /gone {5}a\.ts/);
});

test('a file of one name takes no place of another one without a project', async () => {
  await using errand = await newErrand();
  const { url, key } = errand.client;
  const deploy = (...args: string[]) => command(['deploy', ...args, '--url', url], { ERRAND_API_KEY: key });
  await using shop = await createWorkflowFiles({ 'a.ts': answering('Shop', '1'), 'package.json': '{"name": "shop"}' });
  await using blog = await createWorkflowFiles({ 'a.ts': answering('Blog', '2'), 'b.ts': answering('News', '3') });
  await using desk = await createWorkflowFiles({ 'b.ts': answering('Desk', '4') });
  assert.equal((await deploy(join(shop.path, 'a.ts'))).status, 0);
  const other = await deploy(join(blog.path, 'a.ts'));
  assert.equal(other.status, 1);
  assert.match(
    other.stderr,
    /^errand: a\.ts: a\.ts was deployed as "Shop" \(p_\w+\) of the project "shop", and this file is "Blog": give the file another name, go on as that project/,
  );
  assert.equal((await deploy(join(blog.path, 'b.ts'))).status, 0);
  for (const args of [[], ['--project', 'desk']]) {
    const taken = await deploy(join(desk.path, 'b.ts'), ...args);
    assert.equal(taken.status, 1);
    assert.match(taken.stderr, /^errand: b\.ts: b\.ts was deployed as "News" \(p_\w+\), and this file is "Desk": give/);
  }
  const news = await named({ ...errand } as never, 'News');
  assert.equal(await call(news), '200 3');
  // The same file goes on: changed, under a project from now on, or with a name that its workflow was given before.
  await blog.write({ 'b.ts': answering('News', '5') });
  assert.equal((await deploy(join(blog.path, 'b.ts'))).status, 0);
  await errand.client.put(`/v1/workflows/${news.id}`, { name: 'News of today' });
  await blog.write({ 'b.ts': answering('News', '6') });
  assert.equal((await deploy(join(blog.path, 'b.ts'))).status, 0, 'its file never had another name');
  await errand.client.put(`/v1/workflows/${news.id}`, { name: 'Desk' });
  assert.equal((await deploy(join(desk.path, 'b.ts'), '--project', 'desk')).status, 0);
  await desk.write({ 'b.ts': answering('Desk of mine', '7') });
  assert.equal((await deploy(join(desk.path, 'b.ts'), '--project', 'desk')).status, 0, 'a project may rename');
  assert.equal(await call(await named({ ...errand } as never, 'Desk of mine')), '200 7');
  const component = (name: string): string =>
    `export default { key: '${name}', name: '${name}', version: '0.0.1', props: { http: '$.interface.http' }, run() {} };`;
  await shop.write({ 'in.mjs': component('orders') });
  await blog.write({ 'in.mjs': component('letters') });
  assert.equal((await deploy(join(shop.path, 'in.mjs'))).status, 0);
  const source = await deploy(join(blog.path, 'in.mjs'));
  assert.equal(source.status, 1);
  assert.match(
    source.stderr,
    /in\.mjs was deployed as "orders" \(dc_\w+\) of the project "shop", and this file is "letters"/,
  );
});

test('a watched folder deployed by hand makes no second workflow', async () => {
  await using folder = await createWorkflowFiles({ 'a.ts': answering('Orders', '1') });
  await using errand = await startErrand({ ERRAND_WORKFLOWS_DIR: folder.path });
  const deploy = (path: string) => command(['deploy', path, '--url', errand.url], { ERRAND_API_KEY: API_KEY });
  const refused = await deploy(folder.path);
  assert.equal(refused.status, 1);
  assert.match(
    refused.stderr,
    /The server itself deploys a\.ts of the folder that it watches.*"Orders": change the file there/,
  );
  assert.equal((await errand.client.get('/v1/workflows?name=Orders')).data.length, 1);
  // The other way round: what was deployed by hand stays the only one.
  await using own = await createWorkflowFiles({ 'b.ts': answering('By hand', '2') });
  assert.equal((await deploy(own.path)).status, 0);
  await folder.write({ 'c.ts': answering('By hand', '3') });
  await until('it to be refused', () => errand.logged.some(({ name }) => name.startsWith('workflow file refused')));
  assert.match(JSON.stringify(errand.logged), /was deployed by hand from b\.ts/);
  assert.equal(await call(await named(errand, 'By hand')), '200 2');
});
