import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { type Lock, readLock, type Shipped, shippedIn } from '../../release/shipped.ts';
import { SHRINKWRAP, unpinnedIn } from '../../release/shrinkwrap.ts';
import { createClient, type Json } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wait.ts';
import { type Installed, install, ROOT } from './installed.ts';
import { newcomerTest } from './newcomer.ts';

const KEY = 'test-key-test-key-test-key';

let installed: Installed;
before(async () => {
  installed = await install();
});
after(() => installed?.[Symbol.asyncDispose]());

// The first one: it finds the folder as `npm install` leaves it.
newcomerTest(() => installed);

function startServer(name: string, env: Readonly<Record<string, string>> = {}) {
  return installed.start({
    ...env,
    ERRAND_PORT: '0',
    ERRAND_DATA_DIR: join(installed.dir, name),
    ERRAND_API_KEY: KEY,
    ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
  });
}

test('The package holds programs, documents and the licence', () => {
  const { packed } = installed;
  for (const path of [
    'LICENSE',
    'README.md',
    'dist/bundled/code.js',
    'dist/bundled/commands/commands.js',
    'dist/bundled/main.js',
    'dist/errand.js',
    'dist/runner/child/main.js',
    'dist/dashboard/licences.md',
    'examples/receivers/receiver.py',
    'examples/workflow-files/order.ts',
  ]) {
    assert.ok(packed.includes(path), path);
  }
  const known =
    /^dist\/.*\.js$|^dist\/dashboard\/(assets\/)?[\w.-]+$|^dist\/node-version\.cjs$|^dist\/(sdk|verifier|client|client\/generated)\/[\w-]+\.d\.ts$|^docs\/|^deploy\/|^sources\/|^examples\/(?!demo)|^[A-Z]+(\.md)?$|^(package|npm-shrinkwrap)\.json$/;
  assert.deepEqual(
    packed.filter((path) => !known.test(path)),
    [],
  );
});

test('The package pins the versions that were tested', async () => {
  assert.ok(installed.packed.includes(SHRINKWRAP));
  const shrinkwrap = JSON.parse(await readFile(join(installed.dir, 'node_modules/errand', SHRINKWRAP), 'utf8')) as Lock;
  assert.equal(shrinkwrap.packages['']?.devDependencies, undefined);
  assert.deepEqual(unpinnedIn(shrinkwrap), []);
  assert.deepEqual(shippedIn(shrinkwrap), shippedIn(await readLock()));
  // From a registry, npm goes by it; from a tarball by path, as here, it would not. So it is asked to by `npm ci`.
  const got = shippedIn(JSON.parse(await installed.pinned()) as Lock);
  const keyOf = ({ name, version }: Shipped) => `${name}@${version}`;
  const wanted = new Set(shippedIn(shrinkwrap).map(keyOf));
  const always = shippedIn(shrinkwrap).filter(({ isOptional }) => !isOptional);
  assert.deepEqual(
    got.map(keyOf).filter((one) => !wanted.has(one)),
    [],
  );
  assert.deepEqual(
    always.map(keyOf).filter((one) => !got.some((other) => keyOf(other) === one)),
    [],
  );
});

