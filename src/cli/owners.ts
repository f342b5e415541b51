// errand owners create | list | quota

import type { Command } from 'commander';
import type { Owner, Quotas } from '../client/client.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Administration, AdministrationDeps } from './administration.ts';
import { addOwnerDeletions } from './owner-deletions.ts';
import { withExamples } from './shell/examples.ts';
import { CliError, EXIT } from './shell/exit.ts';
import { findAmong, labelled } from './shell/find.ts';
import type { Fields } from './shell/listing.ts';
import { createOutput, printFields, printFirst, printJson, printTable, timeColumn } from './shell/output.ts';
import { type ServerOptions, serverCommand } from './shell/remote.ts';
import { msOf } from './shell/text.ts';
import { countValue, LIST_LIMIT, take } from './shell/values.ts';

/** Returns the id of an owner that a person names; undefined: null, which is the caller, or the first owner of a store. */
export async function findOwner(a: Administration, given: string | undefined): Promise<string | null> {
  return given === undefined ? null : findAmong('owner', given, () => a.listOwners());
}

export function findKey(a: Administration, ownerId: string | null, given: string): Promise<string> {
  return findAmong('key', given, () => labelled(a.listKeys(ownerId), ({ label }) => label));
}

const fields = ({ id, name, email, global_error_workflow_id: workflow }: Owner): Fields => ({
  owner: id,
  name,
  email,
  'global error workflow': workflow,
});

export function addOwners(program: Command, deps: AdministrationDeps): void {
  const owners = program.command('owners').description('owners of a server');
  addCreate(owners, deps);
  addList(owners, deps);
  addQuota(owners, deps);
  addOwnerDeletions(owners, deps);
}

function addCreate(owners: Command, { administer }: AdministrationDeps): void {
  const create = serverCommand(
    owners,
    'create',
    'make an owner, with its first key (shown once) and its global error workflow',
  )
    .requiredOption('--name <name>', 'label of the owner')
    .option('--email <address>', "mail address for the owner's notices");
  withExamples(create, 'errand owners create --name "Shop" --email shop@example.com');
  create.action(
    async ({
      name,
      email = null,
      ...options
    }: ServerOptions & { readonly name: string; readonly email?: string | null }) => {
      if (name.length > LIMITS.nameChars)
        throw new CliError(`--name has more than ${LIMITS.nameChars} characters`, EXIT.usage);
      const made = await administer(options, (a) => a.createOwner({ name, email }));
      const out = createOutput();
      if (options.json) return printJson(out, made);
      await printFields(out, { ...fields(made), 'first key': made.key.id, 'API key': made.api_key });
      out.note('The API key is shown this once');
    },
  );
}

function addList(owners: Command, { administer }: AdministrationDeps): void {
  const list = serverCommand(owners, 'list', 'list owners, newest first').option(
    '--limit <n>',
    'how many to show; 0: all',
    countValue(0),
    LIST_LIMIT,
  );
  withExamples(list, 'errand owners list');
  list.action(async ({ limit, ...options }: ServerOptions & { readonly limit: number }) => {
    const taken = await administer(options, (a) => take(a.listOwners(), limit));
    const out = createOutput();
    if (options.json) return printJson(out, taken.records);
    if (taken.records.length === 0) return out.note('no owners');
    await printFirst(out, taken, [
      { title: 'ID', of: ({ id }) => id },
      timeColumn('CREATED', ({ created_at: s }) => msOf(s)),
      { title: 'STATE', of: ({ state }) => state },
      { title: 'EMAIL', of: ({ email }) => email },
      { title: 'NAME', of: ({ name }) => name },
    ]);
  });
}

/** Option → its name in the API. */
const QUOTAS = {
  processes: ['processes', 'processes of user code at each node', LIMITS.maxQuotaProcesses],
  cpu: ['cpu_seconds_per_minute', 'seconds of CPU of user code in a minute; 60 is one core', LIMITS.maxQuotaCpuSeconds],
  requests: ['requests_per_second', 'calls and events in a second', LIMITS.maxQuotaRequests],
  bytes: ['stored_bytes', 'bytes that are stored', LIMITS.maxQuotaBytes],
} as const;

function addQuota(owners: Command, { administer }: AdministrationDeps): void {
  const command = serverCommand(
    owners,
    'quota <owner_id>',
    "show an owner's quotas and usage, or set quotas: a number, or none for no limit",
  );
  for (const [option, [, about]] of Object.entries(QUOTAS)) command.option(`--${option} <n>`, about);
  withExamples(command, 'errand owners quota Shop', 'errand owners quota Shop --processes 4 --requests none');
  command.action(async (owner: string, options: ServerOptions & Readonly<Record<string, string>>) => {
    const change = Object.entries(QUOTAS).flatMap(([option, [name, , max]]) => {
      const given = options[option];
      return given === undefined ? [] : [[name, readQuota(option, given, max)] as const];
    });
    const quotas = await administer(options, async (a) =>
      a.quotas(await findAmong('owner', owner, () => a.listOwners()), Object.fromEntries(change)),
    );
    const out = createOutput();
    if (options.json) return printJson(out, quotas);
    await printTable(out, rowsOf(quotas), [
      { title: 'WHAT', of: ({ what }) => what },
      { title: 'QUOTA', of: ({ limit }) => limit ?? 'none' },
      { title: 'USED', of: ({ used }) => used },
    ]);
  });
}

function rowsOf({ limits, use }: Quotas): { what: string; limit: number | null; used: number | null }[] {
  return Object.values(QUOTAS).map(([name, what]) => ({ what, limit: limits[name], used: use[name] }));
}

function readQuota(option: string, given: string, max: number): number | null {
  if (given === 'none') return null;
  const number = Number(given);
  if (/^\d+$/.test(given) && number >= 1 && number <= max) return number;
  throw new CliError(`--${option}: "${given}" is neither a whole number from 1 to ${max} nor none`, EXIT.usage);
}
