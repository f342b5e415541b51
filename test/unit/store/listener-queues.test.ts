// What the SQLite store keeps in memory of whose turn it is equals what it would read from the file: after any sequence of
// verbs, also of such that were rolled back, a copy of the file that is opened afresh claims the same.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import type { Webhook } from '../../../src/domain/resource.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { type ListenerQueue, ListenerQueues } from '../../../src/store/sqlite/deliveries/listener-queues.ts';
import { checkSqlite } from '../../../src/store/sqlite/maintenance/check.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { all, at, type CountedSlots, defined, none, strongRandom, TestClock, upTo } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { createFolder } from '../../support/folders/folder.ts';

/** Numbers in [0, 1) that are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

class Walk {
  readonly under: ClaimedDelivery[] = [];
  readonly seen: number[] = [];
  readonly stage: Stage;
  readonly emitterId: string;
  readonly webhooks: readonly Webhook[];
  readonly fraction: () => number;

  constructor(stage: Stage, setting: { emitterId: string; webhooks: readonly Webhook[]; fraction: () => number }) {
    this.stage = stage;
    this.emitterId = setting.emitterId;
    this.webhooks = setting.webhooks;
    this.fraction = setting.fraction;
  }

  pick<T>(list: readonly T[]): T {
    return at(list, Math.floor(this.fraction() * list.length));
  }

  took(deliveries: readonly ClaimedDelivery[]): void {
    this.under.push(...deliveries);
    this.seen.push(...deliveries.map((d) => d.delivery));
  }

  async step(): Promise<void> {
    const { stage } = this;
    const { store, owner, clock } = stage;
    const moves = [
      async () => this.took((await stage.append(this.emitterId, {}, this.slots())).claims.deliveries),
      async () =>
        this.took((await store.claimDeliveries(1 + Math.floor(this.fraction() * 6), this.slots())).deliveries),
      () => this.end(),
      () => this.end(),
      async () => store.releaseDeliveries(this.under.splice(0, 2)),
      async () => clock.advance(Math.floor(this.fraction() * 20_000)),
      async () => void (this.seen.length > 0 && (await store.resendDelivery(owner.id, this.pick(this.seen)))),
      async () => void (await this.change({ active: this.fraction() < 0.7 })),
      async () => void (await this.change({ ordered: this.fraction() < 0.5 })),
      () => this.fail(),
    ];
    const known = this.seen.length;
    await this.pick(moves)();
    for (const delivery of this.seen.slice(known)) {
      const whole = await store.getDelivery(owner.id, delivery);
      ok((whole?.record.nextAttemptAtMs ?? 0) <= clock.ms, 'never early');
    }
  }

  slots(): CountedSlots {
    return this.pick([() => none(), () => all(), () => upTo(2)])();
  }

  change({ active, ordered }: { active?: boolean; ordered?: boolean }): Promise<Webhook | undefined> {
    return this.stage.store.updateWebhook(this.stage.owner.id, this.pick(this.webhooks).id, (before) => ({
      ...before,
      active: active ?? before.active,
      settings: { ...before.settings, ordered: ordered ?? before.settings.ordered },
    }));
  }

  async end(): Promise<void> {
    const delivery = this.under.shift();
    if (!delivery) return;
    const atMs = this.stage.clock.nowMs() + Math.floor(this.fraction() * 60_000);
    const slots = this.slots();
    const { claims } = await this.pick([
      () => this.stage.delivered(delivery, slots),
      () => this.stage.exhausted(delivery, {}, slots),
      () => this.stage.attempt({ delivery, state: 'retrying', nextAttemptAtMs: atMs }, slots),
      () => this.stage.attempt({ delivery, state: 'retrying', nextAttemptAtMs: atMs, pauseUntilMs: atMs }, slots),
    ])();
    this.took(claims.deliveries);
  }

  /** In one batch with a verb that throws: all of them are rolled back, and run again by themselves. */
  async fail(): Promise<void> {
    const { store } = this.stage;
    const appended = this.stage.append(this.emitterId, {}, none());
    const claimed = store.claimDeliveries(3, all());
    const refused = store.createWebhook(this.pick(this.webhooks));
    const [, claims, made] = await Promise.allSettled([appended, claimed, refused]);
    equal(made.status, 'rejected', 'its id is taken');
    if (claims.status === 'rejected') throw claims.reason;
    this.took(claims.value.deliveries);
  }
}

/** When retries are due, by number. */
function dueTimes(path: string): Map<number, number> {
  const db = new DatabaseSync(path);
  const rows = db.prepare("SELECT delivery, due_at_ms AS at FROM deliveries WHERE state = 'retrying'").all();
  db.close();
  return new Map(rows.map((row) => [Number(row.delivery), Number(row.at)]));
}

/** What may be claimed at some moments from now on, and when the next one is due. */
async function future(store: Store, clock: TestClock, dueAtMs: Map<number, number>): Promise<unknown[]> {
  const told: unknown[] = [];
  for (const aheadMs of [0, 500, 5000, 20_000, 60_000]) {
    clock.ms += aheadMs;
    const { deliveries, nextDueAtMs } = await store.claimDeliveries(1000, all());
    for (const { delivery } of deliveries) ok((dueAtMs.get(delivery) ?? 0) <= clock.ms, 'never early');
    told.push(
      deliveries.map((d) => d.delivery).sort((a, b) => a - b),
      nextDueAtMs,
    );
  }
  return told;
}

