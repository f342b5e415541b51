// Subscriptions: the triple is the key, both ends exist, and an answered one is heard by the next append.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { utf8 } from '../../../src/domain/bytes.ts';
import { ERRORS } from '../../../src/domain/emission.ts';
import { at, defined, type Harness, only, sameMembers, times, timesInTurn } from '../fixtures.ts';
import { Stage } from '../stage.ts';

export function subscriptionsContract(harness: Harness): void {
  describe('a subscription', () => {
    it('is given back as it was made', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, webhook] = [await stage.workflow(), await stage.webhook()];
      const made = stage.make.subscription({ from: workflow.id, to: webhook.id, name: ERRORS });
      deepEqual(await stage.store.createSubscription(made), { subscription: made });
      deepEqual(await stage.store.getSubscription(stage.owner.id, made.id), made);
    });

    it('made again answers the one that stands', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, webhook] = [await stage.workflow(), await stage.webhook()];
      const first = await stage.subscribe(workflow.id, webhook.id, 'paid');
      stage.clock.advance(1000);
      const again = stage.make.subscription({ from: workflow.id, to: webhook.id, name: 'paid' });
      deepEqual(await stage.store.createSubscription(again), { subscription: first });
      equal(await stage.store.getSubscription(stage.owner.id, again.id), undefined);
      equal((await stage.store.listSubscriptions({ ownerId: stage.owner.id }, { limit: 9 })).totalCount, 1);
    });

    it('made many times at once stands once', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, webhook] = [await stage.workflow(), await stage.webhook()];
      const answers = await Promise.all(times(20, () => stage.subscribe(workflow.id, webhook.id)));
      equal(new Set(answers.map((s) => s.id)).size, 1);
      equal((await stage.store.listSubscriptions({ ownerId: stage.owner.id }, { limit: 9 })).totalCount, 1);
    });

    it('differs by name, by end and by via', async () => {
      await using stage = await Stage.open(harness);
      const [a, b, webhook] = [await stage.workflow(), await stage.workflow(), await stage.webhook()];
      const made = [
        await stage.subscribe(a.id, webhook.id),
        await stage.subscribe(a.id, webhook.id, 'paid'),
        await stage.subscribe(b.id, webhook.id),
        await stage.subscribe(a.id, b.id),
        await stage.subscribe(a.id, b.id, '', { via: 'trigger' }),
      ];
      equal(new Set(made.map((s) => s.id)).size, 5);
    });

    it('needs both of its ends', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, webhook] = [await stage.workflow(), await stage.webhook()];
      const create = (from: string, to: string) =>
        stage.store.createSubscription(stage.make.subscription({ from, to }));
      deepEqual(await create('p_0000000000009999', webhook.id), { missing: 'emitter_id' });
      deepEqual(await create(workflow.id, 'wh_0000000000009999'), { missing: 'listener_id' });
      await stage.store.deleteWebhook(stage.owner.id, webhook.id);
      deepEqual(await create(workflow.id, webhook.id), { missing: 'listener_id' });
      equal((await stage.store.listSubscriptions({ ownerId: stage.owner.id }, { limit: 9 })).totalCount, 0);
    });

    it('may begin at any kind of emitter', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      const [source, webhook, listener] = [await stage.source(), await stage.webhook(), await stage.webhook()];
      const emitters = [workflow.id, trigger.id, source.id, webhook.id, '*', 'p_*', 'dc_*'];
      for (const emitterId of emitters) equal((await stage.subscribe(emitterId, listener.id)).emitterId, emitterId);
    });

    it('reaches nobody of another owner', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const [ours, theirs] = [await stage.workflow(), await other.webhook()];
      const [own, foreign] = [await stage.webhook(), await other.workflow()];
      const create = (from: string, to: string) =>
        stage.store.createSubscription(stage.make.subscription({ from, to }));
      deepEqual(await create(ours.id, theirs.id), { missing: 'listener_id' });
      deepEqual(await create(foreign.id, own.id), { missing: 'emitter_id' });
      ok('subscription' in (await create(ours.id, own.id)));
    });

    it('is filtered by emitter, listener, name and via', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger, write } = await stage.hooked();
      const webhook = await stage.webhook();
      const plain = await stage.subscribe(workflow.id, webhook.id);
      const errors = await stage.subscribe(workflow.id, webhook.id, ERRORS);
      const own = at(write.subscriptions, 0);
      const of = async (query: object): Promise<string[]> => {
        const page = await stage.store.listSubscriptions({ ownerId: stage.owner.id, ...query }, { limit: 9 });
        equal(page.totalCount, page.items.length);
        return page.items.map((s) => s.id);
      };
      sameMembers(await of({}), [own.id, plain.id, errors.id]);
      sameMembers(await of({ emitterId: workflow.id }), [plain.id, errors.id]);
      deepEqual(await of({ emitterId: trigger.id }), [own.id]);
      sameMembers(await of({ listenerId: webhook.id }), [plain.id, errors.id]);
      deepEqual(await of({ emitterId: workflow.id, eventName: '' }), [plain.id]);
      deepEqual(await of({ eventName: ERRORS }), [errors.id]);
      deepEqual(await of({ via: 'trigger' }), [own.id]);
      sameMembers(await of({ via: 'subscription' }), [plain.id, errors.id]);
    });

    it('is heard no more once deleted', async () => {
      await using stage = await Stage.open(harness);
      const [source, gone, kept] = [await stage.source(), await stage.webhook(), await stage.webhook()];
      const subscription = await stage.subscribe(source.id, gone.id);
      await stage.subscribe(source.id, kept.id);
      deepEqual(await stage.store.deleteSubscription(stage.owner.id, subscription.id), subscription);
      const { entry } = await stage.append(source.id);
      equal(only(await stage.store.receipts(stage.owner.id, entry)).listenerId, kept.id);
      equal(await stage.store.deleteSubscription(stage.owner.id, subscription.id), undefined);
      equal(await stage.store.getSubscription(stage.owner.id, subscription.id), undefined);
    });

    it('of a trigger cannot be deleted apart', async () => {
      await using stage = await Stage.open(harness);
      const { trigger, write } = await stage.hooked();
      const { id } = at(write.subscriptions, 0);
      equal(await stage.store.deleteSubscription(stage.owner.id, id), undefined);
      ok(await stage.store.getSubscription(stage.owner.id, id));
      ok((await stage.append(trigger.id)).firstRun);
    });

    it('is kept with its filter, which another replaces', async () => {
      await using stage = await Stage.open(harness);
      const [source, webhook] = [await stage.source(), await stage.webhook()];
      const filter = { type: [{ prefix: 'invoice.' }] };
      const made = await stage.subscribe(source.id, webhook.id, '', { filter });
      deepEqual((await stage.store.getSubscription(stage.owner.id, made.id))?.filter, filter);
      const heard = async (type: string): Promise<string> => {
        const { entry } = await stage.append(source.id, { body: utf8(`{"type":"${type}"}`) });
        const { kind, reason } = only(await stage.store.receipts(stage.owner.id, entry));
        return `${kind} ${reason}`;
      };
      const missed = 'withheld the filter does not match at type';
      deepEqual([await heard('invoice.paid'), await heard('charge.paid')], ['delivery null', missed]);
      const other = { type: ['charge.paid'] };
      const { filterSubscription } = stage.store;
      deepEqual(await filterSubscription(stage.owner.id, made.id, () => other), { ...made, filter: other });
      deepEqual([await heard('invoice.paid'), await heard('charge.paid')], [missed, 'delivery null']);
      await stage.reopen();
      deepEqual([await heard('invoice.paid'), await heard('charge.paid')], [missed, 'delivery null']);
      deepEqual(
        await stage.store.filterSubscription(stage.owner.id, made.id, () => null),
        made.filter && { ...made, filter: null },
      );
      deepEqual([await heard('invoice.paid'), await heard('charge.paid')], ['delivery null', 'delivery null']);
    });

    it('is filtered by its owner alone, and not when it stands for a trigger', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const { workflow, trigger, write } = await stage.hooked();
      const own = await stage.subscribe(workflow.id, (await stage.webhook()).id);
      const filter = { x: [1] };
      equal(await stage.store.filterSubscription(other.owner.id, own.id, () => filter), undefined);
      equal(
        await stage.store.filterSubscription(stage.owner.id, at(write.subscriptions, 0).id, () => filter),
        undefined,
      );
      deepEqual(await stage.store.getSubscription(stage.owner.id, own.id), own);
      ok((await stage.append(trigger.id)).firstRun);
    });

    it('leads to a listener although the filter of another does not', async () => {
      await using stage = await Stage.open(harness);
      const [source, webhook] = [await stage.source(), await stage.webhook()];
      await stage.subscribe(source.id, webhook.id, '', { filter: { x: [1] } });
      const wide = await stage.subscribe('dc_*', webhook.id);
      const { entry } = await stage.append(source.id, { body: utf8('{"x":2}') });
      const { kind, subscriptionId } = only(await stage.store.receipts(stage.owner.id, entry));
      deepEqual([kind, subscriptionId], ['delivery', wide.id]);
    });

    it('does not call back what was routed', async () => {
      await using stage = await Stage.open(harness);
      const [source, webhook] = [await stage.source(), await stage.webhook()];
      const subscription = await stage.subscribe(source.id, webhook.id);
      await stage.append(source.id);
      await stage.store.deleteSubscription(stage.owner.id, subscription.id);
      equal(only(await stage.deliveries()).subscriptionId, subscription.id);
    });
  });

  describe('an answered subscription', () => {
    it('is heard by the very next append', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await timesInTurn(20, async (i) => {
        equal((await stage.append(source.id)).claims.deliveriesWaiting, i > 0);
        await stage.subscribe(source.id, (await stage.webhook()).id);
        const { entry } = await stage.append(source.id);
        equal((await stage.store.receipts(stage.owner.id, entry)).length, i + 1);
      });
    });

    it('is heard although many appends are under way', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const under: Promise<unknown>[] = [];
      for (const round of times(10, (i) => i)) {
        const webhook = await stage.webhook();
        under.push(...times(50, () => stage.append(source.id)));
        await stage.subscribe(source.id, webhook.id);
        under.push(...times(10, () => stage.append(source.id)));
        const { entry } = await stage.append(source.id);
        under.push(...times(10, () => stage.append(source.id)));
        const receipts = await stage.store.receipts(stage.owner.id, entry);
        equal(receipts.length, round + 1);
        ok(receipts.some((r) => r.listenerId === webhook.id));
      }
      await Promise.all(under);
    });

    it('counts from its answer, like other changes', async () => {
      await using stage = await Stage.open(harness);
      const [source, workflow, sign] = [await stage.source(), await stage.workflow(), await stage.webhook()];
      await stage.subscribe(source.id, workflow.id);
      await stage.subscribe(source.id, sign.id);
      for (const active of [false, true, false, true]) {
        const under = times(20, () => stage.append(source.id));
        await stage.store.updateWorkflow({
          workflow: { ...workflow, active },
          deployment: null,
          triggers: [],
          subscriptions: [],
        });
        const { entry } = await stage.append(source.id);
        const receipts = await stage.store.receipts(stage.owner.id, entry);
        equal(defined(receipts.find((r) => r.listenerId === sign.id)).kind, 'delivery');
        equal(defined(receipts.find((r) => r.listenerId === workflow.id)).kind, active ? 'run' : 'withheld');
        await Promise.all(under);
      }
    });
  });
}
