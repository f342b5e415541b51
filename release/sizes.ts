// Refuses files of more lines, and folders of more files, than a reader takes in at once: `npm run check` runs it. Where it
// refuses, look for the seam: a second subject in the file, a group of files with one noun.

import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const MAX_LINES = 350;
const MAX_FILES = 25;

export const CHECKED = ['src', 'dashboard', 'sources', 'test', 'examples', 'release', 'bench'];
/** What tests read is no code: frozen stores, answers of others. What is generated is as long as what it is made from, and the list of the dashboard's texts as long as there are texts. */
const UNCHECKED = /^(test\/data|src\/client\/generated)\/|^dashboard\/src\/english\.ts$/;
const CODE = /\.(tsx?|css|mjs|js)$/;

/** Returns each file and folder that is too large, given the text of each file by its path. */
export function tooLarge(files: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  const counts = new Map<string, number>();
  for (const [file, text] of files) {
    const lines = text.split('\n').length - 1;
    if (CODE.test(file) && lines > MAX_LINES) found.push(`${file}: ${lines} lines, where ${MAX_LINES} is the limit`);
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  for (const [folder, count] of counts) {
    if (count > MAX_FILES) found.push(`${folder}/: ${count} files, where ${MAX_FILES} is the limit`);
  }
  return found;
}

async function main(): Promise<void> {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', ...CHECKED];
  const listed = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  const names = listed.split('\n').filter((file) => file !== '' && !UNCHECKED.test(file));
  const texts = await Promise.all(
    names.map(async (file) => [file, await readFile(join(ROOT, file), 'utf8').catch(() => null)] as const),
  );
  // A file that was deleted may still be listed.
  const found = tooLarge(new Map(texts.filter((entry): entry is readonly [string, string] => entry[1] !== null)));
  for (const line of found) process.stderr.write(`${line}\n`);
  if (found.length > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
