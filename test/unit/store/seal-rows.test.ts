// A store of a version that did not seal, opened by one that does.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Webhook } from '../../../src/domain/resource.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { defined, TestClock } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { createFolder } from '../../support/folder.ts';
import { until } from '../../support/wait.ts';
import { openFull } from './full-store.ts';

const SECRET = 'whsec_c2VjcmV0LW9mLWFuLW9sZC1zdG9yZQ==';
const MANY = 450;

interface Old {
  readonly path: string;
  readonly clock: TestClock;
  readonly webhook: Webhook;
}

/** A store as the first version left it, with so many webhooks more. */
async function oldStore(folder: string, more = 0): Promise<Old> {
  const [path, clock] = [join(folder, 'errand.db'), new TestClock()];
  const store = await openFull(path, clock);
  const stage = await Stage.on(store, clock);
  const webhook = await stage.webhook();
  await store.close();
  const db = new DatabaseSync(path);
  db.prepare('UPDATE webhooks SET secrets = ?, settings = NULL').run(JSON.stringify([SECRET]));
  const columns = db
    .prepare("SELECT group_concat(name, ', ') AS names FROM pragma_table_info('webhooks') WHERE name <> 'id'")
    .get() as { names: string };
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${more})
    INSERT INTO webhooks (id, ${columns.names}) SELECT printf('wh_old%06d', i), ${columns.names} FROM n, webhooks
      WHERE ${more} > 0 AND id = '${webhook.id}'`);
  db.exec("DELETE FROM meta WHERE name = 'seal_key'");
  db.close();
  return { path, clock, webhook };
}

function plainIn(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const row = db.prepare("SELECT count(*) AS n FROM webhooks WHERE secrets NOT LIKE 'sealed1:%'").get();
  db.close();
  return (row as { n: number }).n;
}

async function secretOf(store: Store, { ownerId, id }: Webhook): Promise<unknown> {
  return defined(await store.getWebhook(ownerId, id)).secrets;
}

const READ = [{ secret: SECRET, publicKey: null, untilMs: null }];

test('what stood there plain is read and then sealed', async () => {
  await using folder = await createFolder();
  const old = await oldStore(folder.path);
  equal(plainIn(old.path), 1);
  const store = await openFull(old.path, old.clock);
  deepEqual(await secretOf(store, old.webhook), READ);
  await until('it is sealed', () => plainIn(old.path) === 0);
  deepEqual(await secretOf(store, old.webhook), READ);
  await store.close();
});

test('no trace of what was plain is left in the files', async () => {
  await using folder = await createFolder();
  const old = await oldStore(folder.path, MANY);
  const tells = async () => [...(await folder.contents()).values()].some((bytes) => bytes.includes(SECRET));
  ok(await tells());
  const store = await openFull(old.path, old.clock);
  // Also while the server runs.
  await until('the files are silent', async () => !(await tells()));
  equal(plainIn(old.path), 0);
  deepEqual(await secretOf(store, old.webhook), READ);
  await store.close();
});

test('sealing goes on where a start was stopped', async () => {
  await using folder = await createFolder();
  const old = await oldStore(folder.path, MANY);
  const stopped = await openFull(old.path, old.clock);
  await stopped.close();
  ok(plainIn(old.path) > 0, 'it was not through');
  const store = await openFull(old.path, old.clock);
  await until('all are sealed', () => plainIn(old.path) === 0);
  deepEqual(await secretOf(store, old.webhook), READ);
  await store.close();
});

test('what is sealed is not sealed again', async () => {
  await using folder = await createFolder();
  const old = await oldStore(folder.path, 3);
  const open = async (): Promise<object> => {
    const store = await openFull(old.path, old.clock);
    await until('all are sealed', () => plainIn(old.path) === 0);
    await store.close();
    const db = new DatabaseSync(old.path, { readOnly: true });
    const rows = db.prepare('SELECT * FROM webhooks ORDER BY id').all();
    db.close();
    return rows;
  };
  deepEqual(await open(), await open());
});

test('a webhook that is changed meanwhile keeps its change', async () => {
  await using folder = await createFolder();
  const old = await oldStore(folder.path, MANY);
  const store = await openFull(old.path, old.clock);
  const secrets = [{ secret: 'whsec_bmV3', publicKey: null, untilMs: null }];
  await store.updateWebhook(old.webhook.ownerId, old.webhook.id, (webhook) => ({ ...webhook, secrets }));
  await until('all are sealed', () => plainIn(old.path) === 0);
  deepEqual(await secretOf(store, old.webhook), secrets);
  await store.close();
});

test('the environment of code and props are sealed alike', async () => {
  await using folder = await createFolder();
  const [path, clock] = [join(folder.path, 'errand.db'), new TestClock()];
  const store = await openFull(path, clock);
  const stage = await Stage.on(store, clock);
  const workflow = await stage.workflow({ settings: { env: { TOKEN: SECRET } } });
  const source = await stage.source({ configuredProps: { token: SECRET }, settings: { env: { TOKEN: SECRET } } });
  const read = async (from: Store): Promise<unknown[]> => [
    await from.getWorkflow(workflow.ownerId, workflow.id),
    await from.getSource(source.ownerId, source.id),
  ];
  const before = await read(store);
  await store.close();
  const tells = async () => [...(await folder.contents()).values()].some((bytes) => bytes.includes(SECRET));
  equal(await tells(), false);
  const db = new DatabaseSync(path);
  const change = db.prepare('UPDATE runnables SET settings = ?, configured_props = ? WHERE id = ?');
  change.run(JSON.stringify(workflow.settings), null, workflow.id);
  change.run(JSON.stringify(source.settings), JSON.stringify(source.configuredProps), source.id);
  db.close();
  ok(await tells());
  const again = await openFull(path, clock);
  deepEqual(await read(again), before);
  await until('the files are silent', async () => !(await tells()));
  deepEqual(await read(again), before);
  await again.close();
});
