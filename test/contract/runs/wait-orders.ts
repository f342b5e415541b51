// Waits that a request ends: also before they have begun, and whatever comes at the same moment.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import {
  all,
  at,
  defined,
  failed,
  type Harness,
  none,
  only,
  sameMembers,
  succeeded,
  times,
  timesInTurn,
  waits,
} from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { Stage } from '../stage.ts';

const REQUEST = '{"method":"POST","body":{"approved":true,"by":"Zoë"}}';

function resume(stage: Stage, run: number, n = 1, request: string | null = REQUEST) {
  return stage.store.resumeRun({ run, waits: n }, 'resume', request);
}

function cancel(stage: Stage, run: number, n = 1) {
  return stage.store.resumeRun({ run, waits: n }, 'cancel', REQUEST);
}

const stateOf = async (stage: Stage, run: number): Promise<unknown> =>
  (await stage.store.getRun(stage.owner.id, run))?.state;

export function waitOrdersContract(harness: Harness): void {
  describe('a request to a run that waits', () => {
    it('lets it go on at once', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const kinds = ['delay', 'suspend', 'rerun'] as const;
      for (const kind of kinds) {
        const { run } = await stage.waiting(workflow, { kind });
        equal(await resume(stage, run), 'taken');
        const again = only(await stage.claim());
        deepEqual([again.run, again.resumed], [run, REQUEST]);
        await stage.end(again);
      }
      equal((await stage.pass(DAY_MS)).queued, 0);
      await assertLedgerAddsUp(stage);
    });

    it('cancels it at once', async () => {
      await using stage = await Stage.open(harness);
      const { run } = await stage.waiting(await stage.workflow(), { kind: 'suspend' });
      equal(await cancel(stage, run), 'taken');
      equal(await stateOf(stage, run), 'cancelled');
      deepEqual([await stage.claim(), await stage.store.nextDueAtMs()], [[], null]);
      await assertLedgerAddsUp(stage);
    });

    it('counts once, for its own wait', async () => {
      await using stage = await Stage.open(harness);
      const { run } = await stage.waiting(await stage.workflow());
      deepEqual(
        [await resume(stage, run, 0), await resume(stage, run, 2), await cancel(stage, run, 3)],
        times(3, over),
      );
      equal(await resume(stage, run), 'taken');
      deepEqual([await resume(stage, run), await cancel(stage, run)], times(2, over));
      const again = only(await stage.claim());
      deepEqual([await resume(stage, run), await cancel(stage, run)], times(2, over));
      await stage.end(again, waits());
      deepEqual([await resume(stage, run), await cancel(stage, run)], times(2, over));
      equal(await resume(stage, run, 2), 'taken');
      await stage.end(only(await stage.claim()));
      deepEqual([await resume(stage, run, 2), await resume(stage, run, 3)], times(2, over));
      equal(await resume(stage, run + 999), undefined);
    });

    it('does not touch a retry', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      await stage.tryAgain(run, MINUTE_MS);
      deepEqual([await resume(stage, run.run), await cancel(stage, run.run)], times(2, over));
      equal((await stage.pass(MINUTE_MS)).queued, 1);
      equal(only(await stage.claim()).resumed, null);
    });

    it('is checked against what waits', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { run } = await stage.waiting(workflow);
      const known = { ownerId: stage.owner.id, runnableId: workflow.id, deploymentId: workflow.deploymentId, waits: 1 };
      deepEqual(await stage.store.waitingRun(run), { ...known, state: 'waiting' });
      await resume(stage, run);
      deepEqual(await stage.store.waitingRun(run), { ...known, state: 'queued' });
      await stage.end(only(await stage.claim()));
      deepEqual(await stage.store.waitingRun(run), { ...known, state: 'succeeded', waits: 0 });
      equal(await stage.store.waitingRun(run + 999), undefined);
    });

    it('survives a restart', async () => {
      await using stage = await Stage.open(harness);
      const { run } = await stage.waiting(await stage.workflow());
      await resume(stage, run);
      await stage.reopen();
      equal(await resume(stage, run), 'over');
      equal(only(await stage.claim()).resumed, REQUEST);
    });

    it('may have no body to give', async () => {
      await using stage = await Stage.open(harness);
      const { run } = await stage.waiting(await stage.workflow());
      equal(await resume(stage, run, 1, null), 'taken');
      equal(only(await stage.claim()).resumed, null);
    });
  });

  describe('a request that comes before the wait', () => {
    it('lets the run go on when it waits', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      equal(await resume(stage, run.run), 'taken');
      equal(await stateOf(stage, run.run), 'running');
      const { claims, isCancelled } = await stage.end(run, waits({ kind: 'suspend' }), all());
      const again = only(claims.runs);
      deepEqual([again.run, again.resumed, isCancelled ?? false], [run.run, REQUEST, false]);
      equal((JSON.parse(defined(again.checkpoint)) as { waits: number }).waits, 1);
      await stage.end(again, waits());
      equal(await stateOf(stage, run.run), 'waiting');
      await assertLedgerAddsUp(stage);
    });

    it('queues the run when no hand is free', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      await resume(stage, run.run);
      const { claims } = await stage.end(run, waits());
      deepEqual([claims.runs, claims.runsWaiting], [[], true]);
      equal(await stateOf(stage, run.run), 'queued');
      equal(only(await stage.claim()).resumed, REQUEST);
    });

    it('cancels the run when it waits', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      equal(await cancel(stage, run.run), 'taken');
      equal((await stage.end(run, waits())).isCancelled, true);
      const record = defined(await stage.store.getRun(stage.owner.id, run.run));
      deepEqual([record.state, record.endedAtMs], ['cancelled', stage.clock.nowMs()]);
      await assertLedgerAddsUp(stage);
    });

    it('is the first that counts', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const [going, ending] = [await stage.started(workflow), await stage.started(workflow)];
      deepEqual(await timesInTurn(2, (i) => resume(stage, going.run, 1, `{"n":${i}}`)), ['taken', 'over']);
      equal(await cancel(stage, going.run), 'over');
      deepEqual([await cancel(stage, ending.run), await resume(stage, ending.run)], ['taken', 'over']);
      await stage.end(going, waits());
      await stage.end(ending, waits());
      equal(only(await stage.claim()).resumed, '{"n":0}');
      equal(await stateOf(stage, ending.run), 'cancelled');
    });

    it('is for that wait alone', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      deepEqual([await resume(stage, run.run, 2), await resume(stage, run.run, 0)], times(2, over));
      await stage.end(run, waits({ ms: SECOND_MS }));
      await stage.pass(SECOND_MS);
      const second = only(await stage.claim());
      equal(await resume(stage, run.run, 2), 'taken');
      await stage.end(second, waits());
      equal(only(await stage.claim()).resumed, REQUEST);
    });

    it('is forgotten when the run is tried again', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      await resume(stage, run.run);
      equal((await stage.tryAgain(run, SECOND_MS)).isCancelled ?? false, false);
      equal(await stateOf(stage, run.run), 'waiting');
      await stage.pass(SECOND_MS);
      const again = only(await stage.claim());
      equal(again.resumed, null);
      await stage.end(again, waits());
      equal(await stateOf(stage, again.run), 'waiting');
    });

    it('cancels what would be tried again', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      equal(await cancel(stage, run.run), 'taken');
      equal((await stage.tryAgain(run, SECOND_MS)).isCancelled, true);
      equal(await stateOf(stage, run.run), 'cancelled');
      await stage.pass(SECOND_MS);
      deepEqual(await stage.claim(), []);
      await assertLedgerAddsUp(stage);
    });

    it('is forgotten with the end of the run', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      for (const outcome of [succeeded(), failed()]) {
        const run = await stage.started(workflow);
        await cancel(stage, run.run);
        await stage.end(run, outcome);
        equal(await stateOf(stage, run.run), outcome.end.kind);
        equal(await resume(stage, run.run), 'over');
      }
      await assertLedgerAddsUp(stage);
    });

    it('is kept when the process is lost', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const runs = await timesInTurn(3, () => stage.started(workflow));
      const [before, between] = runs.map(({ run }) => run) as [number, number];
      await resume(stage, before);
      await stage.reopen();
      await stage.store.rescue(none());
      // The code that gave its address away is gone; the address is not.
      equal(await resume(stage, between), 'taken');
      for (const run of await stage.claim()) await stage.end(run, waits());
      sameMembers(
        (await stage.claim()).map(({ run }) => run),
        [before, between],
      );
      equal(await stateOf(stage, at(runs, 2).run), 'waiting');
      await assertLedgerAddsUp(stage);
    });
  });

  describe('at the same moment', () => {
    it('one of many requests is taken', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const [waiting, running] = [await stage.waiting(workflow), await stage.started(workflow)];
      for (const { run } of [waiting, running]) {
        const answers = await Promise.all(times(5, (i) => resume(stage, run, 1, `{"n":${i}}`)));
        deepEqual(answers.filter((a) => a === 'taken').length, 1);
        const n = answers.indexOf('taken');
        if (run === running.run) await stage.end(running, waits());
        equal(only(await stage.claim()).resumed, `{"n":${n}}`);
      }
      await assertLedgerAddsUp(stage);
    });

    it('a request or its time ends a wait', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const runs = await timesInTurn(6, (i) => stage.waiting(workflow, { kind: i % 2 ? 'suspend' : 'delay' }));
      stage.clock.advance(MINUTE_MS);
      const [ended, ...answers] = await Promise.all([
        stage.store.endWaits(100),
        ...runs.map(({ run }) => resume(stage, run)),
      ]);
      const taken = runs.filter((_, i) => answers[i] === 'taken').map(({ run }) => run);
      equal(ended.queued + ended.cancelled.length + taken.length, 6);
      const claimed = await stage.claim();
      equal(claimed.length, ended.queued + taken.length);
      sameMembers(
        claimed.filter(({ resumed }) => resumed !== null).map(({ run }) => run),
        taken,
      );
      await assertLedgerAddsUp(stage);
    });

    it('its owner or a request ends a wait', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      for (let n = 0; n < 4; n++) {
        const { run } = await stage.waiting(workflow);
        const verbs = [() => stage.store.cancelRun(stage.owner.id, run), () => resume(stage, run)];
        await Promise.all((n % 2 ? verbs.reverse() : verbs).map((verb) => verb()));
        equal(await stateOf(stage, run), 'cancelled');
      }
      deepEqual(await stage.claim(), []);
      await assertLedgerAddsUp(stage);
    });

    it('a request meets the beginning of its wait', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      for (let n = 0; n < 6; n++) {
        const run = await stage.started(workflow);
        const verbs = [() => stage.end(run, waits()), () => resume(stage, run.run)];
        const answers = await Promise.all((n % 2 ? verbs.reverse() : verbs).map((verb) => verb()));
        equal(answers.includes('taken'), true);
        const again = only(await stage.claim());
        deepEqual([again.run, again.resumed], [run.run, REQUEST]);
        await stage.end(again);
      }
      await assertLedgerAddsUp(stage);
    });
  });
}

const over = (): 'over' => 'over';
