// A store with at least one of everything in it, in all states.

import { equal } from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { PREFIX } from '../../../src/domain/ids.ts';
import { SCOPES } from '../../../src/domain/keys.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/limits.ts';
import { NO_QUOTAS } from '../../../src/domain/quota.ts';
import { checkpointFrom } from '../../../src/domain/run/checkpoint.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { auditRecordOn } from '../../contract/config/audit.ts';
import {
  all,
  aStep,
  defined,
  emit,
  http,
  mail,
  none,
  strongRandom,
  succeeded,
  type TestClock,
  timesInTurn,
  upTo,
  waits,
} from '../../contract/fixtures.ts';
import { aSecret } from '../../contract/maker.ts';
import { numbered, STUBBORN, Stage } from '../../contract/stage.ts';
import { heartbeat, ping } from '../../contract/watches/watching.ts';

export interface Full {
  readonly stages: readonly Stage[];
  /** For looking each of them up. */
  readonly triggerKeys: readonly string[];
  readonly keyHashes: readonly string[];
  readonly sourceIds: readonly string[];
}

/** What Postgres' text does not take as it is. */
export const ODD = 'a\u0000b\u0001c "\\{},é😀';
export const LONG_ID = 'x'.repeat(600);
const ODD_SETTINGS = {
  headers: { 'x-odd': 'é' },
  ordered: true,
  retryDelaysMs: [1],
  signature: ['v1', 'v1a'],
} as const;
/** Three of them are more than is copied at once. */
const LARGE_BYTES = 3 * 1024 * 1024;

export async function openFull(path: string, clock: TestClock): Promise<Store> {
  return openSqliteStore({ path, clock, random: strongRandom });
}

/** Closes the store as a kill would leave it: with runs and deliveries under way. */
export async function fillStore(path: string, clock: TestClock): Promise<Full> {
  const store = await openFull(path, clock);
  const stage = await Stage.on(store, clock);
  const other = await stage.neighbour();
  await fillPruned(stage);
  const triggerKeys = await fillRuns(stage, LARGE_BYTES);
  await fillDeliveries(stage);
  await fillMails(stage);
  await fillRequests(stage);
  const sourceIds = await fillSources(stage);
  for (const each of [stage, other]) {
    await fillAccounts(each);
    await fillDataStores(each);
  }
  await fillWaits(stage);
  await fillRuns(other, 10);
  await fillDeliveries(other);
  for (const each of [stage, other]) await fillAudit(each);
  await ping(stage, await heartbeat(stage, { name: ODD }));
  await store.keepWatch(({ watch }) => watch);
  const { id } = stage.make.key();
  await store.createKey({ ...stage.make.key({ label: ODD }), id }, `revoked-${id}`);
  await store.setQuotas(stage.owner.id, { ...NO_QUOTAS, processes: 3, storedBytes: 2 ** 40 });
  await store.keepMeasured([{ ownerId: stage.owner.id, bytes: 2 ** 33 }], clock.nowMs());
  await store.revokeKey(stage.owner.id, id, clock.nowMs());
  await store.close();
  return { stages: [stage, other], triggerKeys, keyHashes: [stage.keyHash, other.keyHash], sourceIds };
}

async function fillAudit(stage: Stage): Promise<void> {
  const { store, clock, make } = stage;
  const key = make.key({
    scopes: SCOPES,
    expiresAtMs: clock.nowMs() + HOUR_MS,
    createdBy: stage.key.id,
    workflowId: ODD,
  });
  await store.createKey(key, `expires-${key.id}`);
  await store.touchKey(key.id, clock.nowMs());
  const odd = { keyId: null, byOwnerId: null, keyLabel: ODD, path: ODD, targetId: ODD, status: 200, count: 2 ** 40 };
  await store.writeAudit([auditRecordOn(stage), auditRecordOn(stage, odd)]);
}

/** Something that retention has taken, so that the last number stands for itself. */
async function fillPruned(stage: Stage): Promise<void> {
  const workflow = await stage.workflow();
  await stage.end(await stage.started(workflow));
  await stage.failure(workflow);
  stage.clock.advance(2 * DAY_MS);
  await stage.store.prune(stage.clock.nowMs() - DAY_MS, 0);
}

