// A folder of workflow files (ERRAND_WORKFLOWS_DIR): deployed at the start, and whenever they change.
//
// The scan decides: it stamps every file, and a workflow is bundled again when a stamp of its inputs has changed. The
// watcher only triggers the next scan early, and may miss changes. A file that does not compile, or throws when it is
// loaded, is told once for each problem (file-errors.ts), and its last good deployment stays active.
//
// Editors truncate a file before they write it, write it in several steps, or move it away first. Bundling begins at once, and what
// it yields is written only when its files are still the same; a problem is told, and a file counts as removed, only when that
// has lasted (`Doubts`). (Rejected: waiting for quiet first. It was 50 ms of each save, and no protection from slower writers.)

import { type FSWatcher, watch } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSent } from '../../domain/files/file-mark.ts';
import { LOST_EXPORT, NOT_EXPORTED } from '../../domain/files/no-workflow.ts';
import { ENV_FILE, variablesOf } from '../../env-file.ts';
import type { BundledFile, WorkflowFile } from '../../runner/bundling/bundle-file.ts';
import { formatProblem } from '../../runner/bundling/bundle-options.ts';
import { StoreUnavailable } from '../../store/contract/unavailable.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import type { FileDeployer } from './deploy.ts';
import { Doubts } from './doubts.ts';
import type { BrokenFile, TellBroken } from './file-errors.ts';
import { mayBeWorkflow, type Scan, scanFolder, stampOf } from './scan.ts';

export interface FolderDeps extends Pick<LoopPorts, 'random' | 'log' | 'outage'> {
  readonly bundleFile: (file: WorkflowFile) => Promise<BundledFile>;
  /** Starts what bundles ahead of its first file; a hint. */
  readonly prepareBundling: () => void;
  readonly deployer: FileDeployer;
  readonly dir: string;
  /** Packages that files may import besides those of the folder; null: none. */
  readonly packagesDir: string | null;
  readonly ownerId: () => Promise<string>;
  /** Tells the owner of a file that cannot be deployed. */
  readonly tellBroken: TellBroken;
  /** A clock that never jumps. */
  readonly nowMs?: () => number;
}

interface KnownFailure {
  /** The workflow's files: absolute paths; null: a change of any file of the folder may correct the problem. */
  readonly inputs: readonly string[] | null;
  readonly stamp: string;
}

/** One look at one file. */
interface Looking {
  readonly ownerId: string;
  readonly path: string;
  readonly scan: Scan;
  readonly env: Record<string, string>;
  /** Whether it is the first look after the start. */
  readonly isFirst: boolean;
}

const POLL_MS = 2000;
/** A save is several events. */
const QUIET_MS = 10;
/** So long after the last event, files must be as they were when their bundle was begun. */
const STILL_MS = 50;
/** How long a problem must last before it is told: that of an empty file longer, since it is about to be written. */
const WRONG_MS = 400;
const EMPTY_MS = 2000;
const GONE_MS = 300;
const AT_ONCE = 4;
/** Key of reports about no single file; paths of files are absolute. */
const UNREADABLE = '/unreadable';
const EMPTY = '/empty';