test('No built module asks for TypeScript', async () => {
  const modules = installed.packed.filter((path) => path.endsWith('.js'));
  assert.ok(modules.length > 100);
  for (const path of modules) {
    const code = await readFile(join(installed.dir, 'node_modules/errand', path), 'utf8');
    assert.doesNotMatch(code, /(from|import\(?) ?['"]\.[^'"]*\.ts['"]/, path);
  }
});

test('The installed server loads few files, and none of the command line', async () => {
  const file = join(installed.dir, 'loaded.json');
  const preloaded = pathToFileURL(join(ROOT, 'test/http/start/loaded.mjs')).href;
  await using server = await startServer('loading', { NODE_OPTIONS: `--import=${preloaded}`, LOADED_FILE: file });
  await server.stop();
  const { modules }: { modules: string[] } = JSON.parse(await readFile(file, 'utf8'));
  const paths = modules.map((url) => url.split('/node_modules/errand/').at(-1) ?? url);
  const own = paths.filter((path) => path.startsWith('dist/'));
  assert.ok(own.includes('dist/bundled/main.js'), String(own));
  assert.deepEqual(
    own.filter((path) => !/^dist\/(errand\.js|node-version\.cjs|main\.js|bundled\/[\w-]+\.js)$/.test(path)),
    [],
  );
  assert.ok(own.length < 20, `${own.length} files`);
  const needless = /\/(commander|esbuild|nodemailer|undici|postgres|@opentelemetry)\//;
  assert.deepEqual(
    modules.filter((url) => needless.test(url)),
    [],
  );
});

test('The installed command loads few files, and no more of Node.js than its call takes', async () => {
  await using server = await startServer('asked');
  const file = join(installed.dir, 'loaded-command.json');
  const preloaded = pathToFileURL(join(ROOT, 'test/http/start/loaded.mjs')).href;
  const env = { ERRAND_API_KEY: KEY, NODE_OPTIONS: `--import=${preloaded}`, LOADED_FILE: file };
  const listed = await installed.errand(['workflows', 'list', '--url', server.url], env);
  assert.match(listed, /Global error workflow/);
  const { modules, own }: Record<'modules' | 'own', string[]> = JSON.parse(await readFile(file, 'utf8'));
  const paths = modules.map((url) => url.split('/node_modules/errand/').at(-1) ?? url);
  const ours = paths.filter((path) => path.startsWith('dist/'));
  const few = /^dist\/(errand\.js|node-version\.cjs|commands\.js|bundled\/commands\/[\w-]+\.js)$/;
  assert.deepEqual(
    ours.filter((path) => !few.test(path)),
    [],
  );
  assert.ok(ours.length < 40, `${ours.length} files`);
  assert.ok(own.includes('http'));
  for (const name of ['internal/deps/undici/undici', 'http2', 'sqlite']) assert.ok(!own.includes(name), name);
});

test('The installed server finds its files from the few that it is loaded from', async () => {
  await using server = await startServer('finding');
  const client = createClient(server.url, KEY);
  const { data } = await client.get('/v1/components');
  assert.ok(data.some(({ key }: Json) => key === 'github-webhook'));
  const { openapi } = await client.get('/v1/openapi.json');
  assert.match(openapi, /^3\./);
  const guide = await fetch(`${server.url}/docs/operations`);
  assert.deepEqual([guide.status, (await guide.text()).includes('ERRAND_DATA_DIR')], [200, true]);
});

test('The installed server shows the dashboard', async () => {
  await using server = await startServer('dashboard');
  const page = await (await fetch(server.url)).text();
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1];
  assert.ok(script, page);
  const { status, headers } = await fetch(server.url + script, { headers: { 'accept-encoding': 'br' } });
  assert.deepEqual([status, headers.get('content-encoding')], [200, 'br']);
});

test('The installed command tells the version', async () => {
  assert.equal((await installed.errand(['--version'])).trim(), manifest.version);
});

test('The installed command says which Node.js it needs', async () => {
  const fake = join(installed.dir, 'fake.cjs');
  await writeFile(
    fake,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.22.0' } });`,
  );
  const told = await installed.errand(['--version'], { NODE_OPTIONS: `--require=${fake}` }).catch((error) => error);
  assert.equal(told.code, 1);
  assert.match(told.stderr, /^errand: Errand needs Node\.js 24 or newer, and this is v/);
});

