// The folder of workflow files that the settings name.

import type { FileDeployer } from '../engine/files/deploy.ts';
import type { TellBroken } from '../engine/files/file-errors.ts';
import { WorkflowFolder } from '../engine/files/folder.ts';
import type { Log, Random } from '../ports.ts';
import type { Store } from '../store/contract/store.ts';
import type { BundlingParts } from './code-bundling.ts';
import type { Config } from './config.ts';

interface FolderParts {
  readonly config: Config;
  readonly store: Store;
  readonly random: Random;
  readonly log: Log;
}

/** Returns null without a folder. Its files belong to the first owner. */
export function buildFolder(
  { config, store, random, log }: FolderParts,
  deployer: FileDeployer,
  { bundleFile, tellBroken }: Pick<BundlingParts, 'bundleFile'> & { readonly tellBroken: TellBroken },
): WorkflowFolder | null {
  const { workflowsDir: dir, packagesDir } = config;
  if (dir === null) return null;
  const ownerId = async (): Promise<string> => ((await store.listOwners())[0] as { id: string }).id;
  return new WorkflowFolder({ bundleFile, deployer, dir, packagesDir, ownerId, tellBroken, random, log });
}
