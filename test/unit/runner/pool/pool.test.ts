import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { test } from 'node:test';
import { deploymentOf, faultOf, foldersOf, kit, manualTimers, requestOf, returned, signal, until } from '../kit.ts';

const PID = 'export default () => process.pid';
const HANG = 'export default async ({ $ }) => { await $.respond({ immediate: true }); await new Promise(() => {}) }';

test('a deployment keeps one process for its runs', async (t) => {
  const { run, runner } = kit(t);
  const deployment = await deploymentOf(PID);
  const pids = (await Promise.all([run(deployment), run(deployment)])).map(returned);
  pids.push(returned(await run(deployment)));
  assert.equal(new Set(pids).size, 1);
  assert.notEqual(returned(await run(PID)), pids[0]);
  assert.deepEqual(runner.stats(), { processes: 2, inFlight: 0 });
});

test('a run that is alone shares with no other', async (t) => {
  const { run, runner } = kit(t);
  const deployment = await deploymentOf(PID);
  const shared = returned(await run(deployment));
  const alone = await Promise.all([run(deployment, { alone: true }), run(deployment, { alone: true })]);
  assert.equal(new Set([shared, ...alone.map(returned)]).size, 3);
  assert.equal(returned(await run(deployment)), shared);
  await until(() => runner.stats().processes === 1);
});

test('changed settings get a new process', async (t) => {
  const { run } = kit(t);
  const deployment = await deploymentOf('export default () => [process.pid, process.env.A ?? null]');
  const first = returned(await run(deployment, { env: { A: '1' } })) as unknown[];
  assert.deepEqual(returned(await run(deployment, { env: { A: '1' } })), first);
  const second = returned(await run(deployment, { env: { A: '2' } })) as unknown[];
  assert.notEqual(second[0], first[0]);
  assert.equal(second[1], '2');
  const third = returned(await run(deployment, { env: { A: '2' }, memoryMb: 128 })) as unknown[];
  assert.notEqual(third[0], second[0]);
});

test('the longest idle process makes room', async (t) => {
  const { run, runner } = kit(t, { maxProcesses: 2 });
  const [a, b, c] = await Promise.all([deploymentOf(PID), deploymentOf(PID), deploymentOf(PID)]);
  const pidA = returned(await run(a));
  const pidB = returned(await run(b));
  assert.equal(returned(await run(a)), pidA);
  await run(c);
  assert.ok(runner.stats().processes <= 2);
  assert.equal(returned(await run(a)), pidA);
  assert.notEqual(returned(await run(b)), pidB);
});

test('idle processes leave when memory is short', async (t) => {
  const { run, runner } = kit(t, { poolMb: 1 });
  const { came, onAnswer } = signal();
  const busy = run(HANG, { onAnswer, timeoutMs: 3000 });
  await came;
  const idle = await deploymentOf(PID);
  const first = returned(await run(idle));
  await until(() => runner.stats().processes === 1);
  assert.equal(runner.stats().inFlight, 1, 'what runs something stays');
  assert.notEqual(returned(await run(idle)), first);
  await busy;
});

test('the longest idle leaves first for memory', async (t) => {
  // Once: what a second run replaces would count until it is collected.
  const MEMORY = 'export default () => { globalThis.kept ??= Buffer.alloc(150e6, 1); return process.pid }';
  const { run, runner } = kit(t, { poolMb: 450 });
  const [a, b] = await Promise.all([deploymentOf(MEMORY), deploymentOf(MEMORY)]);
  const pidA = returned(await run(a));
  const pidB = returned(await run(b));
  assert.equal(returned(await run(a)), pidA);
  await run(MEMORY);
  await until(() => runner.stats().processes === 2);
  assert.equal(returned(await run(a)), pidA);
  await until(() => runner.stats().processes === 2);
  assert.notEqual(returned(await run(b)), pidB);
});

test('an idle process makes room before a leaving one', async (t) => {
  const { run } = kit(t, { maxProcesses: 2 });
  const { came, onAnswer } = signal();
  await run(PID);
  void run(HANG, { onAnswer, alone: true });
  await came;
  assert.equal(typeof returned(await run(PID)), 'number');
});

