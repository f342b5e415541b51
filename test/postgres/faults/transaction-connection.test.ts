// One connection and a connection that breaks at a moment of the test's choice.

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { it } from 'node:test';
import postgres from 'postgres';
import {
  OutcomeUnknown,
  TransactionConnection,
} from '../../../src/store/postgres/connection/transaction-connection.ts';
import { type Cutter, startCutter } from '../../support/postgres/cut.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabase } from '../../support/postgres/shared.ts';
import { until } from '../../support/wait.ts';

interface Place extends AsyncDisposable {
  /** Straight to the database. */
  readonly url: string;
  readonly cutter: Cutter;
  /** Over the cutter. */
  readonly connection: TransactionConnection;
  /** What was written to the table `notes`. */
  notes(): Promise<string[]>;
}

async function makePlace(): Promise<Place> {
  const { url, drop } = await newDatabase();
  const { port, pathname } = new URL(url);
  const cutter = await startCutter(Number(port));
  const connection = new TransactionConnection({ url: cutter.url(pathname.slice(1)), name: 'errand test' });
  await queryOn(url, 'CREATE TABLE notes (note text)');
  return {
    url,
    cutter,
    connection,
    notes: async () => (await queryOn(url, 'SELECT note FROM notes ORDER BY note')).map(({ note }) => note),
    async [Symbol.asyncDispose]() {
      await connection.close();
      await cutter.dispose();
      await drop();
    },
  };
}

const BYTES = Buffer.from([0, 92, 255]);

const write = (connection: TransactionConnection, note: string) =>
  connection.transact(async (tx) => {
    void tx.query('INSERT INTO notes VALUES ($1)', note);
  });

const isWaiting = async (url: string): Promise<boolean> => {
  const rows = await queryOn(
    url,
    `SELECT 1 FROM pg_stat_activity
      WHERE application_name = 'errand test' AND datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
};

/** Whoever writes notes waits until `let` is called. */
async function holdNotes(url: string): Promise<{ let: () => Promise<void> }> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  await sql.unsafe('BEGIN');
  await sql.unsafe('LOCK TABLE notes IN SHARE MODE');
  return {
    let: async () => {
      await sql.unsafe('COMMIT');
      await sql.end({ timeout: 1 });
    },
  };
}

/** A first note is written; the second one, `written`, waits until `held.let` is called. */
async function waitingSecond({ url, connection }: Place) {
  connection.markAs('one');
  await write(connection, 'first');
  const held = await holdNotes(url);
  const written = write(connection, 'second');
  await until('it waits', () => isWaiting(url));
  return { held, written };
}

it('knows a commit whose answer was lost', async () => {
  await using place = await makePlace();
  const { url, cutter, connection } = place;
  connection.markAs('one');
  await write(connection, 'first');
  cutter.hold('answers');
  const written = write(connection, 'second');
  await until('it is there', async () => (await place.notes()).length === 2);
  cutter.cutAll();
  cutter.resume();
  await written;
  deepEqual(await place.notes(), ['first', 'second']);
  equal((await queryOn(url, "SELECT n FROM commit_markers WHERE connection = 'one'"))[0]?.n, '2');
});

it('waits for a commit that is still to come', async () => {
  await using place = await makePlace();
  const { url, cutter } = place;
  const { held, written } = await waitingSecond(place);
  // The server does not notice, and goes on when it can.
  cutter.cutAll();
  await until('it asks what became of it', async () => {
    return (
      (await queryOn(url, "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'UPDATE commit_markers SET n = n%'"))
        .length > 0
    );
  });
  await held.let();
  await written;
  deepEqual(await place.notes(), ['first', 'second']);
});

it('writes again what the server gave up', async () => {
  await using place = await makePlace();
  const { url, cutter } = place;
  const { held, written } = await waitingSecond(place);
  cutter.hold('answers');
  await queryOn(
    url,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE application_name = 'errand test' AND datname = current_database()`,
  );
  cutter.cutAll();
  cutter.resume();
  await held.let();
  await written;
  deepEqual(await place.notes(), ['first', 'second']);
});

