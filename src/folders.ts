// The folders that the settings name: there, and ours to write where we must, before anything is opened. What is wrong with
// one is told with the setting's name, and not as a failure of whatever comes to it first.

import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
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
