// `npm start` as it is typed, in the shell that npm runs scripts with: signals reach the server, and a Node.js that is too old
// says so.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };
import { BARE_ENV } from '../../support/bare-env.ts';
import { createClient } from '../../support/client.ts';
import { createErrandOn } from '../../support/flows.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { startGate } from '../../support/gate.ts';
import { freePort } from '../../support/port.ts';
import { until } from '../../support/wait.ts';

const ROOT = join(import.meta.dirname, '../../..');
const KEY = 'a-key-that-only-this-test-knows';
/** Debian's shell keeps running behind its child, and passes no signal on. */
const SHELL = existsSync('/bin/dash') ? '/bin/dash' : '/bin/sh';

interface Started extends AsyncDisposable {
  readonly npm: ChildProcess;
  readonly url: string;
  readonly exited: Promise<unknown[]>;
}

/** As the leader of its own process group, as a terminal starts it. */
async function npmStart(dataDir: string, options: readonly string[] = []): Promise<Started> {
  const settings = { ERRAND_PORT: '0', ERRAND_DATA_DIR: dataDir, ERRAND_API_KEY: KEY, ERRAND_OWNERS_WITHOUT_JAIL: '9' };
  const env: Record<string, string> = {
    ...BARE_ENV,
    ...settings,
    npm_config_script_shell: SHELL,
    npm_config_update_notifier: 'false',
  };
  const npm = spawn('npm', ['start', ...options], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(npm, 'exit');
  let text = '';
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.on('data', (part) => {
      text += part;
    });
  }
  const url = await until('the server listens', () => {
    if (npm.exitCode !== null) throw new Error(text);
    return /listens on (\S+)/.exec(text)?.[1];
  });
  const kill = (): void => {
    try {
      process.kill(-(npm.pid as number), 'SIGKILL');
    } catch {
      // The group has ended.
    }
  };
  return {
    npm,
    url,
    exited,
    [Symbol.asyncDispose]: async () => {
      kill();
      await exited;
    },
  };
}

for (const [what, signal] of [
  ['SIGTERM to npm', 'SIGTERM'],
  ['Ctrl-C in its terminal', 'SIGINT'],
] as const) {
  test(`${what} ends the server in order`, async () => {
    await using folder = await createFolder();
    await using gate = await startGate();
    await using started = await npmStart(folder.path);
    const client = createClient(started.url, KEY);
    const errand = createErrandOn(() => client);
    const code = 'export default async () => (await fetch(process.env.GATE)).text();';
    const workflow = await errand.workflow(code, { settings: { env: { GATE: gate.url } } });
    await errand.send(workflow, {});
    await gate.wait(1);
    // A terminal signals every process of the group, and npm passes its own signal on.
    process.kill((signal === 'SIGINT' ? -1 : 1) * (started.npm.pid as number), signal);
    await until('the server drains', () =>
      fetch(`${started.url}/readyz`, { headers: { connection: 'close' } }).then(
        ({ status }) => status === 503,
        () => true,
      ),
    );
    gate.open();
    assert.deepEqual(await started.exited, [0, null]);
    await assert.rejects(fetch(`${started.url}/healthz`), 'nothing is left that listens');

    const port = String(await freePort());
    await using again = await npmStart(folder.path, ['--', '--port', port]);
    assert.equal(new URL(again.url).port, port);
    const next = createClient(again.url, KEY);
    const [run] = await createErrandOn(() => next).runs(workflow.id, 1);
    assert.deepEqual([run.state, run.attempt], ['succeeded', 1]);
  });
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function shell(script: string, env: Record<string, string>, cwd = ROOT): Promise<Ended> {
  const child = spawn(SHELL, ['-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (part) => {
    stdout += part;
  });
  child.stderr.on('data', (part) => {
    stderr += part;
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

const STARTS = ['start', 'dev', 'errand', 'demo'] as const;

function assertTold({ code, stderr }: Ended, version: string): void {
  assert.equal(code, 1, stderr);
  const [first = ''] = stderr.split('\n');
  assert.match(first, /^errand: Errand needs Node\.js 24 or newer, and this is v\S+ \(.+\)\. Install one from /);
  assert.ok(first.includes(`this is ${version} `), first);
}

test('a Node.js that says to be too old is told', async () => {
  await using folder = await createFolder();
  const fake = join(folder.path, 'fake.cjs');
  await writeFile(
    fake,
    `Object.defineProperty(process, 'version', { value: 'v23.11.1' });
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '23.11.1' } });`,
  );
  for (const name of STARTS) {
    assertTold(await shell(manifest.scripts[name], { ...BARE_ENV, NODE_OPTIONS: `--require=${fake}` }), 'v23.11.1');
  }
});

/** Returns the first Node.js of the machine's that is too old. */
function olderNode(): { file: string; version: string } | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, 'node');
    try {
      accessSync(file, constants.X_OK);
      const version = execFileSync(file, ['--version'], { encoding: 'utf8' }).trim();
      if (Number.parseInt(version.slice(1), 10) < 24) return { file, version };
    } catch {
      // There is none.
    }
  }
  return null;
}

const older = olderNode();

test('an older Node.js is told', { skip: older === null && 'there is no older Node.js here' }, async () => {
  const { file, version } = older as { file: string; version: string };
  for (const name of STARTS) {
    const script = manifest.scripts[name].replace(/\bnode /g, `${file} `);
    assertTold(await shell(script, BARE_ENV), version);
  }
});

test('warnings of engines are explained in one line', async () => {
  // Without Vite, the dashboard is not built again under other tests, which open or pack it.
  await using folder = await createFolder();
  await symlink(join(ROOT, 'release'), join(folder.path, 'release'));
  const explain = (node: string) => {
    const env = { ...BARE_ENV, npm_config_user_agent: `npm/11.0.0 node/${node} linux x64` };
    return shell(manifest.scripts.prepare, env, folder.path);
  };
  assert.deepEqual(await explain(process.version), { code: 0, stdout: '', stderr: '' });
  const { code, stdout } = await explain('v20.20.2');
  assert.equal(code, 0);
  assert.equal(
    stdout,
    `Warnings "EBADENGINE" are about npm's own Node.js v20.20.2; Errand runs with the Node.js ${process.version} that is in node_modules now.\n`,
  );
});
