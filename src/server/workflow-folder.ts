// The folder of workflow files that the settings name.

import type { Emit } from '../engine/accept/emit.ts';
import type { FileDeployer } from '../engine/files/deploy.ts';
import { createFileErrors } from '../engine/files/file-errors.ts';
import { WorkflowFolder } from '../engine/files/folder.ts';
import type { LoopPorts } from '../engine/loop.ts';
import type { Clock } from '../ports.ts';
import type { Store } from '../store/contract/store.ts';
import type { BundlingParts } from './code-bundling.ts';
import type { Config } from './config.ts';

interface FolderParts extends Pick<LoopPorts, 'random' | 'log' | 'outage'> {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** Returns null without a folder. Its files belong to the first owner. */
export function buildFolder(
  { config, store, random, log, outage, clock, emit }: FolderParts,
  deployer: FileDeployer,
  { bundleFile, prepareBundling }: Pick<BundlingParts, 'bundleFile' | 'prepareBundling'>,
): WorkflowFolder | null {
  const { workflowsDir: dir, packagesDir } = config;
  if (dir === null) return null;
  const ownerId = async (): Promise<string> => ((await store.listOwners())[0] as { id: string }).id;
  const tellBroken = createFileErrors({ store, emit, clock });
  return new WorkflowFolder({
    bundleFile,
    prepareBundling,
    deployer,
    dir,
    packagesDir,
    ownerId,
    tellBroken,
    random,
    log,
    outage,
  });
}
