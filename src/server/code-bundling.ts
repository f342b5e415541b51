// Which process bundles what. Code that comes over HTTP, and the components that it names, are bundled by one that is kept
// in as user code is; workflow files and our own components by one that may read what they name, since they are the
// operator's and ours. Neither is there before it is needed.

import type { Log } from '../ports.ts';
import type { Bundled, StepSource } from '../runner/bundling/bundle.ts';
import type { BundledFile, WorkflowFile } from '../runner/bundling/bundle-file.ts';
import { Bundling } from '../runner/bundling/bundling.ts';
import { NONE_OUTSIDE, type PackageFolders } from '../runner/bundling/outside.ts';
import { isolationOf, ownCgroups } from './code-isolation.ts';
import type { Config } from './config.ts';

export interface BundlingParts {
  readonly bundleStep: (source: StepSource, packagesDir?: string | null, outside?: PackageFolders) => Promise<Bundled>;
  readonly bundleFile: (file: WorkflowFile) => Promise<BundledFile>;
  /** Those whose packages stay outside of bundles. */
  readonly packageFolders: () => PackageFolders;
  /** Why nothing can be bundled; null: nothing is known to be in its way. */
  readonly problem: () => string | null;
  readonly stop: () => void;
}

export function createBundling(config: Config, log: Log): BundlingParts {
  const { level, user, packageFolders = () => NONE_OUTSIDE } = isolationOf(config);
  const roots = [config.packagesDir, config.componentsDir].filter((dir) => dir !== null);
  const { cgroups } = ownCgroups();
  const confined = new Bundling({ level, user, roots, log, cgroups });
  const trusted = new Bundling({ level, user: null, roots: null, log, cgroups });
  return {
    bundleStep: (source, packagesDir = null, outside = NONE_OUTSIDE) =>
      ('path' in source && source.isTrusted ? trusted : confined).bundleStep(source, packagesDir, outside),
    bundleFile: (file) => trusted.bundleFile(file),
    packageFolders,
    problem: () => confined.problem ?? trusted.problem,
    stop: () => {
      confined.stop();
      trusted.stop();
    },
  };
}
