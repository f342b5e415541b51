// What user code cannot reach, and what it cannot do to the server by lying.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hardeningObstacle } from '../../../../src/runner/isolation/hardening.ts';
import type { RunRequest } from '../../../../src/runner/runner.ts';
import { deploymentOf, faultOf, type Kit, kit, returned, until } from '../kit.ts';

/** Code of the error that the expression throws, or what it gives. */
async function attempt({ evaluate }: Kit, expression: string, given?: Partial<RunRequest>): Promise<unknown> {
  const body = `const [fs, os, cp, wt, path] = ['fs', 'os', 'child_process', 'worker_threads', 'path'].map(node);
    try { return { got: await (${expression}) } } catch (e) { return e.code ?? e.message }`;
  return returned(await evaluate(body, given));
}

test('files of the server are out of reach', async (t) => {
  const given = kit(t);
  const { tmpDir } = given;
  for (const read of [
    'fs.readFileSync("/etc/passwd")',
    // Buffers: paths below /tmp that are text mean the code's own folder.
    `fs.readdirSync(Buffer.from(${JSON.stringify(tmpDir)}))`,
    'fs.writeFileSync(Buffer.from("/tmp/errand-x"), "")',
    'fs.readFileSync("/tmp/../etc/passwd")',
    'fs.writeFileSync("/tmpfile", "")',
    'import(["/etc", "passwd"].join("/"))',
    `fs.readFileSync(Buffer.from(${JSON.stringify(import.meta.filename)}))`,
    'fs.readFileSync("/proc/self/environ")',
    'fs.symlinkSync("/etc/passwd", path.join(os.tmpdir(), "link"))',
    'fs.writeFileSync("../child.mjs", "")',
  ]) {
    assert.equal(await attempt(given, read), 'ERR_ACCESS_DENIED', read);
  }
});

test('the temporary folder may be written to', async (t) => {
  const outcome = await kit(t).run(`import fs from 'node:fs'; import os from 'node:os'; import path from 'node:path';
    export default () => {
      const file = path.join(os.tmpdir(), 'a.txt');
      fs.writeFileSync(file, 'kept');
      fs.writeFileSync('b.txt', 'in the working directory');
      return [fs.readFileSync(file, 'utf8'), fs.readdirSync('.').sort(), process.cwd() === fs.realpathSync(os.tmpdir())];
    }`);
  assert.deepEqual(returned(outcome), ['kept', ['a.txt', 'b.txt'], true]);
});

test('/tmp is the temporary folder', async (t) => {
  const outcome = await kit(t).run(`import fs, { createReadStream, createWriteStream } from 'node:fs';
    import { cp, mkdtemp, readdir } from 'node:fs/promises';
    import os from 'node:os';
    import { pipeline } from 'node:stream/promises';
    import { promisify } from 'node:util';
    export default async () => {
      const [file, own] = ['/tmp/a.txt', os.tmpdir() + '/a.txt'];
      fs.writeFileSync(file, 'kept');
      await pipeline(createReadStream(file), createWriteStream('/tmp/b.txt'));
      await cp('/tmp/b.txt', '/tmp/in/c.txt');
      fs.rmSync('/tmp/b.txt');
      const made = await mkdtemp('/tmp/made-');
      const read = [file, own, new URL('file:///tmp/in/c.txt')].map((from) => fs.readFileSync(from, 'utf8'));
      const there = [await promisify(fs.exists)(file), fs.existsSync('/tmp/none'), fs.realpathSync.native('/tmp') === fs.realpathSync(os.tmpdir())];
      return [...read, ...there, made.startsWith(os.tmpdir()), (await readdir('/tmp/')).length, fs.globSync('*.txt', { cwd: '/tmp' }), await Array.fromAsync(fs.promises.glob('in/*', { cwd: new URL('file:///tmp/') }))];
    }`);
  assert.deepEqual(returned(outcome), ['kept', 'kept', 'kept', true, false, true, true, 3, ['a.txt'], ['in/c.txt']]);
});

