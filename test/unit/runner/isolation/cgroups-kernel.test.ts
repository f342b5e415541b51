// What the kernel makes of the limits in a cgroup. It needs a cgroup v2 of the test's own: a service of systemd with Delegate=yes,
// or a machine of its own (test/vm).

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { Bundling } from '../../../../src/runner/bundling/bundling.ts';
import { type Cgroup, type Cgroups, openCgroups } from '../../../../src/runner/isolation/cgroups.ts';
import { faultOf, ISOLATION, kit, returned, until } from '../kit.ts';
import { noJail } from './jail-kit.ts';

const BUNDLING = { user: null, roots: [], log: { debug() {}, info() {}, warn() {}, error() {} } } as const;

/** This machine, as it is. */
const here = openCgroups();
const skip = here.obstacle ?? false;
const skipInJail = here.obstacle ?? (await noJail());
const BYTES_PER_MB = 1024 * 1024;

test('this machine is told as it is', () => {
  if (here.cgroups === null) assert.match(here.obstacle, /cgroup|controllers|processes are in/);
  else assert.equal(here.obstacle, null);
});

interface RunProgress extends Cgroup {
  /** What a file of the cgroup says. */
  said(name: string): string;
}

function groupOf(t: TestContext, memoryMb: number): RunProgress {
  const { cgroups, dir } = here as { readonly cgroups: Cgroups; readonly dir: string };
  const before = new Set(readdirSync(dir));
  const group = cgroups.make({ memoryBytes: memoryMb * BYTES_PER_MB });
  const name = readdirSync(dir).find((one) => one.startsWith('errand-code-') && !before.has(one)) as string;
  const said = (file: string): string => readFileSync(join(dir, name, file), 'latin1');
  t.after(async () => {
    writeFileSync(join(dir, name, 'cgroup.kill'), '1');
    await until(() => said('cgroup.procs') === '');
    group.remove();
  });
  return { ...group, said };
}

