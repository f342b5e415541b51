// Binaries for Node (`.node`) in packages. No process of code loads one, and most packages that bring one do without: so a
// binary that becomes part of a bundle throws when it is required, where the package may catch that.

import type { OnResolveArgs, OnResolveResult, PluginBuild } from 'esbuild';

const NAMESPACE = 'errand-binary';
export const BINARY = /\.node$/;

/** Teaches the bundler what stands for a binary. */
export function addBinaries(build: PluginBuild): void {
  const throwing = (code: string, text: string): { contents: string; loader: 'js' } => ({
    contents: `throw Object.assign(new Error(${JSON.stringify(text)}), { code: ${JSON.stringify(code)} });`,
    loader: 'js',
  });
  build.onLoad({ filter: BINARY, namespace: 'file' }, ({ path }) =>
    throwing('ERR_DLOPEN_DISABLED', `${nameOf(path)} is a binary for Node, and code here cannot load binaries`),
  );
  build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) =>
    throwing('MODULE_NOT_FOUND', `Cannot find module '${path}'`),
  );
}

/** A binary that is not there: of packages that were installed without it. Undefined: it is there, or is none. */
export async function missingBinary(
  build: PluginBuild,
  { path, kind, resolveDir, importer }: OnResolveArgs,
  pluginData: unknown,
): Promise<OnResolveResult | undefined> {
  if (!BINARY.test(path) || kind !== 'require-call') return undefined;
  const found = await build.resolve(path, { kind, resolveDir, importer, pluginData });
  return found.errors.length === 0 ? undefined : { path, namespace: NAMESPACE };
}

function nameOf(path: string): string {
  return path.split(/[\\/]node_modules[\\/]/).at(-1) as string;
}
