import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Deployment } from '../../../../src/domain/resource.ts';
import type { RunOutcome } from '../../../../src/domain/run/run.ts';
import { isSource, ProcessKeys, SOURCES_AT_ONCE, sourcesPerProcess } from '../../../../src/runner/pool/process-keys.ts';
import type { RunRequest, SourceRunInput } from '../../../../src/runner/runner.ts';
import { bodies, deploymentOf, faultOf, kit, requestOf, until } from '../kit.ts';

const sharing = new ProcessKeys();
const keyOf = (deployment: Deployment): string => sharing.keyOf({ deployment, memoryMb: 256, env: {} });

/** Sources of the same code that come to the same process. */
async function sourcesOf(code: string, count: number): Promise<Deployment[]> {
  const first = await deploymentOf(code, 'dc_0');
  const found = [first];
  for (let n = 1; found.length < count; n++) {
    const next = { ...first, id: `${first.id}_${n}`, runnableId: `dc_${n}` };
    if (keyOf(next) === keyOf(first)) found.push(next);
  }
  return found;
}

async function pair(code: string): Promise<[Deployment, Deployment]> {
  return (await sourcesOf(code, 2)) as [Deployment, Deployment];
}

interface Started {
  readonly runner: ReturnType<typeof kit>['runner'];
  run(deployment: Deployment, input?: Partial<SourceRunInput>, more?: Partial<RunRequest>): Promise<RunOutcome>;
}

function start(t: TestContext): Started {
  const { runner } = kit(t);
  return {
    runner,
    run: (deployment, input = {}, more = {}) => {
      const own = { sourceId: deployment.runnableId, call: 'run', configuredProps: {}, endpoints: {}, db: {} } as const;
      return runner.run(requestOf(deployment, { source: { ...own, ...input }, ...more }));
    },
  };
}

test('sources of the same code share a process', async (t) => {
  const { run, runner } = start(t);
  const [a, b] = await pair('export default { run() { this.$emit([process.pid, process.env.PD_COMPONENT]) } }');
  const [[one], [two]] = [bodies(await run(a)), bodies(await run(b))] as [unknown[][], unknown[][]];
  assert.deepEqual([one?.[1], two?.[1]], ['dc_0', b.runnableId]);
  assert.equal(one?.[0], two?.[0]);
  assert.equal(runner.stats().processes, 1);
});

test('other owners, codes, settings share none', async () => {
  const [a, b] = await pair('export default { run() {} }');
  const key = keyOf(a);
  assert.equal(keyOf(b), key);
  assert.notEqual(keyOf({ ...a, ownerId: 'u_2' }), key);
  assert.notEqual(keyOf({ ...a, steps: a.steps.map((step) => ({ ...step, bundle: `${step.bundle};` })) }), key);
  assert.notEqual(sharing.keyOf({ deployment: a, memoryMb: 128, env: {} }), key);
  assert.notEqual(sharing.keyOf({ deployment: a, memoryMb: 256, env: { A: '1' } }), key);
  const workflow = { ...a, runnableId: 'p_1' };
  assert.deepEqual([isSource(a), isSource(workflow), keyOf(workflow)], [true, false, a.id]);
});

test('each source has its own module state', async (t) => {
  const { run } = start(t);
  const [a, b] = await pair(`import axios from 'node:http';
    let token; const id = process.env.PD_COMPONENT; let runs = 0;
    const component = { props: { secret: 'string', db: '$.service.db' }, methods: {}, run() {
      token ??= this.secret; component.left = [...(component.left ?? []), this.secret];
      this.$emit([token, id, ++runs, component.left, this.db.get('n') ?? null]);
    } };
    export default component;`);
  const secret = (value: string): Partial<SourceRunInput> => ({
    configuredProps: { secret: value },
    db: { n: `"${value}"` },
  });
  assert.deepEqual(bodies(await run(a, secret('s1'))), [['s1', 'dc_0', 1, ['s1'], 's1']]);
  assert.deepEqual(bodies(await run(b, secret('s2'))), [['s2', b.runnableId, 1, ['s2'], 's2']]);
  assert.deepEqual(bodies(await run(a, secret('s3'))), [['s1', 'dc_0', 2, ['s1', 's3'], 's3']]);
});

