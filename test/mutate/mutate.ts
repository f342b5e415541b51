// `npm run mutate`: breaks the sources, one mutation of mutations.ts at a time, and runs the tests that should notice.
//
//   npm run mutate                        all of them
//   npm run mutate -- --only '^route:'    those whose name matches
//   npm run mutate -- --range 41-80       by their place in that list, from 1; 41-: all that follow
//   npm run mutate -- --minutes 8         begins none later, and tells the range that is left
//
// Each mutation is applied to a copy of the project, in a folder of it: so the copy has its packages. A mutation that all of its tests let pass lives: the exit code is 1.
// One that keeps its tests busy far longer than the sources as they are did has been noticed: it hangs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { quickFolder } from '../support/folders/memory.ts';
import type { Mutation } from './mutation.ts';
import { MUTATIONS } from './mutations.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = ['src', 'sources', 'test', 'examples', 'docs', 'bench', 'release', 'package.json', 'tsconfig.json'];
const SETUP = 'test/support/global-setup.ts';
const ENOUGH_BYTES = 2 ** 30;
/** Of the sources as they are. Whole files count: the store's contract takes 25 s on a quiet machine. */
const TEST_TIMEOUT_MS = 240_000;
/** A mutant's tests hang that take this much longer than the same tests without it, on a machine that has become slower since. */
const HANGS_FACTOR = 4;
const HANGS_MS = 20_000;
/** Tests that were told to end, and do not: an endless loop hears no signal that the process handles. */
const END_MS = 5_000;

/** Where the tests write. */
let tmp = '';

type Verdict = 'killed' | 'hangs' | 'lives';

/** Returns a mutation's file with the mutation in it. Throws when its text is not there exactly once. */
export function mutated(text: string, { name, from, to }: Mutation): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${name}: its text stands ${parts.length - 1} times in the file, not once`);
  return parts.join(to);
}

async function judge(folder: string, mutation: Mutation, hangsMs: number): Promise<Verdict> {
  const path = join(folder, mutation.file);
  const text = await readFile(path, 'utf8');
  await writeFile(path, mutated(text, mutation));
  try {
    const outcome = await outcomeOf(folder, mutation.tests, hangsMs);
    return outcome === 'pass' ? 'lives' : outcome === 'fail' ? 'killed' : 'hangs';
  } finally {
    await writeFile(path, text);
  }
}

/** Runs the tests of the files in the folder until one fails, all have passed, or the time is over. */
async function outcomeOf(folder: string, tests: readonly string[], hangsMs: number): Promise<'pass' | 'fail' | 'hang'> {
  const args = ['--test', '--test-reporter=tap', `--test-timeout=${TEST_TIMEOUT_MS}`, '--test-force-exit'];
  const child = spawn(process.execPath, [...args, `--test-global-setup=${SETUP}`, ...tests], {
    cwd: folder,
    env: { ...process.env, TMPDIR: tmp },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const closed = once(child, 'close');
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid as number), name);
    } catch {
      // All of them are gone.
    }
  };
  let killing: NodeJS.Timeout | undefined;
  const end = (): void => {
    signal('SIGTERM');
    killing ??= setTimeout(signal, END_MS, 'SIGKILL');
  };
  const stop = (): never => {
    signal('SIGKILL');
    process.exit(1);
  };
  process.once('SIGTERM', stop);
  let isHanging = false;
  const hanging = setTimeout(() => {
    isHanging = true;
    end();
  }, hangsMs);
  for await (const line of createInterface(child.stdout)) {
    if (!/^\s*not ok /.test(line)) continue;
    if (!isHanging) clearTimeout(hanging);
    end();
    break;
  }
  child.stdout.resume();
  const [code] = await closed;
  clearTimeout(hanging);
  clearTimeout(killing);
  process.off('SIGTERM', stop);
  if (isHanging) return 'hang';
  return code === 0 ? 'pass' : 'fail';
}

/** Returns what `--range` names of a list, each with its place, counted from 1. */
export function placesOf<T>(list: readonly T[], range: string): { readonly place: number; readonly item: T }[] {
  const [, first = '', isOpen, last = ''] = /^(\d+)(-?)(\d*)$/.exec(range) ?? [];
  const from = Number(first);
  const to = last === '' ? (isOpen ? list.length : from) : Number(last);
  if (from < 1 || to < from) throw new Error(`--range ${range}: write 41, 41-80 or 41-`);
  return list.slice(from - 1, to).map((item, i) => ({ place: from + i, item }));
}

/** Returns whether the tests pass without a mutation, and how long they take. */
async function asTheyAre(folder: string, tests: readonly string[]): Promise<{ isApplicable: boolean; tookMs: number }> {
  const startedMs = performance.now();
  const outcome = await outcomeOf(folder, tests, 2 * TEST_TIMEOUT_MS);
  return { isApplicable: outcome === 'pass', tookMs: performance.now() - startedMs };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      range: { type: 'string', default: '1-' },
      minutes: { type: 'string', default: 'Infinity' },
    },
  });
  const named = MUTATIONS.filter(({ name }) => new RegExp(values.only).test(name));
  const chosen = placesOf(named, values.range);
  const lastMs = performance.now() + Number(values.minutes) * 60_000;
  const folder = await mkdtemp(join(ROOT, 'tmp-mutate-'));
  tmp = await mkdtemp(join(await quickFolder(ENOUGH_BYTES), 'errand-mutate-'));
  // Code runs as another user, which goes through it.
  for (const path of [folder, tmp]) await chmod(path, 0o755);
  try {
    await Promise.all(COPIED.map((name) => cp(join(ROOT, name), join(folder, name), { recursive: true })));
    let [judged, killed] = [0, 0];
    const known = new Map<string, { readonly isApplicable: boolean; readonly tookMs: number }>();
    for (const { place, item: mutation } of chosen) {
      if (performance.now() >= lastMs) {
        process.stdout.write(`the time is over: go on with --range ${place}-${chosen.at(-1)?.place}\n`);
        break;
      }
      judged++;
      const said = (verdict: string): boolean =>
        process.stdout.write(`${String(place).padStart(3)}  ${verdict.padEnd(14)}  ${mutation.name}\n`);
      // What the tests say of the sources as they are must be known: a test that fails anyway kills everything.
      const key = mutation.tests.join(' ');
      const { isApplicable, tookMs } = known.get(key) ?? (await asTheyAre(folder, mutation.tests));
      known.set(key, { isApplicable, tookMs });
      if (!isApplicable) {
        said('not applicable');
        process.stdout.write(`     its tests fail without it: ${key}\n`);
        continue;
      }
      const verdict = await judge(folder, mutation, HANGS_FACTOR * tookMs + HANGS_MS);
      if (verdict !== 'lives') killed++;
      said(verdict);
    }
    process.stdout.write(`${killed} of ${judged} killed\n`);
    if (killed < judged || judged < chosen.length) process.exitCode = 1;
  } finally {
    for (const path of [folder, tmp]) await rm(path, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
