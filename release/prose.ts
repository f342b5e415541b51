// Refuses words that make a text hard to follow, in documents and sources: `npm run check` runs it. Each word has what to
// write instead. A word or phrase is judged as a whole, in text and comments alike; names in code (`nobody1`) are other words.
// The comment of a function of src/ begins with what the function does: "Returns the …".

import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** What is refused → what to write instead. */
const WORDS: Readonly<Record<string, string>> = {
  whoever: 'the noun: the caller, the owner, a listener',
  whomever: 'the noun: the caller, the owner, a listener',
  nobody: '"no caller", "no process", or the passive',
  'no one': '"no caller", "no process", or the passive',
  somebody: 'the noun: a person, a caller, another owner',
  someone: 'the noun: a person, a caller, another owner',
  anybody: 'the noun: any caller, any user',
  anyone: 'the noun: any caller, any user',
  everybody: 'the noun: every caller, every user',
  everyone: 'the noun: every caller, every user',
  'who asks': 'the noun: the caller',
  'who holds': 'the noun: the holder of the key, the node with the lease',
  'who reads': 'the noun: the reader',
  anew: '"again", or "from the beginning"',
  mend: '"correct", "fix" or "repair"',
  mends: '"corrects", "fixes" or "repairs"',
  mended: '"corrected", "fixed" or "repaired"',
  'put right': '"corrected"',
  'puts right': '"corrects"',
  worthless: '"revoked", or what no longer works',
  'hear of': '"get", "be notified of"',
  'hears of': '"gets", "is notified of"',
  'heard of': '"got", "was notified of"',
  'has not the': '"lacks the", or "does not have the"',
  'have not the': '"lack the", or "do not have the"',
  'be become': 'the state that was meant',
  'none that others': 'two sentences, each with its noun',
  'half made': '"unfinished" or "partial"',
  'fast motion': '"simulated time"',
  'hangs on': '"refers to" or "belongs to"',
  'way out': '"egress tunnel", or what else was meant',
  bystander: '"a run of an unattributed crash"',
  crowd: 'the noun: the owners, the webhooks, the runs',
};

const PATTERN = new RegExp(`\\b(${Object.keys(WORDS).join('|')})\\b`, 'giu');

/** `nobody` is a user of Unix systems: in code marks it is that name. */
const NAMES = /`[^`]*`/g;

const FUNCTIONS = /^src\/.*\.ts$/u;
const CHECKED = ['*.md', 'docs', 'src', 'dashboard', 'sources', 'examples'];
/** Generated files, and the first migrations: released ones are never changed, not even in a comment. */
const UNCHECKED =
  /^(docs\/openapi\.json|src\/client\/generated\/.*|LICENCES\.md|src\/store\/(\w+\/)?migrations\/001-\w+\.ts)$/;

/** A comment of documentation, and the line of code behind it. */
const COMMENTED = /(?<=^ *)\/\*\*((?:(?!\*\/).)*)\*\/\n *([^\n]*)/gmsu;
/** A function, a method, a signature of one, or a constant that is a function; not a condition, call or constructor. */
const FUNCTION =
  /^(export )?((async )?function\b|const \w+ = (async )?(<\w+>)?(\(|\w+ =>)|((static|async|get|set|\*) ?)*(?!(constructor|if|for|while|switch|return)\b)#?\w+(<[^>]*>)?\()/u;
const VERB = /^[\s*]*([A-Z][a-z]+s|Called)\b/u;
/** Words that end as verbs do, and begin comments that say something else. */
const NO_VERBS = new Set(
  (
    'Always As Its Ids This Perhaps Sometimes Thus Unless Others Has Is Was ' +
    'Bytes Columns Deliveries Emissions Events Fields Owners Rows Sources Values Webhooks Workflows'
  ).split(' '),
);

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

/** Returns the first word of each function's comment that is no verb, with its line, from 1. */
export function withoutVerb(file: string, text: string): Finding[] {
  return [...text.matchAll(COMMENTED)].flatMap(({ 1: comment = '', 2: code = '', index }) => {
    if (!FUNCTION.test(code)) return [];
    const verb = VERB.exec(comment)?.[1];
    if (verb !== undefined && !NO_VERBS.has(verb)) return [];
    const line = text.slice(0, index).split('\n').length;
    return [{ place: `${file}:${line}`, word: /[^\s*]+/u.exec(comment)?.[0] ?? '' }];
  });
}

async function main(): Promise<void> {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...CHECKED], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const files = listed.split('\n').filter((file) => file !== '' && !UNCHECKED.test(file));
  await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(ROOT, file), 'utf8');
      const words = findings(file, text).map(
        ({ place, word }) => `${place}: "${word}": write ${WORDS[word.toLowerCase()]}`,
      );
      const verbs = (FUNCTIONS.test(file) ? withoutVerb(file, text) : []).map(
        ({ place, word }) => `${place}: "${word} …": begin with what the function does, as in "Returns …"`,
      );
      for (const wrong of [...words, ...verbs]) {
        process.stderr.write(`${wrong}\n`);
        process.exitCode = 1;
      }
    }),
  );
}

if (import.meta.main) await main();
