// What the jail is by itself, without Node's permission model, and that nothing of it stays behind.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderArguments, systemArguments } from '../../../../src/runner/isolation/jail.ts';
import { deploymentOf, faultOf, ISOLATION, kit, requestOf, returned, signal, until } from '../kit.ts';
import { noJail } from './jail-kit.ts';

const skip = await noJail();
const JAIL = { ...ISOLATION, level: 'jail', network: 'none' } as const;
const UNSHARE = '/usr/bin/unshare';
const HANG = 'export default async ({ $ }) => { await $.respond({ immediate: true }); await new Promise(() => {}) }';

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'errand-jail-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Runs code in a jail as bwrap alone makes it, with a program at hand, and returns what it prints, parsed. */
function inBareJail(t: TestContext, code: string, program?: string): Record<string, unknown> {
  const dir = folder(t);
  chmodSync(dir, 0o755);
  writeFileSync(join(dir, 'probe.mjs'), code);
  if (program !== undefined) copyFileSync(program, join(dir, basename(program)));
  const args = [...systemArguments('none'), ...folderArguments(dir, 64), '--', '/usr/bin/node', '/errand/probe.mjs'];
  const user = ISOLATION.user ?? {};
  const stdio = ['ignore', 'pipe', 'inherit', 'ignore', 'pipe'] as const;
  return JSON.parse(execFileSync('bwrap', args, { encoding: 'utf8', stdio: [...stdio], ...user, cwd: '/' }));
}

/** Processes in whose command line the text is. */
function processesWith(text: string): number[] {
  const numbers = readdirSync('/proc').map(Number).filter(Boolean);
  return numbers.filter((pid) => read(`/proc/${pid}/cmdline`).includes(text));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // gone
  }
}