test('each source has its own environment and folder', async (t) => {
  const { run } = start(t);
  const [a, b] = await pair(`import { env } from 'node:process';
    import { tmpdir } from 'node:os';
    import { existsSync, writeFileSync } from 'node:fs';
    import { join } from 'node:path';
    export default { async run() {
      const file = join(tmpdir(), 'token');
      await new Promise((resolve) => setTimeout(resolve));
      const seen = [env.MINE ?? null, 'MINE' in process.env, Object.keys(process.env).includes('MINE'), existsSync(file), existsSync('/tmp/token')];
      process.env.MINE = 7;
      writeFileSync(file, 'x');
      const { PD_COMPONENT, MINE } = { ...process.env };
      delete process.env.GONE;
      this.$emit([...seen, PD_COMPONENT, MINE, process.env.HOME === tmpdir()]);
    } };`);
  const none = [null, false, false, false, false];
  assert.deepEqual(bodies(await run(a)), [[...none, 'dc_0', '7', true]]);
  assert.deepEqual(bodies(await run(b)), [[...none, b.runnableId, '7', true]]);
  assert.deepEqual(bodies(await run(a)), [['7', true, true, true, true, 'dc_0', '7', true]]);
});

test('lines, faults and steps are the own source’s', async (t) => {
  const { run } = start(t);
  const [a, given] = await pair(`export default { async run() {
    console.log('I am ' + process.env.PD_COMPONENT);
    await new Promise((resolve) => setTimeout(resolve, 5));
    throw new Error(process.env.PD_COMPONENT);
  } };`);
  const b = { ...given, steps: given.steps.map((step) => ({ ...step, id: 'c_other' })) };
  const [one, two] = await Promise.all([run(a), run(b)]);
  assert.deepEqual(
    [one, two].map((outcome) => outcome.logs.map(({ text }) => text)),
    [['I am dc_0'], [`I am ${b.runnableId}`]],
  );
  assert.deepEqual(
    [one, two].map((outcome) => faultOf(outcome).msg),
    ['dc_0', b.runnableId],
  );
  assert.deepEqual(
    [one, two].map((outcome) => faultOf(outcome).cellId),
    ['c_one', 'c_other'],
  );
  assert.match(faultOf(one).stack, /one\.(js|ts|mjs):4:/);
  assert.equal(faultOf(two).stack, faultOf(one).stack);
  assert.deepEqual(
    two.steps.map(({ id }) => id),
    ['c_other'],
  );
});

test('code that only one cannot load fails it', async (t) => {
  const { run, runner } = start(t);
  const [a, b] = await pair(`if (process.env.PD_COMPONENT !== 'dc_0') throw new Error('not for me');
    export default { run() { this.$emit(process.pid) } };`);
  const before = bodies(await run(a));
  for (const outcome of [await run(b), await run(b)]) {
    const { code, msg, cellId } = faultOf(outcome);
    assert.deepEqual([code, msg, cellId], ['StartFailed', 'not for me', 'c_one']);
  }
  assert.deepEqual(bodies(await run(a)), before);
  assert.equal(runner.stats().processes, 1);
});

test('a source that harms others is set apart', async (t) => {
  const { run, runner } = start(t);
  const [a, b] = await pair(`export default { async run() {
    if (process.env.PD_COMPONENT === 'dc_0') for (;;);
    this.$emit(process.pid);
  } };`);
  await run(b);
  // Time enough for the loop to have begun.
  assert.equal(faultOf(await run(a, {}, { timeoutMs: 1000 })).code, 'Timeout');
  const [pid] = bodies(await run(b));
  // Long enough for its own process to be seen.
  const hanging = run(a, {}, { timeoutMs: 2000 });
  await until(() => runner.stats().processes === 2);
  assert.deepEqual(bodies(await run(b)), [pid]);
  assert.equal(faultOf(await hanging).code, 'Timeout');
  assert.deepEqual(bodies(await run(b)), [pid]);
});

