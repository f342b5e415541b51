// A file that has its name only when it is whole: half of it, left by Ctrl-C or a crash, is never taken for all.

import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { naming } from '../../named-path.ts';
import { CliError } from './exit.ts';

export interface NewFile {
  /** Its name until it is whole. */
  readonly partial: string;
  /** Writes the whole text before it returns, or nothing of it: what was counted as written is there, whatever ends the command. */
  write(text: string): void;
  /** Gives it its name. Throws `CliError` when there is a file of that name by now. */
  finish(): void;
}

/** Creates a file that this user alone can read. Throws `CliError` when there is a file of that name. */
export function createNewFile(path: string): NewFile {
  refuseExisting(path);
  const partial = `${path}.${process.pid}.partial`;
  const file = openSync(partial, 'wx', 0o600);
  let bytes = 0;
  return {
    partial,
    write: (text) => {
      try {
        naming(partial, () => writeFileSync(file, text));
        bytes += Buffer.byteLength(text);
      } catch (error) {
        // Of a full disk, a part of the text is there.
        if (fstatSync(file).size > bytes) ftruncateSync(file, bytes);
        throw error;
      }
    },
    finish: () => {
      naming(partial, () => fsyncSync(file));
      closeSync(file);
      refuseExisting(path);
      renameSync(partial, path);
    },
  };
}

function refuseExisting(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
  throw new CliError(`${path} is there already: name a new file`);
}
