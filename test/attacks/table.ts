// Writes the corpus into SECURITY.md, between its marks; with `--check` compares instead, and exits 1 when it is another.

import { readFile, writeFile } from 'node:fs/promises';
import { ATTACKS } from './corpus.ts';

const FILE = new URL('../../SECURITY.md', import.meta.url);
const BEGIN = '<!-- attacks -->\n';
const END = '\n<!-- end of attacks -->';

/** SECURITY.md with the table as the corpus says it. Throws when the marks are gone. */
export function withTable(text: string): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`SECURITY.md has no ${BEGIN.trim()} and ${END.trim()}`);
  const rows = ATTACKS.map(({ name, process, jail, by }) => `| ${name} | ${process} | ${jail} | ${by} |`);
  const head = ['| Code in a step | `process` | `jail` | By what |', '|---|---|---|---|'];
  return text.slice(0, begin + BEGIN.length) + [...head, ...rows].join('\n') + text.slice(end);
}

async function main(): Promise<void> {
  const text = await readFile(FILE, 'utf8');
  const made = withTable(text);
  if (!process.argv.includes('--check')) return writeFile(FILE, made);
  if (made === text) return;
  console.error('the table in SECURITY.md is not what test/attacks tries; run `npm run generate`');
  process.exitCode = 1;
}

if (import.meta.main) await main();