for (const seed of [1, 2, 3, 4]) {
  test(`memory equals the file after walk ${seed}`, async () => {
    await using folder = await createFolder();
    const [path, copy] = [join(folder.path, 'errand.db'), join(folder.path, 'copy.db')];
    const clock = new TestClock();
    const store = await openSqliteStore({ path, clock, random: strongRandom });
    const stage = await Stage.on(store, clock);
    const webhooks = await Promise.all([
      stage.webhook(),
      stage.webhook(),
      stage.webhook({ settings: { ordered: true } }),
    ]);
    const { id: emitterId } = await stage.source();
    for (const { id } of webhooks) await stage.subscribe(emitterId, id);
    const walk = new Walk(stage, { emitterId, webhooks, fraction: seeded(seed) });
    for (let i = 0; i < 300; i++) await walk.step();
    ok(walk.seen.length > 50, `only ${walk.seen.length} were claimed`);
    new DatabaseSync(path).prepare('VACUUM INTO ?').run(copy);
    const startMs = clock.ms;
    const afresh = await openSqliteStore({ path: copy, clock, random: strongRandom });
    const dueAtMs = dueTimes(copy);
    const read = await future(afresh, clock, dueAtMs);
    clock.ms = startMs;
    deepEqual(await future(store, clock, dueAtMs), read);
    await afresh.close();
    await store.close();
    deepEqual((await checkSqlite(path)).findings, []);
  });
}

const queue = (queues: ListenerQueues, id: string): ListenerQueue => defined(queues.find(id));
const ids = (queues: Iterable<ListenerQueue>): string[] => [...queues].map(({ id }) => id);

function begun(nowMs: number): ListenerQueues {
  const queues = new ListenerQueues();
  queues.begin(nowMs);
  return queues;
}

test('a rollback puts every queue back', () => {
  const queues = begun(0);
  queues.moved('a', { from: null, to: 'pending', dueAtMs: null, count: 2 });
  queues.moved('b', { from: null, to: 'retrying', dueAtMs: 50, count: 1 });
  queues.committed();
  queues.begin(60);
  queues.advance();
  queues.moved('a', { from: 'pending', to: 'sending', dueAtMs: null, count: 2 });
  queues.moved('b', { from: 'retrying', to: 'held', dueAtMs: null, count: 1 });
  queues.moved('c', { from: null, to: 'pending', dueAtMs: null, count: 1 });
  queues.pause('a', 1000);
  queues.rolledBack();
  deepEqual([queue(queues, 'a').pending, queue(queues, 'a').sending, queue(queues, 'a').pausedUntilMs], [2, 0, 0]);
  equal(queues.find('c'), undefined);
  queues.begin(60);
  queues.advance();
  deepEqual([ids(queues.ready('pending')), ids(queues.ready('retrying'))], [['a'], ['b']]);
});

test('what opens later is ready in time', () => {
  const queues = begun(0);
  for (const [id, dueAtMs] of [
    ['a', 30],
    ['b', 10],
    ['c', 20],
  ] as const) {
    queues.moved(id, { from: null, to: 'retrying', dueAtMs, count: 1 });
  }
  queues.pause('b', 25);
  const told: unknown[] = [];
  for (const nowMs of [5, 20, 25, 30]) {
    queues.begin(nowMs);
    queues.advance();
    told.push([queues.nextAtMs(() => undefined), ids(queues.ready('retrying'))]);
  }
  deepEqual(told, [
    [20, []],
    [25, ['c']],
    [30, ['c', 'b']],
    [null, ['c', 'b', 'a']],
  ]);
});

test('queues that are idle are forgotten', () => {
  const queues = begun(0);
  queues.moved('a', { from: null, to: 'pending', dueAtMs: null, count: 1 });
  queues.moved('a', { from: 'pending', to: 'sending', dueAtMs: null, count: 1 });
  queues.committed();
  equal(queue(queues, 'a').sending, 1);
  queues.moved('a', { from: 'sending', to: 'delivered', dueAtMs: null, count: 1 });
  queues.committed();
  equal(queues.find('a'), undefined);
});

test('a count that is wrong is mended', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const clock = new TestClock();
  const store = await openSqliteStore({ path, clock, random: strongRandom });
  const stage = await Stage.on(store, clock);
  const [source, webhook] = [await stage.source(), await stage.webhook()];
  await stage.subscribe(source.id, webhook.id);
  for (let i = 0; i < 3; i++) await stage.append(source.id, {}, none());
  // Behind the store's back, as a bug of ours would.
  const file = new DatabaseSync(path);
  file.exec("UPDATE deliveries SET state = 'cancelled' WHERE delivery = (SELECT max(delivery) FROM deliveries)");
  file.close();
  await rejects(store.claimDeliveries(10, all()), /the count of \w+ deliveries to \S+ is wrong/);
  const [first, second, ...more] = (await store.claimDeliveries(10, all())).deliveries;
  deepEqual([defined(first).attempt, defined(second).attempt, more.length], [1, 1, 0]);
  equal((await stage.delivered(defined(first))).held, true);
  await store.close();
});
