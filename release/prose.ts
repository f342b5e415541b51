// Refuses words that make a text hard to follow, in documents and sources: `npm run check` runs it. Each word has what to
// write instead. A word is judged as a whole, in text and comments alike; names in code (`nobody1`) are other words.

import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** What is refused → what to write instead. */
const WORDS: Readonly<Record<string, string>> = {
  whoever: 'the noun: the caller, the owner, a listener',
  whomever: 'the noun: the caller, the owner, a listener',
  nobody: '"no caller", "no process", or the passive',
  somebody: 'the noun: a person, a caller, another owner',
  anew: '"again", or "from the beginning"',
  mend: '"correct", "fix" or "repair"',
  mends: '"corrects", "fixes" or "repairs"',
  mended: '"corrected", "fixed" or "repaired"',
};

const PATTERN = new RegExp(`\\b(${Object.keys(WORDS).join('|')})\\b`, 'giu');

/** `nobody` is a user of Unix systems: in code marks it is that name. */
const NAMES = /`[^`]*`/g;

const CHECKED = ['*.md', 'docs', 'src', 'sources', 'examples'];
/** This list itself, and what is generated. */
const UNCHECKED = /^(docs\/openapi\.json|LICENCES\.md)$/;

interface Finding {
  readonly place: string;
  readonly word: string;
}

/** Returns each refused word of `text` with its line, from 1. */
export function findings(file: string, text: string): Finding[] {
  return text.split('\n').flatMap((line, i) => {
    const judged = file.endsWith('.md') ? line.replace(NAMES, '') : line;
    return [...judged.matchAll(PATTERN)].map(([word]) => ({ place: `${file}:${i + 1}`, word }));
  });
}

async function main(): Promise<void> {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...CHECKED], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const files = listed.split('\n').filter((file) => file !== '' && !UNCHECKED.test(file));
  const found = await Promise.all(files.map(async (file) => findings(file, await readFile(join(ROOT, file), 'utf8'))));
  for (const { place, word } of found.flat()) {
    process.stderr.write(`${place}: "${word}": write ${WORDS[word.toLowerCase()]}\n`);
  }
  if (found.flat().length > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
