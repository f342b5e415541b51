// The folder of components (ERRAND_COMPONENTS_DIR): which files it has, and which paths lead to them.

import { readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Refusal } from '../../domain/refusal.ts';
import { similarNames } from './suggestions.ts';

const CODE = /\.[mc]?[jt]s$/;
const NO_CODE = /\.(d|test|spec)\.[mc]?[jt]s$/;
const TESTS = /^(tests?|__tests__)$/;

/** Returns the real path of the folder. Throws `Refusal` (422) naming the parameter when there is none. */
export async function dirOf(componentsDir: string | null, parameter: string): Promise<string> {
  if (componentsDir === null)
    refuse(parameter, 'names a file, and this server has no folder of components: set ERRAND_COMPONENTS_DIR');
  return await realpath(componentsDir).catch((error: Error) => {
    throw new Error(`the folder of components cannot be read: ${error.message}`);
  });
}

/** Throws `Refusal` (422) naming the parameter for what is not there, is outside the folder, or is no code. */
export async function checkPath(dir: string, path: string, parameter: string): Promise<void> {
  const real = await realPathOf(dir, path, parameter);
  const found = real === null ? null : await stat(real);
  if (real === null || !found?.isFile()) return refuse(parameter, await whatIsThere(dir, path));
  if (!real.startsWith(dir + sep)) refuse(parameter, `${show(path)} is outside the folder of components`);
  if (!CODE.test(real)) refuse(parameter, `${show(path)} is not a JavaScript or TypeScript file`);
}

/** Returns the real path; null when nothing is there. Throws `Refusal` (422) for a path of another form. */
async function realPathOf(dir: string, path: string, parameter: string): Promise<string | null> {
  const names = path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..') || /[\\\0]/.test(path)) {
    refuse(parameter, `must be a path below the folder of components, like "shop/orders.mjs", but was ${show(path)}`);
  }
  return await realpath(join(dir, ...names)).catch(() => null);
}

/**
 * Returns the paths of the code files that `path` names, sorted: a file, or all below a folder; `.`: all that there are.
 * Below a folder, packages, tests, types, links and hidden files are left out. Throws `Refusal` as `checkPath` does.
 */
export async function filesAt(dir: string, path: string, parameter: string): Promise<readonly string[]> {
  if (path === '.') return (await codeBelow(dir, '')).sort();
  const trimmed = path.replace(/\/$/, '');
  const real = await realPathOf(dir, trimmed, parameter);
  const isFolder = real !== null && (await stat(real)).isDirectory();
  if (!isFolder) {
    await checkPath(dir, trimmed, parameter);
    return [trimmed];
  }
  if (!real.startsWith(dir + sep)) refuse(parameter, `${show(path)} is outside the folder of components`);
  return (await codeBelow(dir, trimmed)).sort();
}

async function codeBelow(dir: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(dir, folder), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []; // deleted since it was listed
    throw error;
  });
  const files: string[] = [];
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    if (entry.isDirectory() && !TESTS.test(entry.name)) files.push(...(await codeBelow(dir, path)));
    if (entry.isFile() && CODE.test(entry.name) && !NO_CODE.test(entry.name)) files.push(path);
  }
  return files;
}

async function whatIsThere(dir: string, path: string): Promise<string> {
  const files = await codeBelow(dir, '').catch(() => []);
  const near = similarNames(files, path);
  const end = near.length === 0 ? 'there are none' : `near it are ${near.join(', ')}`;
  return `names ${show(path)}, and there is no such file in the folder of components; ${end}`;
}

function show(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}

/** Throws `Refusal` (422) naming the parameter. */
export function refuse(parameter: string, message: string): never {
  throw new Refusal('impossible', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}
