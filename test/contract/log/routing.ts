// Which listeners get an emission: the rows that one append writes.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { at, defined, type Harness, none, only, sameMembers, times, timesInTurn } from '../fixtures.ts';
import { Stage } from '../stage.ts';

/** Ids of those who got a run or delivery for this emission. */
async function heard(stage: Stage, entry: number): Promise<string[]> {
  const receipts = await stage.store.receipts(stage.owner.id, entry);
  return receipts.filter((r) => r.kind !== 'withheld').map((r) => r.listenerId);
}

export function routingContract(harness: Harness): void {
  describe('routing', () => {
    it('starts the workflow that a trigger belongs to', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger, write } = await stage.hooked();
      const { entry, firstRun } = await stage.append(trigger.id);
      const receipt = only(await stage.store.receipts(stage.owner.id, entry));
      deepEqual(receipt, {
        kind: 'run',
        number: firstRun,
        listenerId: workflow.id,
        subscriptionId: at(write.subscriptions, 0).id,
        via: 'trigger',
        state: 'queued',
        reason: null,
      });
    });

    it('reaches an explicit subscriber of every kind', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.workflow();
      const listeners = [await stage.workflow(), await stage.source(), await stage.webhook()];
      for (const { id } of listeners) await stage.subscribe(emitter.id, id);
      const { entry } = await stage.append(emitter.id);
      sameMembers(
        await heard(stage, entry),
        listeners.map((l) => l.id),
      );
    });

    it('names the first of several runs', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.source();
      for (const { id } of await timesInTurn(4, () => stage.workflow())) await stage.subscribe(emitter.id, id);
      const { entry, firstRun } = await stage.append(emitter.id);
      const runs = (await stage.store.receipts(stage.owner.id, entry)).map((r) => defined(r.number));
      equal(new Set(runs).size, 4);
      equal(firstRun, Math.min(...runs));
    });

    it('names the subscription on each receipt', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.workflow();
      const webhook = await stage.webhook();
      const subscription = await stage.subscribe(emitter.id, webhook.id);
      const { entry } = await stage.append(emitter.id);
      const receipt = only(await stage.store.receipts(stage.owner.id, entry));
      equal(receipt.subscriptionId, subscription.id);
      equal(receipt.via, 'subscription');
      equal(receipt.kind, 'delivery');
      equal(receipt.state, 'pending');
    });

    it('lets wildcards cover their kind, later emitters included', async () => {
      await using stage = await Stage.open(harness);
      const [ofWorkflows, ofSources, ofAll] = [await stage.webhook(), await stage.webhook(), await stage.webhook()];
      await stage.subscribe('p_*', ofWorkflows.id);
      await stage.subscribe('dc_*', ofSources.id);
      await stage.subscribe('*', ofAll.id);
      const workflow = await stage.workflow();
      const source = await stage.source();
      const webhook = await stage.webhook();
      const of = async (id: string): Promise<string[]> => heard(stage, (await stage.append(id)).entry);
      sameMembers(await of(workflow.id), [ofWorkflows.id, ofAll.id]);
      sameMembers(await of(source.id), [ofSources.id, ofAll.id]);
      sameMembers(await of(webhook.id), [ofAll.id]);
    });

    it('hides the inputs of triggers from wildcards', async () => {
      await using stage = await Stage.open(harness);
      const curious = await stage.webhook();
      await stage.subscribe('*', curious.id);
      const { workflow, trigger } = await stage.hooked();
      deepEqual(await heard(stage, (await stage.append(workflow.id)).entry), [curious.id]);
      deepEqual(await heard(stage, (await stage.append(trigger.id)).entry), [workflow.id]);
    });

    it('tells each of many listeners once', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.workflow();
      const listeners = await Promise.all(times(20, () => stage.webhook()));
      for (const { id } of listeners) {
        await stage.subscribe('*', id, 'paid');
        await stage.subscribe('p_*', id, '*');
        await stage.subscribe(emitter.id, id, 'paid');
        await stage.subscribe(emitter.id, id, '*');
      }
      const { entry } = await stage.append(emitter.id, { name: 'paid' });
      sameMembers(
        await heard(stage, entry),
        listeners.map((l) => l.id),
      );
    });

    it('prefers the most specific of several subscriptions', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.workflow();
      const listener = await stage.webhook();
      await stage.subscribe('*', listener.id);
      const specific = await stage.subscribe(emitter.id, listener.id);
      await stage.subscribe('p_*', listener.id);
      const { entry } = await stage.append(emitter.id);
      equal(only(await stage.store.receipts(stage.owner.id, entry)).subscriptionId, specific.id);
    });

    it('matches event names as the wire says', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.workflow();
      const [unnamed, paid, any] = [await stage.webhook(), await stage.webhook(), await stage.webhook()];
      await stage.subscribe(emitter.id, unnamed.id);
      await stage.subscribe(emitter.id, paid.id, 'paid');
      await stage.subscribe(emitter.id, any.id, '*');
      const of = async (name: string): Promise<string[]> =>
        heard(stage, (await stage.append(emitter.id, { name })).entry);
      sameMembers(await of(''), [unnamed.id, any.id]);
      sameMembers(await of('paid'), [paid.id, any.id]);
      sameMembers(await of('Paid'), [any.id]);
      sameMembers(await of('$logs'), []);
    });

    it('sends errors only to who named them', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.workflow();
      const [named, unnamed, any] = [await stage.webhook(), await stage.webhook(), await stage.webhook()];
      await stage.subscribe(emitter.id, named.id, ERRORS);
      await stage.subscribe(emitter.id, unnamed.id);
      await stage.subscribe(emitter.id, any.id, '*');
      const { entry } = await stage.append(emitter.id, { name: ERRORS });
      sameMembers(await heard(stage, entry), [stage.global.id, named.id]);
    });

    it('keeps a direct emission to its one listener', async () => {
      await using stage = await Stage.open(harness);
      const [asked, other] = [await stage.workflow(), await stage.webhook()];
      await stage.subscribe('*', other.id, '*');
      await stage.subscribe(asked.id, other.id, '*');
      const { entry, firstRun } = await stage.append(asked.id, { onlyListenerId: asked.id });
      const receipt = only(await stage.store.receipts(stage.owner.id, entry));
      equal(receipt.listenerId, asked.id);
      equal(receipt.via, 'direct');
      equal(receipt.number, firstRun);
      deepEqual(await heard(stage, (await stage.append(asked.id)).entry), [other.id]);
    });

    it('withholds from an inactive workflow, with the reason', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.source();
      const [asleep, awake] = [await stage.workflow({ active: false }), await stage.workflow()];
      const subscription = await stage.subscribe(emitter.id, asleep.id);
      await stage.subscribe(emitter.id, awake.id);
      const { entry, firstRun } = await stage.append(emitter.id);
      const receipts = await stage.store.receipts(stage.owner.id, entry);
      equal(receipts.length, 2);
      equal(receipts.find((r) => r.listenerId === awake.id)?.number, firstRun);
      deepEqual(
        receipts.find((r) => r.listenerId === asleep.id),
        {
          kind: 'withheld',
          number: null,
          listenerId: asleep.id,
          subscriptionId: subscription.id,
          via: 'subscription',
          state: 'withheld',
          reason: 'the listener is not active',
        },
      );
    });

    it('holds what an inactive webhook should get', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.source();
      const [asleep, awake] = [await stage.webhook({ active: false }), await stage.webhook()];
      await stage.subscribe(emitter.id, asleep.id);
      await stage.subscribe(emitter.id, awake.id);
      const { entry } = await stage.append(emitter.id);
      const receipts = await stage.store.receipts(stage.owner.id, entry);
      const stateOf = (id: string): string => defined(receipts.find((r) => r.listenerId === id)).state;
      equal(stateOf(awake.id), 'pending');
      equal(stateOf(asleep.id), 'held');
      equal(only(await stage.deliveries()).webhook?.id, awake.id);
    });

    it('passes over a subscription that is inactive', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.source();
      const [on, off] = [await stage.webhook(), await stage.webhook()];
      await stage.subscribe(emitter.id, on.id);
      await stage.subscribe(emitter.id, off.id, '', { active: false });
      deepEqual(await heard(stage, (await stage.append(emitter.id)).entry), [on.id]);
    });

    it('reaches the listeners of one owner only', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const emitter = await stage.workflow();
      const [ours, theirs] = [await stage.webhook(), await other.webhook()];
      await stage.subscribe('*', ours.id, '*');
      await other.subscribe('*', theirs.id, '*');
      deepEqual(await heard(stage, (await stage.append(emitter.id)).entry), [ours.id]);
      equal((await other.store.ledger(other.owner.id)).deliveries.pending, 0);
    });

    it('keeps a wildcard listener out of its own lineage', async () => {
      await using stage = await Stage.open(harness);
      const [first, echo] = [await stage.workflow(), await stage.workflow()];
      await stage.subscribe('*', echo.id, '*');
      const { entry } = await stage.append(first.id, { lineage: [echo.id, first.id] });
      match(String(only(await stage.store.receipts(stage.owner.id, entry)).reason), /^loop: /);
      deepEqual(await heard(stage, (await stage.append(first.id, { lineage: [first.id] })).entry), [echo.id]);
    });

    it('carries errors up to the last hop', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.workflow({ settings: { notify: false } });
      const listener = await stage.webhook();
      await stage.subscribe(emitter.id, listener.id, ERRORS);
      const last = await stage.append(emitter.id, { name: ERRORS, hops: LIMITS.errorHops });
      deepEqual(await heard(stage, last.entry), [listener.id]);
      const beyond = await stage.append(emitter.id, { name: ERRORS, hops: LIMITS.errorHops + 1 });
      deepEqual(await heard(stage, beyond.entry), []);
      const receipts = await stage.store.receipts(stage.owner.id, beyond.entry);
      match(String(receipts.find((r) => r.listenerId === listener.id)?.reason), /hops/);
    });

    it('says that nobody heard an emission', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.workflow();
      const appended = await stage.append(emitter.id, {}, none());
      equal(appended.firstRun, null);
      deepEqual(await stage.store.receipts(stage.owner.id, appended.entry), []);
      const ledger = await stage.store.ledger(stage.owner.id);
      equal(ledger.emissions, 1);
    });
  });
}