test('beyond the bound runs wait for a place', async (t) => {
  const { run, runner } = kit(t, { maxProcesses: 1 });
  const deployments = await Promise.all([PID, PID, PID, PID].map((code) => deploymentOf(code)));
  const runs = deployments.flatMap((deployment) => [run(deployment), run(deployment)]);
  assert.equal(runner.stats().processes, 1);
  const pids = (await Promise.all(runs)).map(returned);
  assert.equal(new Set(pids).size, 4);
});

test('a busy process makes room in its turn', async (t) => {
  const { run } = kit(t, { maxProcesses: 1 });
  const { came, onAnswer } = signal();
  const busy = await deploymentOf(HANG);
  const hanging = run(busy, { onAnswer, timeoutMs: 1500 });
  await came;
  assert.equal(typeof returned(await run(PID)), 'number');
  assert.equal(faultOf(await hanging).code, 'Timeout');
});

test('a run that waited in vain goes back', async (t) => {
  const { run, runner } = kit(t, { maxProcesses: 1 });
  const { came, onAnswer } = signal();
  void run(HANG, { onAnswer });
  await came;
  assert.deepEqual((await run(PID, { timeoutMs: 50 })).end, { kind: 'returned' });
  const waiting = run(PID, { run: 900_100 });
  await until(() => runner.stats().inFlight === 2);
  assert.equal(runner.cancel(900_100), true);
  assert.deepEqual((await waiting).end, { kind: 'cancelled' });
});

test('no run follows one that failed and broke the language', async (t) => {
  const { evaluate } = kit(t);
  const pid = async () => returned(await evaluate('return process.pid'));
  const broken = [
    'delete globalThis.Promise',
    'JSON.stringify = () => "{}"',
    'Array.prototype.flat = null',
    'Object.freeze(Object.prototype)',
    'Object.prototype.toJSON = () => { throw 1 }',
    'Array.prototype.toJSON = () => "an old library"',
    'Array.prototype.at = null; Promise.reject(new Error("broken")); return',
    'Object.defineProperty(Object.prototype, "kind", { get() { throw new Error("a trap") }, configurable: true })',
  ];
  let before = await pid();
  for (const code of broken) {
    assert.equal(faultOf(await evaluate(`${code}; throw new Error("broken")`)).msg, 'broken', code);
    const after = await pid();
    assert.notEqual(after, before, code);
    before = after;
  }
  // What keeps state in globals, or only fails, keeps its process.
  faultOf(await evaluate('globalThis.count = 1; Error.stackTraceLimit = 5; throw new Error("failed")'));
  assert.equal(await pid(), before);
});

test('one of the runs that fail together is enough to end their process', async (t) => {
  const { evaluate } = kit(t);
  const pid = async () => returned(await evaluate('return process.pid'));
  const failTogether = async (...codes: string[]): Promise<void> => {
    const failing = codes.map((code) => evaluate(`${code}; throw new Error("failed")`));
    for (const outcome of await Promise.all(failing)) assert.equal(faultOf(outcome).msg, 'failed');
  };
  let before = await pid();
  await failTogether('1', '2', '3');
  assert.equal(await pid(), before);
  for (const broken of [0, 1, 2]) {
    await failTogether(...[0, 1, 2].map((index) => (index === broken ? 'Array.prototype.flat = null' : '1')));
    const after = await pid();
    assert.notEqual(after, before, `${broken}`);
    before = after;
  }
});

test('idle processes end with their folders', async (t) => {
  const { run, runner, tmpDir } = kit(t, { idleMs: 20 });
  await run(PID);
  await until(() => runner.stats().processes === 0);
  assert.deepEqual(foldersOf(tmpDir), []);
});

test('a process that could not load its code gives up its place', { timeout: 60_000 }, async (t) => {
  const { run, runner } = kit(t, { brokenMs: 20 });
  assert.equal(faultOf(await run('throw new Error("not today"); export default () => 1')).code, 'StartFailed');
  await until(() => runner.stats().processes === 0);
});

