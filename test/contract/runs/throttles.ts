// A throttled workflow: never more of its runs begin within an interval than it lets, whichever verb lets them begin.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { Throttle, Workflow } from '../../../src/domain/resource.ts';
import type { ClaimedRun } from '../../../src/domain/run/run.ts';
import type { WorkflowWrite } from '../../../src/store/contract/resources.ts';
import { all, at, type Harness, none, only, START_MS, shareOf, times, timesInTurn, upTo, waits } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { Stage } from '../stage.ts';

async function throttled(stage: Stage, limit: number, intervalMs = MINUTE_MS): Promise<Workflow> {
  return stage.workflow({ settings: { throttle: { limit, intervalMs } } });
}

/** Throttled by that from now on. */
async function change(stage: Stage, write: WorkflowWrite, throttle: Throttle | null): Promise<void> {
  const workflow = { ...write.workflow, settings: { ...write.workflow.settings, throttle } };
  await stage.store.updateWorkflow({ ...write, workflow, deployment: null });
}

/** Runs that begin at once. */
async function begin(stage: Stage, workflow: Pick<Workflow, 'id'>, count: number): Promise<ClaimedRun[]> {
  const appended = await timesInTurn(count, () => stage.appendFor(workflow.id, {}, all()));
  return appended.flatMap(({ claims }) => claims.runs);
}

const numbersOf = (runs: readonly { run: number }[]): number[] => runs.map(({ run }) => run);

