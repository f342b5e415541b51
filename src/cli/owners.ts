// errand owners create | list — errand keys create | list | revoke

import type { Command } from 'commander';
import { DEFAULT_SCOPES, SCOPES, type Scope } from '../domain/keys.ts';
import { DAY_MS, HOUR_MS, LIMITS } from '../domain/limits.ts';
import type { AdministrationDeps } from './administration.ts';
import { CliError } from './shell/exit.ts';

export function addOwners(program: Command, { administer, print }: AdministrationDeps): void {
  const owners = program.command('owners').description('owners of this store');
  owners
    .command('create')
    .description('make an owner, with its first key (shown once) and its global error workflow')
    .requiredOption('--name <name>', 'label of the owner')
    .option('--email <address>', 'where its mail goes')
    .action(async (options: { name: string; email?: string }) => {
      if (options.name.length > LIMITS.nameChars)
        throw new CliError(`--name has more than ${LIMITS.nameChars} characters`);
      print(await administer((a) => a.createOwner({ name: options.name, email: options.email ?? null })));
    });
  owners
    .command('list')
    .description('list the owners')
    .action(async () => print(await administer((a) => a.listOwners())));
  addQuota(owners, { administer, print });
}

/** Option → its name in the API. */
const QUOTAS = {
  processes: ['processes', 'processes of user code at each node', LIMITS.maxQuotaProcesses],
  cpu: ['cpu_seconds_per_minute', 'seconds of CPU of user code in a minute; 60 is one core', LIMITS.maxQuotaCpuSeconds],
  requests: ['requests_per_second', 'calls and events in a second', LIMITS.maxQuotaRequests],
  bytes: ['stored_bytes', 'bytes that are stored', LIMITS.maxQuotaBytes],
} as const;

function addQuota(owners: Command, { administer, print }: AdministrationDeps): void {
  const command = owners
    .command('quota <owner_id>')
    .description('show what an owner may use and uses, or set it: a number, or none for as much as there is');
  for (const [option, [, about]] of Object.entries(QUOTAS)) command.option(`--${option} <n>`, about);
  command.action(async (ownerId: string, options: Readonly<Record<string, string>>) => {
    const change = Object.entries(QUOTAS).flatMap(([option, [name, , max]]) => {
      const given = options[option];
      return given === undefined ? [] : [[name, readQuota(option, given, max)] as const];
    });
    print(await administer((a) => a.quotas(ownerId, Object.fromEntries(change))));
  });
}

function readQuota(option: string, given: string, max: number): number | null {
  if (given === 'none') return null;
  const number = Number(given);
  if (/^\d+$/.test(given) && number >= 1 && number <= max) return number;
  throw new CliError(`--${option}: "${given}" is neither a whole number from 1 to ${max} nor none`);
}

export function addKeys(program: Command, { administer, print }: AdministrationDeps): void {
  const keys = program.command('keys').description('API keys');
  const owner = ['--owner <id>', 'whose key (u_…); none: the first owner'] as const;
  keys
    .command('create')
    .description('make a key; it is shown once')
    .option(...owner)
    .option('--label <text>', 'what the key is for', 'made by errand keys create')
    .option('--scopes <list>', `of ${SCOPES.join(', ')}; by commas`, DEFAULT_SCOPES.join(','))
    .option('--expires <time>', 'when it expires: a time such as 2027-01-31T12:00:00Z, or 90d, 12h from now on')
    .option('--workflow <id>', 'with --scopes ingest: the only workflow whose errors it reports; shows its DSN')
    .option('--service <name>', 'with --scopes ingest: the same, by the name of a service')
    .action(async (options: KeyOptions) => {
      const scopes = readScopes(options.scopes);
      const expiresAtMs = options.expires === undefined ? null : readExpiry(options.expires, Date.now());
      const { label, workflow: workflowId, service } = options;
      const input = { label, scopes, expiresAtMs, workflowId, service };
      print(await administer((a) => a.createKey(options.owner ?? null, input)));
    });
  keys
    .command('list')
    .description('list keys, without the keys themselves')
    .option(...owner)
    .action(async (options: { owner?: string }) => print(await administer((a) => a.listKeys(options.owner ?? null))));
  keys
    .command('revoke <key_id>')
    .description('revoke a key at once')
    .option(...owner)
    .action(async (keyId: string, options: { owner?: string }) =>
      print(await administer((a) => a.revokeKey(options.owner ?? null, keyId))),
    );
}

interface KeyOptions {
  readonly owner?: string;
  readonly label: string;
  readonly scopes: string;
  readonly expires?: string;
  readonly workflow?: string;
  readonly service?: string;
}

function readScopes(list: string): Scope[] {
  return list.split(',').map((scope) => {
    const known = SCOPES.find((s) => s === scope.trim());
    if (!known) throw new CliError(`--scopes: "${scope}" is none of ${SCOPES.join(', ')}`);
    return known;
  });
}

const IN_MS = { d: DAY_MS, h: HOUR_MS } as const;

/** An instant with its offset: without it, the time would depend on this machine's timezone. */
const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

export function readExpiry(text: string, nowMs: number): number {
  const [, count, unit] = /^(\d{1,5})([dh])$/.exec(text) ?? [];
  const atMs = unit
    ? nowMs + Number(count) * IN_MS[unit as 'd' | 'h']
    : INSTANT.test(text)
      ? Date.parse(text)
      : Number.NaN;
  if (atMs > nowMs) return atMs;
  const wanted = 'a time in the future, such as 2027-01-31T12:00:00Z, or 90d, 12h';
  throw new CliError(`--expires: "${text}" is not ${wanted}`);
}
