// errand keys create | list | revoke

import type { Command } from 'commander';
import type { ApiKey } from '../client/client.ts';
import { DEFAULT_SCOPES, SCOPES, type Scope } from '../domain/keys.ts';
import { DAY_MS, HOUR_MS } from '../domain/limits.ts';
import type { AdministrationDeps } from './administration.ts';
import { findKey, findOwner } from './owners.ts';
import { withExamples } from './shell/examples.ts';
import { CliError, EXIT } from './shell/exit.ts';
import { findAmong } from './shell/find.ts';
import type { Fields } from './shell/listing.ts';
import { createOutput, printFields, printFirst, printJson, timeColumn } from './shell/output.ts';
import { type ServerOptions, serverCommand } from './shell/remote.ts';
import { msOf, secondsText } from './shell/text.ts';
import { countValue, LIST_LIMIT, take } from './shell/values.ts';

interface OwnedOptions extends ServerOptions {
  readonly owner?: string;
}

const OWNER = ['--owner <id>', 'whose key; none: your own, and on the data dir that of the first owner'] as const;

const fields = (key: ApiKey): Fields => ({
  key: key.id,
  owner: key.owner_id,
  label: key.label,
  scopes: key.scopes.join(', '),
  expires: secondsText(key.expires_at),
  revoked: secondsText(key.revoked_at),
  workflow: key.workflow_id,
});

export function addKeys(program: Command, deps: AdministrationDeps): void {
  const keys = program.command('keys').description('API keys');
  addCreate(keys, deps);
  addList(keys, deps);
  addRevoke(keys, deps);
}

interface CreateOptions extends OwnedOptions {
  readonly label: string;
  readonly scopes: string;
  readonly expires?: string;
  readonly workflow?: string;
  readonly service?: string;
}

function addCreate(keys: Command, { administer }: AdministrationDeps): void {
  const create = serverCommand(keys, 'create', 'make a key; it is shown once')
    .option(...OWNER)
    .option('--label <text>', 'what the key is for', 'made by errand keys create')
    .option('--scopes <list>', `of ${SCOPES.join(', ')}; by commas`, DEFAULT_SCOPES.join(','))
    .option('--expires <time>', 'when it expires: a time such as 2027-01-31T12:00:00Z, or 90d or 12h from now')
    .option('--workflow <id>', 'with --scopes ingest: the only workflow that it may report errors of; prints its DSN')
    .option('--service <name>', 'with --scopes ingest: the same, for a service by its name');
  withExamples(
    create,
    'errand keys create --label "on my laptop" --scopes read --expires 90d',
    'errand keys create --scopes ingest --service shop',
  );
  create.action(async ({ owner, label, scopes, expires, workflow, service, ...options }: CreateOptions) => {
    const order = {
      ...{ label, service, scopes: readScopes(scopes) },
      expiresAtMs: expires === undefined ? null : readExpiry(expires, Date.now()),
    };
    const made = await administer(options, async (a) => {
      const ownerId = await findOwner(a, owner);
      const workflowId =
        workflow === undefined ? undefined : await findAmong('workflow', workflow, () => a.listWorkflows(ownerId));
      return a.createKey(ownerId, { ...order, workflowId });
    });
    const out = createOutput();
    if (options.json) return printJson(out, made);
    await printFields(out, { ...fields(made), DSN: made.dsn, 'API key': made.api_key });
    out.note('The API key is shown this once');
  });
}

function addList(keys: Command, { administer }: AdministrationDeps): void {
  const list = serverCommand(keys, 'list', 'list keys, newest first, without the keys themselves')
    .option(...OWNER)
    .option('--limit <n>', 'how many to show; 0: all', countValue(0), LIST_LIMIT);
  withExamples(list, 'errand keys list', 'errand keys list --owner Shop');
  list.action(async ({ owner, limit, ...options }: OwnedOptions & { readonly limit: number }) => {
    const taken = await administer(options, async (a) => take(a.listKeys(await findOwner(a, owner)), limit));
    const out = createOutput();
    if (options.json) return printJson(out, taken.records);
    if (taken.records.length === 0) return out.note('no keys');
    await printFirst(out, taken, [
      { title: 'ID', of: ({ id }) => id },
      { title: 'SCOPES', of: ({ scopes }) => scopes.join(',') },
      timeColumn('USED', ({ last_used_at: s }) => msOf(s)),
      timeColumn('EXPIRES', ({ expires_at: s }) => msOf(s)),
      timeColumn('REVOKED', ({ revoked_at: s }) => msOf(s)),
      { title: 'LABEL', of: ({ label }) => label },
    ]);
  });
}

function addRevoke(keys: Command, { administer }: AdministrationDeps): void {
  const revoke = serverCommand(keys, 'revoke <key_id>', 'revoke a key at once').option(...OWNER);
  withExamples(revoke, 'errand keys revoke "on my laptop"', 'errand keys revoke key_0Vj3aBc9dEfGhIjK');
  revoke.action(async (key: string, { owner, ...options }: OwnedOptions) => {
    const revoked = await administer(options, async (a) => {
      const ownerId = await findOwner(a, owner);
      return a.revokeKey(ownerId, await findKey(a, ownerId, key));
    });
    const out = createOutput();
    if (options.json) return printJson(out, revoked);
    await printFields(out, fields(revoked));
  });
}

function readScopes(list: string): Scope[] {
  return list.split(',').map((scope) => {
    const known = SCOPES.find((s) => s === scope.trim());
    if (!known) throw new CliError(`--scopes: "${scope}" is none of ${SCOPES.join(', ')}`, EXIT.usage);
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
  throw new CliError(`--expires: "${text}" is not ${wanted}`, EXIT.usage);
}