test('a retired deployment ends after its last run', async (t) => {
  const { runner, run } = kit(t);
  const deployment = await deploymentOf(`let release; export default async ({ steps, $ }) => {
    await $.respond({ immediate: true });
    await new Promise((resolve) => setTimeout(resolve, 50));
    return process.pid;
  }`);
  const { came, onAnswer } = signal();
  const first = run(deployment, { onAnswer });
  await came;
  runner.retire(deployment.id);
  const second = run(deployment);
  assert.notEqual(returned(await first), returned(await second));
  runner.retire(deployment.id);
  await until(() => runner.stats().processes === 0);
  runner.retire('d_unknown');
});

test('stopping waits, then hands back the rest', async (t) => {
  const timers = manualTimers(t);
  const { runner, run, tmpDir } = kit(t);
  const [quickly, endlessly] = [signal(), signal()];
  const code = `export default async ({ $ }) => {
    await $.respond({ immediate: true });
    return await new Promise((resolve) => setTimeout(resolve, 10, 'done'));
  }`;
  const quick = run(code, { onAnswer: quickly.onAnswer });
  const endless = run(HANG, { onAnswer: endlessly.onAnswer });
  await Promise.all([quickly.came, endlessly.came]);
  const stopped = Promise.all([runner.stop(300), runner.stop(300)]);
  assert.equal(returned(await quick), 'done');
  await timers.passUntil(stopped);
  assert.deepEqual((await endless).end, { kind: 'returned' });
  assert.deepEqual((await run(PID)).end, { kind: 'returned' });
  const left = existsSync(tmpDir) ? readdirSync(tmpDir) : [];
  assert.deepEqual([runner.stats(), left], [{ processes: 0, inFlight: 0 }, []]);
  await runner.stop(0);
});

test('what waits at shutdown goes back at once', async (t) => {
  const { runner, run } = kit(t, { maxProcesses: 1 });
  const { came, onAnswer } = signal();
  void run(HANG, { onAnswer });
  await came;
  const waiting = run(PID);
  await until(() => runner.stats().inFlight === 2);
  void runner.stop(0);
  assert.deepEqual((await waiting).end, { kind: 'returned' });
});

test('a runner that cannot start processes says so', async (t) => {
  const { run, tmpDir, runner } = kit(t);
  rmSync(tmpDir, { recursive: true });
  writeFileSync(tmpDir, '');
  const fault = faultOf(await run(PID));
  assert.deepEqual([fault.code, fault.cellId], ['StartFailed', 'c_one']);
  assert.match(fault.msg, /could not be started/);
  await until(() => runner.stats().processes === 0);
});

test('an onAnswer that throws harms nothing', async (t) => {
  const { run, logged } = kit(t);
  const outcome = await run('export default async ({ $ }) => { await $.respond({ immediate: true }); return 1 }', {
    onAnswer: () => {
      throw new Error('closed');
    },
  });
  assert.equal(returned(outcome), 1);
  assert.ok(logged.some(({ level }) => level === 'error'));
});

test('many runs in flight each get their own', async (t) => {
  const { runner } = kit(t);
  const deployment = await deploymentOf(
    'export default async ({ steps }) => { await null; return steps.trigger.event.n }',
  );
  const outcomes = await Promise.all(
    Array.from({ length: 2000 }, (_, n) => runner.run(requestOf(deployment, { event: Buffer.from(`{"n":${n}}`) }))),
  );
  assert.deepEqual(
    outcomes.map(returned),
    Array.from({ length: 2000 }, (_, n) => n),
  );
});

const OF_ANOTHER = 'u_2';
const of = async (code: string, ownerId: string) => ({ ...(await deploymentOf(code)), ownerId });

test('sleeping runs of one owner hold up no other', async (t) => {
  const { run } = kit(t, { maxAwake: 2 });
  const sleeping = Array.from({ length: 6 }, () => signal());
  const runs = sleeping.map(({ onAnswer }) => run(HANG, { onAnswer, timeoutMs: 30_000 }));
  const other = await of(PID, OF_ANOTHER);
  assert.equal(typeof returned(await run(other)), 'number');
  // Nor do they hold up their own, once they are known to sleep.
  await Promise.all(sleeping.map(({ came }) => came));
  assert.equal(typeof returned(await run(PID)), 'number');
  assert.equal(runs.length, 6);
});

