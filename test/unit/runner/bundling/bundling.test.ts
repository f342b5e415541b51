// The process that bundles: what it sees at each level, what its death does, and which limits it meets.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { Refusal } from '../../../../src/domain/refusal.ts';
import { Bundling, type BundlingOptions } from '../../../../src/runner/bundling/bundling.ts';
import { startBundler } from '../../../../src/runner/bundling/start.ts';
import type { Cgroup, GroupLimits } from '../../../../src/runner/isolation/cgroups.ts';
import { hardeningObstacle } from '../../../../src/runner/isolation/hardening.ts';
import { noJail } from '../isolation/jail-kit.ts';
import { until } from '../kit.ts';

type Level = 'process' | 'user' | 'jail';

const jailObstacle = await noJail();
const isRoot = process.getuid?.() === 0;
const SKIP: Readonly<Record<Level, string | false>> = {
  process: false,
  user: isRoot ? false : 'only root can change users',
  jail: jailObstacle,
};
const hardensItself = hardeningObstacle() === null;
const LEVELS = Object.keys(SKIP) as Level[];
const NOBODY = { uid: 65534, gid: 65534 };

interface Line {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

async function folder(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'errand-bundling-')));
  await chmod(dir, 0o755);
  t.after(() => rm(dir, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return dir;
}

function bundlingAt(t: TestContext, level: Level, more: Partial<BundlingOptions> = {}) {
  const lines: Line[] = [];
  const keep = (fields: object, name: string): void => void lines.push({ name, fields: fields as Line['fields'] });
  const bundling = new Bundling({
    level: level === 'jail' ? 'jail' : 'process',
    user: level === 'user' ? NOBODY : null,
    roots: [],
    log: { debug: keep, info: keep, warn: keep, error: keep },
    ...more,
  });
  t.after(() => bundling.stop());
  return { bundling, lines };
}

const step = (code: string) => ({ namespace: 'a', code });
const LONG = Array.from({ length: 30_000 }, (_, i) => `export const f${i} = (a) => a + ${i};`).join('\n');

/** What the process has started. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.trim().split(' ').filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

for (const level of LEVELS) {
  const skip = SKIP[level];

  test(`code and components are bundled (${level})`, { skip }, async (t) => {
    const dir = await folder(t, {
      'p/node_modules/one/index.js': 'module.exports = "from a package";',
      'c/shop/new.ts': 'import one from "one"; import { part } from "./part.ts"; export default { one, part };',
      'c/shop/part.ts': 'export const part: string = "from a file";',
    });
    const packages = join(dir, 'p');
    const { bundling, lines } = bundlingAt(t, level, { roots: [packages, join(dir, 'c')] });
    const bundled = await bundling.bundleStep(step('import one from "one"; export default one;'), packages);
    assert.ok(bundled.ok && bundled.bundle.includes('from a package'), JSON.stringify(bundled));
    assert.deepEqual(bundled.inputs, [join(packages, 'node_modules/one/index.js')]);
    const file = { namespace: 'source', dir: join(dir, 'c'), path: 'shop/new.ts' };
    const component = await bundling.bundleStep(file, packages);
    assert.ok(component.ok && component.bundle.includes('from a file'), JSON.stringify(component));
    assert.match(component.bundle, /from a package/);
    const uses = 'import { axios } from "@pipedream/platform"; export default () => axios;';
    assert.equal((await bundling.bundleStep(step(uses), null)).ok, true);
    // It and what it needs are packages of Errand's own, each in a folder that is closed otherwise.
    const own = await bundling.bundleStep(step('import axios from "axios"; export default () => axios;'), null);
    assert.ok(own.ok && own.bundle.includes('AxiosError'), JSON.stringify(own).slice(0, 1000));
    const { sources } = JSON.parse(own.sourceMap) as { sources: string[] };
    assert.ok(
      sources.every((path) => /^(?:node_modules\/|a\.ts$|errand:)/.test(path)),
      sources.join(),
    );
    const broken = await bundling.bundleStep(step('export default {\n b:: 2 }'), null);
    const problems = [{ file: 'a.ts', line: 2, column: 4, text: 'Unexpected ":"' }];
    assert.deepEqual(broken, { ok: false, problems, imports: [] });
    const regexp = await bundling.bundleStep(step('export default /(?<a>.)\\k<b>/'), null);
    assert.ok(!regexp.ok && /Invalid named capture/.test(regexp.problems[0]?.text ?? ''));
    assert.deepEqual(lines, []);
  });

  test(`a bundler that was killed is started again (${level})`, { skip }, async (t) => {
    const { bundling, lines } = bundlingAt(t, level);
    assert.equal((await bundling.bundleStep(step('export default 1'), null)).ok, true);
    for (const [round, killed] of ['the process', 'the bundler'].entries()) {
      const pid = bundling.pid as number;
      const all = [
        bundling.bundleStep(step(`${LONG}\nexport default 1`), null),
        bundling.bundleStep(step('export default 2'), null),
      ];
      const [inner = pid] = level === 'jail' ? await childrenOf(pid) : [];
      const [own] = await childrenOf(inner);
      process.kill(killed === 'the process' ? inner : (own as number), 'SIGKILL');
      assert.deepEqual(
        (await Promise.all(all)).map(({ ok }) => ok),
        [true, true],
        killed,
      );
      await until(() => lines.length === round + 1);
      assert.notEqual(bundling.pid, pid);
    }
    assert.deepEqual(
      lines.map(({ name }) => name),
      ['bundler.process_died', 'bundler.process_died'],
    );
    assert.equal(bundling.problem, null);
  });

  test(`what takes too long is refused (${level})`, { skip }, async (t) => {
    const { bundling, lines } = bundlingAt(t, level, { limits: { bundleMs: 1, bundlerMemoryMb: 1024 } });
    const late = await bundling.bundleStep(step(`${LONG}\nexport default 1`), null);
    assert.ok(!late.ok);
    assert.match(late.problems[0]?.text ?? '', /^bundling took more than the 0\.001 seconds that it may take/);
    assert.deepEqual(
      lines.map(({ fields }) => fields.kind),
      ['late'],
    );
  });

  test(`what takes too much memory is refused (${level})`, { skip }, async (t) => {
    const { bundling, lines } = bundlingAt(t, level, { limits: { bundleMs: 60_000, bundlerMemoryMb: 1 } });
    const large = await bundling.bundleStep(step(`${LONG}\nexport default 1`), null);
    assert.ok(!large.ok);
    assert.match(large.problems[0]?.text ?? '', /^bundling took more than the 1 MB of memory that it may take/);
    assert.deepEqual(
      lines.map(({ fields }) => fields.kind),
      ['memory', 'memory'],
      'it was tried alone',
    );
  });
}

test('a package that hides a path sees no other folder', { skip: SKIP.jail }, async (t) => {
  const dir = await folder(t, {
    'secret/hidden.js': 'module.exports = "secret";',
    'p/node_modules/hides/index.js': 'module.exports = (n) => require(/* not seen */ "../../../secret/" + n);',
  });
  const { bundling } = bundlingAt(t, 'jail', { roots: [join(dir, 'p')] });
  const bundled = await bundling.bundleStep(step('import h from "hides"; export default h;'), join(dir, 'p'));
  assert.ok(!bundled.ok && !JSON.stringify(bundled).includes('hidden'), JSON.stringify(bundled));
});

