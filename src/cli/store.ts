// errand store backup FILE | check | move | rekey | salvage DIR --to DIR, and errand verify

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { TellProgress } from '../ports.ts';
import { withExamples } from './shell/examples.ts';
import { CliError, EXIT } from './shell/exit.ts';
import { telling } from './shell/interrupt.ts';
import { createOutput, type Output, printFields, printJson } from './shell/output.ts';
import {
  type BackupReport,
  type CheckReport,
  type MoveReport,
  printCheck,
  printMove,
  printSalvage,
  type SalvageReport,
} from './store-reports.ts';

export type { MoveReport } from './store-reports.ts';

export interface StoreTelling {
  readonly note: (line: string) => void;
  readonly progress: TellProgress;
}

/** Operations on the store itself, whether or not a server runs. */
export interface StoreCommands {
  backup(file: string, tell: TellProgress): Promise<BackupReport>;
  check(tell: TellProgress): Promise<CheckReport>;
  /** Moves the store to Postgres. `to`: the target, or null: ERRAND_DATABASE_URL. */
  move(to: string | null, telling: StoreTelling): Promise<MoveReport>;
  undoMove(): Promise<{ readonly store: string; readonly undone: string; readonly next: string }>;
  /** Salvages what can be read of a damaged store. `dir`: the damaged data dir, or null: the one of the settings. */
  salvage(of: { readonly dir: string | null; readonly to: string }, tell: TellProgress): Promise<SalvageReport>;
  /** Seals all secrets with another key. `newKey`: as the operator wrote it. `rekeyed`: false when that key opened the store already. */
  rekey(newKey: string): Promise<{ readonly store: string; readonly rekeyed: boolean; readonly opens_with: string }>;
}

export interface StoreDeps {
  readonly commands: () => Promise<StoreCommands>;
}

interface Options {
  readonly json?: true;
}

interface Reported<T, O> {
  readonly act: (commands: StoreCommands, asked: { options: O; telling: StoreTelling }) => Promise<T>;
  readonly print: (out: Output, report: T) => Promise<void>;
  readonly isWell?: (report: T) => boolean;
  /** Told when Ctrl-C ends it; none: nothing is left behind. */
  readonly interrupted?: string;
}

export function addStore(program: Command, { commands }: StoreDeps): void {
  /** Adds `--json`. Of what takes long, a bar on standard error says how far it is. */
  function add<T extends object, O extends Options>(
    command: Command,
    { act, print, isWell, interrupted }: Reported<T, O>,
  ): Command {
    return command.option('--json', 'print JSON').action(async (...given: unknown[]) => {
      // The last ones are the options and the command itself.
      const options = Object.assign({}, given.at(-2), { args: given.slice(0, -2) }) as unknown as O;
      const out = createOutput();
      const say: StoreTelling = { note: out.note, progress: out.progress };
      let report: T;
      try {
        const acting = async (): Promise<T> => act(await commands(), { options, telling: say });
        report = await (interrupted === undefined ? acting() : telling(out, () => `errand: ${interrupted}`, acting));
      } finally {
        out.endProgress();
      }
      if (isWell?.(report) === false) process.exitCode = EXIT.failed;
      await (options.json ? printJson(out, report) : print(out, report));
    });
  }

  const store = program.command('store').description('back up, check, move, salvage and re-key the store');
  addBackup(store, add);
  const checking: Reported<CheckReport, Options> = {
    act: (on, { telling }) => on.check(telling.progress),
    print: printCheck,
    isWell: ({ ok }) => ok,
  };
  withExamples(
    add(
      store
        .command('check')
        .description('check that the store adds up, also while servers run; exits with 1 when it does not'),
      checking,
    ),
    'errand store check',
    'ERRAND_DATABASE_URL=postgres://errand@localhost/errand errand store check',
    "errand store check --json | jq '.findings[]'",
  );
  addMove(store, add);
  addSalvage(store, add);
  addRekey(store, add);
  withExamples(
    add(
      program
        .command('verify')
        .description('recount the ledger from the rows, and check that everything adds up; the same as "store check"'),
      checking,
    ),
    'errand verify',
    'errand verify --json > report.json',
  );
}

