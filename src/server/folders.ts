// The folders that the settings name: there, and ours to write where we must, before anything is opened. What is wrong with
// one is told with the setting's name, and not as a failure of whatever comes to it first.

import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import type { Log } from '../ports.ts';
import { type Config, ConfigError } from './config.ts';

/** Makes the data dir when it is not there. Rejects with `ConfigError`. */
export async function makeDataDir({ dataDir }: Pick<Config, 'dataDir'>): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(
      `ERRAND_DATA_DIR: "${dataDir}" is not a folder that can be made and written (${(error as Error).message})`,
    );
  }
}

/** What users other than the owner of a folder may do with it. */
const OTHERS = 0o077;

/**
 * Warns when other users can enter or read the data dir: what Errand writes there is for its user alone, but not what was put
 * there otherwise, and names and sizes tell something as well. One that it makes is closed.
 */
export async function warnOfOpenDataDir({ dataDir }: Pick<Config, 'dataDir'>, log: Log): Promise<void> {
  const { mode } = await stat(dataDir);
  if ((mode & OTHERS) === 0) return;
  const shown = (mode & 0o7777).toString(8).padStart(4, '0');
  const fix = `chmod 700 ${dataDir}`;
  log.warn({ dir: dataDir, mode: shown, fix }, 'the data dir is open to other users of this machine');
}

/** Rejects with `ConfigError` when one is not there: code that needs it would fail one by one, and not say why. */
export async function lookForFolders({ packagesDir, componentsDir }: Config): Promise<void> {
  await lookFor('ERRAND_PACKAGES_DIR', packagesDir);
  await lookFor('ERRAND_COMPONENTS_DIR', componentsDir);
}

async function lookFor(setting: string, dir: string | null): Promise<void> {
  if (dir === null) return;
  const isFolder = await stat(dir).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new ConfigError(`${setting}: "${dir}" is not a folder`);
}