it('takes no other commit for its own', async () => {
  await using place = await makePlace();
  const { url, cutter } = place;
  const { held, written } = await waitingSecond(place);
  cutter.hold('answers');
  await held.let();
  // As after a failover: what it wrote is lost, and its id was given again, to somebody who committed.
  await until('it is there', async () => (await place.notes()).length === 2);
  await queryOn(
    url,
    "DELETE FROM notes WHERE note = 'second'; UPDATE commit_markers SET n = 1 WHERE connection = 'one'",
  );
  cutter.cutAll();
  cutter.resume();
  await written;
  deepEqual(await place.notes(), ['first', 'second']);
});

it('says so when nobody can tell', async () => {
  await using place = await makePlace();
  const { cutter, connection } = place;
  await write(connection, 'first');
  cutter.hold('answers');
  const written = rejects(write(connection, 'second'), OutcomeUnknown);
  await until('it is there', async () => (await place.notes()).length === 2);
  cutter.cutAll();
  cutter.resume();
  await written;
  deepEqual(await place.notes(), ['first', 'second']);
});

it('goes on when a table has got a column', async () => {
  await using place = await makePlace();
  const { url, connection } = place;
  const read = () =>
    connection.transact(async (tx) => (await tx.query('SELECT * FROM notes WHERE note = $1', 'first')).length);
  await write(connection, 'first');
  equal(await read(), 1);
  await queryOn(url, 'ALTER TABLE notes ADD COLUMN at timestamptz');
  equal(await read(), 1);
});

it('works alike whatever the database sets for its sessions', async () => {
  await using place = await makePlace();
  const { url, connection } = place;
  const name = new URL(url).pathname.slice(1);
  const settings = {
    default_transaction_isolation: "'repeatable read'",
    client_encoding: 'LATIN1',
    bytea_output: 'escape',
    idle_session_timeout: "'1h'",
  };
  for (const [setting, value] of Object.entries(settings)) {
    await queryOn(url, `ALTER DATABASE ${name} SET ${setting} = ${value}`);
  }
  const found = await connection.transact(async (tx) => {
    await tx.query('SELECT 1');
    await queryOn(url, "INSERT INTO notes VALUES ('of another one')");
    const [row] = await tx.query(
      'SELECT count(*)::int AS count, $1::text AS text, $2::bytea AS bytes FROM notes',
      'ż',
      BYTES,
    );
    const [limit] = await tx.query("SELECT current_setting('idle_session_timeout') AS idle");
    await tx.query('INSERT INTO notes VALUES ($1)', 'ż');
    return { ...row, ...limit };
  });
  deepEqual(found, { count: 1, text: 'ż', bytes: BYTES, idle: '0' });
  deepEqual(await place.notes(), ['of another one', 'ż']);
});

it('begins anew when the connection broke before the commit', async () => {
  await using place = await makePlace();
  const { cutter, connection } = place;
  connection.markAs('one');
  let runs = 0;
  await connection.transact(async (tx) => {
    runs++;
    await tx.query('INSERT INTO notes VALUES ($1)', `of run ${runs}`);
    if (runs > 1) return;
    cutter.cutAll();
    // Another one's close is heard behind ours.
    await rejects(queryOn(cutter.url('none'), 'SELECT 1'));
  });
  deepEqual([runs, await place.notes()], [2, ['of run 2']]);
});

it('lets nothing of a transaction that failed reach the next one', async () => {
  await using place = await makePlace();
  const { connection } = place;
  const failed = Promise.withResolvers<void>();
  const late = failed.promise.then(() => straggler?.('INSERT INTO notes VALUES ($1)', 'late'));
  let straggler: ((sql: string, ...values: string[]) => Promise<unknown>) | undefined;
  const broken = connection.transact(async (tx) => {
    straggler = tx.query;
    await tx.query('SELECT 1');
    throw new Error('one part has failed');
  });
  await rejects(broken, /one part has failed/);
  const next = connection.transact(async (tx) => {
    await tx.query('SELECT 1');
    failed.resolve();
    await rejects(late);
    await tx.query("INSERT INTO notes VALUES ('next')");
  });
  await next;
  deepEqual(await place.notes(), ['next']);
});
