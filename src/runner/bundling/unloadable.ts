// Files of packages that no bundle can have. Such a file throws when it is required, where the package may catch that.
//
// Binaries for Node (`.node`): no process of code loads one, and most packages that bring one do without.
//
// Texts (README.md, LICENSE): a package that puts a path together, `require('./' + name)`, names all files of its folder.

import { readFile } from 'node:fs/promises';
import { basename, extname, sep } from 'node:path';
import type { OnLoadResult, OnResolveArgs, OnResolveResult, PluginBuild } from 'esbuild';

const NAMESPACE = 'errand-binary';
export const BINARY = /\.node$/;

/** What the bundler itself has a loader for; it takes a file without extension for JavaScript. */
const LOADED = /\.([mc]?[jt]s|[jt]sx|json|css|txt|node)$/;

const throwing = (code: string, text: string): { contents: string; loader: 'js' } => ({
  contents: `throw Object.assign(new Error(${JSON.stringify(text)}), { code: ${JSON.stringify(code)} });`,
  loader: 'js',
});

/** Teaches the bundler what stands for a binary, and for a text. Comes behind what else reads files. */
export function addUnloadable(build: PluginBuild): void {
  build.onLoad({ filter: BINARY, namespace: 'file' }, ({ path }) =>
    throwing('ERR_DLOPEN_DISABLED', `${nameOf(path)} is a binary for Node, and code here cannot load binaries`),
  );
  build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) =>
    throwing('MODULE_NOT_FOUND', `Cannot find module '${path}'`),
  );
  build.onLoad({ filter: /.*/, namespace: 'file' }, ({ path }) => textOfPackage(build, path));
}

/** Returns undefined for a file that the bundler can read. */
async function textOfPackage(build: PluginBuild, path: string): Promise<OnLoadResult | undefined> {
  if (!path.includes(`${sep}node_modules${sep}`) || LOADED.test(path)) return undefined;
  if (extname(path) === '' && (await isCode(build, path))) return undefined;
  return throwing('ERR_UNKNOWN_FILE_EXTENSION', `${nameOf(path)} is no code, and ${basename(path)} cannot be loaded`);
}

async function isCode(build: PluginBuild, path: string): Promise<boolean> {
  const text = await readFile(path, 'utf8');
  return await build.esbuild.transform(text, { logLevel: 'silent', tsconfigRaw: '{}' }).then(
    () => true,
    () => false,
  );
}

/** Finds a binary that a package was installed without. Undefined: it is there, or is none. */
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
