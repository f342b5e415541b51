// A node whose connection hangs for longer than its lease: another one marks it gone and takes back what it held, and
// then everything that the node had to write arrives at once. Counters must still say what the rows say.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { NO_OUTCOME } from '../../../src/domain/run/run.ts';
import { endOf } from '../../../src/domain/run/run-end.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { all, at, none, TestClock, times } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { type Cutter, startCutter } from '../../support/postgres/cut.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabase } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';
import { claimed, end } from '../nodes/stores.ts';

/** More than one rescue takes back, so that some of them are left to the node itself. */
const MANY = 520;

interface Place extends AsyncDisposable {
  readonly url: string;
  readonly clock: TestClock;
  /** Between the first store and the database. */
  readonly cutter: Cutter;
  readonly hung: Store;
  readonly other: Store;
  readonly stage: Stage;
}

async function makePlace(): Promise<Place> {
  const { url, drop } = await newDatabase();
  const { port, pathname } = new URL(url);
  const cutter = await startCutter(Number(port));
  const clock = new TestClock();
  const hung = await openTestStore({ url: cutter.url(pathname.slice(1)), clock });
  const other = await openTestStore({ url, clock });
  const stage = await Stage.on(other, clock);
  return {
    url,
    clock,
    cutter,
    hung,
    other,
    stage,
    async [Symbol.asyncDispose]() {
      await Promise.all([hung.close(), other.close()]);
      await cutter.dispose();
      await drop();
    },
  };
}

/** What `late` writes is sent while nothing gets through, and arrives when its node has been taken for gone. */
async function hangPastLease(place: Place, late: () => Promise<unknown>): Promise<void> {
  const { cutter, clock, other } = place;
  cutter.hold('both');
  const written = late();
  clock.advance(LIMITS.nodeLeaseMs + 1);
  await other.beat();
  await other.rescue(none());
  cutter.resume();
  await written;
}

async function assertNoDrift({ url, other, stage }: Place): Promise<void> {
  deepEqual((await checkPostgres(url)).findings, []);
  const { runs, deliveries } = await other.ledger(stage.owner.id);
  for (const [fact, n] of Object.entries({ ...runs, ...deliveries })) ok(n >= 0, `${fact}: ${n}`);
}

test('attempts that end late at a node taken for gone are counted once', async () => {
  await using place = await makePlace();
  const { hung, other, stage } = place;
  const webhook = await stage.webhook();
  const { id: emitterId } = await stage.source();
  await stage.subscribe(emitterId, webhook.id);
  const appended = await Promise.all(times(MANY, () => hung.append(stage.make.emission(emitterId), all())));
  const sending = appended.flatMap(({ claims }) => claims.deliveries);
  equal(sending.length, MANY);
  const states = ['delivered', 'retrying'] as const;
  await hangPastLease(place, () =>
    Promise.all([
      ...sending.map((delivery, n) => {
        const state = at(states, n % states.length);
        return end(hung, delivery, { state, nextAttemptAtMs: state === 'retrying' ? place.clock.nowMs() : null });
      }),
      hung.rescue(none()),
    ]),
  );
  await assertNoDrift(place);
  await other.beat();
  await other.rescue(none());
  for (;;) {
    const due = [...(await claimed(other)), ...(await claimed(hung))];
    if (due.length === 0) break;
    for (const node of [other, hung]) await Promise.all(due.map((d) => end(node, d, { state: 'delivered' })));
  }
  await assertNoDrift(place);
  equal((await other.ledger(stage.owner.id)).deliveries.delivered, MANY);
});

test('runs that are handed back late by a node taken for gone are counted once', async () => {
  await using place = await makePlace();
  const { hung, stage } = place;
  const { trigger } = await stage.hooked({ settings: { concurrency: MANY } });
  const appended = await Promise.all(times(MANY, () => hung.append(stage.make.emission(trigger.id), all())));
  const runs = appended.flatMap(({ claims }) => claims.runs);
  equal(runs.length, MANY);
  const back = { ...NO_OUTCOME, end: { kind: 'returned' } } as const;
  await hangPastLease(place, () =>
    Promise.all([
      ...runs.map((run) => hung.finishRun(endOf(run, back, place.clock.nowMs()), none())),
      hung.rescue(none()),
    ]),
  );
  await assertNoDrift(place);
  deepEqual(await queryOn(place.url, 'SELECT state, count(*)::int AS n FROM open_runs GROUP BY state'), [
    { state: 'queued', n: MANY },
  ]);
});
