// The process that bundles: code from callers, and the components that it names, are bundled in one that is confined like
// user code; workflow files and built-in components in one that may read the files they name, since they are the
// operator's and Errand's. Neither process starts before it is needed.

import type { Log } from '../ports.ts';
import type { BundledFile, WorkflowFile } from '../runner/bundling/bundle-file.ts';
import { type BundleCache, type BundleStep, createBundleCache } from '../runner/bundling/bundler.ts';
import { Bundling } from '../runner/bundling/bundling.ts';
import { NONE_OUTSIDE, type PackageFolders } from '../runner/bundling/outside.ts';
import { isolationOf, ownCgroups } from './code-isolation.ts';
import type { Config } from './config.ts';

/** Of all services of the process: each new store has the same global workflow, which is bundled for the first alone. */
const BUNDLES = createBundleCache();

/** Who saves a workflow file saves it again: starting the process takes 0.4 s. */
const FILES_IDLE_MS = 10 * 60_000;

export interface BundlingParts {
  readonly bundleStep: BundleStep;
  readonly bundleFile: (file: WorkflowFile) => Promise<BundledFile>;
  /** Starts the process that bundles workflow files ahead of the first of them. */
  readonly prepareBundling: () => void;
  readonly bundles: BundleCache;
  /** Folders of packages that are not bundled. */
  readonly packageFolders: () => PackageFolders;
  /** Why bundling is impossible; null: no reason is known. */
  readonly problem: () => string | null;
  readonly stop: () => void;
}

/** What services of one process have together: to start it takes a second of the processor. */
export interface SharedParts {
  readonly bundling: BundlingParts;
  /** Whether an earlier one has found that code runs with the same isolation. */
  readonly isIsolationTried: boolean;
}

export function createBundling(config: Config, log: Log): BundlingParts {
  const { level, user, packageFolders = () => NONE_OUTSIDE } = isolationOf(config);
  const roots = [config.packagesDir, config.componentsDir].filter((dir) => dir !== null);
  const { cgroups } = ownCgroups();
  const confined = new Bundling({ level, user, roots, log, cgroups });
  const idleMs = config.workflowsDir === null ? undefined : FILES_IDLE_MS;
  const trusted = new Bundling({ level, user: null, roots: null, log, cgroups, idleMs });
  return {
    bundleStep: (source, packagesDir, of) =>
      ('path' in source && source.isTrusted ? trusted : confined).bundleStep(source, packagesDir, of),
    bundleFile: (file) => trusted.bundleFile(file, { dir: config.packagesDir, outside: packageFolders() }),
    prepareBundling: () => void trusted.prepare(),
    bundles: BUNDLES,
    packageFolders,
    problem: () => confined.problem ?? trusted.problem,
    stop: () => {
      confined.stop();
      trusted.stop();
    },
  };
}