/** It may not be traced, so that its environment is root's alone to read. */
const unreadable = process.getuid?.() !== 0 && 'needs root to read the environment of a process that may not be traced';

test('its environment and arguments have nothing of the server', { skip: unreadable }, async (t) => {
  process.env.ERRAND_BUNDLING_SECRET = 'hush';
  t.after(() => delete process.env.ERRAND_BUNDLING_SECRET);
  const { bundling } = bundlingAt(t, 'process');
  await bundling.bundleStep(step('export default 1'), null);
  const own = await childrenOf(bundling.pid as number);
  for (const pid of [bundling.pid, ...own]) {
    assert.doesNotMatch(await readFile(`/proc/${pid}/environ`, 'utf8'), /ERRAND/);
  }
});

test('it gains no privileges, and leaves no core', { skip: SKIP.process }, async (t) => {
  for (const level of LEVELS.filter((one) => SKIP[one] === false)) {
    const { bundling } = bundlingAt(t, level);
    await bundling.bundleStep(step('export default 1'), null);
    const [inner = 0] = await childrenOf(bundling.pid as number);
    const pid = level === 'jail' ? inner : (bundling.pid as number);
    assert.match(await readFile(`/proc/${pid}/status`, 'utf8'), /^NoNewPrivs:\t1$/m, level);
    if (level !== 'jail' || hardensItself) {
      assert.match(await readFile(`/proc/${pid}/limits`, 'utf8'), /^Max core file size +0 +0 /m);
    }
  }
});

