// A file that version 1 of the schema wrote, with something in every state, opens, and its deliveries go on.

import { deepEqual, equal } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { DEFAULT_WEBHOOK_SETTINGS } from '../../../src/domain/resource.ts';
import { endOf } from '../../../src/domain/run/run-end.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { checkSqlite } from '../../../src/store/sqlite/maintenance/check.ts';
import { FIRST } from '../../../src/store/sqlite/migrations/001-first.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import {
  all,
  anAttempt,
  defined,
  none,
  START_MS,
  strongRandom,
  succeeded,
  TestClock,
  waits,
} from '../../contract/fixtures.ts';
import { assertOldKeys, OLD_KEYS } from '../../contract/old-keys.ts';
import { createFolder } from '../../support/folder.ts';

const OWNER = 'u_0000000000000001';
const WEBHOOK = 'wh_0000000000000001';
const ASLEEP = 'wh_0000000000000002';
const HOUR_MS = 3_600_000;

interface Old {
  readonly state: string;
  readonly attempts: number;
  readonly dueAtMs?: number;
  readonly webhookId?: string;
}

/** One of each that version 1 knew, by number. */
const DELIVERIES: Readonly<Record<number, Old>> = {
  1: { state: 'pending', attempts: 0, dueAtMs: START_MS },
  2: { state: 'retrying', attempts: 2, dueAtMs: START_MS },
  3: { state: 'retrying', attempts: 1, dueAtMs: START_MS + HOUR_MS },
  4: { state: 'sending', attempts: 0 },
  5: { state: 'sending', attempts: 1 },
  6: { state: 'held', attempts: 0, webhookId: ASLEEP },
  7: { state: 'held', attempts: 3, webhookId: ASLEEP },
  8: { state: 'delivered', attempts: 1 },
  9: { state: 'exhausted', attempts: 11 },
  10: { state: 'cancelled', attempts: 0 },
};

function writeVersion1(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(FIRST);
  db.exec('PRAGMA user_version = 1');
  db.exec(`INSERT INTO meta VALUES ('boot', '1'), ('store_tag', 'abcde');
    INSERT INTO owners VALUES ('${OWNER}', 'Ada', NULL, NULL, 0, 0, 0);
    INSERT INTO webhooks VALUES
      ('${WEBHOOK}', '${OWNER}', 'https://example.org/', 'shop', NULL, 1, '["whsec_bmV3","whsec_b2xk"]', 1, 2),
      ('${ASLEEP}', '${OWNER}', 'https://example.org/', NULL, NULL, 0, '["whsec_bmV3"]', 1, 2);
    INSERT INTO subscriptions VALUES ('sub_1', '${OWNER}', 'hi_1', '${WEBHOOK}', '', 'subscription', 1, 1);
    INSERT INTO emissions (entry, owner_id, emitter_id, name, source_type, origin_id, flags, trace_id, lineage, hops, body)
      VALUES (1, '${OWNER}', 'hi_1', '', 'HTTP', 'hi_1', 0, 'abcde1', '', 0, CAST('{"n":1}' AS BLOB));
    INSERT INTO ledger VALUES ('${OWNER}', 'emissions', 1), ('${OWNER}', 'errors', 1)`);
  const insert =
    db.prepare(`INSERT INTO deliveries (delivery, owner_id, kind, listener_id, via, entry, state, attempts_made,
    fence, boot, due_at_ms, ended_at_ms) VALUES (?, '${OWNER}', 'webhook', ?, 'subscription', 1, ?, ?, ?, 1, ?, ?)`);
  const attempt = db.prepare('INSERT INTO attempts (delivery, n, trigger, made) VALUES (?,?,?,?)');
  const count = db.prepare(
    `INSERT INTO ledger VALUES ('${OWNER}', 'deliveries.' || ?, 1) ON CONFLICT DO UPDATE SET n = n + 1`,
  );
  for (const [number, { state, attempts, dueAtMs = null, webhookId = WEBHOOK }] of Object.entries(DELIVERIES)) {
    const endedAtMs = ['delivered', 'exhausted', 'cancelled'].includes(state) ? START_MS : null;
    insert.run(Number(number), webhookId, state, attempts, attempts, dueAtMs, endedAtMs);
    for (let n = 1; n <= attempts; n++) {
      attempt.run(Number(number), n, n === 1 ? 'event' : 'retry', JSON.stringify(anAttempt()));
    }
    count.run(state);
  }
  db.close();
}

const claimed = async (store: Store) => (await store.claimDeliveries(100, all())).deliveries;

