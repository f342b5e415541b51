// Databases that one test after the other uses: emptied behind each, and with the same sessions. To make one, start seven sessions and
// drop it again takes several times what most tests take.

import { type Databases, queryOn } from './databases.ts';
import { newDatabaseOn } from './fresh.ts';
import { SessionPooler } from './session-pooler.ts';

export interface LentDatabase {
  /** By way of the pooler. */
  readonly url: string;
  /** For the next one. Rejects when transactions deadlocked in it more often than they may (fresh.ts). */
  giveBack(): Promise<void>;
}

interface Kept {
  readonly url: string;
  readonly pooler: SessionPooler;
  readonly drop: () => Promise<void>;
  deadlocks: number;
}

/** A few pairs are known to deadlock rarely (fresh.ts). */
const MOST_DEADLOCKS = 2;
/** Rows of a table with more room than this are not deleted one by one, and leave no dead ones. */
const SMALL_BYTES = 64 * 1024;

/** Empties all tables but for the rows that a new database has, which stand in the schema `fresh`. */
const PREPARE = `
  CREATE SCHEMA fresh;
  DO $do$
  DECLARE name text; has_rows boolean;
  BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
      EXECUTE format('SELECT EXISTS (SELECT 1 FROM public.%I)', name) INTO has_rows;
      IF has_rows THEN EXECUTE format('CREATE TABLE fresh.%I AS TABLE public.%I', name, name); END IF;
    END LOOP;
  END $do$;
  CREATE FUNCTION fresh.restore() RETURNS void LANGUAGE plpgsql AS $fn$
  DECLARE each record;
  BEGIN
    FOR each IN SELECT oid, relname AS name, pg_relation_size(oid) AS size FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
      IF each.size > ${SMALL_BYTES} THEN EXECUTE format('TRUNCATE public.%I', each.name);
      ELSIF each.size > 0 THEN EXECUTE format('DELETE FROM public.%I', each.name);
      END IF;
    END LOOP;
    FOR each IN SELECT relname AS name FROM pg_class WHERE relnamespace = 'fresh'::regnamespace AND relkind = 'r' LOOP
      EXECUTE format('INSERT INTO public.%I OVERRIDING SYSTEM VALUE TABLE fresh.%I', each.name, each.name);
    END LOOP;
    PERFORM setval(oid::regclass, 1, false) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S';
  END $fn$`;

export class UsedAgain {
  readonly #server: () => Promise<Databases>;
  readonly #kept = new Set<Kept>();
  readonly #free: Kept[] = [];

  constructor(server: () => Promise<Databases>) {
    this.#server = server;
  }

  async lend(): Promise<LentDatabase> {
    const kept = this.#free.pop() ?? (await this.#make());
    return { url: kept.url, giveBack: () => this.#takeBack(kept) };
  }

  /** Ends the sessions and drops the databases. */
  async dispose(): Promise<void> {
    for (const { pooler, drop } of this.#kept) {
      await pooler.close();
      await drop();
    }
  }

  async #make(): Promise<Kept> {
    const { url, drop } = await newDatabaseOn(await this.#server());
    await queryOn(url, PREPARE);
    const pooler = await SessionPooler.start(url);
    const pooled = new URL(url);
    pooled.host = `127.0.0.1:${pooler.port}`;
    const kept = { url: pooled.href, pooler, drop, deadlocks: 0 };
    this.#kept.add(kept);
    return kept;
  }

  async #takeBack(kept: Kept): Promise<void> {
    await kept.pooler.settled();
    const [row] = await queryOn(
      kept.url,
      `SELECT deadlocks, fresh.restore() FROM pg_stat_database WHERE datname = current_database()`,
    );
    const deadlocks = Number(row?.deadlocks) - kept.deadlocks;
    kept.deadlocks += deadlocks;
    await kept.pooler.settled();
    this.#free.push(kept);
    if (deadlocks > MOST_DEADLOCKS) {
      const databases = await this.#server();
      throw new Error(`transactions deadlocked, ${deadlocks} times:\n${await databases.lastDeadlock()}`);
    }
  }
}
