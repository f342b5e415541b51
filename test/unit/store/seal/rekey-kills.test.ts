// errand store rekey, killed at any moment and called again: one key opens the store at each moment, and at last it is the new one.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../support/folders/folder.ts';
import { queryOn } from '../../../support/postgres/databases.ts';
import { until } from '../../../support/wait.ts';
import { call, startCommand } from '../command.ts';
import { emptyDatabase } from '../place.ts';
import { commanded, commandsIn, makeWebhook, OTHER, onPostgres, onSqlite, SETTING, secretOf } from './sealed.ts';

type Env = Record<string, string>;

const OLD = { ERRAND_SECRET_KEY: SETTING };
const NEW = { ERRAND_SECRET_KEY: OTHER };
const REKEY = ['store', 'rekey', '--json'];
const ONCE = commanded('rekeyStore', 'errand store rekey');

/** Returns which of the two keys opens the store. */
async function openerOf(env: (key: Env) => Env, { id, secret }: { id: string; secret: string }) {
  const opens = async (key: Env): Promise<boolean> => {
    const told = secretOf(env(key), id).catch((error: Error) => {
      ok(/another key than the one in ERRAND_SECRET_KEY/.test(error.message), error.message);
      return null;
    });
    return (await told) === secret;
  };
  const [old, fresh] = [await opens(OLD), await opens(NEW)];
  ok(old !== fresh, `the old key opens it: ${old}; the new one: ${fresh}`);
  return old ? 'old' : 'new';
}

test('a change of the key that was killed is done once by the next call', async (t) => {
  await using folder = await createFolder();
  const prepared = join(folder.path, 'prepared');
  const webhook = await makeWebhook(onSqlite(prepared, OLD));
  const seen: string[] = [];
  for (let at = 1; ; at++) {
    ok(at < 20, 'it is not killed for ever');
    const dataDir = join(folder.path, String(at));
    await cp(prepared, dataDir, { recursive: true });
    const env = (key: Env): Env => onSqlite(dataDir, key);
    const dieAt = { NODE_OPTIONS: `--import=${join(import.meta.dirname, 'die-in-rekey.ts')}`, DIE_AT: String(at) };
    const killed = await call(REKEY, { ...env(OLD), ...dieAt }, OTHER);
    if (killed.status === 0) break;
    deepEqual([killed.status, killed.stdout], [null, ''], killed.stderr);
    const opener = await openerOf(env, webhook);
    seen.push(opener);
    // The settings still have the old key.
    const again = await call(REKEY, env(OLD), OTHER);
    deepEqual([again.status, again.json().rekeyed], [0, opener === 'old'], again.stderr);
    equal(await openerOf(env, webhook), 'new', `killed behind statement ${at}`);
    deepEqual(await commandsIn(env(NEW)), [ONCE]);
  }
  t.diagnostic(`behind each statement: ${seen}`);
  deepEqual([seen.at(0), seen.at(-1), seen.length > 2], ['old', 'new', true]);
});

test('a key that opens the store is not changed again', async () => {
  await using folder = await createFolder();
  const env = (key: Env): Env => onSqlite(folder.path, key);
  const webhook = await makeWebhook(env(OLD));
  equal((await call(REKEY, env(OLD), OTHER)).json().rekeyed, true);
  const again = await call(['store', 'rekey'], env(OLD), OTHER);
  deepEqual([again.status, /^rekeyed +already$/m.test(again.stdout)], [0, true], again.stdout + again.stderr);
  equal(await openerOf(env, webhook), 'new');
  deepEqual(await commandsIn(env(NEW)), [ONCE]);
});

const ASLEEP = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";

test('a database finishes what a killed change has sent, and the next call finds it done', async (t) => {
  await using folder = await createFolder();
  const url = await emptyDatabase(t);
  const env = (key: Env): Env => onPostgres(join(folder.path, 'data'), url, key);
  const webhook = await makeWebhook(env(OLD));
  await queryOn(
    url,
    `CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(3600); RETURN NEW; END $$;
      CREATE TRIGGER stall BEFORE UPDATE ON meta FOR EACH ROW EXECUTE FUNCTION stall()`,
  );
  const isAsleep = async (): Promise<boolean> => (await queryOn(url, ASLEEP)).length > 0;
  const kill = async (): Promise<void> => {
    const { child, called } = startCommand(REKEY, env(OLD));
    child.stdin?.end(OTHER);
    await until('it changes the key', isAsleep);
    child.kill('SIGKILL');
    await called;
  };
  await kill();
  // The database's connection ends, too: nothing was changed.
  await queryOn(url, ASLEEP.replace('1', 'pg_terminate_backend(pid)'));
  await until('it is over', async () => !(await isAsleep()));
  equal(await openerOf(env, webhook), 'old');
  await queryOn(
    url,
    `CREATE OR REPLACE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NEW; END $$`,
  );
  await kill();
  // At once: what the killed one had sent is still under way, and goes first.
  const again = await call(REKEY, env(OLD), OTHER);
  deepEqual([again.status, again.json().rekeyed], [0, false], again.stderr);
  equal(await openerOf(env, webhook), 'new');
  deepEqual(await commandsIn(env(NEW)), [ONCE]);
});
