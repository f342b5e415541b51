// The folder of each child process: its program, certificates that it trusts and `code` (the bundles of the steps), which it may read, and `tmp`,
// which it may also write. Where the process runs as another user than the server, that user's group may read the
// folder, other users may not, and `tmp` belongs to that user.

import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Deployment } from '../../domain/resource.ts';
import type { StepFile } from '../child/protocol.ts';
import { childCode } from './child-code.ts';
import { AUTHORITIES_FILE, CHILD_FILE, type CodeUser, type IsolationSettings } from './isolation.ts';
import { linkPackages } from './package-folders.ts';
import { removeFolder } from './remove-folder.ts';
import { abandonedBeside, mark, takeAbandoned, unmark } from './servers-folders.ts';

const OWNER = /^(\d+)-/;
const READABLE = 0o644;

export class Workdirs {
  readonly #base: string;
  readonly #user: CodeUser | null;
  readonly #childCode: Promise<string>;
  readonly #settings: Pick<IsolationSettings, 'packageFolders' | 'level' | 'authorities'>;

  /**
   * `user` is the user of the processes; null: the server's own. Throws when the folder is not the server's, or is out
   * of that user's reach.
   */
  constructor(
    base: string,
    user: CodeUser | null = null,
    settings: Pick<IsolationSettings, 'packageFolders' | 'level' | 'authorities'> = { level: 'process' },
  ) {
    this.#user = user;
    this.#settings = settings;
    openBase(base, user);
    // The permission model compares resolved paths.
    this.#base = realpathSync(resolve(base));
    if (user !== null) mark(this.#base);
    this.#childCode = childCode();
    this.#childCode.catch(() => {}); // every start reports it
  }

  /**
   * Creates a folder, named after this server's process. `user`: the process's user, which differs from the runner's
   * where each owner has its own.
   */
  async make(user: CodeUser | null = this.#user): Promise<string> {
    const code = await this.#childCode;
    if (this.#user !== null) {
      // Another server that used the folder may have ended, or have taken it for abandoned before this one's mark was there.
      openBase(this.#base, this.#user);
      mark(this.#base);
    }
    // Synchronous: some hundred microseconds, where each asynchronous call would delay the start by a turn.
    const dir = mkdtempSync(join(this.#base, `${process.pid}-`));
    mkdirSync(join(dir, 'code'));
    mkdirSync(join(dir, 'tmp'));
    writeFileSync(join(dir, CHILD_FILE), code);
    const { packageFolders, level, authorities } = this.#settings;
    if (authorities !== undefined) writeFileSync(join(dir, AUTHORITIES_FILE), authorities);
    if (packageFolders) linkPackages(dir, packageFolders(), level === 'jail');
    if (user !== null) handOver(dir, user);
    return dir;
  }

  /** Writes the bundles while the process starts. `inside`: the folder's path inside the process. */
  async fill(dir: string, { steps }: Deployment, inside: string = dir): Promise<StepFile[]> {
    const writing = steps.flatMap(({ namespace, bundle, sourceMap }) => {
      const file = join(dir, 'code', `${namespace}.mjs`);
      return [this.#write(file, bundle), this.#write(`${file}.map`, sourceMap)];
    });
    await Promise.all(writing);
    return steps.map(({ id, namespace }) => {
      const file = join(inside, 'code', `${namespace}.mjs`);
      return { id, namespace, file, mapFile: `${file}.map` };
    });
  }

  async #write(file: string, text: string): Promise<void> {
    await writeFile(file, text);
    if (this.#user !== null) await chmod(file, READABLE);
  }

  /** Records the process for `sweep`. */
  notePid(dir: string, pid: number): void {
    writeFileSync(join(dir, 'pid'), String(pid));
  }

  async remove(dir: string): Promise<void> {
    await removeFolder(dir).catch(() => {});
  }

  /** Removes its own folder too, where no later server may ever do so, unless another server still uses it. */
  close(): void {
    if (this.#user === null) return;
    unmark(this.#base);
    try {
      rmdirSync(this.#base);
    } catch {
      // it is not empty, or gone
    }
  }

  /** Deletes what killed servers left behind: their folders, and processes in endless loops, which do not notice. */
  async sweep(): Promise<void> {
    for (const name of readdirSync(this.#base)) {
      const owner = Number(OWNER.exec(name)?.[1] ?? process.pid);
      if (owner === process.pid || isAlive(owner)) continue;
      const dir = join(this.#base, name);
      killLeftOver(dir);
      await this.remove(dir);
    }
    if (this.#user === null) return;
    for (const folder of abandonedBeside(this.#base, isAlive)) {
      for (const name of readdirSync(folder)) killLeftOver(join(folder, name));
      const taken = takeAbandoned(folder, isAlive);
      if (taken !== null) await this.remove(taken);
    }
  }
}

/**
 * Opens the base folder: other users may pass through it, but not list it. It may lie where every user may create
 * files, so it must belong to the server: in another user's folder, that user could replace the code.
 */
function openBase(base: string, user: CodeUser | null): void {
  mkdirSync(base, { recursive: true });
  if (user === null) return;
  const { uid, mode, isLink } = look(base);
  if (isLink || uid !== process.getuid?.() || (mode & 0o022) !== 0) throw new Error(`${base} belongs to another user`);
  chmodSync(base, 0o711);
  for (let dir = realpathSync(base); dir !== dirname(dir); dir = dirname(dir)) {
    if ((look(dir).mode & 0o001) !== 0) continue;
    throw new Error(`user ${user.uid} may not go through ${dir}: TMPDIR may name another place`);
  }
}

function look(path: string): { readonly uid: number; readonly mode: number; readonly isLink: boolean } {
  const stats = lstatSync(path);
  return { uid: stats.uid, mode: stats.mode, isLink: stats.isSymbolicLink() };
}

function handOver(dir: string, { uid, gid }: CodeUser): void {
  for (const folder of [dir, join(dir, 'code')]) {
    chownSync(folder, -1, gid);
    chmodSync(folder, 0o750);
  }
  for (const file of [CHILD_FILE, AUTHORITIES_FILE]) {
    if (existsSync(join(dir, file))) chmodSync(join(dir, file), READABLE);
  }
  chmodSync(join(dir, 'tmp'), 0o700);
  chownSync(join(dir, 'tmp'), uid, gid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Kills the process only where /proc shows that the id still means that process. */
function killLeftOver(dir: string): void {
  try {
    const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dir)) process.kill(pid, 'SIGKILL');
  } catch {
    // it is gone already, or there is no /proc
  }
}