export class WorkflowFolder {
  readonly #deps: FolderDeps;
  readonly #loop: Loop;
  #dir: string;
  readonly #known = new Map<string, KnownFailure>();
  /** Of workflows that were deployed, by the paths of their files. */
  readonly #names = new Map<string, string>();
  /** The last report about each file with a problem. */
  readonly #reported = new Map<string, string>();
  /** Keys of existing workflows; null before they were read. */
  #deployedPaths: Set<string> | null = null;
  #ownerId: string | null = null;
  /** Problems that are not told yet, and files that are missing. */
  readonly #wrong = new Doubts();
  readonly #missing = new Doubts();
  readonly #nowMs: () => number;
  #changedAt = Number.NEGATIVE_INFINITY;
  #watchers = new Map<string, FSWatcher>();
  #quiet: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(deps: FolderDeps) {
    this.#deps = deps;
    this.#dir = deps.dir;
    this.#nowMs = deps.nowMs ?? (() => performance.now());
    this.#loop = new Loop({ name: 'workflow files', tick: () => this.#tick(), maxWaitMs: POLL_MS }, deps);
  }

  /** Resolves when every valid file has been deployed. Rejects when the folder cannot be read. */
  async start(): Promise<void> {
    // The bundler names files by their real paths.
    this.#dir = await realpath(this.#deps.dir);
    await scanFolder(this.#dir, this.#deps.packagesDir);
    // The loop retries when storage failed.
    await this.#tick().catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, 'workflow files could not all be deployed; trying again');
    });
    this.#loop.start();
  }

  /** Stops, and aborts deployments under way. May be called twice. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#quiet);
    for (const watcher of this.#watchers.values()) watcher.close();
    await this.#loop.stop();
  }

  async #tick(): Promise<number> {
    const lookedAtMs = this.#nowMs();
    const scan = await this.#scan();
    if (scan === null) return POLL_MS;
    this.#watch(scan.folders);
    this.#ownerId ??= await this.#deps.ownerId();
    const ownerId = this.#ownerId;
    const isFirst = this.#deployedPaths === null;
    this.#wrong.next(lookedAtMs);
    this.#deployedPaths ??= new Set((await this.#deps.deployer.listFiles(ownerId)).filter((key) => !isSent(key)));
    const paths = [...scan.stamps.keys()].filter(mayBeWorkflow).sort();
    const env = await this.#env();
    const due = await Promise.all(paths.map(async (path) => ((await this.#isDue(path, scan)) ? path : null)));
    const left = due.filter((path) => path !== null);
    const take = async (): Promise<void> => {
      for (let path = left.shift(); path !== undefined && !this.#stopped; path = left.shift()) {
        const looking = { ownerId, path, scan, env, isFirst };
        await this.#deploy(looking).catch((error: unknown) => this.#fail(looking, error));
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, take));
    const failed = ended.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    if (this.#isEmptied(scan)) return Math.min(POLL_MS, this.#wrong.leftMs);
    const goneMs = await this.#removeGone(ownerId, { paths: new Set(paths), isFirst, lookedAtMs });
    return Math.min(goneMs, this.#wrong.leftMs);
  }

  /** Returns null when the folder cannot be read: no file counts as removed then. */
  async #scan(): Promise<Scan | null> {
    try {
      const scan = await scanFolder(this.#dir, this.#deps.packagesDir);
      this.#reported.delete(UNREADABLE);
      return scan;
    } catch (error) {
      this.#report(UNREADABLE, String(error), (problem) => {
        this.#deps.log.error({ dir: this.#dir, problem }, 'the folder of workflow files cannot be read');
      });
      return null;
    }
  }

  async #isDue(path: string, scan: Scan): Promise<boolean> {
    const known = this.#known.get(path);
    return known === undefined || known.stamp !== (await this.#stamp(known.inputs, scan));
  }

  async #stamp(inputs: readonly string[] | null, { stamps, around }: Scan): Promise<string> {
    if (inputs === null) return [...stamps, around].join();
    const ours = inputs.map((input) => stamps.get(this.#pathOf(input)) ?? stampOf(input));
    return [...(await Promise.all(ours)), around].join();
  }

  /** Returns the path in the folder, with slashes; empty: the file is elsewhere. */
  #pathOf(input: string): string {
    return input.startsWith(this.#dir + sep) ? input.slice(this.#dir.length + 1).replaceAll(sep, '/') : '';
  }

  async #deploy(looking: Looking): Promise<void> {
    const { ownerId, path, scan, env } = looking;
    const { deployer, bundleFile } = this.#deps;
    const source = await readFile(resolve(this.#dir, path), 'utf8').catch(() => '');
    const bundled = await bundleFile({ dir: this.#dir, path });
    const know = async (inputs: readonly string[] | null): Promise<void> => {
      this.#known.set(path, { inputs, stamp: await this.#stamp(inputs, scan) });
    };
    const refuse = async (problems: readonly string[], inputs: readonly string[] | null = null): Promise<void> => {
      if (await this.#refuse(looking, { ownerId, key: path, source, problems })) await know(inputs);
    };
    if (bundled.kind === 'broken') return refuse(bundled.problems.map(formatProblem));
    if (bundled.kind === 'module') {
      const isWorkflow = this.#deployedPaths?.has(path);
      if (isWorkflow) return refuse([`${path}:1:1: ${LOST_EXPORT}`], bundled.inputs);
      if (!bundled.definesWorkflow) this.#rightAgain(path);
      else if (!this.#warn(looking)) return;
      return know(bundled.inputs);
    }
    const { bundle, sourceMap, inputs } = bundled;
    const file = { key: path, project: null, source, bundle, sourceMap, env };
    const deployed = await deployer.deployIf(ownerId, file, () => this.#isStill(inputs, scan));
    if (this.#stopped || deployed === null) return;
    if (deployed.kind === 'refused') return refuse([deployed.problem].map(formatProblem));
    await know(inputs);
    this.#deployedPaths?.add(path);
    this.#named(path, deployed.name);
    if (deployed.kind === 'same') return this.#rightAgain(path);
    this.#reported.delete(path);
    const { workflowId, deploymentId } = deployed;
    this.#deps.log.info({ file: path, workflow: workflowId, deployment: deploymentId }, 'workflow file deployed');
  }

  /** Warns of a name that another file has, too: commands and lists that name workflows do not tell them apart. */
  #named(path: string, name: string): void {
    if (this.#names.get(path) === name) return;
    this.#names.set(path, name);
    const other = [...this.#names].find(([one, its]) => its === name && one !== path)?.[0];
    if (other !== undefined)
      this.#deps.log.warn({ file: path, other, name }, `${other} has the same name, ${JSON.stringify(name)}`);
  }

  /** Returns whether files are as the scan found them. Others than the folder's own are not asked for. */
  async #isStill(inputs: readonly string[], { stamps }: Scan): Promise<boolean> {
    const sinceMs = this.#nowMs() - this.#changedAt;
    if (sinceMs < STILL_MS) await sleep(STILL_MS - sinceMs);
    const paths = inputs.map((input) => this.#pathOf(input)).filter((path) => stamps.has(path));
    const now = await Promise.all(paths.map((path) => stampOf(join(this.#dir, path))));
    const isStill = now.every((stamp, i) => stamp === stamps.get(paths[i] as string));
    // The event of the change may have been before this scan, and its stamp after it.
    if (!isStill) this.#loop.wake();
    return isStill;
  }

  /** Tells that what was told of a file is over, where no deployment says so. */
  #rightAgain(path: string): void {
    if (this.#reported.delete(path)) this.#deps.log.info({ file: path }, 'workflow file is right again');
  }

  /** Returns whether all of several files are missing: more likely a folder that is not mounted than an emptied one. */
  #isEmptied({ stamps }: Scan): boolean {
    const isEmptied = stamps.size === 0 && (this.#deployedPaths?.size ?? 0) > 1;
    if (!isEmptied) this.#reported.delete(EMPTY);
    else {
      this.#report(EMPTY, 'empty', () => {
        this.#deps.log.error({ dir: this.#dir }, 'the folder of workflow files is empty: no workflow is disabled');
      });
    }
    return isEmptied;
  }

  async #removeGone(
    ownerId: string,
    now: { paths: ReadonlySet<string>; isFirst: boolean; lookedAtMs: number },
  ): Promise<number> {
    const gone = [...(this.#deployedPaths ?? [])].filter((path) => !now.paths.has(path));
    this.#missing.next(now.lookedAtMs);
    for (const path of gone) {
      if (this.#stopped || !(now.isFirst || this.#missing.hasLasted(path, 'missing', GONE_MS))) continue;
      await this.#deps.deployer.removeFile(ownerId, path);
      this.#deployedPaths?.delete(path);
      this.#known.delete(path);
      this.#names.delete(path);
      this.#reported.delete(path);
      this.#deps.log.info({ file: path }, 'workflow file was deleted: its workflow is disabled');
    }
    return this.#missing.leftMs;
  }

  /** Reports an error. Only a failure of storage is retried. */
  async #fail(looking: Looking, error: unknown): Promise<void> {
    if (error instanceof StoreUnavailable) throw error;
    const { ownerId, path } = looking;
    const broken = { ownerId, key: path, source: '', problems: [`${path}:1:1: ${String(error)}`] };
    if (!(await this.#refuse(looking, broken))) return;
    const scan = await this.#scan();
    if (scan !== null) this.#known.set(path, { inputs: null, stamp: await this.#stamp(null, scan) });
  }

  /** Warns of a file that is probably meant to be a workflow; else as `#refuse`: it may be for others to import. */
  #warn({ path, scan, isFirst }: Looking): boolean {
    const isKnown = isFirst || this.#reported.get(path) === NOT_EXPORTED;
    if (!isKnown && !this.#wrong.hasLasted(path, `${scan.stamps.get(path)} ${NOT_EXPORTED}`, WRONG_MS)) return false;
    this.#report(path, NOT_EXPORTED, () => {
      this.#deps.log.warn({ file: path, problems: [NOT_EXPORTED] }, 'workflow file not deployed');
    });
    return true;
  }

  /** Tells of a problem that has lasted. Returns false when it has not, and the file is to be looked at again. */
  async #refuse({ path, scan, isFirst }: Looking, broken: BrokenFile): Promise<boolean> {
    const { source, problems } = broken;
    const problem = problems.join('\n');
    const isKnown = isFirst || this.#reported.get(path) === problem;
    const forMs = source.trim() === '' ? EMPTY_MS : WRONG_MS;
    if (!isKnown && !this.#wrong.hasLasted(path, `${scan.stamps.get(path)} ${problem}`, forMs)) return false;
    const isNew = this.#report(path, problem, () => {
      const stays = this.#deployedPaths?.has(path) ? ': its last good deployment stays' : '';
      this.#deps.log.error({ file: path, problems }, `workflow file refused${stays}`);
    });
    if (!isNew) return true;
    try {
      await this.#deps.tellBroken(broken);
    } catch (error) {
      // To be told with the next scan.
      this.#reported.delete(path);
      throw error;
    }
    return true;
  }

  /** Returns whether it was not reported yet. */
  #report(about: string, problem: string, say: (problem: string) => void): boolean {
    if (this.#stopped || this.#reported.get(about) === problem) return false;
    this.#reported.set(about, problem);
    say(problem);
    return true;
  }

  /** Reads `.env` at the top of the folder, the environment of all files, so that code need not contain secrets. */
  async #env(): Promise<Record<string, string>> {
    return variablesOf(await readFile(join(this.#dir, ENV_FILE), 'utf8').catch(() => ''));
  }

  /** Watches each folder separately: Node's recursive watching would open every file of every package. */
  #watch(folders: readonly string[]): void {
    const wanted = new Set(folders);
    for (const [folder, watcher] of this.#watchers) if (!wanted.has(folder)) this.#unwatch(folder, watcher);
    for (const folder of folders) {
      if (this.#stopped || this.#watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#changed());
        watcher.on('error', () => this.#unwatch(folder, watcher));
        this.#watchers.set(folder, watcher);
      } catch {
        // No watcher available: the poll finds the change.
      }
    }
  }

  #unwatch(folder: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder);
  }

  #changed(): void {
    clearTimeout(this.#quiet);
    if (this.#stopped) return;
    this.#changedAt = this.#nowMs();
    this.#deps.prepareBundling();
    this.#quiet = setTimeout(() => this.#loop.wake(), QUIET_MS);
  }
}
