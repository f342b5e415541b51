// The messages between the server and the process that bundles, in the frames of child/frames.ts.

import type { ResourceLimits } from '../child/confine/harden.ts';
import type { Bundled, StepSource } from './bundle.ts';
import type { BundledFile, ServerPackages, WorkflowFile } from './bundle-file.ts';
import type { PackageFolders } from './outside.ts';

export type BundleRequest =
  | {
      readonly kind: 'step';
      readonly source: StepSource;
      readonly packagesDir: string | null;
      readonly outside: PackageFolders;
    }
  | { readonly kind: 'file'; readonly file: WorkflowFile; readonly packages: ServerPackages };

/** `limit` names the limit that was met; the server makes that response itself. */
export type BundleResponse = Bundled | BundledFile | { readonly limit: string };

export interface BundleRequestMessage {
  readonly id: number;
  readonly request: BundleRequest;
}

/** `id` 0: the process has started and its bundler works. `bundle` and `sourceMap` follow as bytes. */
export interface BundleResponseMessage {
  readonly id: number;
  readonly answer?: object;
  readonly bytes?: readonly [bundle: number, sourceMap: number];
}

/** The program's only argument, as JSON. */
export interface BundlerSetup {
  /** Descriptors that the server itself inherited. */
  readonly close: readonly number[];
  /** The user to switch to; null: none. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** The limits that the process sets itself, with the filter of system calls; null: it cannot here. */
  readonly limits: ResourceLimits | null;
  /** The process whose end ends this one; null: the jail does that. */
  readonly parent: number | null;
  /** Paths that the process must be able to read. */
  readonly needs: readonly string[];
}

/** The exit code when the user may not read one of `needs`. */
export const CANNOT_READ = 87;
/** The exit code when the bundler has ended. */
export const BUNDLER_GONE = 88;
