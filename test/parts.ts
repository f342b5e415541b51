// The parts of `npm test`. A file that no part names is of `sqlite`; so each file runs, and each in one part. What asks most of
// the store runs once more on Postgres.

import { globSync } from 'node:fs';
import { join } from 'node:path';

export const PARTS = ['unit', 'sqlite', 'slow', 'postgres', 'rare', 'postgres:all'] as const;
export type Part = (typeof PARTS)[number];

const ROOT = join(import.meta.dirname, '..');
/** Files; `.ci/run` has another part beside them, and two cores: what waits for long leaves no core idle, and deadlines hold. */
const AT_ONCE = 3;
const SETUP = { sqlite: 'test/support/global-setup.ts', postgres: 'test/support/postgres/global-setup.ts' } as const;

/** Share one process: to start one for each file and to load what it tests takes longer than its tests. None leaves anything behind. */
const UNIT = ['test/unit/{config,domain,engine,http,mail,verifier,webhook}/**/*.test.ts'];
/** Wait for processes, packages and clocks most of their time. */
const SLOW = ['test/{attacks,cli,demo,deploy,package,prove,unit/store/move}/**/*.test.ts'];
/** Kills servers for minutes, on either store. */
const KILLS = ['test/flows/notices/killed.test.ts'];
/** Moves of pages by themselves: what comes late on a busy machine moves more. */
const MOVES = ['test/dashboard/slow.test.ts'];
/**
 * Go through all of their kind, a process for each: every statement of an attempt, every command and its examples, every setting with every
 * hostile value, every step of a move, a salvage or a change of the key.
 */
const WALKS = [
  'test/cli/{closed-files,hostile}.test.ts',
  'test/cli/examples/examples.test.ts',
  'test/http/start/hostile-settings.test.ts',
  'test/prove/{disks,mixed}.test.ts',
  'test/unit/store/attempt-kills.test.ts',
  'test/unit/store/seal/{rekey-kills,secret-key-postgres}.test.ts',
  'test/unit/store/move/{backup-interrupted,backup-secrets,move-interrupted,move-refused,salvage,salvage-kills}.test.ts',
];
/** Other versions of Node and of clients of Sentry, which are downloaded: and what is above: not part of `npm test`. */
const RARE = [
  'test/http/reports/sentry-versions.test.ts',
  'test/package/{nodes,projects}.test.ts',
  ...KILLS,
  ...MOVES,
  ...WALKS,
];
/** Half a minute of both cores each, another version of Postgres, or one more kind of change that the other nodes see: not part of `npm test` either. */
const RARE_OF_POSTGRES = [
  'test/postgres/faults/{mixed,nodes,rarer}.test.ts',
  'test/postgres/nodes/{clocks,counters}.test.ts',
  'test/postgres/nodes/config/{secrets,source-changes,subscriptions,workflow-files}.test.ts',
  'test/postgres/many-replays.test.ts',
  'test/contract/postgres-15.test.ts',
];
/** Repeat what is alike more often there, or try more of it (support/data/thorough.ts). */
const THOROUGH = [
  'test/dashboard/**/*.test.ts',
  'test/flows/runs/poison.test.ts',
  'test/http/access.test.ts',
  'test/http/operations/every-operation.test.ts',
  'test/unit/runner/isolation/hostile.test.ts',
  'test/unit/store/purge/purge.test.ts',
  'test/unit/store/seal/secret-key.test.ts',
];
const OF_POSTGRES = ['test/postgres/**/*.test.ts', 'test/{contract,unit/support}/postgres*.test.ts'];
const AGAIN = [
  'test/http/errors.test.ts',
  'test/http/interface/{filters,if-match}.test.ts',
  'test/flows/ledger.test.ts',
  'test/flows/runs/{replay,waits}.test.ts',
];
const ALL_AGAIN = ['test/{http,flows,conformance,client}/**/*.test.ts', 'test/cli/store.test.ts'];

/** Returns the test files that match one of the patterns, from the project's folder, sorted. */
export function filesOf(patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: ROOT }).sort();
}

/**
 * Tests over HTTP and of pages: each needs the same thousand modules, and most of them the same server, and the same browser. And
 * of the runner and the stores, which load hundreds.
 */
