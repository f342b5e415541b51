// What the server and the process that bundles say to each other, in the frames of child/frames.ts.

import type { ResourceLimits } from '../child/confine/harden.ts';
import type { Bundled, StepSource } from './bundle.ts';
import type { BundledFile, WorkflowFile } from './bundle-file.ts';

export type BundleRequest =
  | { readonly kind: 'step'; readonly source: StepSource; readonly packagesDir: string | null }
  | { readonly kind: 'file'; readonly file: WorkflowFile };

/** `limit`: which one was met; no process answers that. */
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
  /** Descriptors that the server itself was started with. */
  readonly close: readonly number[];
  /** The user to become; null: none. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** What it is to set itself, with the filter of system calls; null: it cannot here. */
  readonly limits: ResourceLimits | null;
  /** The process with which this one ends; null: the jail sees to that. */
  readonly parent: number | null;
  /** What it must be able to read. */
  readonly needs: readonly string[];
}

/** What it exits with when its user may not read what it needs. */
export const CANNOT_READ = 87;
/** What it exits with when the bundler's own process has ended. */
export const BUNDLER_GONE = 88;
