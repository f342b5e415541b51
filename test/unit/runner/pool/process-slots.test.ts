// Which of the runs that wait begins, over processes that are only played.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { START_CPU_MS } from '../../../../src/runner/pool/cpu.ts';
import { CpuUse } from '../../../../src/runner/pool/cpu-use.ts';
import { type Bounds, countByOwner, idleInOrder, isAwake } from '../../../../src/runner/pool/fair-slots.ts';
import { ProcessSlots, type RunQuotas, type SlotProcess } from '../../../../src/runner/pool/process-slots.ts';
import { RETURNED, RunInFlight } from '../../../../src/runner/process/run-in-flight.ts';
import { requestOf } from '../kit.ts';

class PlayedProcess implements SlotProcess {
  readonly ownerId: string;
  readonly options: { readonly key: string };
  readonly runs = new Set<RunInFlight>();
  readonly isFull = false;
  isAsleep = false;
  isYielding = false;
  isDraining = false;
  isLoading = false;
  isUnused = true;
  usedMb = 20;
  usedMs = 0;
  isLowPriority = false;
  lastUsedAt: number;
  busySince: number;
  readonly #stage: Stage;

  constructor(stage: Stage, key: string, ownerId: string) {
    this.#stage = stage;
    this.options = { key };
    this.ownerId = ownerId;
    this.lastUsedAt = stage.nowMs;
    this.busySince = stage.nowMs;
  }

  get inFlight(): number {
    return this.runs.size;
  }

  fits(): boolean {
    return true;
  }

  start(run: RunInFlight): void {
    assert.ok(!this.isDraining && !this.isYielding, 'it takes no runs');
    this.lastUsedAt = this.#stage.nowMs;
    if (this.runs.size === 0) this.busySince = this.lastUsedAt;
    [this.isUnused, this.isAsleep] = [false, false];
    this.runs.add(run);
  }

  drain(): void {
    this.isDraining = true;
  }

  retire(): boolean {
    return false;
  }

  sampleCpu(): number {
    return this.usedMs;
  }

  setLowPriority(isLowPriority: boolean): void {
    this.isLowPriority = isLowPriority;
  }

  /** All its runs end. */
  end(): void {
    for (const run of this.runs) {
      this.runs.delete(run);
      run.end(RETURNED);
    }
    [this.isYielding, this.isAsleep, this.lastUsedAt] = [false, false, this.#stage.nowMs];
    if (!this.isDraining) this.#stage.slots.serve();
  }
}

class Stage implements Disposable {
  nowMs = 1_000_000;
  readonly slots: ProcessSlots<PlayedProcess>;
  readonly waiting = new Set<RunInFlight>();
  readonly quotas = new Map<string, RunQuotas>();
  readonly cpuUse = new CpuUse();
  readonly behind = new Set<string>();
  hasOtherOwners = true;
  most = 0;
  areLoading = false;
  started = 0;

  constructor(bounds: Partial<Bounds> = {}) {
    const all = { maxAwake: 4, maxProcesses: 1000, poolMb: 1e6, turnMs: 0, maxLoading: 1000, ...bounds };
    const none = { processes: null, cpuSecondsPerMinute: null, isFull: false };
    this.slots = new ProcessSlots<PlayedProcess>({
      bounds: all,
      quotasOf: (ownerId) => this.quotas.get(ownerId) ?? none,
      cpuUse: this.cpuUse,
      throttle: { isBehind: (ownerId) => this.behind.has(ownerId), hasOtherOwners: () => this.hasOtherOwners },
      create: (key, { deployment }) => {
        this.started++;
        const made = new PlayedProcess(this, key, deployment.ownerId);
        made.isLoading = this.areLoading;
        return made;
      },
      nowMs: () => this.nowMs,
    });
  }

  get all(): PlayedProcess[] {
    return [...this.slots.all];
  }

  /** A run of the owner's n-th workflow. */
  ask(ownerId: string, n: number, alone = false): RunInFlight {
    const deployment = { id: `d_${ownerId}_${n}`, ownerId, runnableId: 'p_1', steps: [], createdAtMs: 0 };
    const run: RunInFlight = new RunInFlight(requestOf(deployment, { alone }), 0, () => {
      this.waiting.delete(run);
      this.slots.ended(run);
    });
    this.waiting.add(run);
    this.slots.start(run);
    return run;
  }

