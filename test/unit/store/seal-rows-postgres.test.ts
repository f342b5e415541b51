// A database of a version that did not seal, and processes of that version beside new ones.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Webhook } from '../../../src/domain/resource.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { defined, TestClock } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { openTestStore } from '../../support/postgres/store.ts';
import { until } from '../../support/wait.ts';
import { emptyDatabase } from './place.ts';

const SECRET = 'whsec_c2VjcmV0LW9mLWFuLW9sZC1zdG9yZQ==';
const READ = [{ secret: SECRET, publicKey: null, untilMs: null }];
const MANY = 450;
const FAR_MS = 10_000_000_000_000;

interface Old {
  readonly url: string;
  readonly webhook: Webhook;
}

/** A database as the first version left it, with so many webhooks more. */
async function oldDatabase(t: TestContext, more = 0): Promise<Old> {
  const url = await emptyDatabase(t);
  const store = await openTestStore({ url, clock: null });
  const webhook = await (await Stage.on(store, new TestClock())).webhook();
  await store.close();
  await makePlain(url);
  const columns = await queryOn(
    url,
    `SELECT string_agg(column_name, ', ') AS names FROM information_schema.columns
      WHERE table_name = 'webhooks' AND column_name <> 'id'`,
  );
  const names = columns[0]?.names;
  await queryOn(
    url,
    `INSERT INTO webhooks (id, ${names}) SELECT 'wh_old' || n, ${names} FROM webhooks, generate_series(1, ${more}) AS n`,
  );
  return { url, webhook };
}

async function makePlain(url: string): Promise<void> {
  await queryOn(url, `UPDATE webhooks SET secrets = '${JSON.stringify([SECRET])}', settings = NULL`);
}

/** A living process of the old version. */
async function startOld(url: string): Promise<void> {
  await queryOn(
    url,
    `INSERT INTO nodes (slot, name, version, started_at_ms, beat_at_ms) VALUES (31, 'old', '0.1.0', 0, ${FAR_MS})`,
  );
}

async function stopOld(url: string): Promise<void> {
  await queryOn(url, "UPDATE nodes SET gone_at_ms = 1 WHERE name = 'old'");
}

async function plainIn(url: string): Promise<number> {
  const rows = await queryOn(url, "SELECT count(*)::int AS n FROM webhooks WHERE secrets NOT LIKE 'sealed1:%'");
  return rows[0]?.n;
}

async function secretOf(store: Store, { ownerId, id }: Webhook): Promise<unknown> {
  return defined(await store.getWebhook(ownerId, id)).secrets;
}

test('what stood there plain is read and then sealed', async (t) => {
  const { url, webhook } = await oldDatabase(t, MANY);
  equal(await plainIn(url), MANY + 1);
  const [one, two] = await Promise.all([openTestStore({ url, clock: null }), openTestStore({ url, clock: null })]);
  deepEqual(await secretOf(one, webhook), READ);
  await until('all are sealed', async () => (await plainIn(url)) === 0);
  for (const store of [one, two]) deepEqual(await secretOf(store, webhook), READ);
  await Promise.all([one.close(), two.close()]);
});

test('sealing goes on where a start was stopped', async (t) => {
  const { url, webhook } = await oldDatabase(t, MANY);
  const stopped = await openTestStore({ url, clock: null });
  await stopped.close();
  ok((await plainIn(url)) > 0, 'it was not through');
  const store = await openTestStore({ url, clock: null });
  await until('all are sealed', async () => (await plainIn(url)) === 0);
  deepEqual(await secretOf(store, webhook), READ);
  await store.close();
});

test('what is sealed is not sealed again', async (t) => {
  const { url } = await oldDatabase(t, 3);
  const open = async (): Promise<object> => {
    const store = await openTestStore({ url, clock: null });
    await until('all are sealed', async () => (await plainIn(url)) === 0);
    await store.close();
    return [...(await queryOn(url, 'SELECT * FROM webhooks ORDER BY id'))];
  };
  deepEqual(await open(), await open());
});

test('nothing is sealed while an old process would have to read it', async (t) => {
  const { url, webhook } = await oldDatabase(t);
  await startOld(url);
  const store = await openTestStore({ url, clock: null });
  const secrets = [{ secret: 'whsec_bmV3', publicKey: null, untilMs: null }];
  const change = (before: Webhook): Webhook => ({ ...before, secrets });
  ok(await store.updateWebhook(webhook.ownerId, webhook.id, change));
  equal(await plainIn(url), 1);
  await stopOld(url);
  // This very process, which has written it plain.
  await until('it is sealed', async () => (await plainIn(url)) === 0);
  deepEqual(await secretOf(store, webhook), secrets);
  ok(await store.updateWebhook(webhook.ownerId, webhook.id, change));
  equal(await plainIn(url), 0);
  await store.close();
});

test('the environment of code and props are sealed alike', async (t) => {
  const url = await emptyDatabase(t);
  const store = await openTestStore({ url, clock: null });
  const stage = await Stage.on(store, new TestClock());
  const workflow = await stage.workflow({ settings: { env: { TOKEN: SECRET } } });
  const source = await stage.source({ configuredProps: { token: SECRET }, settings: { env: { TOKEN: SECRET } } });
  const read = async (from: Store): Promise<unknown[]> => [
    await from.getWorkflow(workflow.ownerId, workflow.id),
    await from.getSource(source.ownerId, source.id),
  ];
  const before = await read(store);
  await store.close();
  const tells = async () => JSON.stringify(await queryOn(url, 'SELECT * FROM runnables')).includes(SECRET);
  equal(await tells(), false);
  const plain = (value: object): string => `'${JSON.stringify(value)}'`;
  await queryOn(url, `UPDATE runnables SET settings = ${plain(workflow.settings)} WHERE id = '${workflow.id}'`);
  await queryOn(
    url,
    `UPDATE runnables SET settings = ${plain(source.settings)}, configured_props = ${plain(source.configuredProps)}
      WHERE id = '${source.id}'`,
  );
  ok(await tells());
  const again = await openTestStore({ url, clock: null });
  deepEqual(await read(again), before);
  await until('all is sealed', async () => !(await tells()));
  deepEqual(await read(again), before);
  await again.close();
});