const GROUPED = {
  sqlite: ['test/{client,conformance,dashboard,flows,http}/**/*.test.ts', 'test/unit/{runner,store}/**/*.test.ts'],
  postgres: ['test/postgres/nodes/**/*.test.ts'],
};
const GROUP_SIZE = 7;

/**
 * Returns the files of a part that share a process: to load what they test takes 0.6 s of the processor for each file, and to start their
 * server as much again. Neighbours share one, so that a browser is of one group.
 */
export function groupsOf(part: Part): readonly (readonly string[])[] {
  if (part !== 'sqlite' && part !== 'postgres') return [];
  const grouped = filesOf(GROUPED[part]);
  const files = ownFiles(part).filter((file) => grouped.includes(file));
  return Array.from({ length: Math.ceil(files.length / GROUP_SIZE) }, (_, n) =>
    files.slice(n * GROUP_SIZE, (n + 1) * GROUP_SIZE),
  );
}

const without = (files: readonly string[], others: readonly string[]): string[] =>
  files.filter((file) => !others.includes(file));

/** Returns the files of a part that run in no other one. `rare` and `postgres:all` have what is rare. */
export function ownFiles(part: Part): string[] {
  if (part === 'unit') return filesOf(UNIT);
  if (part === 'slow') return without(filesOf(SLOW), filesOf(RARE));
  if (part === 'postgres') return without(filesOf(OF_POSTGRES), filesOf(RARE_OF_POSTGRES));
  if (part === 'rare') return filesOf(RARE);
  if (part === 'postgres:all') return filesOf(RARE_OF_POSTGRES);
  return without(
    filesOf(['test/**/*.test.ts']),
    filesOf([...UNIT, ...SLOW, ...OF_POSTGRES, ...RARE, ...RARE_OF_POSTGRES]),
  );
}

/** Returns the files that run in a part, and in another one, too: on SQLite, or less thoroughly. */
export function repeatedFiles(part: Part): string[] {
  if (part === 'rare') return without(filesOf(THOROUGH), filesOf(RARE));
  if (part === 'postgres') return filesOf(AGAIN);
  return part === 'postgres:all' ? [...without(filesOf(ALL_AGAIN), filesOf(RARE)), ...filesOf(KILLS)] : [];
}

/** Returns all files that run in a part. */
export function allFiles(part: Part): string[] {
  const inherited = part === 'postgres:all' ? ownFiles('postgres') : [];
  return [...ownFiles(part), ...inherited, ...repeatedFiles(part)];
}

/** Returns the arguments of `node` for a part, or for these files of it. */
export function argumentsOf(part: Part, files: readonly string[] = allFiles(part)): string[] {
  const isPostgres = part.startsWith('postgres');
  return [
    '--test',
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./test/support/skips.ts', '--test-reporter-destination=stderr'],
    ...['--test-reporter=./test/support/failures.ts', '--test-reporter-destination=stderr'],
    ...['--test-timeout=600000', `--test-concurrency=${part === 'slow' ? 2 : AT_ONCE}`],
    ...(part === 'unit' ? ['--test-isolation=none'] : []),
    `--test-global-setup=${isPostgres ? SETUP.postgres : SETUP.sqlite}`,
    // Closing what a stopped Postgres has left open, Node may wait for ever.
    ...(isPostgres ? ['--test-force-exit'] : []),
    ...files,
  ];
}

/** One file in a hundred: more are no accident of the machine. */
const MOST_AGAIN = 6;

/**
 * Returns which files to run once more, of the lines that `failures.ts` has written (`<part> <file>`); null: none, since there are too
 * many, or since one of the failed parts has no test that failed (it was ended, or could not begin).
 */
export function filesAgain(lines: string, failedParts: readonly string[]): { part: string; file: string }[] | null {
  const files = [...new Set(lines.split('\n').filter((line) => line !== ''))].map((line) => {
    const [part = '?', ...file] = line.split(' ');
    return { part, file: file.join(' ') };
  });
  const isExplained = failedParts.every((part) => files.some((one) => one.part === part));
  const isKnown = files.every(
    ({ part, file }) =>
      failedParts.includes(part) && PARTS.some((name) => name === part && allFiles(name).includes(file)),
  );
  return isExplained && isKnown && files.length <= MOST_AGAIN ? files : null;
}
