// The folders of the settings: checked before anything is opened, to exist and to be writable where they must be. An error
// names the setting.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { makeFolder } from '../make-folder.ts';
import type { Log } from '../ports.ts';
import { type Config, ConfigError } from './config.ts';

/** Creates the data dir if it is missing. Rejects with `ConfigError`. */
export async function makeDataDir({ dataDir }: Pick<Config, 'dataDir'>): Promise<void> {
  try {
    await makeFolder(resolve(dataDir), 0o700);
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(
      `ERRAND_DATA_DIR: "${dataDir}" is not a folder that can be made and written (${(error as Error).message})`,
    );
  }
}

/** Permissions of users other than a folder's owner. */
const OTHERS = 0o077;

/**
 * Warns when other users can enter or read the data dir: Errand's own files are closed to them, but other files in it are
 * not, and names and sizes reveal something, too. A data dir that Errand creates is closed.
 */
export async function warnOfOpenDataDir({ dataDir }: Pick<Config, 'dataDir'>, log: Log): Promise<void> {
  const open = openness(dataDir, (await stat(dataDir)).mode);
  if (open !== null) log.warn({ dir: dataDir, ...open }, 'the data dir is open to other users of this machine');
}

/** Returns the mode of a data dir that other users can enter or read, and the command that closes it; null: none can. */
export function openness(dataDir: string, mode: number): { readonly mode: string; readonly fix: string } | null {
  if ((mode & OTHERS) === 0) return null;
  return { mode: (mode & 0o7777).toString(8).padStart(4, '0'), fix: `chmod 700 ${dataDir}` };
}

/** Rejects with `ConfigError` for a missing folder: otherwise code that needs it would fail, run by run, without the reason. */
export async function lookForFolders({ packagesDir, componentsDir, workflowsDir }: Config): Promise<void> {
  await lookFor('ERRAND_PACKAGES_DIR', packagesDir);
  await lookFor('ERRAND_COMPONENTS_DIR', componentsDir);
  await lookFor('ERRAND_WORKFLOWS_DIR', workflowsDir);
}

async function lookFor(setting: string, dir: string | null): Promise<void> {
  if (dir === null) return;
  const isFolder = await stat(dir).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new ConfigError(`${setting}: "${dir}" is not a folder`);
}