  /** Until nothing changes by itself: what is ending is gone. */
  settle(): void {
    for (;;) {
      this.nowMs += 10;
      this.most = Math.max(this.most, this.slots.all.size);
      for (const run of this.waiting) if (this.slots.processOf(run)) this.waiting.delete(run);
      const gone = this.all.find(({ isDraining, inFlight }) => isDraining && inFlight === 0);
      if (gone === undefined) return;
      this.slots.gone(gone);
    }
  }

  waitingOwners(): Set<string> {
    return new Set([...this.waiting].map(({ request }) => request.deployment.ownerId));
  }

  [Symbol.dispose](): void {
    this.slots.close();
  }
}

const OWNERS = ['a', 'b', 'c', 'd', 'e'];
type Op = { readonly kind: 'ask' | 'alone' | 'end' | 'sleep' | 'look'; readonly owner: number; readonly n: number };
const OPS: fc.Arbitrary<Op[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('ask', 'ask', 'ask', 'alone', 'end', 'end', 'sleep', 'look'),
    owner: fc.nat(OWNERS.length - 1),
    n: fc.nat(9),
  }),
  { maxLength: 120 },
);

function play(stage: Stage, { kind, owner, n }: Op): void {
  const ownerId = OWNERS[owner] as string;
  const busy = stage.all.filter(({ inFlight }) => inFlight > 0);
  const one = busy[(owner * 7 + n) % Math.max(1, busy.length)];
  if (kind === 'ask' || kind === 'alone') stage.ask(ownerId, n, kind === 'alone');
  else if (kind === 'end') one?.end();
  else if (kind === 'sleep' && one) one.isAsleep = true;
  stage.settle();
  if (kind === 'sleep' || kind === 'look') stage.slots.serve();
  stage.settle();
}

const isStaying = ({ isYielding, isDraining }: PlayedProcess): boolean => !isYielding && !isDraining;

