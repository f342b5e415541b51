// What a person may have meant by a word that is no command: one with that word at another place, or what other tools call so. And
// whose help is asked for: of a command at any depth, and never silently of another one.

import type { Command } from 'commander';
import { wordsOfCommand } from './examples.ts';

/** Words of other tools → commands. */
export const MEANT: Readonly<Record<string, readonly string[]>> = {
  ...{ log: ['errand runs tail', 'errand sources logs'], logs: ['errand runs tail', 'errand sources logs'] },
  ...{ env: ['errand variables'], secret: ['errand variables'], secrets: ['errand variables'] },
  ...{ vars: ['errand variables'], auth: ['errand login'], profile: ['errand profiles'] },
  ...{ status: ['errand doctor'], ping: ['errand doctor'] },
  ...{
    version: ['errand --version'],
    new: ['errand init'],
    publish: ['errand deploy'],
    rollback: ['errand workflows activate'],
  },
  ...{ groups: ['errand errors groups'], backup: ['errand store backup'], dashboard: ['errand start'] },
};

const UNKNOWN = /unknown command '([^']*)'/;
/** A word that more commands have, such as `list`, says too little. */
const MOST = 3;

/** Returns a complaint of the command line with commands that may have been meant. */
export function withSuggestion(complaint: string, program: Command): string {
  const [, word = ''] = UNKNOWN.exec(complaint) ?? [];
  const meant = Object.hasOwn(MEANT, word) ? (MEANT[word] ?? []) : ending(program, word);
  if (word === '' || meant.length === 0 || meant.length > MOST) return complaint;
  const [first = ''] = complaint.split('\n');
  return `${first}\n(Did you mean ${meant.map((words) => `"${words}"`).join(' or ')}?)\n`;
}

/** Returns the commands below others that end with the word. */
function ending(command: Command, word: string): string[] {
  return command.commands.flatMap((sub) => {
    const isMeant = command.parent !== null && sub.name() === word;
    return [...(isMeant ? [wordsOfCommand(sub)] : []), ...ending(sub, word)];
  });
}

const HELP: ReadonlySet<string> = new Set(['--help', '-h']);

/**
 * Returns the words of a call so that help is of the command that is named: `help errors list` as `errors list --help`. Of a command that
 * is unknown help is not asked any more: what is left is refused, by its name.
 */
export function withHelp(program: Command, words: readonly string[]): readonly string[] {
  const known = knownIn(program, words);
  const rest = words.slice(known.words);
  const [next = '', named = ''] = rest;
  if (known.isLeaf || next === '') return words;
  if (next !== 'help') return isOption(next) ? words : words.filter((word) => !HELP.has(word));
  if (named === '' || isOption(named)) return words;
  const asked = [...words.slice(0, known.words), ...rest.slice(1)];
  const found = knownIn(program, asked);
  return found.isLeaf || found.words === asked.length ? [...asked.slice(0, found.words), '--help'] : asked;
}

/** Options of nearly all commands, with whether a value follows. */
const OF_ALL: Readonly<Record<string, boolean>> = { '--url': true, '--key': true, '--profile': true, '--json': false };

/** Returns the words of a call with the options that stand in front of its command behind it, where commands take them. */
export function withServerBehind(program: Command, words: readonly string[]): readonly string[] {
  let n = 0;
  for (let word = words[n]; word !== undefined; word = words[n]) {
    const [name = ''] = word.split('=');
    if (!Object.hasOwn(OF_ALL, name)) break;
    n += OF_ALL[name] && !word.includes('=') ? 2 : 1;
  }
  const rest = words.slice(n);
  const { words: known } = knownIn(program, rest);
  // Help asks no server.
  if (rest[0] === 'help') return rest;
  return known === 0 ? words : [...rest.slice(0, known), ...words.slice(0, n), ...rest.slice(known)];
}

function isOption(word: string): boolean {
  return word.startsWith('-');
}

/** Returns how many words at the beginning name commands, and whether the last of them has none below it. */
function knownIn(program: Command, words: readonly string[]): { readonly words: number; readonly isLeaf: boolean } {
  let command = program;
  for (const [n, word] of words.entries()) {
    const below = command.commands.find((sub) => sub.name() === word || sub.aliases().includes(word));
    if (below === undefined) return { words: n, isLeaf: command.commands.length === 0 };
    command = below;
  }
  return { words: words.length, isLeaf: command.commands.length === 0 };
}