test('a store of version 1 goes on delivering', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  writeVersion1(path);
  const clock = new TestClock();
  const store = await openSqliteStore({ path, clock, random: strongRandom });
  equal((await store.rescue(none())).deliveries, 2);
  const due = await claimed(store);
  deepEqual(
    due.map((d) => [d.delivery, d.trigger, d.attempt, d.tries]).sort(([a], [b]) => Number(a) - Number(b)),
    [
      [1, 'event', 1, 0],
      [2, 'retry', 3, 2],
      [4, 'event', 1, 0],
      [5, 'retry', 2, 1],
    ],
  );
  equal((await store.claimDeliveries(100, all())).nextDueAtMs, START_MS + HOUR_MS);
  for (const delivery of due) {
    const rest = { nextAttemptAtMs: null, pauseUntilMs: null, error: null, disableWebhook: false };
    const end = { delivery, made: anAttempt(), state: 'delivered' as const, ...rest };
    equal((await store.recordAttempt(end, none())).held, true);
  }
  const { attempts, record } = defined(await store.getDelivery(OWNER, 2));
  deepEqual([record.state, record.attemptsMade, attempts.map((a) => a.n)], ['delivered', 3, [1, 2, 3]]);
  await store.updateWebhook(OWNER, ASLEEP, (webhook) => ({ ...webhook, active: true }));
  deepEqual(
    (await claimed(store)).map((d) => [d.delivery, d.trigger, d.attempt]),
    [
      [6, 'event', 1],
      [7, 'retry', 4],
    ],
  );
  equal(typeof (await store.resendDelivery(OWNER, 9)), 'object');
  deepEqual(
    (await claimed(store)).map((d) => [d.delivery, d.trigger, d.attempt, d.tries]),
    [[9, 'resend', 12, 0]],
  );
  await store.close();
  const { findings } = await checkSqlite(path);
  deepEqual(findings, []);
});

test('webhooks of version 1 keep secrets and defaults', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  writeVersion1(path);
  const store = await openSqliteStore({ path, clock: new TestClock(), random: strongRandom });
  const webhook = defined(await store.getWebhook(OWNER, WEBHOOK));
  deepEqual(webhook.secrets, [
    { secret: 'whsec_bmV3', publicKey: null, untilMs: null },
    { secret: 'whsec_b2xk', publicKey: null, untilMs: null },
  ]);
  deepEqual(webhook.settings, DEFAULT_WEBHOOK_SETTINGS);
  equal((await claimed(store))[0]?.webhook?.secrets.length, 2);
  await store.close();
});

test('runs of version 1 begin, end, and may wait', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  writeVersion1(path);
  writeRuns(path);
  const clock = new TestClock();
  const store = await openSqliteStore({ path, clock, random: strongRandom });
  equal((await store.rescue(none())).runs, 1);
  const { runs, nextDueAtMs } = await store.claimRuns(9, all());
  deepEqual(
    runs.map(({ run, attempt, carried, resumed }) => [run, attempt, carried, resumed]),
    [
      [20, 1, null, null],
      [21, 2, null, null],
    ],
  );
  equal(nextDueAtMs, null);
  const [first, second] = runs.map((run, i) => endOf(run, i === 0 ? succeeded() : waits({ ms: 1 }), clock.nowMs()));
  for (const end of [defined(first), defined(second)]) equal((await store.finishRun(end, none())).held, true);
  clock.advance(1);
  equal((await store.endWaits(9)).queued, 1);
  deepEqual(
    (await store.claimRuns(9, all())).runs.map(({ run }) => run),
    [21],
  );
  await store.close();
  deepEqual((await checkSqlite(path)).findings, []);
});

test('code of version 1 is read and then shared', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  writeVersion1(path);
  writeRuns(path);
  const store = await openSqliteStore({ path, clock: new TestClock(), random: strongRandom });
  const read = async () => defined(await store.getDeployment(OWNER, 'd_1'));
  deepEqual((await read()).steps, [STEP]);
  equal(await store.shareCode(), true);
  equal(await store.shareCode(), false);
  deepEqual((await read()).steps, [STEP]);
  await store.close();
  const db = new DatabaseSync(path);
  const codes = db.prepare('SELECT owner_id, text FROM codes').all();
  db.close();
  deepEqual(
    codes.map((row) => ({ ...row })),
    [{ owner_id: OWNER, text: JSON.stringify(STEP.bundle) }],
  );
});

const STEP = {
  id: 'c_1',
  namespace: 'code',
  code: 'export default () => 1',
  bundle: ' '.repeat(1000),
  sourceMap: '{}',
};

/** One that is queued, one that was under way, and one that is over. */
function writeRuns(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(`INSERT INTO runnables (id, owner_id, name, active, deployment_id, settings, created_at_ms, updated_at_ms)
    VALUES ('p_1', '${OWNER}', 'orders', 1, 'd_1', '{"concurrency":8,"queueLimit":10}', 0, 0);
    INSERT INTO deployments VALUES ('d_1', '${OWNER}', 'p_1', 0, '${JSON.stringify([STEP])}')`);
  for (const [run, state] of [
    [20, 'queued'],
    [21, 'running'],
    [22, 'succeeded'],
  ] as const) {
    db.exec(`INSERT INTO runs (run, owner_id, runnable_id, deployment_id, entry, via, state, attempt, fence, boot, alone,
        rescues, started_at_ms, detail)
      VALUES (${run}, '${OWNER}', 'p_1', 'd_0', 1, 'trigger', '${state}', 1, 0, 1, 0, 0, NULL, NULL);
      INSERT INTO ledger VALUES ('${OWNER}', 'runs.${state}', 1)`);
  }
  db.close();
}

test('keys of version 1 get no more than they need', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  writeVersion1(path);
  new DatabaseSync(path).exec(OLD_KEYS);
  const store = await openSqliteStore({ path, clock: new TestClock(), random: strongRandom });
  await assertOldKeys(store);
  await store.close();
});