test('The installed server lists what a step throws', async () => {
  await using server = await startServer('listing');
  const client = createClient(server.url, KEY);
  // What the platform provides is read from a file of the package, and axios from one that it depends on.
  const code = `import { ConfigurationError } from '@pipedream/platform'; import { AxiosError } from 'axios';
    export default ({ steps }) => {
      throw new ConfigurationError(new AxiosError().name + ' ' + steps.trigger.event.body.order);
    };`;
  const workflow = await client.post('/v1/workflows', {
    name: 'thrown',
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'charge', code }],
  });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body: '{"order": 7}' });
  assert.equal(answer.status, 200);
  const [{ event }] = await until('the error', async () => {
    const { data } = await client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`);
    return data.length > 0 && (data as Json[]);
  });
  assert.deepEqual([event.error.code, event.error.msg], ['ConfigurationError', 'AxiosError 7']);
  assert.match(event.error.stack, /charge\.ts:3/);
});

test('Plain JavaScript verifies what the installed server delivers', async () => {
  await using receiver = await startReceiver();
  await using server = await startServer('delivering');
  const client = createClient(server.url, KEY);
  const webhook = await client.post('/v1/webhooks', { url: receiver.url });
  const workflow = await client.post('/v1/workflows', {
    name: 'emits',
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'emit', code: 'export default ({ $ }) => { $.send.emit({ total: 12.5 }); };' }],
  });
  await client.post('/v1/subscriptions', { emitter_id: workflow.id, listener_id: webhook.id });
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST' });
  const [got] = await receiver.wait(1);
  const program = `
    import { verifyWebhook } from 'errand/webhooks';
    const [secrets, headers, body] = JSON.parse(process.argv[2]);
    const judge = (bytes) => verifyWebhook({ secrets, headers, body: bytes }).ok;
    console.log(JSON.stringify([judge(Buffer.from(body)), judge(Buffer.from(body + ' '))]));`;
  const given = JSON.stringify([webhook.secret, got?.headers, got?.body.toString()]);
  assert.deepEqual(await installed.program(program, given), [true, false]);
});

test('Plain JavaScript runs code with the fixture of an error', async () => {
  const program = `
    import { runFixture } from 'errand/testing';
    const run = await runFixture(({ event }) => event.total.toFixed(2), JSON.parse(process.argv[2]));
    console.log(JSON.stringify([run.step, run.error.code]));`;
  const step = { namespace: 'charge', id: 'c_0Vj3aBc9dEfGhIjK' };
  const fixture = { fixture: 1, step, original_context: {}, original_event_text: '{}' };
  assert.deepEqual(await installed.program(program, JSON.stringify(fixture)), ['charge', 'TypeError']);
});

test('The installed client reads what the installed server answers', async () => {
  await using server = await startServer('client');
  const program = `
    import { Errand, ProblemError } from 'errand/client';
    const errand = new Errand({ url: process.argv[2], key: process.argv[3] });
    const { data } = await errand.createDataStore({ name: 'seen' });
    const names = [];
    for await (const { id, name } of errand.listDataStores()) names.push([id === data.id, name]);
    const refused = await errand.getRun({ id: 'r_0' }).catch((error) => error instanceof ProblemError && error.code);
    console.log(JSON.stringify([...names, refused]));`;
  assert.deepEqual(await installed.program(program, server.url, KEY), [[true, 'seen'], 'not_found']);
});

test('The installed command makes a project whose tests pass', async () => {
  const dir = join(installed.dir, 'made');
  await installed.errand(['init', dir]);
  // The package is found in the folder above.
  // Told that a test started it, it would report in another way.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--test', '--test-reporter=tap', 'test/*.test.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: dir, env });
  assert.match(stdout, /^# pass 2$/m);
  const { compilerOptions } = JSON.parse(await readFile(join(dir, 'tsconfig.json'), 'utf8'));
  const typeRoots = [join(ROOT, 'node_modules/@types')];
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, typeRoots } }));
  const said = await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), { cwd: dir }).catch((error) => error);
  assert.equal(said.stdout, '');
});

test('The installed server deploys a folder of files', async () => {
  const dir = join(installed.dir, 'flows');
  await mkdir(dir);
  const file = `import { defineWorkflow } from 'errand/workflow';
    export default defineWorkflow({
      name: 'from a file',
      triggers: [{ type: 'http', custom_response: true }],
      steps: (flow) => flow.step('answer', ({ $ }) => $.respond({ body: 'from a file' })),
    });`;
  await writeFile(join(dir, 'one.ts'), file);
  await using server = await startServer('files', { ERRAND_WORKFLOWS_DIR: dir });
  const client = createClient(server.url, KEY);
  const { data } = await client.get('/v1/workflows?name=from+a+file');
  const whole = await client.get(`/v1/workflows/${data[0].id}`);
  const answer = await fetch(whole.data.triggers[0].endpoint_url, { method: 'POST' });
  assert.equal(await answer.text(), 'from a file');
});

test('The installed server has sources of its own', async () => {
  await using server = await startServer('sources');
  const client = createClient(server.url, KEY);
  const { data } = await client.get('/v1/components');
  assert.ok(data.some(({ key }: Json) => key === 'rss'));
  // What it reads feeds with is another package, and is bundled. The server's own address is closed to it.
  await using elsewhere = await startReceiver();
  const { status, json } = await client.request('POST', '/v1/sources', {
    component: 'rss',
    configured_props: { url: elsewhere.url },
  });
  assert.equal(status, 422);
  assert.match(json.detail, /no feed, but/);
});

test('Every entry of the package can be imported', async () => {
  const entries = Object.keys(manifest.exports).filter((path) => path !== './package.json');
  const names = entries.map((path) => `errand${path.slice(1)}`);
  const program = `
    const modules = await Promise.all(${JSON.stringify(names)}.map((name) => import(name)));
    console.log(JSON.stringify(modules.map((module) => Object.keys(module))));`;
  const exported = (await installed.program(program)) as string[][];
  assert.ok(exported.every((keys) => keys.length > 0));
  assert.ok(exported.flat().includes('verifyWebhook'));
});

test('The verifier imports nothing of the server', async () => {
  const files = installed.packed.filter((path) => /^dist\/verifier\/.*\.js$/.test(path));
  assert.ok(files.length >= 7);
  for (const path of files) {
    const code = await readFile(join(installed.dir, 'node_modules/errand', path), 'utf8');
    const imported = [...code.matchAll(/^(?:import|export) .*?from '(.+?)';$/gms)].map(([, from]) => from);
    for (const from of imported) assert.match(String(from), /^node:|^\.\/\w+\.js$/, path);
    assert.doesNotMatch(code, /import\(|require\(/, path);
  }
});

test('Programs in TypeScript find the types', async () => {
  const program = (status: string): string => `
    import express from 'express';
    import { verifyWebhook } from 'errand/webhooks';
    import { webhookMiddleware } from 'errand/webhooks/express';
    import { fastify } from 'fastify';
    import { webhookOf, webhookPreParsing } from 'errand/webhooks/fastify';
    import { verifyRequest } from 'errand/webhooks/fetch';
    import { createReplayGuard } from 'errand/webhooks/replay';
    import { Errand, type Run } from 'errand/client';
    export const newest = async (): Promise<Run | undefined> => (await new Errand().searchRuns({ limit: 1 })).data[0];
    const options = { secrets: 'whsec_AAAA', isReplay: createReplayGuard() };
    export const handler = async (request: Request): Promise<Response> => {
      const result = await verifyRequest(request, options);
      return new Response(null, { status: result.ok ? 204 : result.status });
    };
    express().post('/', webhookMiddleware(options), (request) => request.webhook?.body.toString());
    fastify().post('/', { preParsing: webhookPreParsing(options) }, async (request) => webhookOf(request).id);
    const verified = verifyWebhook({ ...options, headers: {}, body: '' });
    export const status: ${status} = verified.ok ? 200 : verified.status;`;
  assert.equal(await installed.typeCheck(program('200 | 400 | 401')), '');
  assert.match(await installed.typeCheck(program('string')), /TS2322/);
});