async function fillRuns(stage: Stage, largeBytes: number): Promise<string[]> {
  const { store, clock } = stage;
  const { workflow, trigger } = await stage.hooked({ name: ODD, settings: { env: { KEY: ODD } } });
  const timed = stage.make.workflow();
  await stage.write({ workflow: timed, triggers: [stage.make.timer(timed.id, clock.nowMs() + HOUR_MS)] });
  const watch = {
    silentAfterMs: HOUR_MS,
    succeededWithinMs: null,
    errorRatio: { over: 0.5, ofAtLeast: 9, windowMs: DAY_MS },
  };
  const full = await stage.workflow({ settings: { queueLimit: 1, watch, errorRetention: { days: 90, newest: null } } });
  const asleep = await stage.workflow({ active: false });
  await stage.subscribe(trigger.id, asleep.id);
  await stage.subscribe(trigger.id, full.id);
  const event = stage.make.emission(trigger.id, { body: STUBBORN, summary: ODD, verified: true, test: true });
  const idempotency = { triggerId: trigger.id, key: ODD, requestHash: 'hash' };
  const { claims } = await store.append(event, all(), { idempotency });
  const answer = { status: 201, headers: { 'x-odd': 'é' }, body: STUBBORN };
  for (const run of claims.runs) await stage.end(run, succeeded({ answer, summary: ODD }), none());
  await stage.failure(workflow, ODD);
  await stage.end(await stage.started(workflow, { replay: true }), { ...succeeded(), end: { kind: 'cancelled' } });
  await stage.started(workflow);
  // Of two that find a full queue, the second one fails.
  await timesInTurn(2, () => stage.appendFor(full.id));
  await timesInTurn(3, (i) => stage.appendFor(workflow.id, { body: numbered(i) }));
  await timesInTurn(4, () => stage.appendFor(timed.id, { body: Buffer.alloc(largeBytes, ' 1') }, all()));
  const cancelled = await stage.append(trigger.id);
  await store.cancelRun(stage.owner.id, defined(cancelled.firstRun));
  return [defined(trigger.key)];
}

async function fillDeliveries(stage: Stage): Promise<void> {
  const { store } = stage;
  const emitter = await stage.workflow();
  const [takes, fails, asleep, gone] = await timesInTurn(4, () => stage.webhook({ description: ODD }));
  for (const webhook of [takes, fails, asleep, gone]) await stage.subscribe(emitter.id, defined(webhook).id);
  await store.updateWebhook(stage.owner.id, defined(asleep).id, (webhook) => ({ ...webhook, active: false }));
  for (let i = 0; i < 4; i++) {
    await stage.append(emitter.id, { body: numbered(i) });
    const deliveries = await stage.deliveries();
    for (const delivery of deliveries) {
      if (delivery.webhook?.id !== fails?.id) await stage.delivered(delivery);
      else if (i === 0) await stage.exhausted(delivery);
      // The second one is due at once, and tried again.
      else await stage.retrying(delivery, i === 1 ? 0 : HOUR_MS, { responseBody: ODD });
    }
  }
  await store.createOperation(stage.make.operation(defined(fails).id));
  await stage.webhook({ settings: ODD_SETTINGS, secrets: [aSecret('whsec_bmV3'), aSecret('whsec_b2xk', HOUR_MS)] });
  await timesInTurn(2, () => stage.append(emitter.id));
  await store.deleteWebhook(stage.owner.id, defined(gone).id);
  // Some of these are on their way when the process ends.
  await stage.deliveries(2);
}

/** Mails about errors: the first goes out, its repeats are counted. */
async function fillMails(stage: Stage): Promise<void> {
  const workflow = await stage.workflow();
  await timesInTurn(3, async () => {
    await stage.failure(workflow, 'Boom', none());
    for (const run of await stage.claim(100, stage.global.id)) {
      await stage.end(run, succeeded({ outgoing: [mail('it failed')] }));
    }
  });
}

/** Requests that code asked for: one delivered, one tried again, the others on their way and waiting. */
async function fillRequests(stage: Stage): Promise<void> {
  const urls = ['https://a.example/', 'https://b.example/', 'https://c.example/', 'https://c.example/'];
  const outgoing = urls.map((url) => http(url, { headers: { authorization: 'é' }, body: ODD }));
  const { claims } = await stage.end(await stage.started(await stage.workflow()), succeeded({ outgoing }), upTo(3));
  const [delivered, retried] = claims.deliveries;
  await stage.delivered(defined(delivered));
  await stage.retrying(defined(retried), HOUR_MS);
}

async function fillSources(stage: Stage): Promise<string[]> {
  const source = await stage.source({ dedupe: 'unique', secretProps: ['token'] });
  const items = [ODD, 'b', 'a', LONG_ID].map((itemId, i) =>
    emit('', { i }, { itemId, itemTs: stage.clock.nowMs() - i }),
  );
  const dbWrites = { [ODD]: '"\\u0000"', plain: '{"a":1}' };
  await stage.end(await stage.started(source), succeeded({ outgoing: items, dbWrites }));
  // Too long for its row.
  const changed = await stage.source({ componentCode: ODD.repeat(100) });
  await stage.store.beginSourceChange({ ownerId: changed.ownerId, sourceId: changed.id, kind: 'update' });
  return [source.id, changed.id];
}

