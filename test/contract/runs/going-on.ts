// A new run that goes on where another one failed.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RUN } from '../../../src/domain/emission.ts';
import type { Workflow } from '../../../src/domain/resource.ts';
import { checkpointFrom } from '../../../src/domain/run/checkpoint.ts';
import type { Appended, FreeSlots } from '../../../src/store/contract/store.ts';
import { all, aStep, defined, type Harness, none, only, succeeded, waits } from '../fixtures.ts';
import { assertLedgerAddsUp, assertOneErrorPerFailure } from '../log/counting.ts';
import { Stage } from '../stage.ts';

const CHECKPOINT = checkpointFrom([aStep('fetch', { returnValue: '12345678901234567890' }), aStep('map')]);

interface Going {
  readonly slots?: FreeSlots;
  readonly checkpoint?: string;
}

async function goOn(stage: Stage, workflow: Workflow, going: Going = {}): Promise<Appended> {
  const { slots = none(), checkpoint = CHECKPOINT } = going;
  const event = stage.make.emission(stage.owner.id, { name: RUN, onlyListenerId: workflow.id, replay: true });
  const appended = await stage.store.append(event, slots, { continuation: { checkpoint, attempt: 4 } });
  stage.appended.add(appended.entry);
  return appended;
}

async function stepsOf(stage: Stage, run: number): Promise<unknown[]> {
  const { detail } = defined(await stage.store.getRun(stage.owner.id, run));
  return (JSON.parse(defined(detail)) as { steps: { namespace: string }[] }).steps.map(({ namespace }) => namespace);
}

export function continuationContract(harness: Harness): void {
  describe('a run that goes on for another', () => {
    it('begins behind what that has done', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { claims, firstRun } = await goOn(stage, workflow, { slots: all() });
      const run = only(claims.runs);
      deepEqual([run.run, run.attempt, run.checkpoint, run.resumed], [firstRun, 4, CHECKPOINT, null]);
      deepEqual(await stepsOf(stage, run.run), ['fetch', 'map']);
      await stage.end(run, succeeded({ steps: [aStep('store')] }));
      deepEqual(await stepsOf(stage, run.run), ['fetch', 'map', 'store']);
      equal((await stage.store.getRun(stage.owner.id, run.run))?.attempt, 4);
      await assertLedgerAddsUp(stage);
    });

    it('has the summary of what was done', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ settings: { queueLimit: 1 } });
      const checkpoint = JSON.stringify({ ...JSON.parse(CHECKPOINT), summary: 'fetched' });
      const [queued, refused] = [
        await goOn(stage, workflow, { checkpoint }),
        await goOn(stage, workflow, { checkpoint }),
      ];
      equal(refused.firstRunRefused, true);
      for (const { firstRun } of [queued, refused]) {
        equal((await stage.store.getRun(stage.owner.id, defined(firstRun)))?.summary, 'fetched');
      }
      await stage.store.cancelRun(stage.owner.id, defined(queued.firstRun));
      equal((await stage.store.getRun(stage.owner.id, defined(queued.firstRun)))?.summary, 'fetched');
    });

    it('does so also when it queued', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, write } = await stage.hooked();
      const { firstRun } = await goOn(stage, workflow);
      const changed = { ...workflow, deploymentId: stage.ids.next('d_') };
      await stage.store.updateWorkflow({ ...write, workflow: changed, deployment: stage.make.deployment(changed) });
      deepEqual(await stepsOf(stage, defined(firstRun)), ['fetch', 'map']);
      await stage.reopen();
      const run = only(await stage.claim());
      deepEqual([run.run, run.attempt, run.checkpoint], [firstRun, 4, CHECKPOINT]);
      equal(run.runnable.deploymentId, workflow.deploymentId);
    });

    it('begins there again when it is lost', async () => {
      await using stage = await Stage.open(harness);
      const { claims } = await goOn(stage, await stage.workflow(), { slots: all() });
      await stage.giveBack(...claims.runs);
      const again = only(await stage.claim());
      deepEqual([again.attempt, again.checkpoint], [4, CHECKPOINT]);
      await stage.reopen();
      await stage.store.rescue(none());
      const third = only(await stage.claim());
      deepEqual([third.attempt, third.checkpoint], [5, CHECKPOINT]);
    });

    it('waits as every other one', async () => {
      await using stage = await Stage.open(harness);
      const { claims } = await goOn(stage, await stage.workflow(), { slots: all() });
      const run = only(claims.runs);
      equal(await stage.store.resumeRun({ run: run.run, waits: 1 }, 'resume', '{}'), 'taken');
      await stage.end(run, waits({}, { steps: [aStep('ask')] }));
      const again = only(await stage.claim());
      const { waits: n, steps } = JSON.parse(defined(again.checkpoint)) as { waits: number; steps: unknown[] };
      deepEqual([n, steps.length, again.resumed], [1, 3, '{}']);
      await assertLedgerAddsUp(stage);
    });

    it('fails with what it has behind it', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ settings: { queueLimit: 1 } });
      await stage.appendFor(workflow.id);
      const { firstRun, firstRunRefused } = await goOn(stage, workflow);
      equal(firstRunRefused, true);
      const record = defined(await stage.store.getRun(stage.owner.id, defined(firstRun)));
      deepEqual([record.state, record.errorCode, record.attempt], ['failed', 'QueueFull', 4]);
      deepEqual(await stepsOf(stage, record.run), ['fetch', 'map']);
      // Its error causes a run that begins at its first step.
      equal(only(await stage.claim(1, stage.global.id)).checkpoint, null);
      await assertLedgerAddsUp(stage);
      await assertOneErrorPerFailure(stage);
    });
  });
}
