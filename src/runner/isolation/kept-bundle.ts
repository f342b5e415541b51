// The bundle of a child's program, kept in the checkout: to make it takes 0.3 s of the processor, which hundreds of servers of
// the tests would take one after the other.

import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

interface Kept {
  /** The files that it was made of, each with its state. */
  readonly from: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Returns the text that was kept. Null: there is none, it was made of another `entry`, as in a copy that has the same packages, or
 * a file that it was made of has changed.
 */
export function keptBundle(path: string, entry: string): string | null {
  try {
    const { from, text } = JSON.parse(readFileSync(path, 'utf8')) as Kept;
    if (from[entry] === undefined) return null;
    return Object.entries(from).every(([file, state]) => stateOf(file).state === state) ? text : null;
  } catch {
    return null;
  }
}

/** Keeps a text. `begunMs`: before the files were read; one that was changed since may be another one than the text has. */
export function keepBundle(path: string, made: { files: readonly string[]; text: string; begunMs: number }): void {
  const { files, text, begunMs } = made;
  try {
    const states = files.map((file) => [file, stateOf(file)] as const);
    if (states.some(([, { changedMs }]) => changedMs >= begunMs)) return;
    const kept: Kept = { from: Object.fromEntries(states.map(([file, { state }]) => [file, state])), text };
    mkdirSync(dirname(path), { recursive: true });
    // Others read it meanwhile, or write their own.
    const own = `${path}.${randomUUID()}`;
    writeFileSync(own, JSON.stringify(kept));
    renameSync(own, path);
  } catch {
    // In a checkout that cannot be written to it is made with each start.
  }
}

function stateOf(file: string): { state: string; changedMs: number } {
  const { mtimeMs, ctimeMs, size } = statSync(file);
  // Tools that unpack a release may give each file the same `mtime`; its `ctime` is the system's own.
  return { state: `${mtimeMs} ${ctimeMs} ${size}`, changedMs: Math.max(mtimeMs, ctimeMs) };
}
