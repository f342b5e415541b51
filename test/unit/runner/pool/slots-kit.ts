// Process slots over fake processes, with a clock that the test advances, and random operations on them.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CpuUse } from '../../../../src/runner/pool/cpu-use.ts';
import type { Bounds } from '../../../../src/runner/pool/fair-slots.ts';
import { ProcessSlots, type RunQuotas, type SlotProcess } from '../../../../src/runner/pool/process-slots.ts';
import { RETURNED, RunInFlight } from '../../../../src/runner/process/run-in-flight.ts';
import { requestOf } from '../kit.ts';

export class FakeProcess implements SlotProcess {
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
  readonly #pool: TestPool;

  constructor(pool: TestPool, key: string, ownerId: string) {
    this.#pool = pool;
    this.options = { key };
    this.ownerId = ownerId;
    this.lastUsedAt = pool.nowMs;
    this.busySince = pool.nowMs;
  }

  get inFlight(): number {
    return this.runs.size;
  }

  fits(): boolean {
    return true;
  }

  start(run: RunInFlight): void {
    assert.ok(!this.isDraining && !this.isYielding, 'it takes no runs');
    this.lastUsedAt = this.#pool.nowMs;
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

  /** Ends all its runs. */
  end(): void {
    for (const run of this.runs) {
      this.runs.delete(run);
      run.end(RETURNED);
    }
    [this.isYielding, this.isAsleep, this.lastUsedAt] = [false, false, this.#pool.nowMs];
    if (!this.isDraining) this.#pool.slots.serve();
  }
}

export class TestPool implements Disposable {
  nowMs = 1_000_000;
  readonly slots: ProcessSlots<FakeProcess>;
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
    this.slots = new ProcessSlots<FakeProcess>({
      bounds: all,
      quotasOf: (ownerId) => this.quotas.get(ownerId) ?? none,
      cpuUse: this.cpuUse,
      throttle: { isBehind: (ownerId) => this.behind.has(ownerId), hasOtherOwners: () => this.hasOtherOwners },
      create: (key, { deployment }) => {
        this.started++;
        const made = new FakeProcess(this, key, deployment.ownerId);
        made.isLoading = this.areLoading;
        return made;
      },
      nowMs: () => this.nowMs,
    });
  }

  get all(): FakeProcess[] {
    return [...this.slots.all];
  }

  /** Starts a run of the owner's n-th workflow. */
  run(ownerId: string, n: number, alone = false): RunInFlight {
    const deployment = { id: `d_${ownerId}_${n}`, ownerId, runnableId: 'p_1', steps: [], createdAtMs: 0 };
    const run: RunInFlight = new RunInFlight(requestOf(deployment, { alone }), 0, () => {
      this.waiting.delete(run);
      this.slots.ended(run);
    });
    this.waiting.add(run);
    this.slots.start(run);
    return run;
  }

  /** Advances until nothing changes by itself: ending processes are gone. */
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
type Op = { readonly kind: 'run' | 'alone' | 'end' | 'sleep' | 'sample'; readonly owner: number; readonly n: number };
export const OPS: fc.Arbitrary<Op[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('run', 'run', 'run', 'alone', 'end', 'end', 'sleep', 'sample'),
    owner: fc.nat(OWNERS.length - 1),
    n: fc.nat(9),
  }),
  { maxLength: 120 },
);

export function apply(pool: TestPool, { kind, owner, n }: Op): void {
  const ownerId = OWNERS[owner] as string;
  const busy = pool.all.filter(({ inFlight }) => inFlight > 0);
  const one = busy[(owner * 7 + n) % Math.max(1, busy.length)];
  if (kind === 'run' || kind === 'alone') pool.run(ownerId, n, kind === 'alone');
  else if (kind === 'end') one?.end();
  else if (kind === 'sleep' && one) one.isAsleep = true;
  pool.settle();
  if (kind === 'sleep' || kind === 'sample') pool.slots.serve();
  pool.settle();
}

export const isStaying = ({ isYielding, isDraining }: FakeProcess): boolean => !isYielding && !isDraining;