async function fillAccounts({ store, ids, owner, clock }: Stage): Promise<void> {
  for (const fields of [{}, { [ODD]: ODD, nested: [1, null] }]) {
    const account = { id: ids.next(PREFIX.account), ownerId: owner.id, app: 'slack', name: ODD, fields, oauth: null };
    await store.createAccount({ ...account, createdAtMs: clock.nowMs(), updatedAtMs: clock.nowMs() + 1 });
  }
}

/** One with records, one that was cleared, one that is gone; nothing is swept. */
async function fillDataStores({ store, ids, owner, clock }: Stage): Promise<void> {
  const nowMs = clock.nowMs();
  const made = await timesInTurn(3, async () => {
    const id = ids.next(PREFIX.dataStore);
    const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
    await store.createDataStore({ id, ownerId: owner.id, name: ODD, size: 0, ...times });
    const place = { ownerId: owner.id, storeId: id };
    const values = ['{"n": 12345678901234567890}', JSON.stringify(ODD), `"${'é'.repeat(1000)}"`];
    for (const [n, value] of values.entries()) {
      await store.setRecord(place, { key: `${ODD}${n}`, value, ttlMs: n === 0 ? null : HOUR_MS });
    }
    return place;
  });
  const [, cleared, gone] = made;
  await store.clearRecords(defined(cleared));
  await store.deleteDataStore(owner.id, defined(gone).storeId);
}

/** Of a throttled workflow: runs that wait, that go on, and that were told to before they wait. */
async function fillWaits(stage: Stage): Promise<void> {
  const { store, clock } = stage;
  const workflow = await stage.workflow({ settings: { throttle: { limit: 20, intervalMs: HOUR_MS } } });
  const done = { steps: [aStep('odd', { returnValue: JSON.stringify(ODD) })], summary: ODD };
  for (const kind of ['delay', 'suspend', 'rerun'] as const) {
    clock.advance(1);
    const context = JSON.stringify(ODD);
    await stage.end(await stage.started(workflow), waits({ kind, ms: HOUR_MS, context }, done));
  }
  await stage.tryAgain(await stage.started(workflow), HOUR_MS);
  const early = await stage.started(workflow);
  equal(await store.resumeRun({ run: early.run, waits: 1 }, 'resume', JSON.stringify({ body: ODD })), 'taken');
  await store.cancelRun(stage.owner.id, (await stage.started(workflow)).run);
  const resumed = [await stage.waiting(workflow), await stage.waiting(workflow)];
  for (const { run } of resumed) await store.resumeRun({ run, waits: 1 }, 'resume', JSON.stringify({ body: ODD }));
  await stage.claim(1, workflow.id);
  const continuation = { checkpoint: checkpointFrom(done.steps), attempt: 3 };
  await store.append(stage.make.emission(stage.owner.id, { name: '$run', onlyListenerId: workflow.id }), none(), {
    continuation,
  });
}

/** Makes many events with a finished run each, faster than the store would. `bodyBytes`: of each event, about. */
export function multiply(path: string, count: number, bodyBytes = 20): void {
  const db = new DatabaseSync(path);
  const found = db
    .prepare("SELECT entry, owner_id FROM emissions WHERE name = '$run' ORDER BY entry DESC LIMIT 1")
    .get();
  const { entry, owner_id: ownerId } = defined(found) as { entry: number; owner_id: string };
  const over = db.prepare("SELECT max(run) AS run FROM runs WHERE state = 'succeeded'").get();
  const { run } = defined(over) as { run: number };
  const columns = db.prepare('SELECT name FROM pragma_table_info(?)');
  const copy = (table: string, changed: Record<string, string>, where: string): void => {
    const names = columns.all(table).map((column) => String((column as { name: string }).name));
    const values = names.map((name) => changed[name] ?? name).join(', ');
    db.exec(`WITH RECURSIVE more (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM more WHERE i < ${count})
      INSERT INTO ${table} (${names.join(', ')}) SELECT ${values} FROM more CROSS JOIN ${table} WHERE ${where}`);
  };
  const at = `${entry} + 4096 * i`;
  const body = `CAST(printf('{"i":%d,"more":"%.*c"}', i, ${bodyBytes}, 'x') AS BLOB)`;
  db.exec('BEGIN');
  copy('emissions', { entry: at, body }, `entry = ${entry}`);
  copy('runs', { run: `${at} + 1`, entry: at, owner_id: `'${ownerId}'` }, `run = ${run}`);
  db.prepare("UPDATE ledger SET n = n + ? WHERE owner_id = ? AND fact IN ('emissions', 'runs.succeeded')").run(
    count,
    ownerId,
  );
  db.exec('COMMIT');
  db.close();
}
