// Each child process has a folder: its program and `code` (the bundles of the steps), which it may read, and `tmp`, which
// it may also write.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Deployment } from '../domain/resource.ts';
import type { StepFile } from './child/protocol.ts';
import { bundleChild } from './child-code.ts';

export const CHILD_FILE = 'child.mjs';

const OWNER = /^(\d+)-/;

export class Workdirs {
  readonly #base: string;
  readonly #childCode: Promise<string>;

  constructor(base: string) {
    mkdirSync(base, { recursive: true });
    // The permission model compares resolved paths.
    this.#base = realpathSync(resolve(base));
    this.#childCode = bundleChild();
    this.#childCode.catch(() => {}); // it shows on whatever is started
  }

  /** The name tells whose it is. */
  async make(): Promise<string> {
    const code = await this.#childCode;
    // Synchronous: some hundred microseconds, where each asynchronous call would cost the start a turn.
    const dir = mkdtempSync(join(this.#base, `${process.pid}-`));
    mkdirSync(join(dir, 'code'));
    mkdirSync(join(dir, 'tmp'));
    writeFileSync(join(dir, CHILD_FILE), code);
    return dir;
  }

  /** Writes the bundles, while the process is starting. */
  async fill(dir: string, { steps }: Deployment): Promise<StepFile[]> {
    const files = steps.map(({ id, namespace }) => {
      const file = join(dir, 'code', `${namespace}.mjs`);
      return { id, namespace, file, mapFile: `${file}.map` };
    });
    const writing = steps.flatMap(({ bundle, sourceMap }, index) => {
      const { file, mapFile } = files[index] as StepFile;
      return [writeFile(file, bundle), writeFile(mapFile, sourceMap)];
    });
    await Promise.all(writing);
    return files;
  }

  /** Remembers the process, for `sweep`. */
  notePid(dir: string, pid: number): void {
    writeFileSync(join(dir, 'pid'), String(pid));
  }

  async remove(dir: string): Promise<void> {
    await rm(dir, { recursive: true, force: true, maxRetries: 2 }).catch(() => {});
  }

  /** Clears away what a server left that was killed: its folders, and a process in an endless loop, which cannot notice. */
  async sweep(): Promise<void> {
    for (const name of readdirSync(this.#base)) {
      const owner = Number(OWNER.exec(name)?.[1] ?? process.pid);
      if (owner === process.pid || isAlive(owner)) continue;
      const dir = join(this.#base, name);
      killLeftOver(dir);
      await this.remove(dir);
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Only where /proc shows that the number still means that process. */
function killLeftOver(dir: string): void {
  try {
    const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dir)) process.kill(pid, 'SIGKILL');
  } catch {
    // gone already, or no /proc here
  }
}
