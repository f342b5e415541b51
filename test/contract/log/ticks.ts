// Ticks of one schedule among several nodes, whatever they do: nodes whose idea of the time is off, that stop between
// looking and writing, a clock that is a little off, a schedule that is switched off and on.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { Schedule, Trigger } from '../../../src/domain/resource.ts';
import { dueTick, firstTickMs, tickEvent } from '../../../src/engine/schedule/cron.ts';
import type { WorkflowWrite } from '../../../src/store/contract/resources.ts';
import { all, at, defined, type Harness, json, none, parsed, START_MS } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const NODES = 3;
const HOURLY: Schedule = { cron: null, intervalMs: HOUR_MS, timezone: 'UTC' };

type Command =
  | { readonly kind: 'look' | 'fire'; readonly node: number; readonly offMs: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'toggle'; readonly offMs: number }
  | { readonly kind: 'reopen' };

const node = fc.nat({ max: NODES - 1 });
const offMs = fc.oneof(fc.constant(0), fc.integer({ min: -5000, max: 5000 }));
const commands = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('look' as const), node, offMs }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('fire' as const), node, offMs }) },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: -3000, max: 6000 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('toggle' as const), offMs }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  ),
  { minLength: 10, maxLength: 40 },
);
const schedules = fc.constantFrom<Schedule>(
  { cron: '*/2 * * * * *', intervalMs: null, timezone: 'UTC' },
  { cron: null, intervalMs: SECOND_MS, timezone: 'UTC' },
);

/** One schedule, what each node believes to be due, and what was fired. */
class Ticking {
  readonly stage: Stage;
  readonly fired: number[] = [];
  readonly #schedule: Schedule;
  readonly #seen: (Trigger | undefined)[] = [];
  #write: WorkflowWrite;
  #isActive = true;

  constructor(stage: Stage, schedule: Schedule, write: WorkflowWrite) {
    this.stage = stage;
    this.#schedule = schedule;
    this.#write = write;
  }

  static async begin(stage: Stage, schedule: Schedule): Promise<Ticking> {
    const workflow = stage.make.workflow();
    const nextAtMs = firstTickMs(schedule, stage.clock.nowMs());
    const write = await stage.write({ workflow, triggers: [stage.make.timer(workflow.id, nextAtMs, { schedule })] });
    return new Ticking(stage, schedule, write);
  }

  async do(command: Command): Promise<void> {
    const { stage } = this;
    if (command.kind === 'pass') stage.clock.advance(command.ms);
    else if (command.kind === 'reopen') await stage.reopen();
    else if (command.kind === 'toggle') await this.#toggle(command.offMs);
    else if (command.kind === 'look') this.#seen[command.node] = await this.#look();
    else await this.#fire(command.node, command.offMs);
  }

