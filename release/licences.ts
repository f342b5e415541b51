// Writes LICENCES.md, the list of what is shipped and under which licences; with `--check` compares instead. Exits 1 when the
// file is another, or a package has a licence that we do not ship: copyleft, source-available, unknown or none.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, readLock, type Shipped, shippedIn } from './shipped.ts';

const FILE = join(ROOT, 'LICENCES.md');

/** Licences that ask for no more than their notice, by their SPDX ids. What is not among them is looked at by a person first. */
const PERMISSIVE: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
]);
const WORD = /\s*([()]|[A-Za-z0-9.+-]+)/y;

/** Whether an SPDX expression may be met with permissive licences alone: one side of an OR is enough. */
export function isPermissive(expression: string | null): boolean {
  const words = wordsOf(expression ?? '');
  if (words === null || words.length === 0) return false;
  let at = 0;
  const either = (): boolean => {
    let met = both();
    // Both sides are read, whatever the first one says.
    while (words[at] === 'OR') [, met] = [at++, both() || met];
    return met;
  };
  const both = (): boolean => {
    let met = one();
    while (words[at] === 'AND') [, met] = [at++, one() && met];
    return met;
  };
  const one = (): boolean => {
    const word = words[at++] ?? '';
    if (word !== '(') return PERMISSIVE.has(word);
    const met = either();
    return words[at++] === ')' && met;
  };
  return either() && at === words.length;
}

/** Null when it is no expression, such as "SEE LICENSE IN x" or "UNLICENSED" in brackets. */
function wordsOf(expression: string): string[] | null {
  const words: string[] = [];
  WORD.lastIndex = 0;
  while (WORD.lastIndex < expression.trimEnd().length) {
    const word = WORD.exec(expression)?.[1];
    if (word === undefined) return null;
    words.push(word);
  }
  return words;
}

/** What must not be shipped, each with its reason. */
export function refusedAmong(all: readonly Shipped[]): string[] {
  return all
    .filter(({ license }) => !isPermissive(license))
    .map(({ name, version, license }) => `${name}@${version}: ${license ?? 'no licence'} is not one that we ship`);
}

export function listOf(all: readonly Shipped[]): string {
  const rows = all.map(
    ({ name, version, license, isOptional }) =>
      `| ${name} | ${version} | ${license} | ${isOptional ? 'where it fits the platform' : 'always'} |`,
  );
  return `# Licences of what is shipped

Errand itself is under the Apache License 2.0 ([LICENSE](LICENSE)). An installation of the package has these besides, each with its
own licence in its folder of \`node_modules\`. The list is made from \`package-lock.json\` by \`npm run generate\`. The files of the
dashboard contain parts of other packages: \`dist/dashboard/licences.md\`, which is made with them, names each with its licence.

| Package | Version | Licence | Installed |
|---|---|---|---|
${rows.join('\n')}
`;
}

async function main(): Promise<void> {
  const all = shippedIn(await readLock());
  const refused = refusedAmong(all);
  for (const line of refused) console.error(line);
  if (refused.length > 0) process.exitCode = 1;
  const text = listOf(all);
  if (!process.argv.includes('--check')) return writeFile(FILE, text);
  if ((await readFile(FILE, 'utf8').catch(() => '')) === text) return;
  console.error('LICENCES.md is not what package-lock.json says; run `npm run generate`');
  process.exitCode = 1;
}

if (import.meta.main) await main();
