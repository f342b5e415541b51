// The purge of an owner, on a store with at least one of everything in it: no table of the schema, as the database itself lists them,
// has a row of that owner left, and all other rows are as they were. A table without a row of that owner is named, too: a new one
// is to be filled (here or in full-store.ts) and purged (store/config/deletion/purged-tables.ts).

import { deepEqual, equal, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { DELETION } from '../../../../src/domain/owners/deletion.ts';
import type { Store } from '../../../../src/store/contract/store.ts';
import { none } from '../../../contract/fixtures.ts';
import { isThorough } from '../../../support/data/thorough.ts';
import { queryOn } from '../../../support/postgres/databases.ts';
import { openTestStore } from '../../../support/postgres/store.ts';
import { openFull } from '../full-store.ts';
import { move, type Place, place } from '../place.ts';
import { recordOf } from './purge-record.ts';

type Row = Readonly<Record<string, string>>;
/** The rows of each table, each cell as text. */
type Dump = ReadonlyMap<string, readonly Row[]>;

/** Tables in which no owner has a row. */
const OF_NOBODY: readonly string[] = ['commit_markers', 'errand_schema', 'meta', 'nodes', 'watch_clock'];

/** Becomes the first owner of the store, which is never deleted. */
const FIRST = `INSERT INTO owners (id, name, digest_window_ms, created_at_ms, updated_at_ms) VALUES ('u_0', 'first', 0, 0, 0)`;

test('a purge leaves nothing in any table of SQLite', async (t) => check(await onSqlite(t)));
test('a purge leaves nothing in any table of Postgres', async (t) => check(await onPostgres(t)));

test('a purge of much on SQLite goes on behind kills', async (t) => check(await onSqlite(t, MANY), KILLED_AT));
// The same steps as on SQLite, and half a minute: it is not of `npm test`.
if (isThorough) {
  test('a purge of much on Postgres goes on behind kills', async (t) => check(await onPostgres(t, MANY), KILLED_AT));
}

/** Events and runs, besides what else is there. */
const MANY = 20_000;
/** After so many steps, a process that purges is killed, and the next one goes on. */
const KILLED_AT = [1, 1, 2];

interface Database {
  readonly here: Place;
  /** For another process. */
  readonly where: string;
  open(): Promise<Store>;
  execute(sql: string): Promise<void>;
  dump(): Promise<Dump>;
}

async function onSqlite(t: TestContext, more = 0): Promise<Database> {
  const here = await place(t, more);
  const execute = async (sql: string): Promise<void> => {
    const db = new DatabaseSync(here.path);
    db.exec(sql);
    db.close();
  };
  await execute(`INSERT INTO webhook_health (webhook_id, exhausted_in_row) SELECT id, 1 FROM webhooks
    WHERE id NOT IN (SELECT webhook_id FROM webhook_health)`);
  for (const { owner } of here.full.stages) await execute(fillMore(owner.id, { names: 'flags', values: '0' }));
  const open = () => openFull(here.path, here.clock);
  return { here, where: here.path, open, execute, dump: async () => dumpSqlite(here.path) };
}

async function onPostgres(t: TestContext, more = 0): Promise<Database> {
  const here = await place(t, more);
  equal((await move(here)).status, 0);
  const execute = async (sql: string): Promise<void> => void (await queryOn(here.url, sql));
  for (const { owner } of here.full.stages) {
    await execute(fillMore(owner.id, { names: 'verified, replay, test', values: 'false, false, false' }));
    await execute(`INSERT INTO answers (run, owner_id, answer, at_ms)
      SELECT max(run), '${owner.id}', '{}', 0 FROM runs WHERE owner_id = '${owner.id}'`);
    await execute(`INSERT INTO versions (owner_id, version) VALUES ('${owner.id}', 1) ON CONFLICT DO NOTHING`);
  }
  const open = () => openTestStore({ url: here.url, clock: here.clock });
  return { here, where: here.url, open, execute, dump: () => dumpPostgres(here.url) };
}

/** Returns SQL that fills what full-store.ts leaves empty. `flags`: columns of an emission that the databases have in their own ways. */
function fillMore(ownerId: string, flags: { readonly names: string; readonly values: string }): string {
  const of = `WHERE owner_id = '${ownerId}'`;
  return `
    INSERT INTO channels (id, owner_id, kind, name, active, config, created_at_ms, updated_at_ms)
      VALUES ('ch_${ownerId}', '${ownerId}', 'slack', 'ops', 1 = 1, '', 0, 0);
    INSERT INTO redactions (owner_id, scope_id, keys, patterns, before_storing)
      VALUES ('${ownerId}', '${ownerId}', '[]', '[]', 1 = 1);
    INSERT INTO ledger_hours (owner_id, hour, events, runs, errors, deliveries) VALUES ('${ownerId}', 9, 1, 1, 0, 0);
    INSERT INTO error_retentions (emitter_id, owner_id, days) VALUES ('p_${ownerId}', '${ownerId}', 9);
    INSERT INTO operation_results (operation_id, entry, outcome) SELECT id, 7, 'fixed' FROM operations ${of};
    INSERT INTO later_emissions (entry, due_at_ms, owner_id, emitter_id, name, source_type, origin_id, ${flags.names}, trace_id,
        lineage, hops, body)
      SELECT entry + 1, ${Number.MAX_SAFE_INTEGER}, owner_id, 'dc_gone', '', '', '', ${flags.values}, '', '', 0, body
        FROM emissions ${of} ORDER BY entry DESC LIMIT 1`;
}

async function check({ here, where, open, execute, dump }: Database, killedAt: readonly number[] = []): Promise<void> {
  const { full, clock } = here;
  await execute(FIRST);
  const ids = full.stages.map(({ owner }) => owner.id);
  const first = await open();
  await first.rescue(none());
  while (await first.sweepData());
  // Another generation of its records is still to be deleted.
  await execute('INSERT INTO data_gone (store_id, generation) SELECT id, 0 FROM data_stores');
  const before = await dump();
  const owners = new Owners(before);
  // The one that has most.
  const [doomed, kept] = ids.toSorted(
    (a, b) => owners.rowsOf(b, 'emissions', before).length - owners.rowsOf(a, 'emissions', before).length,
  ) as [string, string];
  await first.deleteOwner(doomed, { askedAtMs: clock.nowMs(), purgeAtMs: clock.nowMs() });
  await first.close();
  for (const steps of killedAt) await purgeUntil(steps, where, clock.nowMs());
  if (killedAt.length > 0) {
    const left = owners.rowsOf(doomed, 'runs', await dump()).length;
    ok(left > 0 && left < MANY, `in the middle of the purge ${left} runs are left`);
  }
  const store = await open();
  for (const ms of [0, DELETION.hooksMs, DELETION.settledMs]) {
    clock.advance(ms);
    while ((await store.sweepOwners(recordOf)).isMore);
  }
  const after = await dump();
  await store.close();

  const tables = [...before.keys()].filter((table) => !OF_NOBODY.includes(table));
  if (killedAt.length === 0) {
    const empty = tables.filter((table) => owners.rowsOf(doomed, table, before).length === 0);
    deepEqual(empty, [], 'tables without a row of the owner, which show nothing');
  }
  for (const table of tables) {
    deepEqual(owners.rowsOf(undefined, table, before), [], `rows of ${table} whose owner is not known`);
    deepEqual(owners.rowsOf(doomed, table, after), [], `what is left in ${table}`);
    deepEqual(owners.rowsOf(kept, table, after), owners.rowsOf(kept, table, before), `the other owner's ${table}`);
  }
}

/** Purges in a process of its own, which is killed in the next step behind so many. */
async function purgeUntil(steps: number, where: string, atMs: number): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [PURGING, where, String(atMs)], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  child.stdin.write('go on\n');
  let made = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (made >= steps) continue;
    made++;
    equal(line, 'step', `it is over after ${made} steps`);
    child.stdin.write('go on\n');
    if (made === steps) child.kill('SIGKILL');
  }
  deepEqual(await exited, [null, 'SIGKILL']);
}

