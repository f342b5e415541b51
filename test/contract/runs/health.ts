// What the newest runs of workflows tell.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { msOf } from '../../../src/domain/ids.ts';
import { DAY_MS } from '../../../src/domain/limits.ts';
import type { Runnable } from '../../../src/domain/resource.ts';
import { HEALTH, type Health } from '../../../src/domain/run/health.ts';
import { at, defined, failed, type Harness, none, only, timesInTurn } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const NOTHING: Health = { lastRun: null, runs: 0, sinceMs: null, failed: 0, p95Ms: null };

type Ran = Pick<Runnable, 'id'>;

async function healthOf({ store, owner }: Stage, { id }: Ran): Promise<Health> {
  return defined((await store.runHealth(owner.id, [id])).get(id));
}

/** A run of that length that has succeeded. */
async function took(stage: Stage, workflow: Ran, ms: number): Promise<number> {
  const run = await stage.started(workflow);
  stage.clock.advance(ms);
  await stage.end(run);
  return run.run;
}

export function healthContract(harness: Harness): void {
  describe('the health of a workflow', () => {
    it('is that of its last run, failures and times', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, other] = [await stage.workflow(), await stage.workflow()];
      deepEqual(await healthOf(stage, workflow), NOTHING, 'no runs');
      const first = await took(stage, workflow, 30);
      for (const ms of [10, 20]) await took(stage, workflow, ms);
      const { run } = await stage.started(workflow);
      const lastRun = { run, state: 'running' } as const;
      const known = { lastRun, runs: 3, sinceMs: msOf(first), failed: 0, p95Ms: 30 };
      deepEqual(await healthOf(stage, workflow), known, 'what runs is not judged');
      await stage.failure(other);
      const { lastRun: last, ...rest } = await healthOf(stage, other);
      equal(last?.state, 'failed');
      deepEqual([rest.runs, rest.failed, rest.p95Ms], [1, 1, 0]);
      await stage.reopen();
      deepEqual(await healthOf(stage, workflow), known, 'after a restart');
    });

    it('is told of all that are asked for, and of those of the owner', async () => {
      await using stage = await Stage.open(harness);
      const stranger = await stage.neighbour();
      const workflows = await timesInTurn(23, () => stage.workflow());
      for (const [n, workflow] of workflows.entries()) await took(stage, workflow, n);
      const ids = workflows.map(({ id }) => id);
      const told = await stage.store.runHealth(stage.owner.id, ids);
      deepEqual(
        ids.map((id) => told.get(id)?.p95Ms),
        ids.map((_, n) => n),
      );
      equal((await stranger.store.runHealth(stranger.owner.id, ids)).size, 0);
      equal((await stage.store.runHealth(stage.owner.id, [])).size, 0);
      await stage.store.deleteWorkflow(stage.owner.id, at(ids, 0));
      equal((await stage.store.runHealth(stage.owner.id, ids)).size, 22, 'not of one that is deleted');
    });

    it('leaves out runs that wait in the queue, however many', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const judged = await took(stage, workflow, 7);
      const waits = await stage.waiting(workflow);
      await stage.failure(workflow);
      const queued = await timesInTurn(HEALTH.lookedAt + 20, () => stage.appendFor(workflow.id, {}, none()));
      const lastRun = { run: defined(at(queued, -1).firstRun), state: 'queued' } as const;
      deepEqual(await healthOf(stage, workflow), { lastRun, runs: 2, sinceMs: msOf(judged), failed: 1, p95Ms: 7 });
      equal(await stage.store.cancelRun(stage.owner.id, waits.run), 'cancelled');
      equal((await healthOf(stage, workflow)).runs, 2, 'a cancelled run tells nothing');
      // The next one of the queue is judged once it is over.
      await stage.end(only(await stage.claim(1, workflow.id)), failed());
      equal((await healthOf(stage, workflow)).failed, 2);
    });

    it('is that of the newest runs, while they are kept', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await stage.failure(workflow);
      await took(stage, workflow, DAY_MS);
      const runs = await timesInTurn(HEALTH.runs, (n) => took(stage, workflow, n));
      const { lastRun, ...rest } = await healthOf(stage, workflow);
      equal(lastRun?.run, runs.at(-1));
      const sinceMs = msOf(at(runs, 0));
      deepEqual(rest, { runs: HEALTH.runs, sinceMs, failed: 0, p95Ms: Math.ceil(0.95 * HEALTH.runs) - 1 });
      stage.clock.advance(DAY_MS);
      for (let next: number | null = 0; next !== null; ) {
        ({ next } = await stage.store.prune(stage.clock.nowMs(), next));
      }
      deepEqual(await healthOf(stage, workflow), NOTHING, 'retention has deleted all of them');
    });
  });
}
