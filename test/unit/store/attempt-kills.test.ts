// A process that is killed behind any statement of a verb, most of them about deliveries: what it leaves is what stood before, or all of
// what the verb does, and the next process goes on from there without losing or doubling anything.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { DELIVERY_STATES } from '../../../src/domain/delivery/delivery.ts';
import { ERRORS } from '../../../src/domain/emission.ts';
import { DAY_MS } from '../../../src/domain/limits.ts';
import { checkSqlite } from '../../../src/store/sqlite/maintenance/check.ts';
import { all, at, defined, none } from '../../contract/fixtures.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { type Cast, openAt, prepare, SCENES, sceneOf, type World } from './kill-scenes.ts';

const CHILD = join(import.meta.dirname, 'kill-point.ts');
const ALL = { limit: 100 };

interface Prepared {
  readonly name: string;
  readonly folder: string;
  readonly cast: Cast;
  readonly atMs: number;
}

let copies = 0;

/** The path of a store that is as it was prepared. */
async function copyOf({ folder }: Prepared): Promise<string> {
  copies++;
  const directory = join(folder, `copy-${copies}`);
  await mkdir(directory);
  await cp(join(folder, 'errand.db'), join(directory, 'errand.db'));
  return join(directory, 'errand.db');
}

/** True: it was killed. False: it got through. */
async function killedBehind(prepared: Prepared, path: string, k: number): Promise<boolean> {
  // Without the test runner's own variables: the child is no test file.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = [path, prepared.name, JSON.stringify(prepared.cast), String(prepared.atMs), String(k)];
  const child = fork(CHILD, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  if (!child.stderr) throw new Error('no pipe');
  const [said, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  ok(signal === 'SIGKILL' || code === 0, `it ended with ${code ?? signal}: ${said}`);
  return signal === 'SIGKILL';
}

async function open(path: string, { cast, atMs }: Prepared): Promise<World> {
  return { ...cast, ...(await openAt(path, atMs)) };
}

/** All that can be seen of a store from outside. */
async function portraitOf({ store, ownerId, globalId, emitterId, mainId, besideId, watchingId }: World) {
  const { items } = await store.listDeliveries({ ownerId }, ALL);
  const wholes = await Promise.all(items.map(({ delivery }) => store.getDelivery(ownerId, delivery)));
  const webhookIds = [mainId, besideId, watchingId];
  const channels = [
    { ownerId, emitterId, name: '' },
    ...webhookIds.map((id) => ({ ownerId, emitterId: id, name: ERRORS })),
  ];
  const emissions = await Promise.all(channels.map((channel) => store.listEmissions(channel, ALL, true)));
  const entries = emissions.flatMap((page) => page.items.map((item) => item.entry));
  const operations = await store.listOperations({ ownerId }, ALL);
  return {
    ledger: await store.ledger(ownerId),
    wholes,
    emissions,
    receipts: await Promise.all(entries.map((entry) => store.receipts(ownerId, entry))),
    runs: await store.listRuns({ ownerId, runnableId: globalId }, ALL),
    webhooks: await Promise.all(webhookIds.map((id) => store.getWebhook(ownerId, id))),
    operations,
    results: await Promise.all(
      operations.items.map(({ id }) => store.listReplayResults({ ownerId, operationId: id }, ALL)),
    ),
    health: [...(await store.webhookHealth(ownerId, webhookIds))],
  };
}

type Portrait = Awaited<ReturnType<typeof portraitOf>>;

/** What is left of a scene that was played to there by a process that then closed the store. */
async function played(prepared: Prepared, isVerb: boolean): Promise<Portrait> {
  const path = await copyOf(prepared);
  const world = await open(path, prepared);
  const verb = await sceneOf(prepared.name).take(world);
  if (isVerb) await verb();
  await world.store.close();
  return seen(path, prepared);
}

async function seen(path: string, prepared: Prepared): Promise<Portrait> {
  const world = await open(path, prepared);
  try {
    return await portraitOf(world);
  } finally {
    await world.store.close();
  }
}

/** The ledger says what the lists say, and each delivery has the attempts that its state tells of. */
function assertWhole({ ledger, wholes }: Portrait): void {
  const records = wholes.map((whole) => defined(whole).record);
  for (const state of DELIVERY_STATES) {
    equal(ledger.deliveries[state], records.filter((record) => record.state === state).length, state);
  }
  for (const whole of wholes) {
    const { record, attempts } = defined(whole);
    const counted = attempts.filter((attempt) => !attempt.retryAfterMs).length;
    equal(record.attemptsMade, counted, `attempts of one that is ${record.state}`);
    if (record.state === 'delivered') equal(at(attempts, -1).status, 200);
  }
}

/** The next process takes over: each delivery goes out once, and none is left but what is held. */
async function assertGoesOn(path: string, prepared: Prepared, before: Portrait): Promise<void> {
  const { store, clock, ownerId } = await open(path, prepared);
  const unfinished = before.wholes.filter((whole) => !defined(whole).record.endedAtMs);
  const held = unfinished.filter((whole) => defined(whole).record.state === 'held');
  await store.rescue(none());
  const sent: number[] = [];
  clock.advance(2 * DAY_MS);
  while (true) {
    const { deliveries } = await store.claimDeliveries(100, all());
    if (deliveries.length === 0) break;
    for (const delivery of deliveries) {
      sent.push(delivery.delivery);
      const made = { ...madeOf(clock.ms), status: 200 };
      const end = { delivery, made, state: 'delivered' as const, nextAttemptAtMs: null, pauseUntilMs: null };
      equal((await store.recordAttempt({ ...end, error: null, disableWebhook: false }, none())).held, true);
    }
  }
  equal(new Set(sent).size, sent.length, 'none goes out twice');
  const { deliveries } = await store.ledger(ownerId);
  const { pending, retrying, sending } = deliveries;
  deepEqual([pending, retrying, sending], [0, 0, 0]);
  // What a disabled webhook was being sent is held as well.
  ok(deliveries.held >= held.length);
  equal(sent.length + deliveries.held, unfinished.length, 'all that was open went out, or is held');
  await store.close();
  deepEqual((await checkSqlite(path)).findings, []);
}

const madeOf = (startedAtMs: number) => ({
  startedAtMs,
  tookMs: 1,
  timing: { dnsMs: null, connectMs: null, firstByteMs: null },
  outcome: 'answered' as const,
  responseHeaders: {},
  responseBody: '',
  detail: 'Answered 200.',
  permanent: false,
});

describe('killed behind any statement of', { concurrency: 4 }, () => {
  for (const name of Object.keys(SCENES)) {
    test(`${name}, it is whole or has not happened`, async (t) => {
      await using folder = await createFolder();
      const template = join(folder.path, 'errand.db');
      const prepared = { name, folder: folder.path, ...(await prepare(template, sceneOf(name))) };
      const [before, after] = [await played(prepared, false), await played(prepared, true)];
      for (const portrait of [before, after]) assertWhole(portrait);
      let isDone = false;
      let kills = 0;
      while (true) {
        const path = await copyOf(prepared);
        const isKilled = await killedBehind(prepared, path, kills + 1);
        if (isKilled) kills++;
        const left = await seen(path, prepared);
        isDone ||= isDeepStrictEqual(left, after);
        deepEqual(left, isDone ? after : before, `behind statement ${kills}`);
        await assertGoesOn(path, prepared, left);
        if (!isKilled) break;
      }
      // BEGIN, at least two statements, COMMIT.
      ok(isDone && kills >= 4, `${kills} statements`);
      t.diagnostic(`${kills} statements`);
    });
  }
});
