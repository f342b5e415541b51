// Bundles code and caches the bundles: of many sources with one component, only the first is bundled.
//
// The files in a bundle lie on disk and may change. So each bundle is cached with a stamp of each of its files, and of
// npm's own record of the installed packages.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LruCache } from '../pool/lru-cache.ts';
import type { Bundled, StepSource } from './bundle.ts';
import { NONE_OUTSIDE, type PackageFolders } from './outside.ts';

export interface Bundler {
  /**
   * Bundles one step, for an owner if it is one's. Rejects with `Refusal` (unavailable) when nothing can be bundled; never
   * because of the code.
   */
  bundle(source: StepSource, ownerId?: string): Promise<Bundled>;
}

export type BundleStep = (
  source: StepSource,
  packagesDir: string | null,
  of: { readonly outside: PackageFolders; readonly ownerId?: string },
) => Promise<Bundled>;

type Success = Extract<Bundled, { ok: true }>;

interface CachedBundle {
  readonly bundled: Success;
  readonly stamp: string;
}

export type BundleCache = LruCache<CachedBundle>;

const MAX_KEPT = 200;
const MAX_KEPT_CHARS = 64 * 1024 * 1024;

interface BundlerOptions {
  readonly packagesDir: string | null;
  /** Returns the folders whose packages stay outside of bundles, as they are now; left out: all become part of them. */
  readonly outside?: () => PackageFolders;
  /** The function that bundles; left out: this process bundles. */
  readonly bundleStep?: BundleStep;
  /** The bundles to look in first; left out: an empty cache. A bundle depends on nothing but its key and its files. */
  readonly cache?: BundleCache;
}

/** Returns an empty cache that keeps the last 200 bundles, and 64 million characters at most. */
export function createBundleCache(): BundleCache {
  return new LruCache<CachedBundle>({
    max: MAX_KEPT,
    maxWeight: MAX_KEPT_CHARS,
    weigh: ({ bundled }) => bundled.bundle.length + bundled.sourceMap.length,
  });
}

export function createBundler(options: BundlerOptions): Bundler {
  const { packagesDir, outside = () => NONE_OUTSIDE, bundleStep: bundleOne = bundleHere } = options;
  const { cache: cached = createBundleCache() } = options;
  const underWay = new Map<string, Promise<Bundled>>();

  async function make(key: string, source: StepSource, ownerId?: string): Promise<Bundled> {
    const of = { outside: outside(), ...(ownerId === undefined ? {} : { ownerId }) };
    const bundled = await bundleOne(source, packagesDir, of);
    if (bundled.ok) cached.set(key, { bundled, stamp: await stampOf(bundled.inputs) });
    return bundled;
  }

  async function stampOf(inputs: readonly string[]): Promise<string> {
    const installed = packagesDir === null ? [] : [join(packagesDir, 'node_modules', '.package-lock.json')];
    return (await Promise.all([...inputs, ...installed].map(stampOfFile))).join();
  }

  async function bundle(source: StepSource, ownerId?: string): Promise<Bundled> {
    const key = JSON.stringify([source, packagesDir, outside()]);
    const cachedBundle = cached.get(key);
    if (cachedBundle && cachedBundle.stamp === (await stampOf(cachedBundle.bundled.inputs)))
      return cachedBundle.bundled;
    // An owner that waits in another one's turn would be refused with it.
    const ofOwner = JSON.stringify([ownerId ?? null, key]);
    const making = underWay.get(ofOwner) ?? make(key, source, ownerId).finally(() => underWay.delete(ofOwner));
    underWay.set(ofOwner, making);
    return await making;
  }

  return { bundle };
}

/** Loads what bundles with the first step: a server has processes that bundle. */
const bundleHere: BundleStep = async (source, packagesDir, { outside }) =>
  (await import('./bundle.ts')).bundleStep(source, packagesDir, outside);

async function stampOfFile(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  return found ? `${found.mtimeMs}:${found.ctimeMs}:${found.size}:${found.ino}` : '';
}
