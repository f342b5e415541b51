// errand store backup FILE | check | move | rekey | salvage DIR --to DIR

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { CliError } from './shell/exit.ts';
import { createOutput } from './shell/output.ts';

/** Operations on the store itself, whether or not a server runs. */
export interface StoreCommands {
  backup(file: string): Promise<object>;
  check(): Promise<{ readonly ok: boolean }>;
  /** Moves the store to Postgres. `to`: the target, or null: ERRAND_DATABASE_URL. `tell`: reports progress. */
  move(to: string | null, tell: (line: string) => void): Promise<object>;
  undoMove(): Promise<object>;
  /** Salvages what can be read of a damaged store. `dir`: the damaged data dir, or null: the one of the settings. */
  salvage(dir: string | null, to: string): Promise<{ readonly ok: boolean }>;
  /** Seals all secrets with another key. `newKey`: as the operator wrote it. */
  rekey(newKey: string): Promise<object>;
}

export interface StoreDeps {
  readonly commands: () => Promise<StoreCommands>;
  readonly print: (value: unknown) => void;
}

export function addStore(program: Command, { commands, print }: StoreDeps): void {
  const store = program.command('store').description('the store: its backup, what is in it, where it is');
  store
    .command('backup <file>')
    .description('write a whole copy of the SQLite store into a new file, also while the server runs')
    .action(async (file: string) => print(await (await commands()).backup(file)));
  const check = async (): Promise<void> => {
    const report = await (await commands()).check();
    print(report);
    if (!report.ok) process.exitCode = 1;
  };
  store
    .command('check')
    .description('check that the store adds up, also while servers run; exits with 1 when it does not')
    .action(check);
  program
    .command('verify')
    .description('count the ledger again from the rows, and check all that has to add up: the same as "store check"')
    .action(check);
  store
    .command('move')
    .description('move the SQLite store of the data dir into an empty Postgres database; stop the server before')
    .option('--to <url>', 'the database, as in ERRAND_DATABASE_URL, which is used when this is not given')
    .option('--undo', 'go back to the SQLite store, as it was before the move')
    .action(async (options: { to?: string; undo?: true }) => {
      if (options.undo && options.to !== undefined) throw new CliError('--undo goes back: it takes no --to');
      if (options.undo) return print(await (await commands()).undoMove());
      const out = createOutput();
      // In a terminal what counts rows is written over; elsewhere each line stays.
      const isCounting = (line: string): boolean => process.stderr.isTTY === true && line.endsWith('rows/s');
      const moved = await (await commands()).move(options.to ?? null, (line) =>
        isCounting(line) ? out.progress(line) : out.note(line),
      );
      out.endProgress();
      print(moved);
    });
  store
    .command('salvage [dir]')
    .description('read what can be read of a damaged SQLite store into a new one; stop the server before')
    .requiredOption('--to <dir>', 'the new data dir: it is made, or is empty')
    .action(async (dir: string | undefined, { to }: { to: string }) => {
      const report = await (await commands()).salvage(dir ?? null, to);
      print(report);
      if (!report.ok) process.exitCode = 1;
    });
  store
    .command('rekey')
    .description("seal the store's secrets with another key of yours; stop the server before when the store is SQLite")
    .option('--to-file <file>', 'a file with the new key; without it, the key is read from standard input')
    .action(async ({ toFile }: { toFile?: string }) => print(await (await commands()).rekey(await readNewKey(toFile))));
}

/** Reads the key from a file or standard input: the process list shows arguments to every user of the machine. */
async function readNewKey(file: string | undefined): Promise<string> {
  if (file === undefined) return text(process.stdin);
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new CliError(`${file} cannot be read: ${error.message}`);
  });
}