test('nobody waits while another owner holds two more', () => {
  fc.assert(
    fc.property(OPS, (ops) => {
      using stage = new Stage();
      for (const op of ops) {
        play(stage, op);
        const awake = stage.all.filter(isAwake);
        const has = countByOwner(awake);
        const staying = countByOwner(awake.filter(isStaying));
        for (const owner of stage.waitingOwners()) {
          // Runs whose own process is about to pause wait for that one alone.
          const needed = [...stage.waiting].filter(({ request: { deployment }, key }) => {
            const own = stage.all.find((one) => one.options.key === key && !one.isDraining && one.inFlight > 0);
            return deployment.ownerId === owner && own === undefined;
          });
          if (needed.length === 0) continue;
          assert.ok(awake.length >= 4, `${owner} waits, and the CPU is free`);
          assert.ok((has.get(owner) ?? 0) > 0, `${owner} has none, and waits`);
          for (const [other, count] of staying) {
            assert.ok(
              other === owner || count <= (has.get(owner) ?? 0) + 1,
              `${owner} waits, and ${other} has ${count}`,
            );
          }
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('what works and stays is bounded, and all that there is', () => {
  fc.assert(
    fc.property(OPS, fc.integer({ min: 1, max: 40 }), (ops, maxProcesses) => {
      const maxAwake = Math.min(4, maxProcesses);
      using stage = new Stage({ maxProcesses, maxAwake });
      for (const op of ops.filter(({ kind }) => kind !== 'sleep')) {
        play(stage, op);
        const staying = stage.all.filter((one) => one.inFlight > 0 && isStaying(one));
        const owners = new Set(staying.map(({ ownerId }) => ownerId)).size;
        assert.ok(staying.length <= Math.max(maxAwake, owners), `${staying.length} of ${owners} work`);
        assert.ok(stage.most <= maxProcesses, `${stage.most} of ${maxProcesses}`);
      }
    }),
    { numRuns: 300 },
  );
});

test('an owner without a process waits only for slots', () => {
  fc.assert(
    fc.property(OPS, fc.integer({ min: 1, max: 12 }), (ops, maxProcesses) => {
      using stage = new Stage({ maxProcesses, maxAwake: Math.min(4, maxProcesses) });
      for (const op of ops) {
        play(stage, op);
        for (const owner of stage.waitingOwners()) {
          if (stage.all.some(({ ownerId, inFlight }) => ownerId === owner && inFlight > 0)) continue;
          assert.equal(stage.all.filter(({ inFlight }) => inFlight > 0).length, maxProcesses, `${owner} waits`);
          const most = Math.max(...countByOwner(stage.all.filter(isStaying)).values());
          assert.ok(most < 2 || stage.all.some(({ isDraining }) => isDraining), 'nobody makes room');
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('everything that waits begins in the end', () => {
  fc.assert(
    fc.property(OPS, fc.integer({ min: 1, max: 6 }), (ops, maxProcesses) => {
      using stage = new Stage({ maxProcesses, maxAwake: Math.min(3, maxProcesses) });
      for (const op of ops) play(stage, op);
      for (let round = 0; stage.waiting.size > 0; round++) {
        assert.ok(round < 1000, `${stage.waiting.size} wait for ever`);
        for (const one of stage.all) one.end();
        stage.settle();
        stage.slots.serve();
        stage.settle();
      }
    }),
    { numRuns: 200 },
  );
});

test('a new process of an owner that gives way does so at once', () => {
  using stage = new Stage({ maxAwake: 10 });
  stage.ask('a', 0);
  stage.ask('b', 0);
  stage.settle();
  stage.nowMs += 1000;
  for (const one of stage.all) one.usedMs = one.ownerId === 'a' ? 600 : 10;
  stage.slots.sampleCpu();
  for (const ownerId of ['a', 'b']) {
    stage.ask(ownerId, 1);
    stage.ask(ownerId, 2, true);
  }
  const giving = (ownerId: string) =>
    stage.all.filter((one) => one.ownerId === ownerId).map(({ isLowPriority }) => isLowPriority);
  assert.deepEqual(giving('a'), [true, true, true]);
  assert.deepEqual(giving('b'), [false, false, false]);
});

test('an owner gives way before a second is over', () => {
  using stage = new Stage();
  for (const ownerId of ['a', 'b', 'idle']) stage.ask(ownerId, 0);
  stage.settle();
  const idle = stage.all.find(({ ownerId }) => ownerId === 'idle');
  idle?.end();
  stage.nowMs += 1000;
  stage.slots.sampleCpu();
  const giving = () => stage.all.filter(({ isLowPriority }) => isLowPriority).map(({ ownerId }) => ownerId);
  assert.deepEqual(giving(), []);
  stage.nowMs += 200;
  for (const one of stage.all) one.usedMs = one.ownerId === 'a' ? 250 : 10;
  stage.slots.sampleCpu('busy');
  assert.deepEqual(giving(), ['a']);
  stage.nowMs += 200;
  for (const one of stage.all) one.usedMs = one.ownerId === 'b' ? 5 : 0;
  stage.slots.sampleCpu('busy');
  assert.deepEqual(giving(), ['a'], 'for the rest of the second');
  stage.nowMs += 600;
  stage.slots.sampleCpu();
  stage.nowMs += 1000;
  for (const one of stage.all) one.usedMs = 0;
  stage.slots.sampleCpu();
  assert.deepEqual(giving(), []);
});

test('an owner whose processes do not live long gives way, too', () => {
  using stage = new Stage();
  stage.ask('b', 0);
  stage.settle();
  const [other] = stage.all;
  stage.nowMs += 1000;
  stage.slots.sampleCpu();
  for (let n = 0; n < 8; n++) {
    stage.ask('a', n);
    const born = stage.all.find(({ ownerId }) => ownerId === 'a');
    assert.ok(born);
    born.isDraining = true;
    born.end();
    stage.settle();
  }
  assert.deepEqual(stage.all, [other], 'none of them is looked at');
  assert.ok(stage.cpuUse.usedMs('a', stage.nowMs) > 0);
  stage.nowMs += 1000;
  stage.slots.sampleCpu();
  stage.ask('a', 8);
  assert.equal(stage.all.find(({ ownerId }) => ownerId === 'a')?.isLowPriority, true);
  assert.equal(other?.isLowPriority, false);
});

test('an owner that takes the CPU gives way to the others', () => {
  using stage = new Stage();
  for (let n = 0; n < 3; n++) stage.ask('a', n);
  stage.settle();
  const look = (usedMs: (one: PlayedProcess) => number) => {
    stage.nowMs += 1000;
    for (const one of stage.all) one.usedMs = usedMs(one);
    stage.slots.sampleCpu();
    return new Set(stage.all.filter(({ isLowPriority }) => isLowPriority).map(({ ownerId }) => ownerId));
  };
  assert.deepEqual(
    look(() => 600),
    new Set(),
    'there is nobody else',
  );
  stage.ask('b', 1);
  stage.settle();
  assert.deepEqual(
    look(({ ownerId }) => (ownerId === 'a' ? 600 : 10)),
    new Set(['a']),
  );
  assert.deepEqual(
    look(({ ownerId }) => (ownerId === 'a' ? 300 : 900)),
    new Set(),
    'each half',
  );
  assert.deepEqual(
    look(({ ownerId }) => (ownerId === 'a' ? 20 : 0)),
    new Set(),
    'next to nothing',
  );
  assert.deepEqual(
    look(({ ownerId }) => (ownerId === 'a' ? 0 : 900)),
    new Set(['b']),
  );
});

test('few processes start at a time, and one of each owner', () => {
  using stage = new Stage({ maxAwake: 16, maxLoading: 2 });
  stage.areLoading = true;
  for (let n = 0; n < 10; n++) stage.ask('a', n);
  stage.settle();
  assert.equal(stage.all.length, 2);
  for (const owner of ['b', 'c']) for (let n = 0; n < 3; n++) stage.ask(owner, n);
  stage.settle();
  assert.deepEqual(Object.fromEntries(countByOwner(stage.all)), { a: 2, b: 1, c: 1 });
  // What is stuck before it has loaded its code holds up no other.
  for (const one of stage.all) one.isAsleep = true;
  stage.slots.serve();
  assert.ok(stage.all.length > 4);
  for (let left = 20; left > 0; left--) {
    for (const one of stage.all) one.isLoading = false;
    stage.slots.serve();
  }
  stage.settle();
  assert.equal(stage.waiting.size, 0);
});

test('sleeping runs hold up nothing', () => {
  using stage = new Stage();
  for (let n = 0; n < 24; n++) {
    stage.ask('a', n);
    stage.settle();
    for (const one of stage.all) one.isAsleep = one.inFlight > 0;
  }
  assert.equal(stage.all.length, 24);
  stage.ask('b', 1);
  stage.settle();
  assert.equal(stage.waiting.size, 0);
});

test('one owner alone has all of the CPU, and gives half away', () => {
  using stage = new Stage({ turnMs: 1000 });
  for (let n = 0; n < 10; n++) stage.ask('a', n);
  stage.settle();
  const working = () => Object.fromEntries(countByOwner(stage.all.filter((one) => isAwake(one) && isStaying(one))));
  assert.deepEqual(working(), { a: 4 });
  for (let n = 0; n < 10; n++) stage.ask('b', n);
  stage.settle();
  assert.deepEqual(working(), { a: 2, b: 2 });
  // Those that gave way work on until their runs have ended, and then there are no more than there should be.
  assert.equal(stage.all.filter(isAwake).length, 6);
  for (const one of stage.all.filter(({ isYielding }) => isYielding)) one.end();
  stage.settle();
  assert.deepEqual([stage.all.filter(isAwake).length, working()], [4, { a: 2, b: 2 }]);
});

test('processes are kept, and begin again without a start', () => {
  using stage = new Stage();
  for (let round = 0; round < 30; round++) {
    for (let n = 0; n < 100; n++) {
      stage.ask('a', n);
      stage.settle();
      for (const one of stage.all) if (one.inFlight > 0) one.end();
    }
  }
  assert.equal(stage.started, 100);
});

test('busy processes take turns, and none is started twice', () => {
  using stage = new Stage({ turnMs: 1000 });
  const served = new Map<string, number>();
  for (let n = 0; n < 24; n++) stage.ask('a', n);
  for (let round = 0; round < 200; round++) {
    stage.settle();
    // Each has a next run at once, as a long queue has.
    for (const one of stage.all.filter(({ inFlight }) => inFlight > 0)) {
      served.set(one.options.key, (served.get(one.options.key) ?? 0) + 1);
      const n = Number(one.options.key.split('_').at(-1));
      if (!one.isYielding) stage.ask('a', n);
      const [first] = one.runs;
      if (first) {
        one.runs.delete(first);
        if (one.runs.size === 0) {
          one.runs.add(first);
          one.end();
          stage.ask('a', n);
        } else first.end(RETURNED);
      }
    }
    stage.nowMs += 300;
    stage.slots.serve();
  }
  assert.equal(served.size, 24, 'all were served');
  assert.equal(stage.started, 24);
});

test('the memory bounds what is kept, and recent use decides', () => {
  // Room for ten, of which five belong to each of two owners.
  using stage = new Stage({ poolMb: 200 });
  const run = (owner: string, n: number) => {
    stage.ask(owner, n);
    stage.settle();
    for (const one of stage.all) if (one.inFlight > 0) one.end();
    stage.settle();
  };
  for (let n = 0; n < 10; n++) run('a', n);
  run('a', 0);
  assert.equal(stage.started, 10);
  run('a', 10);
  const keys = stage.all.map(({ options }) => options.key);
  assert.ok(keys.includes('d_a_0') && !keys.includes('d_a_1'), 'the least recently used has gone');
  assert.equal(stage.all.length, 10);
});

test('an owner with a crowd gives up its own first', () => {
  using stage = new Stage({ maxProcesses: 10, maxAwake: 4 });
  const run = (owner: string, n: number) => {
    stage.ask(owner, n);
    stage.settle();
    for (const one of stage.all) if (one.inFlight > 0) one.end();
    stage.settle();
  };
  run('b', 1);
  for (let round = 0; round < 3; round++) for (let n = 0; n < 30; n++) run('a', n);
  const before = stage.started;
  run('b', 1);
  assert.equal(stage.started, before, "b's only process is as old as can be, and still there");
  assert.equal(idleInOrder(stage.all, 10)[0]?.ownerId, 'a');
});

test('a quota of processes is never passed', () => {
  fc.assert(
    fc.property(OPS, (ops) => {
      using stage = new Stage();
      stage.quotas.set('a', { processes: 2, cpuSecondsPerMinute: null, isFull: false });
      for (const op of ops) {
        play(stage, op);
        assert.ok(stage.all.filter(({ ownerId }) => ownerId === 'a').length <= 2);
      }
    }),
  );
});

/** Its process ends early, with the run in it. */
function die(stage: Stage, one: PlayedProcess | undefined): void {
  assert.ok(one);
  stage.slots.endedEarly(one);
  one.isDraining = true;
  one.end();
  stage.settle();
}

test('code whose processes keep ending is started later', () => {
  using stage = new Stage();
  for (let n = 0; n < 3; n++) {
    stage.ask('a', 1);
    die(stage, stage.all[0]);
  }
  const [waits, other] = [stage.ask('a', 1), stage.ask('a', 2)];
  stage.settle();
  assert.deepEqual([...stage.waiting], [waits], 'only that code');
  assert.ok(stage.slots.processOf(other));
  assert.ok(stage.slots.processOf(stage.ask('a', 1, true)), 'whoever is alone is judged at once');
  stage.nowMs += 200;
  stage.slots.serve();
  stage.settle();
  assert.equal(stage.waiting.size, 0);
  die(stage, stage.slots.processOf(waits));
  const longer = stage.ask('a', 1);
  stage.nowMs += 100;
  stage.slots.serve();
  assert.equal(stage.slots.processOf(longer), undefined, 'for twice as long');
  stage.hasOtherOwners = false;
  stage.slots.serve();
  assert.ok(stage.slots.processOf(longer), 'nobody else has anything to do');
});

test('runs wait while large results of their owner do', () => {
  using stage = new Stage();
  stage.ask('a', 1);
  stage.behind.add('a');
  const [same, other, free] = [stage.ask('a', 1), stage.ask('a', 2), stage.ask('b', 1)];
  stage.settle();
  assert.deepEqual([...stage.waiting], [same, other]);
  assert.ok(stage.slots.processOf(free));
  stage.behind.clear();
  stage.slots.serve();
  stage.settle();
  assert.equal(stage.waiting.size, 0);
});

test('runs wait while their owner is over its CPU', () => {
  using stage = new Stage();
  stage.quotas.set('a', { processes: null, cpuSecondsPerMinute: 6, isFull: false });
  stage.ask('a', 1);
  stage.cpuUse.add('a', 5999 - START_CPU_MS, stage.nowMs);
  stage.ask('a', 1);
  assert.equal(stage.all[0]?.inFlight, 2);
  stage.cpuUse.add('a', 1, stage.nowMs);
  const [same, other, free] = [stage.ask('a', 1), stage.ask('a', 2), stage.ask('b', 1)];
  stage.settle();
  assert.deepEqual([...stage.waiting], [same, other]);
  assert.ok(stage.slots.processOf(free));
  stage.nowMs += 61_000;
  stage.slots.serve();
  stage.settle();
  assert.equal(stage.waiting.size, 0);
});
