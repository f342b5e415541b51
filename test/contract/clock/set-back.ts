// A clock that is set back: what was to happen in ten minutes happens in ten minutes.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import { NOTICE_LIMITS } from '../../../src/domain/notices/limits.ts';
import { DEFAULT_SETTINGS, type Schedule, type Trigger } from '../../../src/domain/resource.ts';
import { CLOCK_LIMITS } from '../../../src/domain/watch/clock-limits.ts';
import { dueTick, firstTickMs } from '../../../src/engine/schedule/cron.ts';
import { FAILED, healthOf, putOff, record, withWebhooks } from '../deliveries/sending.ts';
import { all, at, defined, failed, type Harness, mail, none, only, START_MS, succeeded, times } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { fail, muted, oneGroup, order, stateOf } from '../log/grouping.ts';
import { Stage } from '../stage.ts';

const follow = ({ store }: Pick<Stage, 'store'>): Promise<number> => store.followClock(firstTickMs);

/** The clock is set back, right after a time that the store has kept. */
async function setBack(stage: Stage, ms: number): Promise<void> {
  equal(await follow(stage), 0);
  stage.clock.advance(-ms);
}

async function scheduled(stage: Stage, schedule: Partial<Schedule>): Promise<Trigger> {
  const whole = { cron: null, intervalMs: null, timezone: 'UTC', ...schedule };
  const workflow = stage.make.workflow();
  const nextAtMs = firstTickMs(whole, stage.clock.nowMs());
  const write = await stage.write({
    workflow,
    triggers: [stage.make.timer(workflow.id, nextAtMs, { schedule: whole })],
  });
  return at(write.triggers, 0);
}

/** Fires what is due. Returns the due times. */
async function fire(stage: Stage): Promise<number[]> {
  const fired: number[] = [];
  for (const { id, schedule, nextAtMs } of await stage.store.dueTriggers(100)) {
    const known = defined(schedule);
    const due = dueTick(known, defined(nextAtMs), stage.clock.nowMs());
    const tick = { triggerId: id, schedule: known, expectedAtMs: due.dueAtMs, nextAtMs: due.nextAtMs };
    if (await stage.store.fireTrigger(tick, stage.make.emission(id), none())) fired.push(due.dueAtMs);
  }
  return fired;
}

/** Lets time pass in steps. Returns when ticks were fired, since the start of it. */
async function firedWithin(stage: Stage, ms: number, stepMs = MINUTE_MS): Promise<number[]> {
  const fired: number[] = [];
  for (let passedMs = 0; passedMs <= ms; passedMs += stepMs) {
    if (passedMs > 0) stage.clock.advance(stepMs);
    await follow(stage);
    for (const _ of await fire(stage)) fired.push(passedMs);
  }
  return fired;
}

const nextOf = async (stage: Stage, timer: Trigger): Promise<number | null> =>
  only(await stage.store.listTriggers(stage.owner.id, timer.runnableId)).nextAtMs;

