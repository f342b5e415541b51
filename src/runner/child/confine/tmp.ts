// Redirects `/tmp` to the process's own folder for temporary files. Many components write downloads to `/tmp/<name>`
// and read them from there, but Node's permission model keeps code out of the system's /tmp. So the functions of
// node:fs map a path below /tmp to the same path below the code's own folder, as if that were mounted there. (Rejected:
// granting /tmp. All code would see what other code and other programs have there.) This grants nothing: the permission
// model judges the mapped path.

import fs from 'node:fs';
import os from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How many of the first arguments are paths. Streams open their files with `open`. */
const PATHS: Readonly<Record<string, number>> = {
  ...named(
    'access appendFile chmod chown exists lchmod lchown lstat lutimes mkdir mkdtemp mkdtempDisposable open openAsBlob ' +
      'opendir readFile readdir readlink realpath rm rmdir stat statfs truncate unlink unwatchFile utimes watch watchFile writeFile',
    1,
  ),
  ...named('copyFile cp link rename symlink', 2),
};

function named(names: string, paths: number): Record<string, number> {
  return Object.fromEntries(names.split(' ').map((name) => [name, paths]));
}

type Call = ((...args: unknown[]) => unknown) & { native?: unknown };
type Functions = Record<string, unknown>;

/** The folder of the program. */
const programDir = dirname(process.argv[1] ?? '/');

/** Folders of installed packages, which may lie below /tmp (isolation/package-folders.ts makes the links). */
const packageFolders = ['packages', 'components'].flatMap((kind) => {
  try {
    return [fs.readlinkSync(join(programDir, kind, 'node_modules'))];
  } catch {
    return []; // there is none, or a jail has it in the program's folder
  }
});

/**
 * Replaces the functions. Must run before any user code, and before `guardProcess`, which updates `import { readFile }
 * from 'node:fs'` too; that takes 8 ms each time.
 */
export function provideTmp(): void {
  for (const [name, paths] of Object.entries(PATHS)) {
    wrap(fs as unknown as Functions, name, paths);
    wrap(fs as unknown as Functions, `${name}Sync`, paths);
    wrap(fs.promises as unknown as Functions, name, paths);
  }
  for (const name of ['glob', 'globSync']) wrapGlob(fs as unknown as Functions, name);
  wrapGlob(fs.promises as unknown as Functions, 'glob');
}

function wrap(functions: Functions, name: string, paths: number): void {
  const original = functions[name];
  if (typeof original !== 'function') return; // missing in this version of Node
  const wrapped = redirected(original as Call, paths);
  if (typeof wrapped.native === 'function') wrapped.native = redirected(wrapped.native as Call, paths);
  functions[name] = wrapped;
}

/** Returns a redirected function with the original's name, length and `promisify` symbol. */
function redirected(original: Call, paths: number): Call {
  function call(this: unknown, ...args: unknown[]): unknown {
    for (let i = 0; i < paths; i++) args[i] = ownPath(args[i]);
    return original.apply(this, args);
  }
  return Object.defineProperties(call, Object.getOwnPropertyDescriptors(original)) as Call;
}

/**
 * Redirects the folder in which a pattern is looked for. A pattern that begins with `/` finds nothing: Node looks for it from
 * the root on, where the permission model lets it list no folder.
 */
function wrapGlob(functions: Functions, name: string): void {
  const original = functions[name];
  if (typeof original !== 'function') return; // missing in this version of Node
  function call(this: unknown, ...args: unknown[]): unknown {
    const [pattern, options, ...rest] = args;
    if (typeof options !== 'object' || options === null || !('cwd' in options))
      return (original as Call).apply(this, args);
    return (original as Call).call(this, pattern, { ...options, cwd: ownPath(options.cwd) }, ...rest);
  }
  functions[name] = Object.defineProperties(call, Object.getOwnPropertyDescriptors(original));
}

function ownPath(given: unknown): unknown {
  const path = textOf(given);
  if (path === null || !isBelow(path, '/tmp')) return given;
  const own = os.tmpdir(); // that of the source whose code runs, where several share the process
  const isShown = [own, programDir, ...packageFolders].some((folder) => isBelow(path, folder));
  return isShown ? given : own + path.slice('/tmp'.length);
}

function textOf(given: unknown): string | null {
  if (typeof given === 'string') return given.startsWith('/') ? normalize(given) : null;
  return given instanceof URL && given.protocol === 'file:' ? normalize(fileURLToPath(given)) : null;
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