/** Begins when it is in the cgroup, and may have many descriptors. */
function startIn(group: Cgroup, command: string, ...args: string[]): ChildProcess {
  const wait = 'ulimit -n 8192; read -r go; exec "$@"';
  const child = spawn('sh', ['-c', wait, 'sh', command, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  group.add(child.pid as number);
  child.stdin?.end('go\n');
  return child;
}

test('the kernel ends what takes too much memory', { skip }, async (t) => {
  const group = groupOf(t, 96);
  const code = 'const kept = []; for (;;) kept.push(Buffer.alloc(8_000_000, 1))';
  const [, signal] = await once(startIn(group, process.execPath, '-e', code), 'exit');
  assert.deepEqual([signal, group.isOutOfMemory()], ['SIGKILL', true]);
});

/** 3,000 pairs of sockets, full both ways; tells the most that the process itself has held. */
const PAIRS = `const net = require('node:net');
  const path = process.argv[1];
  const kept = [];
  const full = Buffer.alloc(400_000);
  const fill = (socket) => { kept.push(socket); socket.on('error', () => {}).write(full) };
  const server = net.createServer({ pauseOnConnect: true }, fill).listen(path, async () => {
    for (let n = 0; n < 3000; n++) {
      await new Promise((resolve) => { const socket = net.connect(path, () => { fill(socket); resolve() }) });
      if (n % 20 === 0) process.stdout.write(process.memoryUsage.rss() + ' ');
    }
    process.exit();
  })`;

test('what the kernel keeps for sockets counts', { skip }, async (t) => {
  const group = groupOf(t, 256);
  const path = `/tmp/errand-pairs-${process.pid}.sock`;
  const child = startIn(group, process.execPath, '-e', PAIRS, path);
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [, signal] = await once(child, 'close');
  assert.deepEqual([signal, group.isOutOfMemory()], ['SIGKILL', true]);
  const ownMb = Math.max(...said.trim().split(' ').map(Number)) / BYTES_PER_MB;
  assert.ok(ownMb > 1 && ownMb < 200, `${ownMb} MB of its own`);
});

test('there are no more processes than a cgroup may have', { skip }, async (t) => {
  const group = groupOf(t, 512);
  startIn(group, 'sh', '-c', 'for n in $(seq 200); do sleep 600 & done 2>/dev/null; sleep 600');
  await until(() => /max [1-9]/.test(group.said('pids.events')));
  assert.ok(Number(group.said('pids.current')) <= LIMITS.codeGroupThreads);
});

test('a cgroup gets no more CPU than it may', {
  skip: skip || (availableParallelism() < 2 && 'needs two cores'),
}, async (t) => {
  const group = groupOf(t, 512);
  startIn(group, 'sh', '-c', 'for n in 1 2 3; do while :; do :; done & done; wait');
  await until(() => /^nr_throttled [1-9]/m.test(group.said('cpu.stat')));
  assert.equal(group.setLowPriority(true), true);
  assert.equal(group.said('cpu.idle').trim(), '1');
  assert.equal(group.setLowPriority(false), true);
  assert.deepEqual([group.said('cpu.idle').trim(), group.said('cpu.weight').trim()], ['0', '100']);
});

test('code is ended for its own memory and the kernel’s together', { skip }, async (t) => {
  const ended: boolean[] = [];
  const cgroups: Cgroups = {
    make: (limits) => {
      const group = (here.cgroups as Cgroups).make(limits);
      const isOutOfMemory = (): boolean => ended[ended.push(group.isOutOfMemory()) - 1] === true;
      return { ...group, isOutOfMemory };
    },
  };
  const { run, runner } = kit(t, { cgroups });
  const code = `import net from 'node:net';
    export default async () => {
      const path = process.cwd() + '/s';
      const kept = [Buffer.alloc(75e6, 1)];
      const full = Buffer.alloc(400_000);
      const fill = (socket) => { kept.push(socket); socket.on('error', () => {}).write(full) };
      const server = net.createServer({ pauseOnConnect: true }, fill).listen(path);
      await new Promise((resolve) => server.on('listening', resolve));
      for (let n = 0; n < 240; n++) await new Promise((resolve) => { const socket = net.connect(path, () => { fill(socket); resolve() }) });
      return process.memoryUsage.rss();
    }`;
  const outcome = await run(code, { memoryMb: 16, timeoutMs: 120_000 });
  assert.equal(faultOf(outcome).code, 'OutOfMemory');
  assert.deepEqual(ended, [true], 'by the kernel');
  assert.equal(returned(await run('export default () => 1', { timeoutMs: 120_000 })), 1);
  await runner.stop(0);
  const { dir } = here as { readonly dir: string };
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.startsWith('errand-code-')),
    [],
  );
});

test('the process that bundles is in a cgroup, with the bundler', { skip }, async (t) => {
  const bundling = new Bundling({ ...BUNDLING, level: 'process', cgroups: here.cgroups });
  t.after(() => bundling.stop());
  const bundle = () => bundling.bundleStep({ namespace: 'a', code: 'export default 1' }, null);
  // An emulated machine may need longer for its first start than a start may take.
  assert.equal((await bundle().catch(bundle).catch(bundle)).ok, true);
  const cgroupOf = (pid: number | string): string => readFileSync(`/proc/${pid}/cgroup`, 'latin1').trim();
  const { pid } = bundling;
  const [bundler = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ');
  assert.match(cgroupOf(bundler), /errand-code-\d+-\d+$/);
  assert.equal(cgroupOf(pid as number), cgroupOf(bundler));
});

test('in a jail a full /tmp fits beside the memory', { skip: skipInJail }, async (t) => {
  const { run, runner } = kit(t, {
    cgroups: here.cgroups,
    isolation: { ...ISOLATION, level: 'jail', network: 'none' },
  });
  const code = `import fs from 'node:fs';
    export default () => {
      const kept = Buffer.alloc(60e6, 1);
      fs.writeFileSync('full', Buffer.alloc(1e6, 1));
      for (let n = 0; n < 59; n++) fs.appendFileSync('full', kept.subarray(0, 1e6));
      return fs.statSync('full').size + kept.length;
    }`;
  assert.equal(returned(await run(code, { memoryMb: 64, timeoutMs: 120_000 })), 120e6);
  await runner.stop(0);
  const { dir } = here as { readonly dir: string };
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.startsWith('errand-code-')),
    [],
  );
});
