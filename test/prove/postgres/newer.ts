// The next version of this program, as far as its schema goes: a copy of the sources with one more migration.

import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const SCHEMA = 'src/store/postgres/maintenance/schema.ts';
const LIST = /(const MIGRATIONS: readonly string\[\] = \[)([^\]]*)\]/;

/** What a release would do: columns with a default on tables that are hot and on those that are long, and an index. */
const MIGRATION = `
ALTER TABLE open_runs ADD COLUMN priority integer NOT NULL DEFAULT 0;
ALTER TABLE emissions ADD COLUMN note text;
ALTER TABLE runs ADD COLUMN note text NOT NULL DEFAULT '';
ALTER TABLE open_deliveries ADD COLUMN priority integer NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN note text;
ALTER TABLE runnables ADD COLUMN note text;
ALTER TABLE listener_queues ADD COLUMN note text;
CREATE INDEX open_runs_priority ON open_runs (priority, run);
`;

export interface Newer extends AsyncDisposable {
  /** Its folder. */
  readonly program: string;
}

export async function newerProgram(): Promise<Newer> {
  const program = await mkdtemp(join(tmpdir(), 'errand-newer-'));
  await cp(join(ROOT, 'src'), join(program, 'src'), { recursive: true });
  await cp(join(ROOT, 'package.json'), join(program, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(program, 'node_modules'));
  const source = await readFile(join(ROOT, SCHEMA), 'utf8');
  if (!LIST.test(source)) throw new Error(`${SCHEMA} has no list of migrations that could be added to`);
  await writeFile(join(program, SCHEMA), source.replace(LIST, `$1$2, ${JSON.stringify(MIGRATION)}]`));
  return { program, [Symbol.asyncDispose]: () => rm(program, { recursive: true, force: true }) };
}
