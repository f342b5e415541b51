// Programs of the system that tests use, wherever they lie.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Folders that are not on the PATH of a user who is not root. */
const MORE = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** Returns the path of the first of these programs that is there, or undefined. */
export function programOf(...names: readonly string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...MORE];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
