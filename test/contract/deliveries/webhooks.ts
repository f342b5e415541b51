// Webhooks: what they keep, what is held while one is disabled, and what goes with a deleted one.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY_MS, MINUTE_MS } from '../../../src/domain/limits.ts';
import type { Webhook } from '../../../src/domain/resource.ts';
import { all, defined, type Harness, only, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { aSecret } from '../maker.ts';
import { Stage } from '../stage.ts';

interface Heard {
  readonly emitterId: string;
  readonly webhook: Webhook;
  /** Always active: shows that deliveries are claimed at all. */
  readonly other: Webhook;
}

async function heard(stage: Stage): Promise<Heard> {
  const [{ id: emitterId }, webhook, other] = [await stage.source(), await stage.webhook(), await stage.webhook()];
  for (const { id } of [webhook, other]) await stage.subscribe(emitterId, id);
  return { emitterId, webhook, other };
}

async function setActive(stage: Stage, webhook: Webhook, active: boolean): Promise<void> {
  const updatedAtMs = stage.clock.nowMs();
  const changed = await stage.store.updateWebhook(stage.owner.id, webhook.id, (w) => ({ ...w, active, updatedAtMs }));
  equal(changed?.active, active);
}

const claimedIds = async (stage: Stage): Promise<string[]> =>
  (await stage.deliveries()).map((d) => defined(d.webhook).id);

const stateCount = async (stage: Stage, webhook: Webhook, state: 'held' | 'pending' | 'cancelled'): Promise<number> =>
  (await stage.store.listDeliveries({ ownerId: stage.owner.id, listenerId: webhook.id, state }, { limit: 1 }))
    .totalCount;

export function webhooksContract(harness: Harness): void {
  describe('a webhook', () => {
    it('is given back as it was made', async () => {
      await using stage = await Stage.open(harness);
      const plain = await stage.webhook({ name: null });
      const full = await stage.webhook({ description: 'für “alles”', active: false, secrets: [] });
      deepEqual(await stage.store.getWebhook(stage.owner.id, plain.id), plain);
      deepEqual(await stage.store.getWebhook(stage.owner.id, full.id), full);
    });

    it('is replaced by an update', async () => {
      await using stage = await Stage.open(harness);
      const webhook = await stage.webhook();
      stage.clock.advance(1);
      const secrets = [aSecret('whsec_bg')];
      const changed = { ...webhook, url: 'https://example.org/x', name: null, secrets, updatedAtMs: 1 };
      deepEqual(await stage.store.updateWebhook(stage.owner.id, webhook.id, () => changed), changed);
      deepEqual(await stage.store.getWebhook(stage.owner.id, webhook.id), changed);
    });

    it('cannot be updated once it is gone', async () => {
      await using stage = await Stage.open(harness);
      const webhook = await stage.webhook();
      deepEqual(await stage.store.deleteWebhook(stage.owner.id, webhook.id), webhook);
      equal(await stage.store.updateWebhook(stage.owner.id, webhook.id, () => webhook), undefined);
      equal(await stage.store.getWebhook(stage.owner.id, webhook.id), undefined);
      equal(await stage.store.deleteWebhook(stage.owner.id, webhook.id), undefined);
    });

    it('gets its new address with the next claim', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook } = await heard(stage);
      await stage.append(emitterId);
      const changed = { ...webhook, url: 'https://example.org/moved' };
      await stage.store.updateWebhook(stage.owner.id, webhook.id, () => changed);
      const claimed = await stage.deliveries();
      deepEqual(claimed.find((d) => d.webhook?.id === webhook.id)?.webhook, changed);
    });
  });

  describe('a disabled webhook', () => {
    it('gets nothing until it is active again', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook, other } = await heard(stage);
      await setActive(stage, webhook, false);
      await timesInTurn(3, () => stage.append(emitterId));
      deepEqual(await claimedIds(stage), [other.id, other.id, other.id]);
      equal(await stateCount(stage, webhook, 'held'), 3);
      stage.clock.advance(DAY_MS);
      deepEqual(await claimedIds(stage), []);
      await setActive(stage, webhook, true);
      equal(await stateCount(stage, webhook, 'held'), 0);
      deepEqual(await claimedIds(stage), [webhook.id, webhook.id, webhook.id]);
      await assertLedgerAddsUp(stage);
    });

    it('also keeps back what was pending before', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook, other } = await heard(stage);
      await stage.append(emitterId);
      await setActive(stage, webhook, false);
      deepEqual(await claimedIds(stage), [other.id]);
      await setActive(stage, webhook, true);
      deepEqual(await claimedIds(stage), [webhook.id]);
      await assertLedgerAddsUp(stage);
    });

    it('takes no retry of what was under way', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook, other } = await heard(stage);
      await stage.append(emitterId);
      const claimed = await stage.deliveries();
      await setActive(stage, webhook, false);
      for (const delivery of claimed) equal((await stage.retrying(delivery, MINUTE_MS)).held, true);
      stage.clock.advance(MINUTE_MS);
      deepEqual(await claimedIds(stage), [other.id]);
      await setActive(stage, webhook, true);
      const again = only(await stage.deliveries());
      deepEqual([again.webhook?.id, again.attempt, again.trigger], [webhook.id, 2, 'retry']);
      await assertLedgerAddsUp(stage);
    });

    it('takes back nothing that was released', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook, other } = await heard(stage);
      await stage.append(emitterId);
      const claimed = await stage.deliveries();
      await setActive(stage, webhook, false);
      await stage.store.releaseDeliveries(claimed);
      deepEqual(await claimedIds(stage), [other.id]);
      await setActive(stage, webhook, true);
      deepEqual(await claimedIds(stage), [webhook.id]);
      await assertLedgerAddsUp(stage);
    });

    it('is what a 410 makes of it', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook, other } = await heard(stage);
      await stage.append(emitterId);
      await stage.append(emitterId);
      const gone = defined((await stage.deliveries()).find((d) => d.webhook?.id === webhook.id));
      equal((await stage.exhausted(gone, { disableWebhook: true })).held, true);
      equal((await stage.store.getWebhook(stage.owner.id, webhook.id))?.active, false);
      equal((await stage.store.getWebhook(stage.owner.id, other.id))?.active, true);
      await stage.append(emitterId, {}, all());
      equal(await stateCount(stage, webhook, 'held'), 1);
      await assertLedgerAddsUp(stage);
    });

    it('by a 410 holds what was pending', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook, other } = await heard(stage);
      await timesInTurn(3, () => stage.append(emitterId));
      const first = await stage.deliveries(2);
      const gone = defined(first.find((d) => d.webhook?.id === webhook.id));
      await stage.exhausted(gone, { disableWebhook: true });
      deepEqual(await claimedIds(stage), [other.id, other.id]);
      equal(await stateCount(stage, webhook, 'held'), 2);
      await setActive(stage, webhook, true);
      deepEqual(await claimedIds(stage), [webhook.id, webhook.id]);
      await assertLedgerAddsUp(stage);
    });

    it('stays so when only a lost lease asks', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook } = await heard(stage);
      await stage.append(emitterId);
      const lost = await stage.deliveries();
      await stage.store.releaseDeliveries(lost);
      const late = defined(lost.find((d) => d.webhook?.id === webhook.id));
      equal((await stage.exhausted(late, { disableWebhook: true })).held, false);
      equal((await stage.store.getWebhook(stage.owner.id, webhook.id))?.active, true);
    });

    it('holds what a dead node was sending', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook, other } = await heard(stage);
      await stage.append(emitterId);
      await stage.deliveries();
      await setActive(stage, webhook, false);
      await stage.reopen();
      await stage.store.rescue(all());
      deepEqual(await claimedIds(stage), [other.id]);
      await setActive(stage, webhook, true);
      deepEqual(await claimedIds(stage), [webhook.id]);
      await assertLedgerAddsUp(stage);
    });
  });

  describe('deleting a webhook', () => {
    it('cancels what waits, and retries nothing', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook, other } = await heard(stage);
      await timesInTurn(3, () => stage.append(emitterId));
      const sending = defined((await stage.deliveries(2)).find((d) => d.webhook?.id === webhook.id));
      await stage.store.deleteWebhook(stage.owner.id, webhook.id);
      const { deliveries: before } = await stage.store.ledger(stage.owner.id);
      equal(before.pending, 2);
      await stage.retrying(sending, 0);
      const { deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([deliveries.cancelled, deliveries.sending, deliveries.pending], [3, 1, 2]);
      deepEqual(await claimedIds(stage), [other.id, other.id]);
    });

    it('lets none of its deliveries come back', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook, other } = await heard(stage);
      await timesInTurn(2, () => stage.append(emitterId));
      const claimed = await stage.deliveries();
      await stage.store.deleteWebhook(stage.owner.id, webhook.id);
      await stage.store.releaseDeliveries(claimed.slice(0, 2));
      await stage.reopen();
      await stage.store.rescue(all());
      deepEqual(await claimedIds(stage), [other.id, other.id]);
      equal((await stage.store.ledger(stage.owner.id)).deliveries.cancelled, 2);
    });

    it('cancels what is held or retrying too', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook } = await heard(stage);
      await stage.append(emitterId);
      for (const delivery of await stage.deliveries()) await stage.retrying(delivery, MINUTE_MS);
      await setActive(stage, webhook, false);
      await stage.append(emitterId);
      await stage.store.deleteWebhook(stage.owner.id, webhook.id);
      const { deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([deliveries.cancelled, deliveries.held, deliveries.retrying, deliveries.pending], [2, 0, 1, 1]);
    });

    it('leaves what was delivered as it is', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook } = await heard(stage);
      await stage.append(emitterId);
      for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
      await stage.store.deleteWebhook(stage.owner.id, webhook.id);
      const { deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([deliveries.delivered, deliveries.cancelled], [2, 0]);
    });

    it('takes its subscriptions with it', async () => {
      await using stage = await Stage.open(harness);
      const { emitterId, webhook, other } = await heard(stage);
      await stage.subscribe(webhook.id, other.id, '$errors');
      await stage.store.deleteWebhook(stage.owner.id, webhook.id);
      const { items } = await stage.store.listSubscriptions({ ownerId: stage.owner.id }, { limit: 100 });
      deepEqual(
        items.map((s) => [s.emitterId, s.listenerId]),
        [[emitterId, other.id]],
      );
      const { entry } = await stage.append(emitterId);
      equal(only(await stage.store.receipts(stage.owner.id, entry)).listenerId, other.id);
    });
  });
}
