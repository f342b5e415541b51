// What a process is doing when it is killed between two statements: scenes around one verb, the same in the process that
// is killed and in the one that looks at what is left.

import { equal } from 'node:assert/strict';
import { PREFIX } from '../../../src/domain/ids.ts';
import { DAY_MS } from '../../../src/domain/limits.ts';
import { endOf } from '../../../src/domain/run/run-end.ts';
import type { ReplayStep } from '../../../src/store/contract/operations.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { exhaustAll, FAILED, pendingFor, putOff, record } from '../../contract/deliveries/sending.ts';
import {
  all,
  at,
  CountingIds,
  defined,
  none,
  START_MS,
  strongRandom,
  succeeded,
  TestClock,
  timesInTurn,
} from '../../contract/fixtures.ts';
import { Maker, type WebhookChanges } from '../../contract/maker.ts';
import { fail, next, PLAIN_ORDER, selection } from '../../contract/replays/replaying.ts';
import { Stage } from '../../contract/stage.ts';

/** Who is who in a prepared store. */
export interface Cast {
  readonly ownerId: string;
  readonly globalId: string;
  readonly emitterId: string;
  /** Hears the emitter; three deliveries wait for it. */
  readonly mainId: string;
  /** Hears the emitter too; one delivery waits. */
  readonly besideId: string;
  /** Hears the errors of the main one. */
  readonly watchingId: string;
}

export interface World extends Cast {
  readonly store: Store;
  readonly clock: TestClock;
}

interface Scene {
  readonly webhook?: WebhookChanges;
  readonly prepare?: (stage: Stage, mainId: string) => Promise<void>;
  /** Takes what it needs; what comes back is the verb, to be called once. */
  readonly take: (world: World) => Promise<() => Promise<unknown>>;
}

/** The main webhook's delivery that is due, held by this node; others stay behind it. */
async function mainDelivery({ store, mainId }: World) {
  const { deliveries } = await store.claimDeliveries(2, all());
  return defined(deliveries.find((d) => d.webhook?.id === mainId));
}

const ended =
  (answer: Parameters<typeof record>[2]): Scene['take'] =>
  async (world) => {
    const delivery = await mainDelivery(world);
    return () => record(world, delivery, answer, all());
  };

const NO_RETRIES = { settings: { retryDelaysMs: [] } };

async function exhaustedBefore(stage: Stage, mainId: string, count: number): Promise<void> {
  await pendingFor(stage, { id: mainId }, count);
  await exhaustAll(stage);
}

export const SCENES: Record<string, Scene> = {
  'a success': { take: ended({}) },
  'a failure that is tried again': { take: ended(FAILED) },
  'an attempt that was put off': { take: ended(putOff(DAY_MS)) },
  'an exhaustion that is told': {
    webhook: NO_RETRIES,
    prepare: (stage, mainId) => exhaustedBefore(stage, mainId, 2),
    take: ended(FAILED),
  },
  'a failure that disables': {
    webhook: NO_RETRIES,
    prepare: async (stage, mainId) => {
      await exhaustedBefore(stage, mainId, 3);
      stage.clock.advance(5 * DAY_MS);
    },
    take: ended(FAILED),
  },
  'an event for two webhooks': {
    take: async ({ store, clock, ownerId, emitterId }) => {
      const emission = new Maker(clock, new CountingIds()).emission(emitterId, { ownerId });
      await store.claimDeliveries(100, all());
      return () => store.append(emission, all());
    },
  },
  'a delivery sent again': {
    prepare: (stage, mainId) => exhaustedBefore(stage, mainId, 1),
    take: async ({ store, ownerId, mainId }) => {
      const of = { ownerId, listenerId: mainId, state: 'exhausted' } as const;
      const { delivery } = at((await store.listDeliveries(of, { limit: 1 })).items, 0);
      return () => store.resendDelivery(ownerId, delivery);
    },
  },
  'a step of an operation': {
    prepare: (stage, mainId) => exhaustedBefore(stage, mainId, 3),
    take: async ({ store, clock, ownerId, mainId }) => {
      const operation = { ...new Maker(clock, new CountingIds()).operation(mainId), ownerId };
      await store.createOperation(operation);
      while ((await store.getOperation(ownerId, operation.id))?.total === null) await store.stepOperation();
      return () => store.stepOperation();
    },
  },
  'replays of errors': {
    prepare: async (stage) => void (await fail(stage, stage.global, 3)),
    take: async (world) => {
      const step = await replayStep(world);
      return () => world.store.replayErrors(step);
    },
  },
  'the ends of replays': {
    prepare: async (stage) => void (await fail(stage, stage.global, 3)),
    take: async (world) => {
      const { store, clock } = world;
      await store.replayErrors(await replayStep(world));
      const { runs } = await store.claimRuns(100, all());
      equal(runs.length, 3);
      for (const run of runs) await store.finishRun(endOf(run, succeeded(), clock.nowMs()), none());
      return () => store.stepOperation();
    },
  },
  'a step that gives free pages back': {
    prepare: async (stage) => {
      const [gone] = await fillStores(stage);
      await stage.store.deleteDataStore(stage.owner.id, defined(gone));
      let isMore = true;
      while (isMore) isMore = await stage.store.sweepData();
    },
    take:
      async ({ store }) =>
      async () =>
        equal(await store.reclaimSpace(), true),
  },
};

