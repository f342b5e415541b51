// The parts of `npm test`. A file that no part names is of `sqlite`; so each file runs, and each in one part. What asks most of
// the store runs once more on Postgres.

import { globSync } from 'node:fs';
import { join } from 'node:path';

export type Part = 'sqlite' | 'slow' | 'postgres' | 'postgres:all';

const ROOT = join(import.meta.dirname, '..');
const SETUP = { sqlite: 'test/support/global-setup.ts', postgres: 'test/support/postgres/global-setup.ts' } as const;

/** Wait for processes, packages and clocks most of their time: half of the time of all tests on SQLite. */
const SLOW = ['test/{attacks,demo,deploy,package,prove,unit/store/move}/**/*.test.ts'];
/** Half a minute of both cores each, or another version of Postgres: not part of `npm test`. */
const RARE = [
  'test/postgres/faults/rarer.test.ts',
  'test/postgres/many-replays.test.ts',
  'test/contract/postgres-15.test.ts',
];
const OF_POSTGRES = ['test/postgres/**/*.test.ts', 'test/{contract,unit/support}/postgres*.test.ts'];
const AGAIN = [
  'test/http/{errors,forwarding,schedules}.test.ts',
  'test/http/interface/{filters,if-match,patch}.test.ts',
  'test/cli/store.test.ts',
  'test/client/{lists,operations,retries}.test.ts',
  'test/flows/ledger.test.ts',
  'test/flows/runs/{replay,run-retries,waits}.test.ts',
];
const ALL_AGAIN = ['test/{http,flows,conformance,client}/**/*.test.ts'];

/** Returns the test files that match one of the patterns, from the project's folder, sorted. */
export function filesOf(patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: ROOT }).sort();
}

const without = (files: readonly string[], others: readonly string[]): string[] =>
  files.filter((file) => !others.includes(file));

/** Returns the files of a part that run in no other one. `postgres:all` has what is rare. */
export function ownFiles(part: Part): string[] {
  if (part === 'slow') return filesOf(SLOW);
  if (part === 'postgres') return without(filesOf(OF_POSTGRES), filesOf(RARE));
  if (part === 'postgres:all') return filesOf(RARE);
  return without(filesOf(['test/**/*.test.ts']), filesOf([...SLOW, ...OF_POSTGRES, ...RARE]));
}

/** Returns the files that run in a part on Postgres, and in another one on SQLite. */
export function repeatedFiles(part: Part): string[] {
  if (part === 'postgres') return filesOf(AGAIN);
  return part === 'postgres:all' ? filesOf(ALL_AGAIN) : [];
}

/** Returns the arguments of `node` for a part. */
export function argumentsOf(part: Part): string[] {
  const isPostgres = part.startsWith('postgres');
  const inherited = part === 'postgres:all' ? ownFiles('postgres') : [];
  return [
    '--test',
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./test/support/skips.ts', '--test-reporter-destination=stderr'],
    ...['--test-reporter=./test/support/failures.ts', '--test-reporter-destination=stderr'],
    ...['--test-timeout=600000', `--test-concurrency=${part === 'slow' ? 2 : 4}`],
    `--test-global-setup=${isPostgres ? SETUP.postgres : SETUP.sqlite}`,
    // Closing what a stopped Postgres has left open, Node may wait for ever.
    ...(isPostgres ? ['--test-force-exit'] : []),
    ...ownFiles(part),
    ...inherited,
    ...repeatedFiles(part),
  ];
}
