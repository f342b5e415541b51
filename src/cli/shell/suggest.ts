// What a person may have meant by a word that is no command: one with that word at another place, or what other tools call so.

import type { Command } from 'commander';
import { wordsOfCommand } from './examples.ts';

/** Words of other tools → commands. */
export const MEANT: Readonly<Record<string, readonly string[]>> = {
  ...{ log: ['errand runs tail', 'errand sources logs'], logs: ['errand runs tail', 'errand sources logs'] },
  ...{ env: ['errand variables'], secret: ['errand variables'], secrets: ['errand variables'] },
  ...{ vars: ['errand variables'], auth: ['errand login'], profile: ['errand profiles'] },
  ...{ whoami: ['errand doctor'], status: ['errand doctor'], ping: ['errand doctor'] },
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
