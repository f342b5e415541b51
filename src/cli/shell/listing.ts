// What most lists and most records have in common, from the interface to the terminal.

import type { Command } from 'commander';
import type { Errand } from '../../client/client.ts';
import { confirm } from './ask.ts';
import { withExamples, wordsOfCommand } from './examples.ts';
import { findId, KINDS, type KindName, nameOf } from './find.ts';
import { type Column, printFields, printFirst, printJson } from './output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from './remote.ts';
import { countValue, LIST_LIMIT, take } from './values.ts';

export type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

interface Listed<T, O> {
  readonly description: string;
  /** Said when there are none. */
  readonly none: string;
  /** Where names stand in place of ids, they are asked for. */
  readonly columns: readonly Column<T>[] | ((errand: Errand) => Promise<readonly Column<T>[]>);
  /** A list is a promise, too, of its first page: what has to wait before returns it as a member. */
  readonly list: (errand: Errand, options: O) => AsyncIterable<T> | Promise<{ readonly items: AsyncIterable<T> }>;
}

export interface Limited extends ServerOptions {
  readonly limit: number;
}

/** Adds `list`; the caller adds the options that choose. */
export function addListing<T, O extends Limited>(parent: Command, connect: Connect, of: Listed<T, O>): Command {
  const list = serverCommand(parent, 'list', of.description);
  withExamples(list, wordsOfCommand(list));
  return list
    .option('--limit <n>', 'how many to show; 0: all', countValue(0), LIST_LIMIT)
    .action(async (options: O) => {
      const { errand, out, isJson } = await connect(options);
      const list = of.list(errand, options);
      const items = Symbol.asyncIterator in list ? list : (await list).items;
      const taken = await take(items, options.limit);
      if (isJson) return printJson(out, taken.records);
      if (taken.records.length === 0) return out.note(of.none);
      await printFirst(out, taken, typeof of.columns === 'function' ? await of.columns(errand) : of.columns);
    });
}

/** How examples name a record. */
const NAMED: Readonly<Record<KindName, string>> = {
  workflow: '"Charge orders"',
  source: '"Orders feed"',
  webhook: '"Errors to chat"',
  channel: '"On call"',
  heartbeat: 'Backup',
  account: '"Team chat"',
  'data-store': '"Seen orders"',
  owner: 'u_0Vj3aBc9dEfGhIjK',
  key: 'key_0Vj3aBc9dEfGhIjK',
  subscription: 'sub_0Vj3aBc9dEfGhIjK',
  deployment: 'd_0Vj3aBc9dEfGhIjK',
  group: 'eg_0Vj3aBc9dEfGhIjK',
  run: 'r_g4w9zl7uo0',
  error: '1782000000123-0',
  delivery: 'dl_g4w9zl7uo0',
  mail: 'dl_g4w9zl7uo0',
  operation: 'op_0Vj3aBc9dEfGhIjK',
};

interface Acted<T, O> {
  readonly kind: KindName;
  readonly name: string;
  readonly description: string;
  readonly act: (errand: Errand, id: string, options: O) => Promise<T>;
  readonly fields: (record: T) => Fields;
  /** Printed below the fields. */
  readonly more?: (remote: Remote, record: T) => Promise<void>;
}

/** Adds a command that does something with one record, found by its id or name, and prints what became of it. */
export function addActing<T, O extends ServerOptions>(parent: Command, connect: Connect, of: Acted<T, O>): Command {
  const command = serverCommand(parent, `${of.name} <id>`, of.description);
  withExamples(command, `${wordsOfCommand(command)} ${NAMED[of.kind]}`);
  return command.action(async (given: string, options: O) => {
    const remote = await connect(options);
    const id = await findId(remote.errand, of.kind, given);
    const record = await of.act(remote.errand, id, options);
    if (remote.isJson) return printJson(remote.out, record);
    await printFields(remote.out, of.fields(record));
    await of.more?.(remote, record);
  });
}

/** Adds the command `delete`, which asks first: what is deleted cannot be taken back. */
export function addDeleting<T>(parent: Command, connect: Connect, of: Omit<Acted<T, ServerOptions>, 'name'>): Command {
  const command = serverCommand(parent, 'delete <id>', of.description);
  withExamples(command, `${wordsOfCommand(command)} ${NAMED[of.kind]} --yes`);
  return command
    .option('--yes', 'do not ask for confirmation')
    .action(async (given: string, options: ServerOptions & { readonly yes?: true }) => {
      const { errand, out, isJson, url } = await connect(options);
      const id = await findId(errand, of.kind, given);
      // Whole: what was given may be the beginning of it, and this question is what protects a namesake.
      const name = options.yes ? null : await nameOf(errand, of.kind, id);
      const shown = name === null || name === '' ? id : `"${name}" (${id})`;
      await confirm(`Delete the ${KINDS[of.kind].noun} ${shown} of ${url}?`, options.yes);
      const record = await of.act(errand, id, options);
      if (isJson) return printJson(out, record);
      await printFields(out, { ...of.fields(record), active: null, deleted: 'yes' });
    });
}