test('no processes, workers or addons can be started', async (t) => {
  const given = kit(t);
  for (const start of [
    'cp.execSync("id")',
    'new wt.Worker("0", { eval: true })',
    'process.dlopen({ exports: {} }, "/x.node")',
    'process.binding("fs")',
  ]) {
    assert.match(String(await attempt(given, start)), /ERR_ACCESS_DENIED|ERR_DLOPEN/, start);
  }
});

test('signals to other processes are refused', async (t) => {
  const given = kit(t);
  for (const kill of [
    'process.kill(process.ppid, 0)',
    'process._kill(process.ppid, 0)',
    'process._debugProcess(process.ppid)',
    'import("node:process").then(({ kill }) => kill(process.ppid, 0))',
  ]) {
    assert.match(String(await attempt(given, kill)), /may not send signals|is not a function/, kill);
  }
});

test('nothing of the server environment is seen', async (t) => {
  const { env } = process;
  env.ERRAND_TEST_SECRET = 'x';
  t.after(() => delete env.ERRAND_TEST_SECRET);
  const { run } = kit(t);
  const seen = returned(await run('export default () => process.env', { env: { MINE: '1' } })) as Record<
    string,
    string
  >;
  assert.deepEqual(Object.keys(seen).sort(), ['HOME', 'MINE', 'PIPEDREAM_WORKFLOW_ID', 'TMPDIR', 'TZ']);
  assert.equal(seen.TZ, 'UTC');
});

test('environment settings cannot loosen the permissions', async (t) => {
  const env = { NODE_OPTIONS: '--allow-child-process --allow-fs-read=*', LD_PRELOAD: '/nothing.so' };
  const given = kit(t);
  assert.equal(await attempt(given, 'fs.readFileSync("/etc/passwd")', { env }), 'ERR_ACCESS_DENIED');
  assert.equal(returned(await given.evaluate('return process.env.NODE_OPTIONS', { env })), env.NODE_OPTIONS);
});