test('it and the bundler have a filter of system calls', { skip: hardeningObstacle() ?? false }, async (t) => {
  const places = [...LEVELS.map((level) => ({ level, roots: [] })), { level: 'process' as const, roots: null }];
  for (const { level, roots } of places.filter((one) => SKIP[one.level] === false)) {
    const { bundling } = bundlingAt(t, level, { roots });
    await bundling.bundleStep(step('export default 1'), null);
    const [first = 0] = await childrenOf(bundling.pid as number);
    const own = level === 'jail' ? first : (bundling.pid as number);
    const [bundler = 0] = await childrenOf(own);
    const filters = async (pid: number) =>
      /^Seccomp_filters:\t(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
    // Of its own one more, since it has started the bundler.
    const wanted = level === 'jail' ? ['3', '2'] : ['2', '1'];
    assert.deepEqual([await filters(own), await filters(bundler)], wanted, `${level} ${roots}`);
  }
});

test('both are in a cgroup, and its end is told as memory', { skip: SKIP.process }, async (t) => {
  for (const level of LEVELS.filter((one) => SKIP[one] === false)) {
    const added: number[] = [];
    let [made, removed] = [0, 0];
    let isOutOfMemory = false;
    const make = ({ memoryBytes }: GroupLimits): Cgroup => {
      assert.ok(memoryBytes > LIMITS.bundlerMemoryMb * 1024 * 1024);
      made++;
      return {
        add: (pid) => void added.push(pid),
        setLowPriority: () => true,
        isOutOfMemory: () => isOutOfMemory,
        remove: () => void removed++,
      };
    };
    const { bundling, lines } = bundlingAt(t, level, { cgroups: { make } });
    await bundling.bundleStep(step('export default 1'), null);
    const pid = bundling.pid as number;
    assert.deepEqual(added, level === 'jail' ? [pid, ...(await childrenOf(pid))] : [pid]);
    isOutOfMemory = true;
    process.kill(pid, 'SIGKILL');
    await until(() => lines.length === 1);
    assert.deepEqual([lines[0]?.fields.kind, made, removed], ['memory', 1, 1], level);
  }
});

test('one that cannot be limited does not go on', { skip: SKIP.process }, async (t) => {
  const add = (): never => {
    throw new Error('no such group');
  };
  const make = (): Cgroup => ({ add, setLowPriority: () => true, isOutOfMemory: () => false, remove: () => {} });
  const { bundling, lines } = bundlingAt(t, 'process', { cgroups: { make } });
  await assert.rejects(bundling.bundleStep(step('export default 1'), null), Refusal);
  assert.match(String(lines[0]?.fields.detail), /no such group/);
});

test('a user who may not read the folders is not taken', { skip: SKIP.user }, async (t) => {
  const dir = await folder(t, { 'closed/node_modules/one/index.js': 'module.exports = 1;' });
  await chmod(join(dir, 'closed'), 0o700);
  const { bundling, lines } = bundlingAt(t, 'user', { roots: [join(dir, 'closed')] });
  const bundled = await bundling.bundleStep(step('import one from "one"; export default one;'), join(dir, 'closed'));
  assert.equal(bundled.ok, true);
  assert.deepEqual(
    lines.map(({ name }) => name),
    ['bundler.other_user_cannot_read'],
  );
});

test('one that cannot be started is told, and tried again', async (t) => {
  let isBroken = true;
  const start = (place: Parameters<typeof startBundler>[0]): ChildProcess => {
    if (!isBroken) return startBundler(place);
    const program = 'process.stderr.write("node:fs:12\\n  ^\\nError: no memory\\nat a\\n"); process.exitCode = 7';
    return spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  };
  const { bundling, lines } = bundlingAt(t, 'process', { start });
  const isUnavailable = (error: unknown): boolean => error instanceof Refusal && error.code === 'unavailable';
  await assert.rejects(bundling.bundleStep(step('export default 1'), null), isUnavailable);
  assert.equal(bundling.problem, 'Error: no memory');
  assert.deepEqual(
    lines.map(({ fields }) => [fields.code, fields.detail]),
    [[7, 'Error: no memory']],
  );
  isBroken = false;
  assert.equal((await bundling.bundleStep(step('export default 1'), null)).ok, true);
  assert.equal(bundling.problem, null);
});

test('more than it bundles at a time waits its turn', async (t) => {
  const { bundling } = bundlingAt(t, 'process');
  const all = Array.from({ length: 50 }, (_, i) => bundling.bundleStep(step(`export default ${i}`), null));
  const bundled = await Promise.all(all);
  assert.ok(bundled.every((one, i) => one.ok && one.bundle.includes(`= ${i};`)));
});

test('bundles of one owner hold up no other', async (t) => {
  const { bundling } = bundlingAt(t, 'process');
  let done = 0;
  const all = Array.from({ length: 40 }, async (_, i) => {
    await bundling.bundleStep(step(`export default ${i}`), null, { ownerId: 'u_1' });
    done++;
  });
  await bundling.bundleStep(step('export default "other"'), null, { ownerId: 'u_2' });
  assert.ok(done <= 2 * LIMITS.bundlesAtOnce, `${done} came before`);
  await Promise.all(all);
});

test('as many bundles of one owner wait as may, and leave room', async (t) => {
  const start = () =>
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const { bundling } = bundlingAt(t, 'process', { start });
  const bundled = (ownerId: string) => bundling.bundleStep(step('export default 1'), null, { ownerId });
  const waiting = Array.from({ length: LIMITS.bundlesWaiting / 4 }, () => bundled('u_1'));
  for (const one of waiting) one.catch(() => {});
  await assert.rejects(bundled('u_1'), /bundles of yours wait already/);
  waiting.push(bundled('u_2'));
  await new Promise(setImmediate);
  bundling.stop();
  await assert.rejects(waiting.at(-1) as Promise<unknown>, /is stopping/);
});

test('stopped, it refuses', async (t) => {
  const { bundling } = bundlingAt(t, 'process');
  const waiting = bundling.bundleStep(step('export default 1'), null);
  bundling.stop();
  bundling.stop();
  await assert.rejects(waiting, Refusal);
  await assert.rejects(bundling.bundleStep(step('export default 1'), null), Refusal);
});

test('it ends with the server, and says nothing', async () => {
  const program = `
    import { Bundling } from ${JSON.stringify(new URL('../../../../src/runner/bundling/bundling.ts', import.meta.url).href)};
    const bundling = new Bundling({ level: 'process', user: null, roots: [], log: console });
    await bundling.bundleStep({ namespace: 'a', code: 'export default 1' }, null);
    const code = Array.from({ length: 30_000 }, (_, i) => 'export const f' + i + ' = (a) => a;').join('\\n') + '\\nexport default 1';
    for (let i = 0; i < 8; i++) void bundling.bundleStep({ namespace: 'a' + i, code }, null);
    setTimeout(() => process.stdout.write(bundling.pid + '\\n'), 20);`;
  const server = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  server.stderr.on('data', (text: Buffer) => {
    stderr += text;
  });
  const [said] = (await server.stdout.take(1).toArray()) as Buffer[];
  const pid = Number(String(said));
  const all = [pid, ...(await childrenOf(pid))];
  assert.equal(all.length, 2);
  server.kill('SIGKILL');
  await until(() => all.every((one) => !isAlive(one)));
  await until(() => server.stderr.readableEnded || server.stderr.destroyed);
  assert.equal(stderr, '');
});