function childrenOf(pid: number): number[] {
  const lists = readdirSync(`/proc/${pid}/task`).map((task) => read(`/proc/${pid}/task/${task}/children`));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

test('the system itself keeps the code in', { skip }, (t) => {
  const seen = inBareJail(
    t,
    `import fs from 'node:fs'; import os from 'node:os'; import cp from 'node:child_process';
    const tried = (attempt) => { try { attempt(); return 'done' } catch (e) { return e.code } };
    const status = fs.readFileSync('/proc/self/status', 'latin1');
    const of = (name) => status.match(new RegExp(name + ':\\\\s+(\\\\w+)'))[1];
    console.log(JSON.stringify({
      root: fs.readdirSync('/').sort(),
      processes: fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)),
      env: Object.keys(process.env).sort(),
      user: process.getuid(),
      capabilities: [of('CapEff'), of('CapBnd'), of('CapPrm')].map(Number),
      noNewPrivs: of('NoNewPrivs'),
      interfaces: Object.keys(os.networkInterfaces()),
      hostname: os.hostname(),
      writes: ['/x', '/errand/x', '/dev/x', '/dev/shm/x', '/usr/x', '/proc/sys/kernel/hostname', '/tmp/x']
        .map((path) => tried(() => fs.writeFileSync(path, 'x'))),
      large: tried(() => fs.writeFileSync('/tmp/large', Buffer.alloc(100e6))),
      shell: tried(() => cp.execFileSync('/bin/sh', ['-c', 'true'])),
      passwd: tried(() => fs.readFileSync('/etc/passwd')),
    }));`,
  );
  const { root, writes, ...rest } = seen as { root: string[]; writes: string[] };
  assert.deepEqual(
    root.filter((name) => !['dev', 'errand', 'lib', 'lib64', 'proc', 'tmp', 'usr'].includes(name)),
    [],
  );
  assert.equal(writes.pop(), 'done', 'its /tmp is for writing');
  for (const code of writes) assert.match(code, /EROFS|EACCES|EPERM/);
  assert.deepEqual(rest, {
    processes: ['1'],
    env: ['PWD'],
    user: 65_534,
    capabilities: [0, 0, 0],
    noNewPrivs: '1',
    interfaces: ['lo'],
    hostname: 'errand',
    large: 'ENOSPC',
    shell: 'ENOENT',
    passwd: 'ENOENT',
  });
});

test('a namespace cannot be made inside', { skip: skip || (!existsSync(UNSHARE) && `needs ${UNSHARE}`) }, (t) => {
  const seen = inBareJail(
    t,
    `import { spawnSync } from 'node:child_process';
    const status = (...args) => spawnSync('/errand/unshare', [...args, '/errand/unshare', '--version']).status;
    console.log(JSON.stringify({ plain: status(), user: status('--user'), mount: status('--mount') }));`,
    UNSHARE,
  );
  assert.deepEqual(seen, { plain: 0, user: 1, mount: 1 });
});

test('code runs in a jail as elsewhere', { skip }, async (t) => {
  const { run } = kit(t, { isolation: JAIL });
  const outcome = await run(
    `import fs from 'node:fs'; import os from 'node:os';
    export default ({ steps }) => {
      fs.writeFileSync('a.txt', steps.trigger.event.text);
      return [fs.readFileSync(os.tmpdir() + '/a.txt', 'utf8'), process.cwd(), Object.keys(process.env).sort(), process.argv.length];
    }`,
    { event: Buffer.from('{"text":"kept"}'), env: { MINE: '1' } },
  );
  assert.deepEqual(returned(outcome), ['kept', '/tmp', ['HOME', 'MINE', 'PIPEDREAM_WORKFLOW_ID', 'TMPDIR', 'TZ'], 2]);
});

test('a stack names the owner’s own lines', { skip }, async (t) => {
  const { run } = kit(t, { isolation: JAIL });
  const { end } = await run('export default () => {\n  throw new Error("x");\n}');
  assert.match(end.kind === 'failed' ? end.fault.stack : '', /one\.ts:2:9/);
});

test('a full heap in a jail is OutOfMemory', { skip }, async (t) => {
  const { run } = kit(t, { isolation: JAIL });
  const { end } = await run('export default () => { const a = []; for (;;) a.push(new Array(1000).fill(a.length)) }', {
    memoryMb: 32,
  });
  assert.equal(end.kind === 'failed' && end.fault.code, 'OutOfMemory');
});

test('a jail may be given the network', { skip }, async (t) => {
  const server = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const { run } = kit(t, { isolation: { ...JAIL, network: 'full' } });
  const code = `export default async () => await (await fetch('http://localhost:${port}', { headers: { connection: 'close' } })).text()`;
  assert.equal(returned(await run(code)), 'hello');
});

test('what is killed leaves no process behind', { skip }, async (t) => {
  const { run, runner, tmpDir } = kit(t, { isolation: JAIL });
  const { came, onAnswer } = signal();
  void run(HANG, { onAnswer });
  await came;
  const [bwrap] = processesWith(tmpDir);
  const [inner] = childrenOf(bwrap as number);
  assert.match(read(`/proc/${inner}/cmdline`), /errand\/child\.mjs/);
  await runner.stop(0);
  assert.deepEqual([processesWith(tmpDir), read(`/proc/${inner}/cmdline`)], [[], '']);
});

test('a jail that is being built can be killed', { skip }, async (t) => {
  const { runner, tmpDir } = kit(t, { isolation: JAIL });
  const deployment = await deploymentOf(HANG);
  const ended = Array.from({ length: 4 }, () => runner.run(requestOf(deployment, { alone: true })));
  await until(() => processesWith(tmpDir).length > 0);
  await runner.stop(0);
  assert.deepEqual(new Set((await Promise.all(ended)).map(({ end }) => end.kind)), new Set(['returned']));
  assert.deepEqual(processesWith(tmpDir), []);
});

test('a jail ends with its server', { skip }, async (t) => {
  const tmpDir = folder(t);
  const server = spawn(process.execPath, [fileURLToPath(new URL('../server.ts', import.meta.url)), tmpDir, 'jail'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  const bwrap = processesWith(tmpDir).find((pid) => pid !== server.pid);
  const [inner] = childrenOf(bwrap as number);
  server.kill('SIGKILL');
  await until(() => read(`/proc/${inner}/cmdline`) === '' && processesWith(tmpDir).length === 0);
});

test('an error says that there is no network', { skip }, async (t) => {
  const given = kit(t, { isolation: JAIL });
  const why = 'code has no network here, since ERRAND_JAIL_NETWORK of the server is none';
  const cases: [body: string, message: string][] = [
    ['await fetch("https://api.example.com/")', `fetch failed: ${why}`],
    ['await node("dns").promises.lookup("db.internal")', `getaddrinfo EAI_AGAIN db.internal: ${why}`],
    ['await fetch("http://127.0.0.1:4400/")', `fetch failed: ${why}`],
    ['throw new Error("own", { cause: new Error("other") })', 'own'],
  ];
  for (const [body, message] of cases) assert.equal(faultOf(await given.evaluate(body)).msg, message);
});
