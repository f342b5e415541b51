// Retention: old emissions go with all that hangs on them; the newest of each channel and whatever has work open stay.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY_MS, LIMITS, MINUTE_MS } from '../../../src/domain/limits.ts';
import { all, at, defined, emit, failed, type Harness, only, succeeded, times, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { Stage } from '../stage.ts';

const KEPT = LIMITS.listedPerEmitterAndName;

/** Prunes all that is older than now, step by step. Returns how many emissions went, and in how many steps. */
async function prune(stage: Stage): Promise<{ emissions: number; steps: number }> {
  let emissions = 0;
  let steps = 0;
  let next: number | null = 0;
  while (next !== null) {
    const step: { emissions: number; next: number | null } = await stage.store.prune(stage.clock.nowMs(), next);
    ok(step.next === null || step.next > next, 'each step gets further');
    emissions += step.emissions;
    next = step.next;
    steps++;
    ok(steps < 1000, 'it comes to an end');
  }
  return { emissions, steps };
}

const exists = async (stage: Stage, entry: number): Promise<boolean> =>
  (await stage.store.getEmission(stage.owner.id, entry)) !== undefined;

/** Emissions of one channel that nobody hears, oldest first. */
async function emissions(stage: Stage, emitterId: string, count: number): Promise<number[]> {
  const appended = await Promise.all(times(count, () => stage.append(emitterId)));
  return appended.map((a) => a.entry).sort((a, b) => a - b);
}

export function pruningContract(harness: Harness): void {
  describe('pruning', () => {
    it('keeps the newest hundred of a channel', async () => {
      await using stage = await Stage.open(harness);
      const [a, b] = [await stage.workflow(), await stage.workflow()];
      const ofA = await emissions(stage, a.id, KEPT + 20);
      const ofB = await emissions(stage, b.id, KEPT);
      stage.clock.advance(DAY_MS);
      equal((await prune(stage)).emissions, 20);
      for (const entry of ofA.slice(0, 20)) equal(await exists(stage, entry), false);
      for (const entry of [...ofA.slice(20), ...ofB]) equal(await exists(stage, entry), true);
      const channel = { ownerId: stage.owner.id, emitterId: a.id, name: '' };
      const { items } = await stage.store.listEmissions(channel, { limit: 100 }, false);
      deepEqual(
        items.map((e) => e.entry),
        ofA.slice(20).reverse(),
      );
      equal((await prune(stage)).emissions, 0);
    });

    it('counts the hundred by name', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { entry } = await stage.append(workflow.id, { name: 'rare' });
      await emissions(stage, workflow.id, KEPT + 1);
      stage.clock.advance(DAY_MS);
      equal((await prune(stage)).emissions, 1);
      equal(await exists(stage, entry), true);
    });

    it('spares what is not old enough', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const old = await emissions(stage, workflow.id, KEPT);
      stage.clock.advance(DAY_MS);
      const beforeMs = stage.clock.nowMs();
      const young = await emissions(stage, workflow.id, KEPT + 5);
      stage.clock.advance(DAY_MS);
      let [next, gone]: [number | null, number] = [0, 0];
      while (next !== null) {
        const step: { emissions: number; next: number | null } = await stage.store.prune(beforeMs, next);
        [next, gone] = [step.next, gone + step.emissions];
      }
      equal(gone, KEPT);
      equal(await exists(stage, at(old, -1)), false);
      equal(await exists(stage, at(young, 0)), true);
    });

    it('takes runs, deliveries and attempts along', async () => {
      await using stage = await Stage.open(harness);
      const [source, listener, webhook] = [await stage.source(), await stage.workflow(), await stage.webhook()];
      await stage.subscribe(source.id, listener.id);
      await stage.subscribe(source.id, webhook.id);
      const { entry, claims } = await stage.append(source.id, {}, all());
      const [run, delivery] = [only(claims.runs), only(claims.deliveries)];
      await stage.end(run);
      await stage.delivered(delivery);
      await stage.store.deleteSubscription(stage.owner.id, defined(run.subscriptionId));
      await stage.store.deleteSubscription(stage.owner.id, defined(delivery.subscriptionId));
      await emissions(stage, source.id, KEPT);
      stage.clock.advance(DAY_MS);
      equal((await prune(stage)).emissions, 1);
      equal(await exists(stage, entry), false);
      equal(await stage.store.getRun(stage.owner.id, run.run), undefined);
      equal(await stage.store.getDelivery(stage.owner.id, delivery.delivery), undefined);
      deepEqual(await stage.store.receipts(stage.owner.id, entry), []);
      const of = { ownerId: stage.owner.id, runnableId: listener.id };
      deepEqual(await stage.store.listRuns(of, { limit: 10 }), { totalCount: 0, items: [] });
    });

    it('keeps whatever still has work open', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.source();
      const [asleep, awake] = [await stage.webhook({ active: false }), await stage.webhook()];
      const [queued, running] = [await stage.workflow(), await stage.workflow()];
      const open: number[] = [];
      for (const { id } of [asleep, awake, awake, awake, queued, running]) {
        const subscription = await stage.subscribe(emitter.id, id);
        open.push((await stage.append(emitter.id)).entry);
        await stage.store.deleteSubscription(stage.owner.id, subscription.id);
      }
      await stage.claim(1, running.id);
      await stage.retrying(only(await stage.deliveries(1)), 9 * DAY_MS);
      equal((await stage.deliveries(1)).length, 1);
      await emissions(stage, emitter.id, KEPT + 3);
      stage.clock.advance(DAY_MS);
      equal((await prune(stage)).emissions, 3);
      for (const entry of open) equal(await exists(stage, entry), true);
      const { runs, deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.queued, runs.running], [1, 1]);
      deepEqual([deliveries.held, deliveries.pending, deliveries.retrying, deliveries.sending], [1, 1, 1, 1]);
    });

    it('takes it once the work is done', async () => {
      await using stage = await Stage.open(harness);
      const [emitter, listener] = [await stage.source(), await stage.workflow()];
      const { id } = await stage.subscribe(emitter.id, listener.id);
      const { entry } = await stage.append(emitter.id);
      await stage.store.deleteSubscription(stage.owner.id, id);
      await emissions(stage, emitter.id, KEPT);
      stage.clock.advance(DAY_MS);
      equal((await prune(stage)).emissions, 0);
      await stage.end(only(await stage.claim()));
      equal((await prune(stage)).emissions, 1);
      equal(await exists(stage, entry), false);
    });

    it('leaves the ledger as it was', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      for (const outcome of [succeeded({ outgoing: [emit('')] }), failed()]) {
        await stage.end(only((await stage.append(trigger.id, {}, all())).claims.runs), outcome);
      }
      await emissions(stage, workflow.id, KEPT);
      const before = await stage.store.ledger(stage.owner.id);
      equal(before.runs.succeeded + before.runs.failed, 2);
      stage.clock.advance(DAY_MS);
      ok((await prune(stage)).emissions >= 1);
      deepEqual(await stage.store.ledger(stage.owner.id), before);
    });

    it('keeps the errors with event and receipts', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      const listener = await stage.webhook();
      await stage.subscribe(workflow.id, listener.id, '$errors');
      const run = only((await stage.append(trigger.id, {}, all())).claims.runs);
      const entry = defined((await stage.end(run, failed('Boom'))).errorEntry);
      await stage.end(only(await stage.claim()));
      await stage.delivered(only(await stage.deliveries()));
      const [error, receipts] = [
        await stage.store.getEmission(stage.owner.id, entry),
        await stage.store.receipts(stage.owner.id, entry),
      ];
      equal(receipts.length, 2);
      stage.clock.advance(DAY_MS);
      await prune(stage);
      deepEqual(await stage.store.getEmission(stage.owner.id, entry), error);
      deepEqual(await stage.store.receipts(stage.owner.id, entry), receipts);
    });

    it('works through many emissions in bounded steps', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await emissions(stage, workflow.id, 5000);
      stage.clock.advance(DAY_MS);
      const { emissions: gone, steps } = await prune(stage);
      equal(gone, 5000 - KEPT);
      ok(steps > 1, 'not all in one transaction');
    });

    it('leaves the rest fit for work', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const { workflow: other } = await stage.hooked();
      await timesInTurn(3, () => stage.append(trigger.id));
      await emissions(stage, other.id, KEPT + 1);
      stage.clock.advance(DAY_MS);
      equal((await prune(stage)).emissions, 1);
      for (const run of await stage.claim()) await stage.end(run);
      stage.clock.advance(MINUTE_MS);
      equal((await stage.append(trigger.id, {}, all())).claims.runs.length, 1);
      equal((await stage.store.ledger(stage.owner.id)).runs.succeeded, 3);
    });

    it('touches nothing where nothing is old', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const run = only((await stage.append(trigger.id, {}, all())).claims.runs);
      await stage.end(run, failed());
      equal((await stage.store.prune(stage.clock.nowMs() - DAY_MS, 0)).emissions, 0);
      await assertLedgerAddsUp(stage);
      ok(await stage.store.getRun(stage.owner.id, run.run));
    });
  });
}