const PURGING = join(import.meta.dirname, 'purge-process.ts');

/** Columns of a number that other tables name a row by. */
const NUMBERED = {
  emissions: 'entry',
  later_emissions: 'entry',
  runs: 'run',
  open_runs: 'run',
  deliveries: 'delivery',
  open_deliveries: 'delivery',
};

/** Whose each row is: of the owner that it names, or of the owner of a row that it names. */
class Owners {
  readonly #owners = new Map<string, string>();

  constructor(dump: Dump) {
    for (const [table, rows] of dump) {
      const column = NUMBERED[table as keyof typeof NUMBERED] ?? 'id';
      for (const row of rows) {
        const ownerId = table === 'owners' ? row.id : row.owner_id;
        const id = row[column];
        if (ownerId !== undefined && id !== undefined) this.#owners.set(id, ownerId);
      }
    }
  }

  rowsOf(ownerId: string | undefined, table: string, dump: Dump): Row[] {
    return (dump.get(table) ?? []).filter((row) => this.#ownerOf(row) === ownerId);
  }

  #ownerOf(row: Row): string | undefined {
    return (
      row.owner_id ??
      Object.values(row)
        .map((cell) => this.#owners.get(cell))
        .find((id) => id !== undefined)
    );
  }
}

function dumpSqlite(path: string): Dump {
  const db = new DatabaseSync(path, { readOnly: true });
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  const dump = new Map(tables.map(({ name }) => [String(name), rowsIn(db.prepare(`SELECT * FROM "${name}"`).all())]));
  db.close();
  return dump;
}

async function dumpPostgres(url: string): Promise<Dump> {
  const dump = new Map<string, Row[]>();
  const tables = await queryOn(
    url,
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1',
  );
  for (const { name } of tables) dump.set(String(name), rowsIn(await queryOn(url, `SELECT * FROM "${name}"`)));
  return dump;
}

function rowsIn(rows: readonly object[]): Row[] {
  const cellOf = (cell: unknown): string =>
    cell instanceof Uint8Array ? Buffer.from(cell).toString('hex') : String(cell);
  return rows
    .map((row) => Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, cellOf(cell)])))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
