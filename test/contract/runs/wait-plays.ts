// Whatever the order in which runs begin, wait, are resumed, cancelled and lost: each is where it should be, a throttle
// holds in every interval, and in the end all of them are over.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SECOND_MS } from '../../../src/domain/limits.ts';
import type { Webhook, Workflow } from '../../../src/domain/resource.ts';
import type { ClaimedRun, RunState } from '../../../src/domain/run/run.ts';
import type { WaitAsked, WaitKind } from '../../../src/domain/run/wait.ts';
import type { Claims } from '../../../src/store/contract/store.ts';
import { all, CountedSlots, defined, type Harness, none, shareOf, waits } from '../fixtures.ts';
import { assertCountersAreRight, assertLedgerAddsUp } from '../log/counting.ts';
import { type RandomStep, stepOf } from '../log/random-steps.ts';
import { Stage } from '../stage.ts';

const MAX_AHEAD_MS = 100;

const STEPS = [
  'append',
  'append too',
  'append busy',
  'claim',
  'claim all',
  'delay',
  'suspend',
  'rerun',
  'retry',
  'end',
  'resume',
  'resume early',
  'cancel by address',
  'cancel early',
  'cancel',
  'return',
  'release',
  'second',
  'end waits',
  'reopen',
] as const;

type Step = RandomStep<(typeof STEPS)[number]>;

/** What is known of a run. */
interface Known {
  state: RunState;
  waits: number;
  wait: { readonly kind: WaitKind; readonly dueAtMs: number } | null;
  /** Ordered before the wait that it is for. */
  early: { readonly order: 'resume' | 'cancel' | 'stop'; readonly request: string | null } | null;
  resumed: string | null;
  attempt: number;
  losses: number;
}

const THROTTLE = { limit: 3, intervalMs: 2 * SECOND_MS };
/** Seldom are there so many. */
const ALL = 100;
const TRIED_AGAIN = { kind: 'retry', ms: SECOND_MS } as const;

class Play {
  readonly stage: Stage;
  readonly workflows: readonly Workflow[];
  readonly webhook: Webhook;
  readonly known = new Map<number, Known>();
  held: ClaimedRun[] = [];
  /** When runs of the throttled workflow began. */
  readonly begun: number[] = [];

  constructor(stage: Stage, workflows: readonly Workflow[], webhook: Webhook) {
    this.stage = stage;
    this.workflows = workflows;
    this.webhook = webhook;
  }

  static async on(stage: Stage): Promise<Play> {
    const workflows = [await stage.workflow(), await stage.workflow({ settings: { throttle: THROTTLE } })];
    return new Play(stage, workflows, await stage.webhook());
  }

  async step({ what, which, isPoisoned }: Step): Promise<void> {
    const done = this.#do(what, which);
    const poison = isPoisoned ? rejects(this.stage.store.createWebhook(this.webhook)) : undefined;
    await Promise.all([done, poison]);
    await this.assertAsKnown();
  }

