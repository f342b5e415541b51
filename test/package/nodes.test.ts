// The package on other versions of Node.js: the oldest that it takes runs it, and one that is too old is told so in one line.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { createClient, type Json } from '../support/client.ts';
import { until } from '../support/wait.ts';
import { type Installed, install } from './installed.ts';
import { nodeOf } from './other-nodes.ts';

const KEY = 'test-key-test-key-test-key';
const OLDEST = Number.parseInt(manifest.engines.node.replace(/\D+/, ''), 10);
const TOO_OLD = 20;

let installed: Installed;
before(async () => {
  installed = await install();
});
after(() => installed?.[Symbol.asyncDispose]());

const entry = (): string => join(installed.dir, 'node_modules/errand/dist/errand.js');

function call(node: string, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(node, args, { cwd: installed.dir, env: { PATH: join(node, '..') } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

test(`On Node.js ${OLDEST} the package runs, and its code and clients do`, async (t) => {
  const node = await nodeOf(OLDEST);
  if ('why' in node) return t.skip(node.why);
  const version = await call(node.path, [entry(), '--version']);
  assert.deepEqual([version.code, version.stdout.trim(), version.stderr], [0, manifest.version, '']);
  await using server = await installed.start(
    {
      ERRAND_PORT: '0',
      ERRAND_DATA_DIR: join(installed.dir, 'oldest'),
      ERRAND_API_KEY: KEY,
      ERRAND_CODE_USER: 'server',
    },
    node.path,
  );
  const client = createClient(server.url, KEY);
  const code = `import { AxiosError } from 'axios';
    export default ({ steps }) => {
      throw new AxiosError(process.version + ' ' + steps.trigger.event.body.order);
    };`;
  const workflow = await client.post('/v1/workflows', {
    name: 'on the oldest',
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'charge', code }],
  });
  const headers = { 'content-type': 'application/json' };
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body: '{"order": 7}' });
  const path = `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`;
  const [{ event }] = await until('the error', async () => {
    const { data } = await client.get(path);
    return data.length > 0 && (data as Json[]);
  });
  assert.match(event.error.msg, new RegExp(`^v${OLDEST}\\.\\d+\\.\\d+ 7$`), 'code runs on the same Node.js');
  assert.match(event.error.stack, /charge\.ts:3/);
  const listed = await call(node.path, [entry(), 'errors', 'list', '--json', '--url', server.url, '--key', KEY]);
  assert.equal(listed.code, 0, listed.stderr);
  assert.equal(JSON.parse(listed.stdout).length, 1);
  const entries = Object.keys(manifest.exports).filter((path) => path !== './package.json');
  const names = entries.map((path) => `errand${path.slice(1)}`);
  const program = `await Promise.all(${JSON.stringify(names)}.map((name) => import(name)));`;
  const imported = await call(node.path, ['--input-type=module', '-e', program]);
  assert.deepEqual([imported.code, imported.stderr], [0, '']);
});

test(`On Node.js ${TOO_OLD} each command says which one is needed`, async (t) => {
  const node = await nodeOf(TOO_OLD);
  if ('why' in node) return t.skip(node.why);
  for (const args of [['--version'], ['start'], ['dev'], []]) {
    const { code, stdout, stderr } = await call(node.path, [entry(), ...args]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(
      stderr,
      new RegExp(`^errand: Errand needs Node\\.js ${OLDEST} or newer, and this is v${TOO_OLD}\\.[^\\n]*\\n$`),
    );
  }
});