type Add = <T extends object, O extends Options>(command: Command, of: Reported<T, O>) => Command;

/** Arguments of the command. */
interface WithArgs extends Options {
  readonly args: readonly (string | undefined)[];
}

function addBackup(store: Command, add: Add): void {
  const command = store
    .command('backup <file>')
    .description('write a whole copy of the SQLite store into a new file, also while the server runs');
  add<BackupReport, WithArgs>(command, {
    act: (on, { options: { args }, telling }) => on.backup(args[0] as string, telling.progress),
    print: (out, { file, bytes, schema, integrity, opens_with: opensWith, kept }) =>
      printFields(out, {
        ...{ file, bytes, schema, integrity, 'opens with': opensWith },
        events: kept.emissions,
        errors: kept.errors,
      }),
  });
  withExamples(command, 'errand store backup backup.db', 'errand store backup "backup-$(date +%F).db" --json');
}

function addMove(store: Command, add: Add): void {
  const command = store
    .command('move')
    .description('move the SQLite store of the data dir into an empty Postgres database; stop the server before')
    .option('--to <url>', 'the database, as in ERRAND_DATABASE_URL, which is the default')
    .option('--undo', 'go back to the SQLite store, as it was before the move');
  type Undone = Awaited<ReturnType<StoreCommands['undoMove']>>;
  add<MoveReport | Undone, Options & { readonly to?: string; readonly undo?: true }>(command, {
    act: (on, { options: { to, undo }, telling }) => {
      if (undo && to !== undefined) throw new CliError('--undo goes back: it takes no --to', EXIT.usage);
      return undo ? on.undoMove() : on.move(to ?? null, telling);
    },
    interrupted: 'not finished: nothing is lost, call the command again',
    print: (out, report) => ('undone' in report ? printFields(out, { ...report }) : printMove(out, report)),
  });
  withExamples(
    command,
    'errand store move --to postgres://errand@localhost/errand',
    'errand store move --json > moved.json',
    'errand store move --undo',
  );
}

function addSalvage(store: Command, add: Add): void {
  const command = store
    .command('salvage [dir]')
    .description('read what can be read of a damaged SQLite store into a new one; stop the server before')
    .requiredOption('--to <dir>', 'the new data dir: it is made, or is empty');
  add<SalvageReport, WithArgs & { readonly to: string }>(command, {
    act: (on, { options: { args, to }, telling }) => on.salvage({ dir: args[0] ?? null, to }, telling.progress),
    print: printSalvage,
    interrupted: 'not finished: call the command again with the same folder',
    isWell: ({ ok }) => ok,
  });
  withExamples(
    command,
    'errand store salvage ./data --to ./salvaged',
    'errand store salvage --to ./salvaged --json > report.json',
  );
}

function addRekey(store: Command, add: Add): void {
  const command = store
    .command('rekey')
    .description("replace the key that seals the store's secrets; stop the server first when the store is SQLite")
    .option('--to-file <file>', 'file with the new key; default: read it from standard input');
  add<Awaited<ReturnType<StoreCommands['rekey']>>, Options & { readonly toFile?: string }>(command, {
    act: async (on, { options: { toFile } }) => on.rekey(await readNewKey(toFile)),
    print: (out, { store: place, rekeyed, opens_with: opensWith }) =>
      printFields(out, { store: place, rekeyed: rekeyed || 'already', 'opens with': opensWith }),
  });
  withExamples(command, 'errand store rekey --to-file new-key.txt', 'openssl rand -base64 32 | errand store rekey');
}

/** Reads the key from a file or standard input: the process list shows arguments to every user of the machine. */
async function readNewKey(file: string | undefined): Promise<string> {
  if (file === undefined) return text(process.stdin);
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new CliError(`${file} cannot be read: ${error.message}`, EXIT.notFound);
  });
}
