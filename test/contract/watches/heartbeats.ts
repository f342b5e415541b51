// Heartbeats: what pings change, and what is told of those that do not come.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { defined, type Harness, only, START_MS, times, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { groups } from '../log/grouping.ts';
import { Stage } from '../stage.ts';
import {
  changed,
  codesOf,
  errorsOf,
  eventsOf,
  every,
  heartbeat,
  judgeOf,
  look,
  now,
  ping,
  recoveriesOf,
  watchFor,
} from './watching.ts';

export function heartbeatsContract(harness: Harness): void {
  describe('a heartbeat', () => {
    it('is missed once, from its first ping on', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      await watchFor(stage, HOUR_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), []);
      await ping(stage, beat);
      await watchFor(stage, 12 * MINUTE_MS - SECOND_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), []);
      await watchFor(stage, SECOND_MS);
      const error = only(await errorsOf(stage, beat.heartbeat.id));
      equal(error.code, 'Silent');
      match(error.msg, /"Backup" was not heard in time \(last 2027-01-15T13:00:00.000Z, grace 2 min\)/);
      await watchFor(stage, HOUR_MS);
      await stage.reopen();
      await watchFor(stage, HOUR_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['Silent']);
      equal(only(await groups(stage)).state, 'open');
      await ping(stage, beat);
      const { code, since_ms: sinceMs } = only(await recoveriesOf(stage, beat.heartbeat.id));
      deepEqual([code, sinceMs], ['Silent', START_MS + HOUR_MS + 12 * MINUTE_MS]);
      equal(only(await groups(stage)).state, 'resolved');
      await watchFor(stage, 12 * MINUTE_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['Silent', 'Silent']);
      equal(only(await groups(stage)).count, 2);
      await assertLedgerAddsUp(stage);
    });

    it('costs one row, however often it is pinged', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      const before = await stage.store.ledger(stage.owner.id);
      await Promise.all(times(20, () => ping(stage, beat)));
      await timesInTurn(5, () => ping(stage, beat));
      const { watch } = await now(stage, beat);
      deepEqual([watch.counts.pings, watch.lastAtMs], [25, stage.clock.ms]);
      deepEqual(await stage.store.ledger(stage.owner.id), before);
    });

    it('takes a flood of pings in few transactions', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      let decisions = 0;
      const store: Store = {
        ...stage.store,
        decideWatch: (...about) => {
          decisions++;
          return stage.store.decideWatch(...about);
        },
      };
      const judge = judgeOf({ store, clock: stage.clock });
      const { key } = beat.heartbeat;
      const [success, fail] = [
        { kind: 'success', exitCode: null, log: '' } as const,
        { kind: 'fail', exitCode: 1, log: '' } as const,
      ];
      await Promise.all([
        ...times(500, () => judge.ping(key, success)),
        judge.ping(key, fail),
        ...times(500, () => judge.ping(key, success)),
      ]);
      const { watch } = await now(stage, beat);
      deepEqual([watch.counts.pings, watch.counts.failures, watch.open], [1001, 1, []], 'in their order');
      equal(decisions <= 4, true, `${decisions} decisions`);
    });

    it('tells of each of many failures at once', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      const judge = judgeOf(stage);
      const fail = { kind: 'fail', exitCode: 1, log: '' } as const;
      await Promise.all(times(4, () => judge.ping(beat.heartbeat.key, fail)));
      equal((await codesOf(stage, beat.heartbeat.id)).length, 4);
      equal((await now(stage, beat)).watch.counts.failures, 4);
    });

    it('wakes what looks at it when it becomes due', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      const woken: string[] = [];
      const judge = judgeOf(stage, { notify: (topic) => void woken.push(topic) });
      const success = { kind: 'success', exitCode: null, log: '' } as const;
      for (const _ of times(3, () => 0)) await judge.ping(beat.heartbeat.key, success);
      deepEqual(woken, ['schedules'], 'with the first ping');
      await watchFor(stage, 12 * MINUTE_MS);
      await judge.ping(beat.heartbeat.key, success);
      deepEqual(woken, ['schedules', 'schedules'], 'and with the first after a silence');
    });

    it('tells at once of a job that failed', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      await ping(stage, beat, { kind: 'fail', exitCode: 3, log: 'disk full \ud83d\u0000' });
      const error = only(await errorsOf(stage, beat.heartbeat.id));
      equal(error.code, 'HeartbeatFailed');
      match(error.msg, /the job failed with exit code 3\.\ndisk full/);
      await ping(stage, beat, { kind: 'fail' });
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['HeartbeatFailed', 'HeartbeatFailed']);
      const { watch } = await now(stage, beat);
      deepEqual([watch.counts.failures, watch.open.length, watch.lastAtMs], [2, 1, stage.clock.ms]);
      await watchFor(stage, 12 * MINUTE_MS);
      await ping(stage, beat);
      deepEqual(
        (await recoveriesOf(stage, beat.heartbeat.id)).map(({ code }) => code),
        ['HeartbeatFailed', 'Silent'],
      );
      deepEqual(
        (await groups(stage)).map(({ state }) => state),
        ['resolved', 'resolved'],
      );
      deepEqual((await now(stage, beat)).watch.open, []);
      await assertLedgerAddsUp(stage);
    });

    it('has heard a silent job that fails', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      await ping(stage, beat);
      await watchFor(stage, 12 * MINUTE_MS);
      await ping(stage, beat, { kind: 'fail' });
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['Silent', 'HeartbeatFailed']);
      deepEqual(
        (await now(stage, beat)).watch.open.map(({ code }) => code),
        ['HeartbeatFailed'],
      );
      equal(only(await recoveriesOf(stage, beat.heartbeat.id)).code, 'Silent');
    });

    it('misses the end of a run that began', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      await ping(stage, beat, { kind: 'start' });
      await watchFor(stage, 90 * SECOND_MS);
      await ping(stage, beat);
      equal((await now(stage, beat)).watch.counts.durationMs, 90 * SECOND_MS);
      await watchFor(stage, 9 * MINUTE_MS);
      await ping(stage, beat, { kind: 'start' });
      await watchFor(stage, 2 * MINUTE_MS);
      const began = stage.clock.nowMs() - 2 * MINUTE_MS;
      const { msg } = only(await errorsOf(stage, beat.heartbeat.id));
      ok(msg.endsWith(`: the job began at ${new Date(began).toISOString()}, and did not end within 2 min.`), msg);
      const event = only(await eventsOf(stage, beat.heartbeat.id)) as Record<string, unknown>;
      deepEqual([event.why, event.started_at_ms], ['not_ended', began]);
      await watchFor(stage, HOUR_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['Silent']);
      await ping(stage, beat);
      equal((await recoveriesOf(stage, beat.heartbeat.id)).length, 1);
    });

    it('is missed once, though its next run begins', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      await ping(stage, beat);
      await watchFor(stage, 12 * MINUTE_MS);
      await ping(stage, beat, { kind: 'start' });
      await watchFor(stage, HOUR_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['Silent']);
    });

    it('excuses the ping of a time without a server', async () => {
      await using stage = await Stage.open(harness);
      const hourly = { cron: '0 * * * *', intervalMs: null, timezone: 'UTC' };
      const [beat, later] = [
        await heartbeat(stage, { schedule: hourly }),
        await heartbeat(stage, { schedule: every(2 * HOUR_MS) }),
      ];
      await ping(stage, beat);
      await ping(stage, later);
      await watchFor(stage, 50 * MINUTE_MS);
      stage.clock.advance(20 * MINUTE_MS);
      await stage.reopen();
      await look(stage);
      equal((await now(stage, beat)).watch.expectedAtMs, START_MS + 2 * HOUR_MS);
      equal((await now(stage, later)).watch.expectedAtMs, START_MS + 2 * HOUR_MS);
      await watchFor(stage, 51 * MINUTE_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), []);
      await watchFor(stage, MINUTE_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['Silent']);
      deepEqual(await codesOf(stage, later.heartbeat.id), ['Silent']);
    });

    it('of which only a start was heard before a stop is expected after it', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      await ping(stage, beat, { kind: 'start' });
      await watchFor(stage, MINUTE_MS);
      stage.clock.advance(HOUR_MS);
      await stage.reopen();
      await watchFor(stage, 12 * MINUTE_MS - SECOND_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), [], 'its end may have been called in vain');
      await watchFor(stage, SECOND_MS);
      match(only(await errorsOf(stage, beat.heartbeat.id)).msg, /not heard in time \(never yet/);
    });

    it('that is the first one for a while has no stop behind it', async () => {
      await using stage = await Stage.open(harness);
      const former = await heartbeat(stage);
      await watchFor(stage, MINUTE_MS);
      await stage.store.deleteHeartbeat(stage.owner.id, former.heartbeat.id);
      await watchFor(stage, HOUR_MS);
      const beat = await heartbeat(stage);
      await ping(stage, beat, { kind: 'start' });
      await watchFor(stage, 2 * MINUTE_MS);
      match(only(await errorsOf(stage, beat.heartbeat.id)).msg, /began at \S+Z, and did not end/);
    });

    it('is expected by a clock that was set back', async () => {
      await using stage = await Stage.open(harness);
      stage.clock.advance(1000 * HOUR_MS);
      const beat = await heartbeat(stage);
      await ping(stage, beat);
      await look(stage);
      stage.clock.advance(-1000 * HOUR_MS);
      await watchFor(stage, 12 * MINUTE_MS - SECOND_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), []);
      await watchFor(stage, SECOND_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['Silent']);
    });

    it('is not missed while it is not active', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      await ping(stage, beat);
      await changed(stage, beat, { active: false });
      await watchFor(stage, HOUR_MS);
      await ping(stage, beat);
      equal((await now(stage, beat)).watch.counts.pings, 2);
      await watchFor(stage, HOUR_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), []);
      await changed(stage, beat, { active: true });
      await ping(stage, beat, { kind: 'fail' });
      equal(only(await groups(stage)).state, 'open');
      await changed(stage, beat, { active: false });
      equal(only(await groups(stage)).state, 'resolved');
      await changed(stage, beat, { active: true });
      await watchFor(stage, 11 * MINUTE_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['HeartbeatFailed']);
      await watchFor(stage, MINUTE_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['HeartbeatFailed', 'Silent']);
    });

    it('keeps its address and counts over changes', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      await ping(stage, beat);
      await changed(stage, beat, { name: 'Other', schedule: every(HOUR_MS) });
      const { heartbeat: after, watch } = await now(stage, beat);
      deepEqual([after.name, after.key, watch.counts.pings], ['Other', beat.heartbeat.key, 1]);
      equal(watch.expectedAtMs, stage.clock.ms + HOUR_MS);
      deepEqual(defined(await stage.store.heartbeatByKey(after.key)), { heartbeat: after, watch });
    });

    it('is its owner’s alone, and gone when deleted', async () => {
      await using stage = await Stage.open(harness);
      const [beat, second] = [await heartbeat(stage), await heartbeat(stage)];
      const neighbour = await stage.neighbour();
      const { id, key } = beat.heartbeat;
      const foreign = neighbour.owner.id;
      equal(await stage.store.getHeartbeat(foreign, id), undefined);
      equal(await stage.store.deleteHeartbeat(foreign, id), undefined);
      equal(await stage.store.updateHeartbeat(foreign, id, (before) => before), undefined);
      equal((await stage.store.listHeartbeats(foreign, { limit: 10 })).totalCount, 0);
      equal(await stage.store.exists(foreign, id), false);
      const listed = await stage.store.listHeartbeats(stage.owner.id, { limit: 1 });
      deepEqual([listed.totalCount, only(listed.items).heartbeat.id], [2, second.heartbeat.id]);
      const listener = await stage.workflow();
      await stage.subscribe(id, listener.id, '$errors');
      await ping(stage, beat, { kind: 'fail' });
      equal(only(await stage.claim(10, listener.id)).emission.emitterId, id);
      await stage.store.deleteHeartbeat(stage.owner.id, id);
      equal(await stage.store.heartbeatByKey(key), undefined);
      equal(
        (await stage.store.listSubscriptions({ ownerId: stage.owner.id, emitterId: id }, { limit: 1 })).totalCount,
        0,
      );
      equal(only(await groups(stage, { emitterId: id })).state, 'resolved');
      await watchFor(stage, HOUR_MS);
      equal(await stage.store.nextDueAtMs(), null);
    });

    it('has no room beyond the limit', async () => {
      await using stage = await Stage.open(harness);
      const beat = await heartbeat(stage);
      const another = {
        heartbeat: { ...beat.heartbeat, id: stage.ids.next('hb_'), key: 'other' },
        watch: beat.watch,
      };
      equal(await stage.store.createHeartbeat(another, 1), false);
      equal((await stage.store.listHeartbeats(stage.owner.id, { limit: 10 })).totalCount, 1);
    });
  });
}
