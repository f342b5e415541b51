// Who gets to run what: claims in turn, hand-backs, cancelling, and the rescue of what a dead node held.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import {
  all,
  at,
  CountedSlots,
  defined,
  failed,
  type Harness,
  none,
  only,
  sameMembers,
  timesInTurn,
  upTo,
} from '../fixtures.ts';
import { assertLedgerAddsUp, assertOneErrorPerFailure } from '../log/counting.ts';
import { numbered, Stage } from '../stage.ts';

export function claimingContract(harness: Harness): void {
  describe('claiming runs', () => {
    it('takes the oldest of a workflow first', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const queued = await timesInTurn(5, (i) => stage.appendFor(workflow.id, { body: numbered(i) }));
      const [first, rest] = [await stage.claim(2), await stage.claim(10)];
      deepEqual(
        first.map((r) => r.run),
        queued.slice(0, 2).map((a) => a.firstRun),
      );
      deepEqual(
        rest.map((r) => r.run),
        queued.slice(2).map((a) => a.firstRun),
      );
    });

    it('takes workflows and sources in turn', async () => {
      await using stage = await Stage.open(harness);
      const [busy, calm, source] = [await stage.workflow(), await stage.workflow(), await stage.source()];
      await timesInTurn(10, () => stage.appendFor(busy.id));
      await timesInTurn(2, () => stage.appendFor(calm.id));
      await stage.appendFor(source.id);
      const ids = (await stage.claim(5)).map((r) => r.runnable.id);
      sameMembers(ids, [busy.id, busy.id, calm.id, calm.id, source.id]);
    });

    it('takes owners in turn, and then their workflows', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      for (const { id } of await timesInTurn(8, () => stage.workflow())) await stage.appendFor(id);
      const only = await other.workflow();
      await timesInTurn(4, () => other.appendFor(only.id));
      const owners = (await stage.claim(6)).map((r) => r.runnable.ownerId);
      equal(owners.filter((id) => id === other.owner.id).length, 3, String(owners));
      equal((await stage.claim()).length, 6);
    });

    it('serves each workflow within a few small claims', async () => {
      await using stage = await Stage.open(harness);
      const workflows = await timesInTurn(3, () => stage.workflow());
      for (const { id } of workflows) await timesInTurn(6, () => stage.appendFor(id));
      const served = await timesInTurn(6, async () => only(await stage.claim(1)).runnable.id);
      sameMembers(
        [...new Set(served)],
        workflows.map((w) => w.id),
      );
    });

    it('claims no more than limit and slots', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await timesInTurn(10, () => stage.appendFor(workflow.id));
      const [many, few] = [all(), upTo(2)];
      const byLimit = await stage.store.claimRuns(3, many);
      deepEqual([byLimit.runs.length, byLimit.runsWaiting], [3, true]);
      many.assertAccountedFor(byLimit);
      const byHands = await stage.store.claimRuns(10, few);
      deepEqual([byHands.runs.length, byHands.runsWaiting], [2, true]);
      few.assertAccountedFor(byHands);
      const rest = await stage.store.claimRuns(10, many);
      deepEqual([rest.runs.length, rest.runsWaiting], [5, false]);
    });

    it('passes over a workflow without free slots', async () => {
      await using stage = await Stage.open(harness);
      const [full, free] = [await stage.workflow(), await stage.workflow()];
      await timesInTurn(5, () => stage.appendFor(full.id));
      await stage.appendFor(free.id);
      const slots = new CountedSlots(9, (id) => id !== full.id);
      const claims = await stage.store.claimRuns(3, slots);
      equal(only(claims.runs).runnable.id, free.id);
      slots.assertAccountedFor(claims);
      equal((await stage.claim()).length, 5);
    });

    it('gives each run to one of many claims', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await timesInTurn(20, () => stage.appendFor(workflow.id));
      const claims = await Promise.all([1, 2, 3, 4, 5].map(() => stage.claim(8)));
      const runs = claims.flat().map((r) => r.run);
      deepEqual([runs.length, new Set(runs).size], [20, 20]);
    });

    it('finds nothing to claim when all runs', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await stage.appendFor(workflow.id);
      equal((await stage.claim()).length, 1);
      const claims = await stage.store.claimRuns(10, all());
      deepEqual([claims.runs, claims.runsWaiting], [[], false]);
    });

    it('hands back released runs, not counted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const [kept, back] = [await stage.started(workflow), await stage.started(workflow)];
      await stage.giveBack(back);
      const again = only(await stage.claim());
      deepEqual([again.run, again.attempt], [back.run, 1]);
      ok(again.fence > back.fence);
      equal((await stage.tryEnd(back)).held, false);
      await stage.end(again);
      await stage.end(kept);
      await assertLedgerAddsUp(stage);
    });

    it('passes over lost leases when releasing', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const [done, held] = [await stage.started(workflow), await stage.started(workflow)];
      await stage.end(done);
      await stage.giveBack(done, held, { ...held, run: 1, fence: 1 });
      equal(only(await stage.claim()).run, held.run);
      equal((await stage.store.getRun(stage.owner.id, done.run))?.state, 'succeeded');
      await assertLedgerAddsUp(stage);
    });
  });

  describe('cancelling a run', () => {
    it('cancels what is queued, for good', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const [cancelled, kept] = await timesInTurn(2, () => stage.appendFor(workflow.id));
      const run = defined(cancelled?.firstRun);
      equal(await stage.store.cancelRun(stage.owner.id, run), 'cancelled');
      equal(only(await stage.claim()).run, kept?.firstRun);
      equal((await stage.store.getRun(stage.owner.id, run))?.state, 'cancelled');
      ok((await stage.store.getRun(stage.owner.id, run))?.endedAtMs);
      await assertLedgerAddsUp(stage);
    });

    it('leaves a running run to its node', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      equal(await stage.store.cancelRun(stage.owner.id, run.run), 'running');
      equal((await stage.end(run)).held, true);
      equal((await stage.store.getRun(stage.owner.id, run.run))?.state, 'succeeded');
    });

    it('does not change what has ended', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      await stage.end(run, failed());
      equal(await stage.store.cancelRun(stage.owner.id, run.run), 'failed');
      equal((await stage.store.getRun(stage.owner.id, run.run))?.state, 'failed');
      equal(await stage.store.cancelRun(stage.owner.id, run.run + 999), undefined);
      await assertLedgerAddsUp(stage);
    });
  });

  describe('rescue', () => {
    it('queues again what a dead node ran', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const lost = await stage.started(workflow);
      await stage.reopen();
      const rescued = await stage.store.rescue(none());
      deepEqual([rescued.runs, rescued.deliveries], [1, 0]);
      const again = only(await stage.claim());
      equal(again.run, lost.run);
      ok(again.fence > lost.fence);
      equal((await stage.tryEnd(lost, failed())).held, false);
      await stage.end(again);
      await assertLedgerAddsUp(stage);
    });

    it('counts the attempt that was lost', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const lost = await stage.started(workflow);
      await stage.reopen();
      await stage.store.rescue(none());
      const again = only(await stage.claim());
      deepEqual([again.run, again.attempt], [lost.run, 2]);
    });

    it('leaves alone what this node holds', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const lost = await stage.started(workflow);
      await stage.reopen();
      equal((await stage.store.rescue(none())).runs, 1);
      const held = only(await stage.claim());
      equal(held.run, lost.run);
      deepEqual((await stage.store.rescue(none())).runs, 0);
      equal((await stage.end(held)).held, true);
    });

    it('fails a run lost too often', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { run } = await stage.started(workflow);
      let losses = 0;
      let last = { runs: 0, deliveries: 0, claims: (await stage.append(workflow.id)).claims };
      while ((await stage.store.getRun(stage.owner.id, run))?.state === 'running' && losses < 10) {
        await stage.reopen();
        last = await stage.store.rescue(new CountedSlots(9, (id) => id === stage.global.id));
        losses++;
        await stage.claim(1, workflow.id);
      }
      equal(losses, LIMITS.rescues);
      const record = defined(await stage.store.getRun(stage.owner.id, run));
      deepEqual([record.state, record.errorCode], ['failed', 'WorkerLost']);
      const told = only(last.claims.runs);
      deepEqual([told.runnable.id, told.emission.name, told.emission.code], [stage.global.id, ERRORS, 'WorkerLost']);
      equal(told.emission.entry, record.errorEntry);
      await assertOneErrorPerFailure(stage);
      await assertLedgerAddsUp(stage);
    });

    it('keeps the lost event in its error', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { run } = await stage.started(workflow, { body: numbered(7) });
      while ((await stage.store.getRun(stage.owner.id, run))?.state === 'running') {
        await stage.reopen();
        await stage.store.rescue(none());
        await stage.claim(1, workflow.id);
      }
      const { errorEntry } = defined(await stage.store.getRun(stage.owner.id, run));
      const error = defined(await stage.store.getEmission(stage.owner.id, defined(errorEntry)));
      const start = defined(error.originalStart);
      deepEqual(new Uint8Array(error.body.subarray(start, start + defined(error.originalLength))), numbered(7));
    });

    it('makes lost deliveries due at once', async () => {
      await using stage = await Stage.open(harness);
      const [emitter, webhook] = [await stage.workflow(), await stage.webhook()];
      await stage.subscribe(emitter.id, webhook.id);
      await stage.append(emitter.id);
      const lost = only(await stage.deliveries());
      await stage.reopen();
      const rescued = await stage.store.rescue(none());
      deepEqual([rescued.runs, rescued.deliveries], [0, 1]);
      const again = only(await stage.deliveries());
      equal(again.delivery, lost.delivery);
      ok(again.fence > lost.fence);
      equal((await stage.delivered(lost)).held, false);
      equal((await stage.delivered(again)).held, true);
      await assertLedgerAddsUp(stage);
    });

    it('leaves what this process sends', async () => {
      await using stage = await Stage.open(harness);
      const [emitter, webhook] = [await stage.workflow(), await stage.webhook()];
      await stage.subscribe(emitter.id, webhook.id);
      await stage.append(emitter.id);
      const sent = only(await stage.deliveries());
      equal((await stage.store.rescue(none())).deliveries, 0);
      equal((await stage.delivered(sent)).held, true);
    });

    it('leaves what was only queued in place', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const queued = await timesInTurn(3, () => stage.appendFor(workflow.id));
      await stage.reopen();
      equal((await stage.store.rescue(none())).runs, 0);
      deepEqual(
        (await stage.claim()).map((r) => [r.run, r.attempt]),
        queued.map((a) => [a.firstRun, 1]),
      );
    });

    it('rescues many runs, each once', async () => {
      await using stage = await Stage.open(harness);
      const workflows = await timesInTurn(3, () => stage.workflow());
      const lost = await timesInTurn(30, (i) => stage.started(at(workflows, i % 3)));
      await stage.reopen();
      equal((await stage.store.rescue(none())).runs, 30);
      sameMembers(
        (await stage.claim()).map((r) => r.run),
        lost.map((r) => r.run),
      );
      await assertLedgerAddsUp(stage);
    });
  });
}
