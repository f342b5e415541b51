// `npm run mutate`: breaks the sources, one mutation of mutations.ts at a time, and runs the tests that should notice.
//
//   npm run mutate                        all of them
//   npm run mutate -- --only loop-guard   those whose name holds the text
//
// Each mutation is applied to a copy of the project. A mutation that all of its tests let pass lives: the exit code is 1.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MUTATIONS, type Mutation } from './mutations.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = ['src', 'sources', 'test', 'examples', 'docs', 'bench', 'release', 'package.json', 'tsconfig.json'];
/** A mutant that loops for ever is noticed by this. */
const TEST_TIMEOUT_MS = 120_000;

type Verdict = 'killed' | 'lives';

/** Returns a mutation's file with the mutation in it. Throws when its text is not there exactly once. */
export function mutated(text: string, { name, from, to }: Mutation): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${name}: its text stands ${parts.length - 1} times in the file, not once`);
  return parts.join(to);
}

async function judge(folder: string, mutation: Mutation): Promise<Verdict> {
  const path = join(folder, mutation.file);
  const text = await readFile(path, 'utf8');
  await writeFile(path, mutated(text, mutation));
  try {
    return (await passes(folder, mutation)) ? 'lives' : 'killed';
  } finally {
    await writeFile(path, text);
  }
}

/** Returns whether all tests of the mutation pass in the folder. */
async function passes(folder: string, { tests, pattern, isPostgres = false }: Mutation): Promise<boolean> {
  const setup = isPostgres ? 'test/support/postgres/global-setup.ts' : 'test/support/global-setup.ts';
  const args = ['--test', `--test-timeout=${TEST_TIMEOUT_MS}`, '--test-force-exit', `--test-global-setup=${setup}`];
  if (pattern !== undefined) args.push(`--test-name-pattern=${pattern}`);
  const child = spawn(process.execPath, [...args, ...tests], { cwd: folder, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  return code === 0;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
  const chosen = MUTATIONS.filter(({ name }) => name.includes(values.only));
  const folder = await mkdtemp(join(tmpdir(), 'errand-mutate-'));
  try {
    await Promise.all(COPIED.map((name) => cp(join(ROOT, name), join(folder, name), { recursive: true })));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    let killed = 0;
    for (const mutation of chosen) {
      // What the tests say of the sources as they are must be known: a test that fails anyway kills everything.
      if (!(await passes(folder, mutation))) {
        process.stdout.write(`not applicable  ${mutation.name}: its tests fail without it\n`);
        continue;
      }
      const verdict = await judge(folder, mutation);
      if (verdict === 'killed') killed++;
      process.stdout.write(`${verdict.padEnd(14)}  ${mutation.name}\n`);
    }
    process.stdout.write(`${killed} of ${chosen.length} killed\n`);
    if (killed < chosen.length) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
