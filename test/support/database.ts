// Where an Errand under test keeps its data: in its data dir, or, when the run is on Postgres, in a database of its own.

interface Database {
  readonly url: string;
  drop(): Promise<void>;
}

export interface TestDatabase extends AsyncDisposable {
  /** To be started with. */
  readonly settings: Readonly<Record<string, string>>;
}

/** By data dir. Processes that are started on one data dir share a database, as they would share the file in it. */
const shared = new Map<string, { readonly made: Promise<Database>; users: number }>();

/** Dropped with the last user of that data dir. Nothing is made when the settings name a database already. */
export async function databaseFor(env: Readonly<Record<string, string>>, dataDir: string): Promise<TestDatabase> {
  if (process.env.TEST_STORE !== 'postgres' || env.ERRAND_DATABASE_URL !== undefined) {
    return { settings: {}, [Symbol.asyncDispose]: async () => {} };
  }
  const entry = shared.get(dataDir) ?? { made: make(), users: 0 };
  shared.set(dataDir, entry);
  entry.users++;
  const { url, drop } = await entry.made;
  let isUsed = true;
  return {
    settings: { ERRAND_DATABASE_URL: url },
    [Symbol.asyncDispose]: async () => {
      if (!isUsed) return;
      isUsed = false;
      entry.users--;
      if (entry.users > 0) return;
      shared.delete(dataDir);
      await drop();
    },
  };
}

/** Imported here, so that a run on SQLite needs nothing of Postgres. */
async function make(): Promise<Database> {
  const { newDatabase } = await import('./postgres/shared.ts');
  return newDatabase();
}
