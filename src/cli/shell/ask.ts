// Questions to the person at the terminal.

import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliError, EXIT } from './exit.ts';
import { oneLine } from './text.ts';

/** Throws `CliError` unless the answer is yes. `isSure`: `--yes` was given. */
export async function confirm(question: string, isSure: boolean | undefined): Promise<void> {
  if (isSure) return;
  if (!process.stdin.isTTY)
    throw new CliError(`${question} Nothing was done: no terminal can be asked; add --yes to confirm.`, EXIT.usage);
  const answer = await ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('nothing was done');
}

/** Throws `CliError` unless the name is typed again. `isSure`: `--yes` was given. */
export async function confirmByName(warning: string, name: string, isSure: boolean | undefined): Promise<void> {
  if (isSure) return;
  if (!process.stdin.isTTY)
    throw new CliError(`${warning} Nothing was done: no terminal can be asked; add --yes to confirm.`, EXIT.usage);
  if ((await ask(`${warning} Type its name to go on: `)) !== name) throw new CliError('nothing was done');
}

export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return answered(lines, oneLine(question));
}

/** Reads a secret: unseen from a terminal, else all of standard input. */
export async function askSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim();
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await answered(lines, '');
  } finally {
    process.stderr.write('\n');
  }
}

/** Rejects for Ctrl-C and Ctrl-D: the question of an interface that is closed has no answer ever. */
async function answered(lines: Interface, question: string): Promise<string> {
  const ended = new Promise<never>((_, reject) => {
    lines.once('SIGINT', () => reject(new CliError('interrupted: nothing was done', EXIT.interrupted)));
    lines.once('close', () => reject(new CliError('there was no answer: nothing was done', EXIT.usage)));
  });
  try {
    return (await Promise.race([lines.question(question), ended])).trim();
  } catch (error) {
    if (question !== '') process.stderr.write('\n');
    throw error;
  } finally {
    lines.close();
  }
}