test('so many run at once, others in turn', async (t) => {
  const code = `globalThis.now ??= 0; globalThis.most ??= 0;
    export default { async run() {
      globalThis.most = Math.max(globalThis.most, ++globalThis.now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      globalThis.now--;
      this.$emit([globalThis.most, process.pid]);
    } };`;
  const { run, runner } = start(t);
  const all = await sourcesOf(code, SOURCES_AT_ONCE + 20);
  const seen = (await Promise.all(all.map((one) => run(one)))).map((outcome) => bodies(outcome)[0] as [number, number]);
  assert.equal(new Set(seen.map(([, pid]) => pid)).size, 1);
  assert.equal(Math.max(...seen.map(([most]) => most)), SOURCES_AT_ONCE);
  assert.deepEqual(runner.stats(), { processes: 1, inFlight: 0 });
});

test('a run that waited for its turn in vain goes back', async (t) => {
  const { run, runner } = start(t);
  const all = await sourcesOf('export default { run: () => new Promise(() => {}) };', SOURCES_AT_ONCE + 3);
  const [first, second, third, ...others] = all as [Deployment, Deployment, Deployment];
  const hanging = (others as Deployment[]).map((one) => run(one));
  const late = run(first, {}, { timeoutMs: 50 });
  const cancelled = run(second, {}, { run: 900_600 });
  assert.deepEqual((await late).end, { kind: 'returned' });
  assert.equal(runner.cancel(900_600), true);
  assert.deepEqual((await cancelled).end, { kind: 'cancelled' });
  const left = run(third);
  await runner.stop(0);
  for (const one of [left, ...hanging]) assert.deepEqual((await one).end, { kind: 'returned' });
});

test('a process takes so many sources', async (t) => {
  const code = `export default { run() { this.$emit([process.pid, '${'x'.repeat(600_000)}'.length]) } };`;
  const all = await sourcesOf(code, 4);
  const { run } = start(t);
  const most = sourcesPerProcess(all[0] as Deployment, 64);
  assert.equal(most, 3);
  const pids = new Set<unknown>();
  for (const one of all) pids.add((bodies(await run(one, {}, { memoryMb: 64 }))[0] as unknown[])[0]);
  assert.equal(pids.size, 2);
  assert.equal(sourcesPerProcess(all[0] as Deployment, 1), 1);
});

test('one of several that is retired waits a little', async (t) => {
  const { run, runner } = start(t);
  const [a, b] = await pair('export default { run() { this.$emit(process.pid) } }');
  const [pid] = bodies(await run(a));
  runner.retire(a.id);
  const [other] = bodies(await run(a));
  assert.notEqual(other, pid);
  await run(b);
  runner.retire(a.id);
  assert.deepEqual(bodies(await run(b)), [other]);
});

test('what was alone in its process stays so', async (t) => {
  const { run } = start(t);
  const [a, b] = await pair('export default { run() { this.$emit(process.pid) } }');
  const [shared] = bodies(await run(a));
  assert.notDeepEqual(bodies(await run(b, {}, { alone: true })), [shared]);
});

test('a halt reaches one source of several', async (t) => {
  const { run, runner } = start(t);
  const [a, b] = await pair(`export default { async run() {
    if (process.env.PD_COMPONENT === 'dc_0') await new Promise(() => {});
    this.$emit(process.pid);
  } };`);
  const hanging = run(a, {}, { run: 900_500 });
  const [pid] = bodies(await run(b)); // messages keep their order: the other one is under way, too
  const other = run(b);
  assert.equal(runner.cancel(900_500), true);
  assert.deepEqual((await hanging).end, { kind: 'cancelled' });
  assert.deepEqual(bodies(await other), [pid]);
});