test('the network can be reached', async (t) => {
  const server = createServer((_request, response) => response.end('hello'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const code = `export default async () => await (await fetch('http://127.0.0.1:${port}', { headers: { connection: 'close' } })).text()`;
  assert.equal(returned(await kit(t).run(code)), 'hello');
});

test('there is no channel to the server', async (t) => {
  const code =
    'export default () => [process.send, process.disconnect, process.channel, process.connected].map((x) => x === undefined)';
  assert.deepEqual(returned(await kit(t).run(code)), [true, true, true, true]);
});

test('garbage on the pipe costs only the process', async (t) => {
  const { run, logged } = kit(t);
  const writes = [
    'Buffer.from([255, 255, 255, 255, 0, 0, 0, 0])',
    'Buffer.from([4, 0, 0, 0, 9, 0, 0, 0, 1, 2, 3, 4])',
    'frame("null")',
    'frame("[5]")',
    'frame("[{")',
    'Buffer.alloc(64, 0xff)',
  ];
  for (const write of writes) {
    const outcome = await run(`import fs from 'node:fs';
      const frame = (json) => { const head = Buffer.alloc(8); head.writeUInt32LE(json.length); head.writeUInt32LE(json.length, 4); return Buffer.concat([head, Buffer.from(json)]) };
      export default async () => { fs.writeSync(3, ${write}); await new Promise(() => {}) }`);
    const fault = faultOf(outcome);
    assert.equal(fault.code, 'WorkerLost', write);
    assert.match(fault.msg, /broke the connection/);
  }
  const died = logged.filter(({ name }) => name === 'runner.process_died');
  assert.deepEqual(new Set(died.map(({ fields }) => fields.kind)), new Set(['garbage']));
});

test('forged messages are refused or harmless', async (t) => {
  const { run, runner } = kit(t);
  const forge = (message: string): string => `import fs from 'node:fs';
    export default async () => {
      const json = JSON.stringify([${message}]);
      const head = Buffer.alloc(8); head.writeUInt32LE(Buffer.byteLength(json)); head.writeUInt32LE(Buffer.byteLength(json), 4);
      fs.writeSync(3, Buffer.concat([head, Buffer.from(json)]));
      await null;
      return 'went on';
    }`;
  const step = '[0, 0, 1, 1, null, null]';
  const end = (rest: string): string => `{ t: 'end', run: 900200, kind: 'succeeded', step: ${step}, ${rest} }`;
  const refused = [
    '{ t: "what", run: 900200 }',
    end('logs: 5'),
    end('outgoing: [["emit", "$errors", "{}"]]'),
    end('outgoing: [["emit", "", "{not json"]]'),
    end('outgoing: [["trigger", "p_1", "{}"]]'),
    end('outgoing: [["http", "", "{}"]]'),
    end(`outgoing: [["http", "", '{"method":"GET","url":"file:///etc/passwd","headers":{}}']]`),
    end(`outgoing: [["http", "", '{"method":"GET","url":"http://a/","headers":{"host":"b"}}']]`),
    end(`outgoing: [["http", "", '{"method":"GET","url":"http://a/","headers":{},"body":5}']]`),
    end('outgoing: [["emit", "", "[".repeat(257) + "]".repeat(257)]]'),
    end('step: [5, 0, 1, 1, null, null]'),
    end('step: [0, 0, 1, 1, "{", null]'),
    end('step: [0, 0, 1, 1, "[".repeat(257) + "]".repeat(257), null]'),
    end('kind: "waiting"'),
    end('kind: "waiting", wait: ["retry", 1, null]'),
    end('kind: "waiting", wait: ["delay", -1, null]'),
    end('kind: "waiting", wait: ["delay", 1e12, null]'),
    end('kind: "waiting", wait: ["delay", "1", null]'),
    end('kind: "waiting", wait: ["rerun", 1, "{"]'),
    end('kind: "waiting", wait: ["delay", 1, null], step: undefined'),
    end('kind: "waiting", wait: ["delay", 1, null], step: [0, 2, 1, 1, null, null]'),
    end('answer: { status: 200, headers: {} }, bytes: 9'),
    end('dbWrites: { a: "{" }'),
    end('summary: 5'),
    end('kind: "halted"'),
    end('kind: "failed", fault: {}'),
    end('logs: [[1, "shout", "one", "text"]]'),
    end('exitReason: {}'),
    '{ t: "answer", run: 900200, answer: { status: 99, headers: {} }, bytes: 0 }',
  ];
  for (const message of refused) {
    assert.equal(faultOf(await run(forge(message), { run: 900_200 })).code, 'WorkerLost', message);
  }
  for (const message of [
    '{ t: "end", run: 1e9 }',
    '{ t: "end", run: {} }',
    '{ t: "step", run: null }',
    '{ t: "answer", run: 5.5, bytes: 0 }',
  ]) {
    assert.equal(returned(await run(forge(message), { run: 900_200 })), 'went on', message);
  }
  for (const code of ['Internal', ' Internal\\u200b']) {
    const fault = `{ step: 0, code: '${code}', msg: 'm', tsMs: 1, stack: '' }`;
    const claimed = await run(forge(`{ t: 'end', run: 900200, kind: 'failed', fault: ${fault} }`), { run: 900_200 });
    assert.equal(faultOf(claimed).code, 'Error', code);
  }
  await runner.stop(0);
});

test('garbage while being described is an answer', async (t) => {
  const { runner } = kit(t);
  const deployment = await deploymentOf(
    'import fs from "fs"; fs.writeSync(3, Buffer.alloc(64, 255)); export default {}',
  );
  const described = await runner.describe(deployment);
  assert.equal(described.ok, false);
});

for (const manner of ['idle', 'busy']) {
  const skip = manner === 'busy' ? (hardeningObstacle() ?? false) : false;
  test(`a process that is ${manner} ends with its server`, { skip }, async (t) => {
    const tmpDir = await mkdtemp(join(tmpdir(), 'errand-runner-'));
    t.after(() => rm(tmpDir, { recursive: true, force: true }));
    const program = fileURLToPath(new URL('../server.ts', import.meta.url));
    const server = spawn(process.execPath, [program, tmpDir, 'process', manner], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [pid] = (await once(server.stdout, 'data')) as [Buffer];
    t.after(() => isAlive(Number(pid)) && process.kill(Number(pid), 'SIGKILL'));
    server.kill('SIGKILL');
    await until(() => !isAlive(Number(pid)));
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
