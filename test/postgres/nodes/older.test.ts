// What an older process wrote, before a newer one migrated the database and beside it since: without the columns that it
// does not know, and with the webhook's secrets as they are.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_WEBHOOK_SETTINGS } from '../../../src/domain/resource.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { FIRST } from '../../../src/store/postgres/migrations/001-first.ts';
import { all, anAttempt, defined, only, START_MS, TestClock } from '../../contract/fixtures.ts';
import { assertOldKeys, OLD_KEYS } from '../../contract/old-keys.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabaseOn } from '../../support/postgres/fresh.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';

const OWNER = 'u_0000000000000001';
const WEBHOOK = 'wh_0000000000000002';
const NUMBER = START_MS * 1024;

/** An event with a delivery that was attempted twice: one that waits for its retry, or one that is exhausted. */
const withTwoAttempts = (n: number, isOpen: boolean): string => `
  INSERT INTO emissions (entry, owner_id, emitter_id, name, source_type, origin_id, verified, replay, test, listed, trace_id,
    lineage, hops, body) VALUES (${NUMBER + n}, '${OWNER}', '${OWNER}', '', 'API', '${OWNER}', false, false, false, false, '',
    '', 0, '{}');
  INSERT INTO ${isOpen ? 'open_deliveries (fence, due_at_ms,' : 'deliveries (ended_at_ms,'}
    delivery, owner_id, kind, listener_id, via, entry, state, attempts_made)
    VALUES (${isOpen ? `4, ${START_MS},` : `${START_MS},`} ${NUMBER + n + 1}, '${OWNER}', 'webhook', '${WEBHOOK}',
      'subscription', ${NUMBER + n}, '${isOpen ? 'retrying' : 'exhausted'}', 2);
  INSERT INTO attempts (delivery, n, trigger, made)
    SELECT ${NUMBER + n + 1}, n, 'event', '${JSON.stringify(anAttempt({ status: 500 }))}' FROM generate_series(1, 2) AS n`;

const BEFORE = `${FIRST}
  CREATE TABLE errand_schema (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
  INSERT INTO errand_schema (version) VALUES (1);
  INSERT INTO owners VALUES ('${OWNER}', 'Ada', NULL, NULL, 0, 0, 0);
  INSERT INTO webhooks (id, owner_id, url, active, secrets, created_at_ms, updated_at_ms)
    VALUES ('${WEBHOOK}', '${OWNER}', 'https://example.org/', true, '["whsec_bmV3","whsec_b2xk"]', 0, 0);
  INSERT INTO lines (owner_id, listener_id, is_run, waiting, taken, ready_at_ms)
    VALUES ('${OWNER}', '${WEBHOOK}', false, 1, 0, ${START_MS});
  INSERT INTO ledger VALUES ('${OWNER}', 'emissions', 0, 2), ('${OWNER}', 'errors', 0, 1),
    ('${OWNER}', 'deliveries.retrying', 0, 1), ('${OWNER}', 'deliveries.exhausted', 0, 1);
  ${withTwoAttempts(0, true)};
  ${withTwoAttempts(10, false)};`;

/** One more that waits, written when the new columns were there already. */
const BESIDE = `${withTwoAttempts(20, true)};
  UPDATE lines SET waiting = waiting + 1;
  UPDATE ledger SET n = n + 1 WHERE fact IN ('emissions', 'deliveries.retrying')`;

async function failed(store: Store, delivery: Parameters<Store['recordAttempt']>[0]['delivery']): Promise<void> {
  const end = { made: anAttempt({ status: 500 }), pauseUntilMs: null, error: null, disableWebhook: false };
  await store.recordAttempt({ ...end, delivery, state: 'retrying', nextAttemptAtMs: START_MS + 1 }, all());
}

const ns = async (store: Store, delivery: number) =>
  defined(await store.getDelivery(OWNER, delivery)).attempts.map(({ n }) => n);

test('what an older process wrote goes on', async () => {
  const { url, drop } = await newDatabaseOn(await sharedPostgres(), { isBlank: true });
  await queryOn(url, BEFORE);
  const clock = new TestClock();
  const store = await openTestStore({ url, clock });
  try {
    await queryOn(url, BESIDE);
    const webhook = defined(await store.getWebhook(OWNER, WEBHOOK));
    deepEqual(webhook.settings, DEFAULT_WEBHOOK_SETTINGS);
    deepEqual(
      webhook.secrets.map(({ secret, untilMs }) => [secret, untilMs]),
      [
        ['whsec_bmV3', null],
        ['whsec_b2xk', null],
      ],
    );
    const { deliveries } = await store.claimDeliveries(10, all());
    for (const delivery of deliveries) {
      deepEqual([delivery.attempt, delivery.tries, delivery.trigger, delivery.fence], [3, 2, 'retry', 5]);
      await failed(store, delivery);
      deepEqual(await ns(store, delivery.delivery), [1, 2, 3]);
    }
    equal(deliveries.length, 2);
    const again = await store.resendDelivery(OWNER, NUMBER + 11);
    deepEqual(typeof again === 'object' && [again.state, again.attemptsMade, again.dueBy], ['retrying', 2, 'resend']);
    const resent = only((await store.claimDeliveries(10, all())).deliveries);
    deepEqual([resent.attempt, resent.tries, resent.trigger], [3, 0, 'resend']);
    ok(resent.fence > 1000, 'behind all leases that it may have had');
    await failed(store, resent);
    deepEqual(await ns(store, resent.delivery), [1, 2, 3]);
    await store.updateWebhook(OWNER, WEBHOOK, (before) => ({ ...before, name: 'shop' }));
    const [row] = await queryOn(url, 'SELECT secrets, settings FROM webhooks');
    ok(!/whsec/.test(JSON.stringify(row)), 'sealed with the first change');
    deepEqual((await store.getWebhook(OWNER, WEBHOOK))?.secrets, webhook.secrets);
    deepEqual((await checkPostgres(url)).findings, []);
  } finally {
    await store.close();
    await drop();
  }
});

test('keys of an older process get no more than they need', async () => {
  const { url, drop } = await newDatabaseOn(await sharedPostgres(), { isBlank: true });
  await queryOn(url, `${BEFORE}\n${OLD_KEYS}`);
  const store = await openTestStore({ url, clock: new TestClock() });
  try {
    await assertOldKeys(store);
  } finally {
    await store.close();
    await drop();
  }
});
