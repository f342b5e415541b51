// Checks types with the TypeScript of the project, when it has one: `errand dev` with each save, `errand deploy --check` before
// anything is sent. Errand itself strips types and never looks at them.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';

export interface TypeScriptProject {
  /** The program `tsc` of the project. */
  readonly tsc: string;
  readonly config: string;
}

/** Returns null when the folder, or one above it, has no tsconfig.json, or no TypeScript is installed there. */
export async function findTypeScript(dir: string): Promise<TypeScriptProject | null> {
  const [tsc, config] = [await findAbove(dir, 'node_modules/.bin/tsc'), await findConfig(dir)];
  return tsc === null || config === null ? null : { tsc, config };
}

/** Returns the tsconfig.json of the folder, or of one above it. */
export function findConfig(dir: string): Promise<string | null> {
  return findAbove(dir, 'tsconfig.json');
}

async function findAbove(dir: string, name: string): Promise<string | null> {
  for (let at = dir; ; at = dirname(at)) {
    const path = join(at, name);
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
    if (at === dirname(at)) return null;
  }
}

export interface CheckedTypes {
  readonly ok: boolean;
  /** What `tsc` says, a problem a line. */
  readonly lines: readonly string[];
}

/** Runs `tsc`, which writes nothing. `onStart`: gets its process, to be ended early. */
export async function checkTypes(
  { tsc, config }: TypeScriptProject,
  onStart: (child: ChildProcess) => void = () => undefined,
): Promise<CheckedTypes> {
  const cwd = dirname(config);
  const child = spawn(tsc, ['--noEmit', '--pretty', 'false', '-p', config], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  onStart(child);
  const ended = once(child, 'close');
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr), ended]).catch(
    (error: Error): [string, string] => ['', `${relative(process.cwd(), tsc)}: ${error.message}`],
  );
  return { ok: child.exitCode === 0, lines: `${said}${complained}`.split(/\r?\n/).filter((line) => line !== '') };
}

/** A third of the share of another process: with the lowest priority it would take minutes on a busy machine. */
const NICE = 5;

/** Lets the deployment of what was saved go first: both begin at the same time. */
function giveWay({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, NICE);
  } catch {
    // It has ended.
  }
}

/** Checks types again and again: one check at a time, the next one for all that was asked meanwhile. */
export class TypeChecks {
  readonly #project: TypeScriptProject;
  readonly #told: (checked: CheckedTypes) => void;
  #child: ChildProcess | null = null;
  #isAsked = false;
  #isStopped = false;

  constructor(project: TypeScriptProject, told: (checked: CheckedTypes) => void) {
    this.#project = project;
    this.#told = told;
  }

  ask(): void {
    this.#isAsked = true;
    // What is under way looks at files of before.
    if (this.#child !== null) this.#child.kill();
    else void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    this.#child?.kill();
  }

  async #run(): Promise<void> {
    while (this.#isAsked && !this.#isStopped) {
      this.#isAsked = false;
      const checked = await checkTypes(this.#project, (child) => {
        giveWay(child);
        this.#child = child;
      });
      this.#child = null;
      if (!this.#isAsked && !this.#isStopped) this.#told(checked);
    }
  }
}
