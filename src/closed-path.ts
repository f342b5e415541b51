// Why a file or folder is closed to this user, for people. Files in a closed folder look as if they were not there.

import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Returns why a path cannot be used in the mode, of `constants` of node:fs; null: it can, or nothing is there. */
export function whyClosed(path: string, mode: number): string | null {
  try {
    accessSync(path, mode);
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'EROFS')
      return 'the file system is mounted read-only; a copy of the whole folder elsewhere can be used';
    return code === 'EACCES' ? ownership(path) : message;
  }
}

function ownership(path: string): string {
  const self = process.getuid?.();
  const asUser = `this is user ${self}; use the user that the server runs as`;
  try {
    const { uid, mode } = statSync(path);
    const octal = (mode & 0o7777).toString(8).padStart(4, '0');
    if (uid === self) return `it has mode ${octal}; "chmod u+rwX" opens it`;
    return `it belongs to user ${uid}, with mode ${octal}, and ${asUser}`;
  } catch {
    return `a folder above it is closed, and ${asUser}`;
  }
}

/** Returns why the folder of a file hides whether the file is there; null: it does not. */
export function whyHidden(file: string): string | null {
  const folder = dirname(file);
  const why = whyClosed(folder, constants.X_OK);
  return why && `${folder} cannot be entered: ${why}`;
}