  async #do(what: Step['what'], which: number): Promise<void> {
    const { stage } = this;
    if (what.startsWith('append')) {
      const { id } = this.workflows[which % 2] as Workflow;
      const isTaken = what !== 'append busy' && this.#queuedOf(id) === 0 && this.#room(id) > 0;
      const { firstRun, claims } = await stage.appendFor(id, {}, what === 'append busy' ? none() : all());
      const fresh = {
        state: 'queued',
        waits: 0,
        wait: null,
        early: null,
        resumed: null,
        attempt: 1,
        losses: 0,
      } as const;
      this.known.set(defined(firstRun), fresh);
      equal(claims.runs.length, isTaken ? 1 : 0);
      this.#take(claims);
    } else if (what === 'claim') await this.claim(which % 4);
    else if (what === 'claim all') await this.claim(ALL);
    else if (what === 'second') stage.clock.advance(SECOND_MS);
    else if (what === 'end waits') await this.endWaits();
    else if (what === 'reopen') await this.#reopen();
    else if (what.startsWith('resume') || what.startsWith('cancel')) await this.#order(what, which);
    else await this.#finish(what, which);
  }

  async #finish(what: Step['what'], which: number): Promise<void> {
    const { stage } = this;
    const [run] = this.held.splice(which % Math.max(this.held.length, 1), 1);
    if (!run) return;
    const known = defined(this.known.get(run.run));
    const slots = new CountedSlots(2);
    if (what === 'release' || what === 'return') {
      this.#queueAgain(known);
      if (what === 'release') return stage.giveBack(run);
      this.#take((await stage.end(run, { ...waits(), end: { kind: 'returned' } }, slots)).claims);
    } else if (what === 'end') {
      Object.assign(known, { state: 'succeeded', early: null });
      this.#take((await stage.end(run, undefined, slots)).claims);
    } else if (what === 'retry') {
      this.#beginWait(known, TRIED_AGAIN);
      await stage.tryAgain(run, TRIED_AGAIN.ms);
    } else {
      const wait = { kind: what as WaitAsked['kind'], ms: (1 + (which % 3)) * SECOND_MS };
      this.#beginWait(known, wait);
      const { claims, isCancelled } = await stage.end(run, waits(wait), slots);
      equal(isCancelled ?? false, known.state === 'cancelled');
      this.#take(claims);
    }
  }

  #queueAgain(known: Known): void {
    known.state = known.early?.order === 'stop' ? 'cancelled' : 'queued';
  }

  #beginWait(known: Known, { kind, ms }: { kind: WaitKind; ms: number }): void {
    // The next attempt gives addresses of its own away; but who wanted the run to end still does.
    const order = kind === 'retry' && known.early?.order === 'resume' ? null : known.early;
    known.waits++;
    if (kind === 'retry') known.attempt++;
    known.state = order === null ? 'waiting' : order.order === 'resume' ? 'queued' : 'cancelled';
    known.wait = order === null ? { kind, dueAtMs: this.stage.clock.ms + ms } : null;
    known.resumed = order?.request ?? null;
    known.early = null;
  }

  async #order(what: Step['what'], which: number): Promise<void> {
    const { store, owner } = this.stage;
    // Now and then one that is over.
    const runs = [...this.known].filter(([, { state }]) => which === 0 || isOpen(state));
    const [run, known] = runs[which % Math.max(runs.length, 1)] ?? [];
    if (run === undefined || known === undefined) return;
    if (what === 'cancel') {
      if (known.state === 'queued' || known.state === 'waiting')
        Object.assign(known, { state: 'cancelled', wait: null });
      equal(await store.cancelRun(owner.id, run), known.state);
      if (known.state === 'running') known.early = { order: 'stop', request: null };
      return;
    }
    const order = what.startsWith('resume') ? 'resume' : 'cancel';
    const isEarly = what.endsWith('early');
    const request = order === 'resume' ? JSON.stringify({ which }) : null;
    const isTaken = isEarly ? this.#orderedEarly(known) : known.state === 'waiting' && known.wait?.kind !== 'retry';
    const answer = await store.resumeRun({ run, waits: known.waits + (isEarly ? 1 : 0) }, order, request);
    equal(answer, isTaken ? 'taken' : 'over');
    if (!isTaken) return;
    if (isEarly) known.early = { order, request };
    else if (order === 'cancel') Object.assign(known, { state: 'cancelled', wait: null });
    else Object.assign(known, { state: 'queued', wait: null, resumed: request });
  }

  #orderedEarly({ state, early }: Known): boolean {
    return (state === 'running' || state === 'queued') && early === null;
  }

  async claim(limit: number): Promise<void> {
    const { runs, nextDueAtMs } = await this.stage.store.claimRuns(limit, all());
    this.#hold(runs);
    if (limit < ALL) return;
    const [free, slow] = this.workflows.map(({ id }) => this.#queuedOf(id)) as [number, number];
    equal(free, 0, 'nothing else keeps a run from being claimed');
    if (slow === 0) return equal(nextDueAtMs, null);
    // By the number of the run that began, which may be a little ahead of the clock.
    const aheadMs = defined(nextDueAtMs) - (defined(this.begun.at(-THROTTLE.limit)) + THROTTLE.intervalMs);
    ok(aheadMs >= 0 && aheadMs < MAX_AHEAD_MS, `${aheadMs} ms later than the throttle says`);
  }

  #queuedOf(workflowId: string): number {
    const ours = this.#workflowOf;
    return [...this.known].filter(([run, { state }]) => state === 'queued' && ours.get(run) === workflowId).length;
  }

  readonly #workflowOf = new Map<number, string>();

  async endWaits(): Promise<void> {
    const due = [...this.known].filter(([, { wait }]) => wait !== null && wait.dueAtMs <= this.stage.clock.ms);
    const suspended = due.filter(([, { wait }]) => wait?.kind === 'suspend');
    for (const [, known] of due) {
      known.state = known.wait?.kind === 'suspend' ? 'cancelled' : 'queued';
      known.wait = null;
    }
    const { queued, cancelled, isMore } = await this.stage.store.endWaits(1000);
    deepEqual([queued, isMore], [due.length - suspended.length, false]);
    deepEqual(
      [...cancelled].sort(),
      suspended.map(([run]) => run),
    );
  }

  async #reopen(): Promise<void> {
    await this.stage.reopen();
    for (const { run } of this.held.splice(0)) {
      const known = defined(this.known.get(run));
      this.#queueAgain(known);
      if (known.state === 'cancelled') continue;
      known.losses++;
      if (known.losses < 3) known.attempt++;
      else known.state = 'failed';
    }
    this.#take((await this.stage.store.rescue(none())).claims);
  }

  #take({ runs }: Claims): void {
    this.#hold(runs);
  }

  #hold(runs: readonly ClaimedRun[]): void {
    for (const run of runs) {
      // Of an error of a run that was lost too often.
      const known = this.known.get(run.run);
      if (!known) continue;
      const checkpoint = run.checkpoint === null ? null : (JSON.parse(run.checkpoint) as { waits: number });
      deepEqual(
        [known.state, checkpoint?.waits ?? 0, run.resumed, run.attempt],
        ['queued', known.waits, known.resumed, known.attempt],
      );
      known.state = 'running';
      this.held.push(run);
      if (run.runnable.id === this.workflows[1]?.id) this.#begin();
    }
  }

  #begin(): void {
    ok(this.#room(this.workflows[1]?.id) > 0, 'it began too early');
    this.begun.push(this.stage.clock.ms);
  }

  #room(workflowId: string | undefined): number {
    if (workflowId !== this.workflows[1]?.id) return Number.POSITIVE_INFINITY;
    const fromMs = this.stage.clock.ms - THROTTLE.intervalMs;
    return THROTTLE.limit - this.begun.filter((ms) => ms > fromMs).length;
  }

  async assertAsKnown(): Promise<void> {
    for (const [run, known] of this.known) {
      const record = defined(await this.stage.store.getRun(this.stage.owner.id, run));
      this.#workflowOf.set(run, record.runnableId);
      deepEqual([record.state, record.waiting, record.attempt], [known.state, known.wait, known.attempt]);
    }
  }

  async finish(): Promise<void> {
    for (let rounds = 0; rounds < 200; rounds++) {
      this.stage.clock.advance(SECOND_MS);
      await this.endWaits();
      await this.claim(ALL);
      for (const run of this.held.splice(0)) {
        await this.stage.end(run);
        Object.assign(defined(this.known.get(run.run)), { state: 'succeeded', early: null });
      }
      if (![...this.known.values()].some(({ state }) => isOpen(state))) return;
    }
    throw new Error('it never comes to rest');
  }
}

const isOpen = (state: RunState): boolean => state === 'queued' || state === 'running' || state === 'waiting';

export function waitPlaysContract(harness: Harness): void {
  describe('whatever has happened, a run', () => {
    it('waits and goes on as it should', async () => {
      const steps = fc.array(stepOf(STEPS), { minLength: 10, maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(steps, async (list) => {
          await using stage = await Stage.open(harness);
          const play = await Play.on(stage);
          for (const step of list) await play.step(step);
          await assertLedgerAddsUp(stage);
          await assertCountersAreRight(stage);
          await play.finish();
          await play.assertAsKnown();
          await assertLedgerAddsUp(stage);
        }),
        { numRuns: shareOf(harness, 25) },
      );
    });
  });
}
