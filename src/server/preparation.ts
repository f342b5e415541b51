// What is checked and created on the machine before anything is opened.

import type { Log } from '../ports.ts';
import { closeDataDir, logMissingLimits } from './code-isolation.ts';
import type { Config } from './config.ts';
import { lookForFolders, makeDataDir, warnOfOpenDataDir } from './folders.ts';

/** Rejects with `ConfigError`. */
export async function prepareMachine(config: Config, log: Log): Promise<void> {
  await makeDataDir(config);
  await lookForFolders(config);
  // One warning of one folder.
  if (!(await closeDataDir(config, log))) await warnOfOpenDataDir(config, log);
  logMissingLimits(config, log);
}
