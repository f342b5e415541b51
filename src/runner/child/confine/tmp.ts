// `/tmp`, as components name it: many write what they download to `/tmp/<name>` and read it from there. In a process of
// its own, code has another folder for temporary files, and Node's permission model keeps it out of the system's. So the
// functions of node:fs take a path below /tmp for one below the code's own folder, as if that were mounted there.
// (Rejected: granting /tmp. All code would see what other code and other programs have there.) Nothing is opened by this:
// the permission model judges the path that comes out.

import fs from 'node:fs';
import os from 'node:os';
import { dirname, normalize } from 'node:path';
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

/** What the process was started with, wherever that is. */
const programDir = dirname(process.argv[1] ?? '/');

/**
 * Must come before any of the users' code, and before `guardProcess`, which lets `import { readFile } from 'node:fs'` see
 * it, too: that takes 8 ms each time.
 */
export function provideTmp(): void {
  for (const [name, paths] of Object.entries(PATHS)) {
    wrap(fs as unknown as Functions, name, paths);
    wrap(fs as unknown as Functions, `${name}Sync`, paths);
    wrap(fs.promises as unknown as Functions, name, paths);
  }
}

function wrap(functions: Functions, name: string, paths: number): void {
  const original = functions[name];
  if (typeof original !== 'function') return; // a Node that has it not
  const wrapped = redirected(original as Call, paths);
  if (typeof wrapped.native === 'function') wrapped.native = redirected(wrapped.native as Call, paths);
  functions[name] = wrapped;
}

/** With the name, the length, and what `promisify` looks for, of the original. */
function redirected(original: Call, paths: number): Call {
  function call(this: unknown, ...args: unknown[]): unknown {
    for (let i = 0; i < paths; i++) args[i] = ownPath(args[i]);
    return original.apply(this, args);
  }
  return Object.defineProperties(call, Object.getOwnPropertyDescriptors(original)) as Call;
}

function ownPath(given: unknown): unknown {
  const path = textOf(given);
  if (path === null || !isBelow(path, '/tmp')) return given;
  const own = os.tmpdir(); // of the source whose code runs, where several share the process
  return isBelow(path, own) || isBelow(path, programDir) ? given : own + path.slice('/tmp'.length);
}

function textOf(given: unknown): string | null {
  if (typeof given === 'string') return given.startsWith('/') ? normalize(given) : null;
  return given instanceof URL && given.protocol === 'file:' ? normalize(fileURLToPath(given)) : null;
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
