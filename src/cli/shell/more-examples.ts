// Examples of commands whose own files say no more than what they do.

import type { Command } from 'commander';
import { examplesOf, withExamples } from './examples.ts';

/** Words → examples. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  'errors groups show': ['errand errors groups show eg_0Vj3aBc9dEfGhIjK'],
  'runs cancel': ['errand runs cancel r_g4w9zl7uo0'],
  'workflows deployments': ['errand workflows deployments "Charge orders"'],
  'workflows activate': ['errand workflows activate "Charge orders" d_0Vj3aBc9dEfGhIjK'],
  'operations follow': ['errand operations follow last'],
  logout: ['errand logout prod'],
  whoami: ['errand whoami', 'errand whoami --profile prod'],
  'profiles list': ['errand profiles list'],
  'profiles use': ['errand profiles use prod'],
  'components check': [
    'errand components check ./components',
    'errand components check shop --url https://errand.example.com',
  ],
  doctor: ['errand doctor', 'errand doctor --send-mail', 'errand doctor --profile prod'],
};

/** Adds them; all commands must be there. Throws for words that are no command, or one that has examples. */
export function addMoreExamples(program: Command): void {
  for (const [words, lines] of Object.entries(MORE)) {
    let command: Command | undefined = program;
    for (const word of words.split(' ')) command = command?.commands.find((sub) => sub.name() === word);
    if (!command || examplesOf(command).length > 0) throw new Error(`no command without examples: ${words}`);
    withExamples(command, ...lines);
  }
}