export function throttlesContract(harness: Harness): void {
  describe('a throttled workflow', () => {
    it('lets so many begin, and queues the rest', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await throttled(stage, 3);
      const appended = await timesInTurn(5, () => stage.appendFor(workflow.id, {}, all()));
      deepEqual(
        appended.map(({ claims }) => claims.runs.length),
        [1, 1, 1, 0, 0],
      );
      const slots = all();
      const claims = await stage.store.claimRuns(10, slots);
      deepEqual([claims.runs, claims.runsWaiting, claims.nextDueAtMs], [[], false, START_MS + MINUTE_MS]);
      slots.assertAccountedFor(claims);
      const { runs } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.running, runs.queued], [3, 2]);
      await assertLedgerAddsUp(stage);
    });

    it('fails what its queue has no room for as RateLimited', async () => {
      await using stage = await Stage.open(harness);
      const throttle = { limit: 1, intervalMs: MINUTE_MS };
      const workflow = await stage.workflow({ settings: { throttle, queueLimit: 1 } });
      const begun = async (admission = all()): Promise<string | undefined> => {
        const { firstRun } = await stage.appendFor(workflow.id, {}, admission);
        const record = await stage.store.getRun(stage.owner.id, firstRun ?? 0);
        return record?.errorCode ?? record?.state;
      };
      deepEqual([await begun(), await begun(), await begun()], ['running', 'queued', 'RateLimited']);
      stage.clock.advance(MINUTE_MS);
      equal(await begun(none()), 'QueueFull', 'one may begin, but waits for slots');
      await assertLedgerAddsUp(stage);
    });

    it('lets the next begin as soon as it may', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await throttled(stage, 2, 10 * SECOND_MS);
      await begin(stage, workflow, 1);
      stage.clock.advance(4 * SECOND_MS);
      await begin(stage, workflow, 1);
      const queued = await timesInTurn(3, () => stage.appendFor(workflow.id, {}, all()));
      const begun: [number, number][] = [];
      for (let second = 4; second < 40; second++) {
        const { runs, nextDueAtMs } = await stage.store.claimRuns(9, all());
        for (const { run } of runs) begun.push([second, run]);
        if (nextDueAtMs !== null) ok(nextDueAtMs > stage.clock.nowMs(), 'nothing that may begin is left');
        stage.clock.advance(SECOND_MS);
      }
      deepEqual(
        begun,
        [10, 14, 20].map((second, i) => [second, at(queued, i).firstRun]),
      );
    });

    it('says when the next may begin', async () => {
      await using stage = await Stage.open(harness);
      const [slow, slower] = [await throttled(stage, 1, MINUTE_MS), await throttled(stage, 1, HOUR_MS)];
      equal((await stage.store.claimRuns(9, all())).nextDueAtMs, null);
      for (const workflow of [slow, slower]) await begin(stage, workflow, 1);
      equal((await stage.store.claimRuns(9, all())).nextDueAtMs, null);
      await stage.appendFor(slower.id);
      equal((await stage.store.claimRuns(9, all())).nextDueAtMs, START_MS + HOUR_MS);
      await timesInTurn(2, () => stage.appendFor(slow.id));
      equal((await stage.store.claimRuns(9, all())).nextDueAtMs, START_MS + MINUTE_MS);
      stage.clock.advance(MINUTE_MS);
      const { runs, nextDueAtMs } = await stage.store.claimRuns(9, all());
      deepEqual([only(runs).runnable.id, nextDueAtMs], [slow.id, START_MS + 2 * MINUTE_MS]);
    });

    it('counts what an end hands over', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await throttled(stage, 3);
      const [first, second] = await begin(stage, workflow, 2);
      await timesInTurn(4, () => stage.appendFor(workflow.id));
      equal((await stage.end(first as ClaimedRun, undefined, all())).claims.runs.length, 1);
      const { claims } = await stage.end(second as ClaimedRun, undefined, all());
      deepEqual([claims.runs, claims.runsWaiting], [[], true]);
      deepEqual((await stage.claim()).length, 0);
      stage.clock.advance(MINUTE_MS);
      equal((await stage.claim()).length, 3);
    });

    it('counts runs that go on', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await throttled(stage, 2);
      const run = await stage.waiting(workflow, { ms: SECOND_MS });
      await stage.store.resumeRun({ run: run.run, waits: 1 }, 'resume', null);
      const again = only(await stage.claim());
      await stage.end(again, waits({ ms: SECOND_MS }), all());
      equal((await stage.pass(SECOND_MS)).queued, 1);
      const { runs, nextDueAtMs } = await stage.store.claimRuns(9, all());
      deepEqual([runs, nextDueAtMs], [[], START_MS + MINUTE_MS]);
      equal((await stage.appendFor(workflow.id, {}, all())).claims.runs.length, 0);
      stage.clock.advance(MINUTE_MS - SECOND_MS);
      equal(at(await stage.claim(), 0).run, run.run);
      await assertLedgerAddsUp(stage);
    });

    it('remembers over a restart', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await throttled(stage, 2);
      await begin(stage, workflow, 1);
      stage.clock.advance(SECOND_MS);
      await begin(stage, workflow, 1);
      await timesInTurn(3, () => stage.appendFor(workflow.id));
      await stage.reopen();
      await stage.store.rescue(none());
      const { runs, nextDueAtMs } = await stage.store.claimRuns(9, all());
      deepEqual([runs, nextDueAtMs], [[], START_MS + MINUTE_MS]);
      stage.clock.advance(MINUTE_MS - SECOND_MS);
      equal((await stage.claim()).length, 1);
      await stage.reopen();
      equal((await stage.store.claimRuns(9, all())).nextDueAtMs, START_MS + MINUTE_MS + SECOND_MS);
    });

    it('forgets what was rolled back', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, webhook] = [await throttled(stage, 3), await stage.webhook()];
      for (let n = 0; n < 5; n++) {
        const slots = all();
        const [appended] = await Promise.all([
          stage.appendFor(workflow.id, {}, slots),
          rejects(stage.store.createWebhook(webhook)),
        ]);
        equal(appended.claims.runs.length, n < 3 ? 1 : 0);
        slots.assertAccountedFor(appended.claims);
      }
      stage.clock.advance(MINUTE_MS);
      const [claims] = await Promise.all([
        stage.store.claimRuns(9, all()),
        rejects(stage.store.createWebhook(webhook)),
      ]);
      equal(claims.runs.length, 2);
      equal((await begin(stage, workflow, 2)).length, 1);
    });

    it('is exact for many at the same moment', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await throttled(stage, 7);
      await timesInTurn(5, () => stage.appendFor(workflow.id));
      const made = await Promise.all([
        ...times(4, async () => stage.claim(3)),
        ...times(9, async () => (await stage.appendFor(workflow.id, {}, all())).claims.runs),
      ]);
      const rest = await stage.claim();
      const begun = numbersOf([...made.flat(), ...rest]);
      deepEqual([begun.length, new Set(begun).size], [7, 7]);
      await assertLedgerAddsUp(stage);
    });

    it('gives first come first served', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await throttled(stage, 2, SECOND_MS);
      const appended = await timesInTurn(7, () => stage.appendFor(workflow.id, {}, all()));
      const begun = numbersOf(appended.flatMap(({ claims }) => claims.runs));
      for (let n = 0; n < 3; n++) {
        stage.clock.advance(SECOND_MS);
        begun.push(...numbersOf(await stage.claim(1)), ...numbersOf(await stage.claim()));
      }
      deepEqual(
        begun,
        appended.map(({ firstRun }) => firstRun),
      );
    });

    it('keeps nobody else waiting', async () => {
      await using stage = await Stage.open(harness);
      const [slow, other] = [await throttled(stage, 1, HOUR_MS), await stage.workflow()];
      await begin(stage, slow, 1);
      await Promise.all(times(shareOf(harness, 1000), () => stage.appendFor(slow.id)));
      equal((await stage.appendFor(other.id, {}, all())).claims.runs.length, 1);
      await timesInTurn(5, () => stage.appendFor(other.id));
      const [few, rest] = [await stage.store.claimRuns(3, upTo(3)), await stage.store.claimRuns(9, upTo(9))];
      deepEqual([few.runs.length, few.runsWaiting], [3, true]);
      deepEqual([rest.runs.length, rest.runsWaiting, rest.nextDueAtMs], [2, false, START_MS + HOUR_MS]);
    });

    it('still has a queue with a limit', async () => {
      await using stage = await Stage.open(harness);
      const settings = { throttle: { limit: 1, intervalMs: MINUTE_MS }, queueLimit: 2 };
      const workflow = await stage.workflow({ settings });
      const appended = await timesInTurn(4, () => stage.appendFor(workflow.id, {}, all()));
      deepEqual(
        appended.map(({ firstRunRefused }) => firstRunRefused),
        [false, false, false, true],
      );
      await assertLedgerAddsUp(stage);
    });
  });

  describe('a changed throttle', () => {
    it('holds from then on', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, write } = await stage.hooked({ settings: { throttle: { limit: 4, intervalMs: MINUTE_MS } } });
      await begin(stage, workflow, 3);
      await change(stage, write, { limit: 2, intervalMs: MINUTE_MS });
      equal((await begin(stage, workflow, 2)).length, 0);
      await change(stage, write, { limit: 4, intervalMs: MINUTE_MS });
      equal((await stage.claim()).length, 1);
      await change(stage, write, { limit: 5, intervalMs: HOUR_MS });
      equal((await stage.claim()).length, 1);
      stage.clock.advance(MINUTE_MS);
      await stage.appendFor(workflow.id);
      equal((await stage.store.claimRuns(9, all())).nextDueAtMs, START_MS + HOUR_MS);
      await change(stage, write, { limit: 5, intervalMs: SECOND_MS });
      equal((await stage.claim()).length, 1);
    });

    it('that is the same keeps what it knows', async () => {
      await using stage = await Stage.open(harness);
      const throttle = { limit: 2, intervalMs: MINUTE_MS };
      const { workflow, write } = await stage.hooked({ settings: { throttle } });
      await begin(stage, workflow, 2);
      await change(stage, write, throttle);
      equal((await begin(stage, workflow, 1)).length, 0);
    });

    it('that is gone lets all of them begin', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, write } = await stage.hooked({ settings: { throttle: { limit: 1, intervalMs: HOUR_MS } } });
      equal((await begin(stage, workflow, 5)).length, 1);
      await change(stage, write, null);
      const { runs, nextDueAtMs } = await stage.store.claimRuns(9, all());
      deepEqual([runs.length, nextDueAtMs], [4, null]);
      equal((await begin(stage, workflow, 1)).length, 1);
    });

    it('goes with its workflow', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await throttled(stage, 1);
      const [run] = await begin(stage, workflow, 3);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      const { runs, nextDueAtMs } = await stage.store.claimRuns(9, all());
      deepEqual([runs, nextDueAtMs], [[], null]);
      await stage.end(run as ClaimedRun);
      await stage.reopen();
      equal((await stage.store.claimRuns(9, all())).nextDueAtMs, null);
    });
  });
}
