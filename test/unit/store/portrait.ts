// Everything that a store tells of what is in it, as one value to be compared.

import { createHash } from 'node:crypto';
import { DELIVERY_STATES } from '../../../src/domain/delivery/delivery.ts';
import { RUN_STATES } from '../../../src/domain/run/run.ts';
import type { Page, PageQuery } from '../../../src/store/contract/records.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { walk } from '../../contract/fixtures.ts';
import type { Stage } from '../../contract/stage.ts';
import type { Full } from './full-store.ts';

/** The stages' own store is not asked. */
export async function portraitOf(store: Store, full: Full): Promise<object> {
  const owners: object[] = [];
  for (const stage of full.stages) owners.push(await ownerPortrait(store, stage));
  return plain({
    listed: await store.listOwners(),
    keys: await each(full.keyHashes, (hash) => store.keyByHash(hash)),
    triggers: await each(full.triggerKeys, (key) => store.triggerByKey(key)),
    memories: await each(full.sourceIds, (id) => store.readSourceDb(id)),
    due: await store.dueTriggers(10),
    nextDueAtMs: await store.nextDueAtMs(),
    owners,
  }) as object;
}

async function ownerPortrait(store: Store, stage: Stage): Promise<object> {
  const ownerId = stage.owner.id;
  const byId = <T extends { id: string }>(list: (page: PageQuery) => Promise<Page<T>>): Promise<T[]> =>
    walk(list, ({ id }) => id);
  const workflows = await byId((page) => store.listWorkflows({ ownerId }, page));
  const sources = await byId((page) => store.listSources(ownerId, page));
  const runnables = [...workflows, ...sources];
  const dataStores = await byId((page) => store.listDataStores(ownerId, page));
  const webhooks = await byId((page) => store.listWebhooks(ownerId, page));
  const healths = await store.webhookHealth(
    ownerId,
    webhooks.map(({ id }) => id),
  );
  return {
    ledger: await store.ledger(ownerId),
    keys: await store.listKeys(ownerId),
    runnables,
    deployments: await each(runnables, ({ id }) => byId((page) => store.listDeployments(ownerId, id, page))),
    triggers: await each(runnables, ({ id }) => store.listTriggers(ownerId, id)),
    triggersInOrder: await each(runnables, ({ id }) => store.listTriggerSubscriptions(ownerId, id)),
    webhooks: webhooks.map((webhook) => [webhook, healths.get(webhook.id) ?? null]),
    // Without the record of the move, which is in the store that was moved alone.
    audit: (await byId((page) => store.listAudit({ ownerId }, page))).filter(
      ({ operation }) => operation !== 'moveStore',
    ),
    operations: await byId((page) => store.listOperations({ ownerId }, page)),
    channels: await byId((page) => store.listChannels(ownerId, page)),
    accounts: await byId((page) => store.listAccounts({ ownerId }, page)),
    dataStores: await each(dataStores, async (dataStore) => [
      dataStore,
      await store.listRecords({ ownerId, storeId: dataStore.id }, { limit: 100 }),
    ]),
    subscriptions: await byId((page) => store.listSubscriptions({ ownerId }, page)),
    emissions: await emissionsOf(store, stage),
    runs: await runsOf(store, ownerId, runnables),
    deliveries: await deliveriesOf(store, ownerId),
  };
}

async function emissionsOf(store: Store, stage: Stage): Promise<object[]> {
  const ownerId = stage.owner.id;
  const entries = new Set(stage.appended);
  const lists: object[] = [];
  for (const emitterId of stage.emitterIds) {
    for (const name of stage.names) {
      const page = await store.listEmissions({ ownerId, emitterId, name }, { limit: 100 }, true);
      for (const { entry } of page.items) entries.add(entry);
      if (page.items.length > 0) lists.push({ emitterId, name, page });
    }
  }
  const emissions = await each([...entries], (entry) => store.getEmission(ownerId, entry));
  const receipts = await each([...entries], async (entry) => sorted(await store.receipts(ownerId, entry)));
  return [lists, emissions, receipts];
}

async function runsOf(store: Store, ownerId: string, runnables: readonly { id: string }[]): Promise<object[]> {
  const found: object[] = [];
  for (const { id: runnableId } of runnables) {
    for (const state of RUN_STATES) {
      const list = (page: PageQuery<number>) => store.listRuns({ ownerId, runnableId, state }, page);
      const runs = await walk(list, ({ run }) => run);
      found.push(runs, ...(await each(runs, async ({ run }) => wholeRun(store, ownerId, run))));
    }
  }
  return found;
}

async function wholeRun(store: Store, ownerId: string, run: number): Promise<object> {
  const whole = await store.getRun(ownerId, run);
  return { ...whole, causes: sorted(whole?.causes ?? []) };
}

async function deliveriesOf(store: Store, ownerId: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const state of DELIVERY_STATES) {
    const list = (page: PageQuery<number>) => store.listDeliveries({ ownerId, state }, page);
    const deliveries = await walk(list, ({ delivery }) => delivery);
    const wholes = await each(deliveries, ({ delivery }) => store.getDelivery(ownerId, delivery));
    // While it is sent, the two backends differ on when it was due.
    const isDue = state !== 'sending';
    found.push(...deliveries.map((record) => (isDue ? record : { ...record, nextAttemptAtMs: null })));
    found.push(...wholes.map((whole) => (isDue ? whole : whole?.attempts)));
  }
  return found;
}

async function each<T, R>(list: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (const item of list) answers.push(await ask(item));
  return answers;
}

/** Bytes by their hash: each backend has its own kind of array for them. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return createHash('sha256').update(value).digest('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

/** In whatever order a backend tells them. */
function sorted(list: readonly object[]): object[] {
  return [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