/** The first step of an operation that is counted. */
async function replayStep({ store, clock, ownerId, globalId }: World): Promise<ReplayStep> {
  const id = new CountingIds().next(PREFIX.operation);
  const order = { ...PLAIN_ORDER, selection: selection({ emitterId: globalId }) };
  await store.createReplay({
    id,
    ownerId,
    kind: 'replay',
    order,
    logEnd: Number.MAX_SAFE_INTEGER,
    createdAtMs: clock.nowMs(),
  });
  while ((await store.getOperation(ownerId, id))?.total === null) await store.stepOperation();
  return defined((await next({ store })) ?? undefined);
}

/** 8 MB each; the second one lies behind the first in the file. */
async function fillStores({ store, ids, owner, clock }: Stage): Promise<string[]> {
  const value = JSON.stringify('x'.repeat(800_000));
  return timesInTurn(2, async () => {
    const id = ids.next(PREFIX.dataStore);
    const times = { createdAtMs: clock.nowMs(), updatedAtMs: clock.nowMs() };
    await store.createDataStore({ id, ownerId: owner.id, name: 'large', size: 0, ...times });
    const place = { ownerId: owner.id, storeId: id };
    await timesInTurn(10, (i) => store.setRecord(place, { key: `${i}`, value, ttlMs: null }));
    return id;
  });
}

export const sceneOf = (name: string): Scene => defined(SCENES[name]);

export async function openAt(path: string, atMs: number): Promise<{ store: Store; clock: TestClock }> {
  const clock = new TestClock();
  clock.ms = atMs;
  return { store: await openSqliteStore({ path, clock, random: strongRandom }), clock };
}

/** Makes the store of a scene, as it is before anybody takes anything. Returns the time that it is there. */
export async function prepare(path: string, { webhook, prepare: more }: Scene): Promise<{ cast: Cast; atMs: number }> {
  const { store, clock } = await openAt(path, START_MS);
  const stage = await Stage.on(store, clock);
  const [main, beside, watching] = [await stage.webhook(webhook), await stage.webhook(), await stage.webhook()];
  const emitter = await stage.source();
  await stage.subscribe(emitter.id, main.id);
  await stage.subscribe(emitter.id, beside.id);
  await more?.(stage, main.id);
  await stage.subscribe(main.id, watching.id, '$errors');
  await stage.append(emitter.id);
  await pendingFor(stage, main, 2);
  await store.close();
  const cast = {
    ownerId: stage.owner.id,
    globalId: stage.global.id,
    emitterId: emitter.id,
    mainId: main.id,
    besideId: beside.id,
    watchingId: watching.id,
  };
  return { cast, atMs: clock.ms };
}
