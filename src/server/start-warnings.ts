// What an operator should know of the settings once the server listens.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ENV_FILE, variablesOf } from '../env-file.ts';
import { openFilesLimit, whyTooFewFiles } from '../open-files.ts';
import type { Log } from '../ports.ts';
import type { Store } from '../store/contract/store.ts';
import { isUnmoved } from '../store/sqlite/maintenance/moved.ts';
import { type Config, dataPaths, maxOwnersOf } from './config.ts';

/** Few servers have so many connections at a time. `errand doctor` compares with the most that may be. */
const USUAL_FILES = 10_000;

const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const NETWORKS = {
  process: { ofCode: 'ERRAND_PROCESS_NETWORK', ofOther: 'ERRAND_JAIL_NETWORK' },
  jail: { ofCode: 'ERRAND_JAIL_NETWORK', ofOther: 'ERRAND_PROCESS_NETWORK' },
} as const;

export async function warnAtStart(
  config: Config,
  log: Log,
  { store, url }: { store: Store; url: string },
): Promise<void> {
  if (config.allowTargets.length > 0) {
    log.warn({ allow_targets: config.allowTargets }, 'webhooks may reach these addresses');
  }
  await warnOfOwners(config, log, store);
  const limit = openFilesLimit('self');
  const tooFew = whyTooFewFiles(limit, config.maxConnections);
  if (tooFew !== null && (limit ?? 0) < USUAL_FILES) log.warn({}, tooFew);
  warnOfPublicUrl(config, log, url);
  warnOfNetworks(config, log);
  const file = dataPaths(config.dataDir).store;
  if (config.databaseUrl !== null && isUnmoved(file)) {
    log.warn(
      { file },
      'this file is a store that was not moved into the database: what it has is not executed, and not shown. Move it into an empty database with errand store move, or start without ERRAND_DATABASE_URL to go on with it; if it is not needed, remove it',
    );
  }
}

/** Warns where addresses that begin with the public URL lead to no page, or not from everywhere. */
export function warnOfPublicUrl({ publicUrl, databaseUrl, host }: Config, log: Log, url: string): void {
  if (publicUrl !== null && new URL(publicUrl).pathname !== '/') {
    log.warn(
      { public_url: publicUrl },
      'ERRAND_PUBLIC_URL has a path: the API and endpoints work behind a proxy that removes it, the dashboard and the links to its pages do not; give Errand a host name of its own',
    );
  }
  if (publicUrl === null && ANY_ADDRESS.has(host)) {
    log.warn(
      { url },
      'ERRAND_PUBLIC_URL is not set, and ERRAND_HOST is every address of this machine: endpoints and links that are made here begin with an address that no other machine can call; set ERRAND_PUBLIC_URL to the one that callers use',
    );
  } else if (publicUrl === null && databaseUrl !== null) {
    log.warn({ url }, 'ERRAND_PUBLIC_URL is not set: endpoints and links that are made here name this process alone');
  }
}

/** Warns of a network that was chosen for the other level of isolation: the code does not have it. */
export function warnOfNetworks({ isolation, shown }: Config, log: Log): void {
  const { ofCode, ofOther } = NETWORKS[isolation];
  const other = shown.find(({ name }) => name === ofOther);
  if (!other?.isSet) return;
  const network = shown.find(({ name }) => name === ofCode)?.value;
  log.warn(
    { [ofOther]: other.value, [ofCode]: network },
    `${ofOther} has no effect, since ERRAND_ISOLATION is ${isolation}: what code reaches is set by ${ofCode}`,
  );
}

/** Warns of settings in a file `.env` of the folder, as other programs read them, that the environment does not have. */
export function warnOfEnvFile(dir: string, env: Readonly<Record<string, string | undefined>>, log: Log): void {
  const file = resolve(dir, ENV_FILE);
  const ignored = settingsIn(file).filter((name) => env[name] === undefined);
  if (ignored.length === 0) return;
  log.warn(
    { file, ignored },
    'this file is not read: settings are variables of the environment. "set -a; . ./.env; set +a" before the start puts them there, and so does NODE_OPTIONS=--env-file=.env',
  );
}

function settingsIn(file: string): string[] {
  try {
    if (!existsSync(file)) return [];
    return Object.keys(variablesOf(readFileSync(file, 'utf8'))).filter((name) => name.startsWith('ERRAND_'));
  } catch {
    // A folder, or a file of another user.
    return [];
  }
}

/** Warns of more owners than the isolation level allows: they keep working, and only further ones are refused. */
async function warnOfOwners(config: Config, log: Log, store: Store): Promise<void> {
  const [max, { length: owners }] = [maxOwnersOf(config), await store.listOwners()];
  if (max === null || owners <= max) return;
  log.warn(
    { owners, owners_without_jail: max },
    'more owners than ERRAND_OWNERS_WITHOUT_JAIL allows: their code is not isolated from each other at level process; set ERRAND_ISOLATION to jail',
  );
}
