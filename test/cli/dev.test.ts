// errand dev, as a person has it: one process for the tests, which ends as Ctrl-C ends it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BARE_ENV } from '../support/bare-env.ts';
import { until } from '../support/wait.ts';
import { openShell } from './command.ts';

const ROOT = join(import.meta.dirname, '../..');
const ENTRY = join(ROOT, 'src/errand.ts');

const workflow = (body: string): string => `import { defineWorkflow } from 'errand/workflow';
import { half } from './lib/half.ts';
export default defineWorkflow({
  name: 'Halves',
  triggers: [{ type: 'http' }],
  steps: (flow) => flow.step('halve', ({ event }) => { ${body} }),
});
`;
const WORKS = workflow('const n = half((event.body as { n: number }).n); console.log("a half is", n); return n;');
const THROWS = workflow(
  'console.warn("odd"); throw new RangeError("no half of " + half((event.body as { n: number }).n));',
);
const TSCONFIG = {
  compilerOptions: {
    ...{ module: 'nodenext', target: 'es2024', strict: true, noEmit: true, types: ['node'] },
    ...{ allowImportingTsExtensions: true, erasableSyntaxOnly: true },
    paths: { 'errand/workflow': [join(ROOT, 'src/sdk/workflow.ts')] },
  },
  include: ['workflows'],
};

test('a folder is deployed with every save, and its runs are shown', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'errand-dev-'));
  const dir = join(home, 'workflows');
  const file = join(dir, 'halves.ts');
  await mkdir(join(dir, 'lib'), { recursive: true });
  await writeFile(join(dir, 'lib/half.ts'), 'export const half = (n: number): number => n / 2;\n');
  await writeFile(join(home, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await symlink(join(ROOT, 'node_modules'), join(home, 'node_modules'));
  await writeFile(file, WORKS);
  const env = { ...BARE_ENV, HOME: home, NO_COLOR: '1', ERRAND_CODE_USER: 'server' };
  const child = spawn(process.execPath, [ENTRY, 'dev', '--port', '0'], { cwd: home, env });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (part) => {
    stdout += part;
  });
  child.stderr.on('data', (part) => {
    stderr += part;
  });
  const shown = (pattern: RegExp, from = 0): Promise<RegExpExecArray> =>
    until(`${pattern} in ${stdout.slice(from)}${stderr}`, () => pattern.exec(stdout.slice(from)) ?? false);
  try {
    const [, url = ''] = await shown(/listens on (\S+)/);
    await shown(/deployed with every save/);
    const key = (await readFile(join(home, 'data/api-key'), 'utf8')).trim();
    const api = async (path: string) =>
      (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).json() as Promise<{
        data: { id: string; triggers: { endpoint_url: string }[] }[] & { triggers: { endpoint_url: string }[] };
      }>;
    const found = (await api('/v1/workflows?name=Halves')).data[0]?.id;
    const address = (await api(`/v1/workflows/${found}`)).data.triggers[0]?.endpoint_url ?? '';
    const send = (n: number) =>
      fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: `{"n":${n}}` });

    await send(8);
    await shown(/ Halves succeeded [\d.]+ m?s r_\w+\n {2}│ a half is 4\n/);
    // Saved: deployed soon, with a figure that is printed and not judged here.
    await writeFile(file, THROWS);
    const [, took] = await shown(/deployed halves\.ts (\d+) ms after it was saved/);
    t.diagnostic(`deployed ${took} ms after it was saved`);
    await send(10);
    await shown(
      / Halves failed [\d.]+ m?s r_\w+\n {2}│ odd\n {2}RangeError: no half of 5\n {4}at .*halves\.ts:6:\d+\)?\n/,
    );
    assert.doesNotMatch(stdout, /Global error workflow succeeded/);
    // What does not compile keeps the last good deployment.
    await writeFile(file, WORKS.replace('name:', 'name::'));
    await shown(
      /halves\.ts: workflow file refused: its last good deployment stays\n {2}halves\.ts:4:8: Unexpected ":"/,
    );
    // A wrong type deploys, and is told.
    await writeFile(file, WORKS.replace('{ n: number }', '{ n: string }'));
    await shown(/types: workflows\/halves\.ts\(6,\d+\): error TS2345/);
    const before = stdout.length;
    // Only its types change: nothing is deployed.
    await writeFile(file, WORKS);
    await shown(/types are right again/, before);
    // A file that is gone switches its workflow off.
    await rm(file);
    await shown(/switched off, since its file is gone: halves\.ts\n/);
    assert.doesNotMatch(stdout, /secret-key/);
    assert.equal(stderr, '');
  } finally {
    child.kill('SIGINT');
    assert.equal(await ended, 130);
    await rm(home, { recursive: true, force: true });
  }
});

test('the server ends with the process that started it, however that ends', async () => {
  const home = await mkdtemp(join(tmpdir(), 'errand-dev-'));
  try {
    await mkdir(join(home, 'workflows'));
    const env = { ...BARE_ENV, HOME: home, NO_COLOR: '1', ERRAND_CODE_USER: 'server' };
    const child = spawn(process.execPath, [ENTRY, 'dev', '--port', '0'], { cwd: home, env });
    let stdout = '';
    child.stdout.on('data', (part) => {
      stdout += part;
    });
    const [, url = ''] = await until('the server', () => /listens on (\S+)/.exec(stdout) ?? false);
    const { pid } = JSON.parse(await readFile(join(home, 'data/running.json'), 'utf8'));
    assert.notEqual(pid, child.pid);
    child.kill('SIGKILL');
    await until('the server is gone', async () => {
      const isListening = await fetch(`${url}/healthz`).then(
        () => true,
        () => false,
      );
      return !isListening && !isRunning(pid);
    });
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a folder that is not there, and settings that cannot be, are told', async () => {
  await using shell = await openShell(null);
  const none = await shell.run(['dev', 'nowhere']);
  assert.deepEqual([none.code, none.stderr], [3, `errand: there is no folder ${join(shell.home, 'nowhere')}\n`]);
  await mkdir(join(shell.home, 'workflows'));
  const args = ['dev', '--port', '0', '--data-dir', join(shell.home, 'data')];
  const refused = await shell.run(args, { env: { ERRAND_RETENTION_DAYS: 'many' } });
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /errand: .*ERRAND_RETENTION_DAYS/);
});