  async #look(): Promise<Trigger | undefined> {
    const [due] = await this.stage.store.dueTriggers(10);
    if (due) ok(defined(due.nextAtMs) <= this.stage.clock.nowMs(), 'none is due before its time');
    return due;
  }

  /** What it saw may be long ago, and its clock is off. */
  async #fire(node: number, offMs: number): Promise<void> {
    const { stage } = this;
    const seen = this.#seen[node];
    if (!seen) return;
    const due = dueTick(this.#schedule, defined(seen.nextAtMs), stage.clock.nowMs() + offMs);
    const tick = { triggerId: seen.id, schedule: this.#schedule, expectedAtMs: due.dueAtMs, nextAtMs: due.nextAtMs };
    const emission = { ...stage.make.emission(seen.id), body: tickEvent(this.#schedule, due) };
    if (await stage.store.fireTrigger(tick, emission, none())) this.fired.push(due.dueAtMs);
  }

  async #toggle(offMs: number): Promise<void> {
    const { stage } = this;
    this.#isActive = !this.#isActive;
    const nextAtMs = this.#isActive ? firstTickMs(this.#schedule, stage.clock.nowMs() + offMs) : null;
    const triggers = this.#write.triggers.map((trigger) => ({ ...trigger, nextAtMs }));
    this.#write = { ...this.#write, triggers };
    await stage.store.updateWorkflow({ ...this.#write, deployment: null });
  }
}

function scheduleOf({ id, schedule }: Trigger): { id: string; schedule: Schedule } {
  return { id, schedule: defined(schedule) };
}

export function ticksContract(harness: Harness): void {
  describe('ticks', () => {
    it('are fired once per due time, whatever happens', async () => {
      const property = fc.asyncProperty(schedules, commands, async (schedule, steps) => {
        await using stage = await Stage.open(harness);
        const ticking = await Ticking.begin(stage, schedule);
        for (const step of steps) await ticking.do(step);
        equal(new Set(ticking.fired).size, ticking.fired.length, 'each due time once');
        deepEqual(
          ticking.fired,
          ticking.fired.toSorted((a, b) => a - b),
          'in their order',
        );
        equal((await stage.store.ledger(stage.owner.id)).emissions, ticking.fired.length);
      });
      await fc.assert(property, { numRuns: 15 });
    });

    it('come once though the schedule is switched off and on', async () => {
      await using stage = await Stage.open(harness);
      const workflow = stage.make.workflow();
      const write = await stage.write({ workflow, triggers: [stage.make.timer(workflow.id, START_MS)] });
      const timer = at(write.triggers, 0);
      const fire = (ms: number) =>
        stage.store.fireTrigger(
          { triggerId: timer.id, schedule: scheduleOf(timer).schedule, expectedAtMs: ms, nextAtMs: ms + MINUTE_MS },
          stage.make.emission(timer.id),
          all(),
        );
      ok(await fire(START_MS));
      for (const nextAtMs of [null, START_MS]) {
        await stage.store.updateWorkflow({ ...write, deployment: null, triggers: [{ ...timer, nextAtMs }] });
      }
      await stage.reopen();
      equal(await fire(START_MS), null, 'it was fired before');
      equal(await stage.store.nextDueAtMs(), START_MS + MINUTE_MS, 'the next one comes all the same');
      ok(await fire(START_MS + MINUTE_MS));
    });

    it('are those of the schedule that the trigger has by then', async () => {
      await using stage = await Stage.open(harness);
      const [old, other] = [HOURLY, { ...HOURLY, intervalMs: MINUTE_MS }];
      const workflow = stage.make.workflow();
      const timer = stage.make.timer(workflow.id, START_MS, { schedule: old });
      const write = await stage.write({ workflow, triggers: [timer] });
      const put = (schedule: Schedule, nextAtMs: number) =>
        stage.store.updateWorkflow({ ...write, deployment: null, triggers: [{ ...timer, schedule, nextAtMs }] });
      const fire = (schedule: Schedule, ms: number) => {
        const tick = { triggerId: timer.id, schedule, expectedAtMs: ms, nextAtMs: ms + defined(schedule.intervalMs) };
        return stage.store.fireTrigger(tick, stage.make.emission(timer.id), none());
      };
      // Read before the change, and due at the same time: the next one would be that of the old schedule.
      await put(other, START_MS);
      equal(await fire(old, START_MS), null);
      ok(await fire(other, START_MS));
      equal(await stage.store.nextDueAtMs(), START_MS + MINUTE_MS);
      // What was fired is not fired again by another schedule.
      await put(old, START_MS);
      equal(await fire(old, START_MS), null);
      equal(await stage.store.nextDueAtMs(), START_MS + HOUR_MS);
      ok(await fire(old, START_MS + HOUR_MS));
      // The clock was set back: later due times of the old schedule are none of the new one.
      await put(other, START_MS + MINUTE_MS);
      await stage.reopen();
      ok(await fire(other, START_MS + MINUTE_MS));
      equal((await stage.store.ledger(stage.owner.id)).emissions, 3);
    });

    it('belong to the call that expects them, of several at once', async () => {
      await using stage = await Stage.open(harness);
      const workflow = stage.make.workflow();
      const write = await stage.write({ workflow, triggers: [stage.make.timer(workflow.id, START_MS)] });
      const { id: triggerId, schedule } = scheduleOf(at(write.triggers, 0));
      const fire = (ms: number) =>
        stage.store.fireTrigger(
          { triggerId, schedule, expectedAtMs: ms, nextAtMs: ms + MINUTE_MS },
          stage.make.emission(triggerId, { body: json({ ms }) }),
          none(),
        );
      const expected = [START_MS - MINUTE_MS, START_MS, START_MS + SECOND_MS];
      const [early, fired, late] = await Promise.all(expected.map(fire));
      deepEqual([early, late], [null, null]);
      deepEqual(parsed(defined(await stage.store.getEmission(stage.owner.id, defined(fired).entry)).body), {
        ms: START_MS,
      });
      equal((await stage.store.ledger(stage.owner.id)).emissions, 1);
    });

    it('are refused when the next one is not behind them', async () => {
      await using stage = await Stage.open(harness);
      const workflow = stage.make.workflow();
      const write = await stage.write({ workflow, triggers: [stage.make.timer(workflow.id, START_MS)] });
      const { id: triggerId, schedule } = scheduleOf(at(write.triggers, 0));
      for (const nextAtMs of [START_MS, START_MS - 1]) {
        const tick = { triggerId, schedule, expectedAtMs: START_MS, nextAtMs };
        await rejects(async () => stage.store.fireTrigger(tick, stage.make.emission(triggerId), none()), RangeError);
      }
      equal((await stage.store.ledger(stage.owner.id)).emissions, 0);
    });
  });
}