test('loops of one owner hold up no other', { timeout: 120_000 }, async (t) => {
  const { run, runner } = kit(t, { maxAwake: 2 });
  const LOOP = `export default async ({ $ }) => {
    await $.respond({ immediate: true });
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (;;);
  }`;
  const numbers = [1, 2, 3, 4, 5, 6].map((n) => 900_200 + n);
  // Which of them begin first is open: each is bundled by itself.
  const begun = numbers.map(() => signal());
  const loops = numbers.map((number, n) => run(LOOP, { run: number, onAnswer: begun[n]?.onAnswer, timeoutMs: 90_000 }));
  await Promise.race(begun.map(({ came }) => came));
  const others = await Promise.all([of(PID, OF_ANOTHER), of(PID, OF_ANOTHER)]);
  for (const other of others) assert.equal(typeof returned(await run(other, { timeoutMs: 60_000 })), 'number');
  assert.equal(runner.stats().inFlight, 6, 'they still loop');
  for (const number of numbers) runner.cancel(number);
  const ends = (await Promise.all(loops)).map(({ end }) => end.kind);
  assert.deepEqual(new Set(ends), new Set(['cancelled']));
});

test('many small workflows keep their processes', { timeout: 120_000 }, async (t) => {
  const { run, runner } = kit(t, { poolMb: 100_000 });
  const deployments = await Promise.all(Array.from({ length: 40 }, (_, n) => of(PID, `u_${n % 3}`)));
  const pids = new Set<unknown>();
  for (let round = 0; round < 3; round++) {
    for (const deployment of deployments) pids.add(returned(await run(deployment)));
  }
  assert.equal(pids.size, 40, 'each was started once');
  assert.equal(runner.stats().processes, 40);
});

test('an owner keeps to its quota of processes', async (t) => {
  const quotasOf = (ownerId: string) => ({
    processes: ownerId === 'u_1' ? 1 : null,
    cpuSecondsPerMinute: null,
    isFull: false,
  });
  const { run, runner } = kit(t, { quotasOf });
  const pids = await Promise.all([run(PID), run(PID), run(PID), run(await of(PID, OF_ANOTHER))]);
  assert.equal(new Set(pids.map(returned)).size, 4);
  await until(() => runner.stats().processes === 2);
  assert.deepEqual([runner.useOf('u_1').processes, runner.useOf(OF_ANOTHER).processes], [1, 1]);
});

test('an owner over its CPU waits, and others do not', { timeout: 120_000 }, async (t) => {
  const quotasOf = (ownerId: string) => ({
    processes: null,
    cpuSecondsPerMinute: ownerId === 'u_1' ? 1 : null,
    isFull: false,
  });
  const { run, runner } = kit(t, { quotasOf });
  const BURN = 'export default () => { while (process.cpuUsage().user < 1_300_000); }';
  returned(await run(BURN, { timeoutMs: 60_000 }));
  await until(() => runner.useOf('u_1').cpuMs >= 1000);
  assert.deepEqual((await run(PID, { timeoutMs: 300 })).end, { kind: 'returned' });
  assert.equal(typeof returned(await run(await of(PID, OF_ANOTHER))), 'number');
});

test('loops give way on the CPU to another owner', { timeout: 120_000 }, async (t) => {
  const { run } = kit(t);
  returned(await run(await of(PID, OF_ANOTHER)));
  const LOOP = `export default async ({ $ }) => {
    await $.respond({ immediate: true, body: String(process.pid) });
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (;;);
  }`;
  const { came, onAnswer } = signal();
  void run(LOOP, { onAnswer, timeoutMs: 90_000 });
  const pid = Number(Buffer.from((await came).body).toString());
  assert.equal(getPriority(pid), getPriority(), 'as the server, at first');
  await until(() => getPriority(pid) === 19);
});