export function setBackContract(harness: Harness): void {
  describe('a clock that is set back', () => {
    for (const backMs of [HOUR_MS, DAY_MS]) {
      it(`by ${backMs / HOUR_MS} h lets an interval go on as it was`, async () => {
        await using stage = await Stage.open(harness);
        await scheduled(stage, { intervalMs: 10 * MINUTE_MS });
        stage.clock.advance(10 * MINUTE_MS);
        deepEqual(await fire(stage), [START_MS + 10 * MINUTE_MS]);
        stage.clock.advance(4 * MINUTE_MS);
        await setBack(stage, backMs);
        deepEqual(
          await firedWithin(stage, 30 * MINUTE_MS),
          [6, 16, 26].map((n) => n * MINUTE_MS),
        );
      });

      it(`by ${backMs / HOUR_MS} h lets a cron expression go on, no tick twice as often`, async () => {
        await using stage = await Stage.open(harness);
        await scheduled(stage, { cron: '*/10 * * * *' });
        stage.clock.advance(10 * MINUTE_MS);
        deepEqual(await fire(stage), [START_MS + 10 * MINUTE_MS]);
        stage.clock.advance(4 * MINUTE_MS);
        await setBack(stage, backMs);
        deepEqual(
          await firedWithin(stage, 30 * MINUTE_MS),
          [6, 16, 26].map((n) => n * MINUTE_MS),
        );
      });
    }

    it('by less than the time between two ticks repeats none and loses none', async () => {
      await using stage = await Stage.open(harness);
      const hourly = await scheduled(stage, { cron: '0 * * * *' });
      const daily = await scheduled(stage, { cron: '0 13 * * *' });
      stage.clock.advance(HOUR_MS);
      equal((await fire(stage)).length, 2);
      stage.clock.advance(10 * MINUTE_MS);
      await setBack(stage, 30 * MINUTE_MS);
      equal(await follow(stage), 30 * MINUTE_MS);
      deepEqual(
        [await nextOf(stage, hourly), await nextOf(stage, daily)],
        [START_MS + 2 * HOUR_MS, START_MS + 25 * HOUR_MS],
      );
      stage.clock.ms = START_MS + HOUR_MS;
      deepEqual(await fire(stage), [], 'this hour was fired');
      stage.clock.ms = START_MS + 2 * HOUR_MS;
      deepEqual(await fire(stage), [START_MS + 2 * HOUR_MS]);
    });

    it('repeats a due time that the clock passes a whole day later', async () => {
      await using stage = await Stage.open(harness);
      await scheduled(stage, { cron: '0 13 * * *' });
      stage.clock.advance(HOUR_MS);
      deepEqual(await fire(stage), [START_MS + HOUR_MS]);
      await setBack(stage, DAY_MS);
      deepEqual(await firedWithin(stage, 2 * DAY_MS, HOUR_MS), [DAY_MS, 2 * DAY_MS]);
    });

    it('is followed once, by whichever of several callers', async () => {
      await using stage = await Stage.open(harness);
      const timer = await scheduled(stage, { intervalMs: 10 * MINUTE_MS });
      await setBack(stage, HOUR_MS);
      const followed = await Promise.all(times(3, () => follow(stage)));
      deepEqual(new Set(followed).has(HOUR_MS), true);
      await follow(stage);
      equal(await nextOf(stage, timer), stage.clock.nowMs() + 10 * MINUTE_MS);
      await setBack(stage, HOUR_MS);
      await follow(stage);
      equal(await nextOf(stage, timer), stage.clock.nowMs() + 10 * MINUTE_MS, 'the next jump is another one');
    });

    it('is noticed by a start after it', async () => {
      await using stage = await Stage.open(harness);
      const timer = await scheduled(stage, { intervalMs: 10 * MINUTE_MS });
      await setBack(stage, DAY_MS);
      await stage.reopen();
      equal(await follow(stage), DAY_MS);
      equal(await nextOf(stage, timer), stage.clock.nowMs() + 10 * MINUTE_MS);
      await stage.reopen();
      equal(await follow(stage), 0);
      equal(await nextOf(stage, timer), stage.clock.nowMs() + 10 * MINUTE_MS);
    });

    it('by as little as machines are apart changes nothing', async () => {
      await using stage = await Stage.open(harness);
      const timer = await scheduled(stage, { intervalMs: 10 * MINUTE_MS });
      await setBack(stage, CLOCK_LIMITS.toleranceMs);
      equal(await follow(stage), 0);
      equal(await nextOf(stage, timer), START_MS + 10 * MINUTE_MS);
    });

    it('is measured from the time that was seen last', async () => {
      await using stage = await Stage.open(harness);
      const timer = await scheduled(stage, { intervalMs: 10 * MINUTE_MS });
      await follow(stage);
      stage.clock.advance(CLOCK_LIMITS.keptMs - SECOND_MS);
      await setBack(stage, HOUR_MS);
      equal(await follow(stage), HOUR_MS);
      equal(await nextOf(stage, timer), stage.clock.nowMs() + 9 * MINUTE_MS + SECOND_MS);
    });

    it('lets waits end as late as they were to', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const soon = await stage.waiting(workflow, { ms: 10 * MINUTE_MS });
      const later = await stage.waiting(workflow, { kind: 'suspend', ms: 2 * DAY_MS });
      const again = await stage.started(workflow);
      await stage.tryAgain(again, 20 * MINUTE_MS);
      await setBack(stage, DAY_MS);
      await follow(stage);
      const stateOfRun = async ({ run }: { run: number }): Promise<string> =>
        defined(await stage.store.getRun(stage.owner.id, run)).state;
      equal((await stage.pass(10 * MINUTE_MS - 1)).queued, 0, 'never earlier');
      equal((await stage.pass(1)).queued, 1);
      deepEqual([await stateOfRun(soon), await stateOfRun(again)], ['queued', 'waiting']);
      equal((await stage.pass(10 * MINUTE_MS)).queued, 1);
      equal((await stage.pass(2 * DAY_MS - 20 * MINUTE_MS - 1)).cancelled.length, 0);
      equal((await stage.pass(1)).cancelled.length, 1);
      equal(await stateOfRun(later), 'cancelled');
      await assertLedgerAddsUp(stage);
    });

    it('lets retries come as late as they were to', async () => {
      await using stage = await withWebhooks(harness, 2);
      await stage.append(stage.emitterId);
      const deliveries = await stage.deliveries();
      equal(deliveries.length, 2);
      for (const delivery of deliveries) await record(stage, delivery, FAILED);
      await stage.append(stage.emitterId);
      await setBack(stage, DAY_MS);
      await follow(stage);
      const first = await stage.deliveries();
      equal(first.length, 2, 'first attempts come at once');
      stage.clock.advance(5 * SECOND_MS - 1);
      deepEqual(await stage.deliveries(), [], 'never earlier');
      equal((await stage.store.claimDeliveries(10, none())).nextDueAtMs, stage.clock.ms + 1);
      stage.clock.advance(1);
      equal((await stage.deliveries()).length, 2);
      await assertLedgerAddsUp(stage);
    });

    it('lets retries of an ordered webhook go on, also after a start', async () => {
      await using stage = await withWebhooks(harness, 1, { settings: { ordered: true } });
      await stage.append(stage.emitterId);
      await stage.append(stage.emitterId);
      await record(stage, only(await stage.deliveries()), FAILED);
      await setBack(stage, HOUR_MS);
      await stage.reopen();
      await follow(stage);
      deepEqual(await stage.deliveries(), []);
      stage.clock.advance(5 * SECOND_MS);
      const again = only(await stage.deliveries());
      equal(again.attempt, 2);
      await stage.delivered(again);
      equal((await stage.deliveries()).length, 1);
    });

    it('ends a pause that a receiver asked for as late as it was to', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      await record(stage, only(await stage.deliveries()), putOff(10 * MINUTE_MS));
      await setBack(stage, DAY_MS);
      await follow(stage);
      deepEqual(await stage.deliveries(), []);
      equal((await healthOf(stage, stage.main)).pausedUntilMs, stage.clock.ms + 10 * MINUTE_MS);
      stage.clock.advance(10 * MINUTE_MS - 1);
      deepEqual(await stage.deliveries(), []);
      stage.clock.advance(1);
      equal((await stage.deliveries()).length, 1);
    });

    it('lets the window of a digest end as late as it was to', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const repeat = async (): Promise<void> => {
        await stage.failure(workflow, 'Boom');
        const told = only(await stage.claim(1, stage.global.id));
        await stage.end(told, succeeded({ outgoing: [mail('Boom')] }));
        for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
      };
      await repeat();
      await repeat();
      stage.clock.advance(HOUR_MS);
      await setBack(stage, DAY_MS);
      await follow(stage);
      await repeat();
      stage.clock.advance(23 * HOUR_MS - 1);
      deepEqual((await stage.store.closeDigests(all())).deliveries, []);
      stage.clock.advance(1);
      equal((await stage.store.closeDigests(all())).deliveries.length, 1);
      await assertLedgerAddsUp(stage);
    });

    it('lets the next notice of a group come as late as it was to', async () => {
      await using stage = await Stage.open(harness);
      const settings = { ...DEFAULT_SETTINGS, channels: ['ch_0000000000000001'] };
      const workflow = await stage.workflow({ settings });
      await fail(stage, workflow);
      await stage.store.endNotice(only(await stage.store.takeNotices(9)), HOUR_MS);
      await fail(stage, workflow);
      await setBack(stage, DAY_MS);
      await follow(stage);
      await fail(stage, workflow);
      stage.clock.advance(HOUR_MS - 1);
      deepEqual(await stage.store.takeNotices(9), []);
      stage.clock.advance(1);
      equal(only(await stage.store.takeNotices(9)).more, 2);
    });

    it('lets groups be told one by one again as soon as they were to', async () => {
      await using stage = await Stage.open(harness);
      const settings = { ...DEFAULT_SETTINGS, channels: ['ch_0000000000000001'] };
      const workflow = await stage.workflow({ settings });
      const codes = times(NOTICE_LIMITS.noticesAtOnce, (n) => `Code${n}`);
      for (const code of codes) await fail(stage, workflow, { code });
      for (const notice of await stage.store.takeNotices(100)) await stage.store.endNotice(notice, HOUR_MS);
      await setBack(stage, DAY_MS);
      await follow(stage);
      stage.clock.advance(NOTICE_LIMITS.foldMs);
      await fail(stage, workflow, { code: 'Other' });
      equal(only(await stage.store.takeNotices(100)).folded, null);
    });

    it('ends a mute by the clock as it is', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      await order(stage, group, muted({ untilMs: stage.clock.ms + HOUR_MS }));
      await setBack(stage, HOUR_MS);
      await follow(stage);
      stage.clock.advance(2 * HOUR_MS - 1);
      await fail(stage, workflow);
      equal(await stateOf(stage, group), 'muted');
      stage.clock.advance(1);
      await fail(stage, workflow);
      equal(await stateOf(stage, group), 'open');
    });

    it('lets the global workflow be told as late as it was to', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ settings: { ...DEFAULT_SETTINGS, globalErrors: 'fallback' } });
      const subscriber = await stage.workflow();
      await stage.subscribe(workflow.id, subscriber.id, ERRORS);
      await stage.failure(workflow);
      await stage.end(only(await stage.claim(1, subscriber.id)), failed('Boom'));
      await setBack(stage, DAY_MS);
      await follow(stage);
      stage.clock.advance(SECOND_MS);
      const { claims } = await stage.store.tellGlobal(all());
      // The subscriber's own error goes there, too.
      equal(claims.runs.length + (await stage.claim(9, stage.global.id)).length, 2);
    });

    it('is another one’s as well: all owners’ schedules go on', async () => {
      await using stage = await Stage.open(harness);
      const neighbour = await stage.neighbour();
      const timers = [
        await scheduled(stage, { intervalMs: MINUTE_MS }),
        await scheduled(neighbour, { intervalMs: MINUTE_MS }),
      ];
      await setBack(stage, HOUR_MS);
      await follow(stage);
      stage.clock.advance(MINUTE_MS);
      equal((await fire(stage)).length, timers.length);
    });
  });

  describe('a clock that is set forward', () => {
    it('fires each schedule once, and then as before', async () => {
      await using stage = await Stage.open(harness);
      const interval = await scheduled(stage, { intervalMs: MINUTE_MS });
      const cron = await scheduled(stage, { cron: '* * * * *' });
      await follow(stage);
      stage.clock.advance(DAY_MS);
      equal(await follow(stage), 0);
      equal((await fire(stage)).length, 2);
      deepEqual(await fire(stage), []);
      for (const timer of [interval, cron]) ok(defined(await nextOf(stage, timer)) <= stage.clock.ms + MINUTE_MS);
      await setBack(stage, DAY_MS);
      deepEqual(
        await firedWithin(stage, 2 * MINUTE_MS),
        times(2, (n) => n + 1).flatMap((n) => [n * MINUTE_MS, n * MINUTE_MS]),
      );
    });
  });
}
