// A folder of workflow files (ERRAND_WORKFLOWS_DIR): deployed at the start, and whenever they change.
//
// The scan decides: it stamps every file, and a workflow is bundled again when a stamp of its inputs has changed. The
// watcher only triggers the next scan early, and may miss changes. A file that does not compile, or throws when it is
// loaded, is told once for each problem (file-errors.ts), and its last good deployment stays active. A file counts as removed when it is
// missing twice, since editors move a file away before they write it again.

import { type FSWatcher, watch } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { parseEnv } from 'node:util';
import { isSent } from '../../domain/files/file-mark.ts';
import type { Log, Random } from '../../ports.ts';
import type { BundledFile, WorkflowFile } from '../../runner/bundling/bundle-file.ts';
import { formatProblem } from '../../runner/bundling/bundle-options.ts';
import { StoreUnavailable } from '../../store/contract/store.ts';
import { Loop } from '../loop.ts';
import type { FileDeployer } from './deploy.ts';
import type { BrokenFile, TellBroken } from './file-errors.ts';
import { mayBeWorkflow, type Scan, scanFolder, stampOf } from './scan.ts';

export interface FolderDeps {
  readonly bundleFile: (file: WorkflowFile) => Promise<BundledFile>;
  readonly deployer: FileDeployer;
  readonly dir: string;
  /** Packages that files may import besides those of the folder; null: none. */
  readonly packagesDir: string | null;
  readonly ownerId: () => Promise<string>;
  /** Tells the owner of a file that cannot be deployed. */
  readonly tellBroken: TellBroken;
  readonly random: Random;
  readonly log: Log;
}

interface KnownFailure {
  /** The workflow's files: absolute paths; null: a change of any file of the folder may correct the problem. */
  readonly inputs: readonly string[] | null;
  readonly stamp: string;
}

const POLL_MS = 2000;
/** Editors and copies write a file in several steps. */
const QUIET_MS = 50;
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
  /** The last report about each file with a problem. */
  readonly #reported = new Map<string, string>();
  /** Keys of existing workflows; null before they were read. */
  #deployedPaths: Set<string> | null = null;
  #ownerId: string | null = null;
  #missing = new Set<string>();
  #watchers = new Map<string, FSWatcher>();
  #quiet: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(deps: FolderDeps) {
    this.#deps = deps;
    this.#dir = deps.dir;
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
    const scan = await this.#scan();
    if (scan === null) return POLL_MS;
    this.#watch(scan.folders);
    this.#ownerId ??= await this.#deps.ownerId();
    const ownerId = this.#ownerId;
    const isFirst = this.#deployedPaths === null;
    this.#deployedPaths ??= new Set((await this.#deps.deployer.listFiles(ownerId)).filter((key) => !isSent(key)));
    const paths = [...scan.stamps.keys()].filter(mayBeWorkflow).sort();
    const env = await this.#env();
    const due = await Promise.all(paths.map(async (path) => ((await this.#isDue(path, scan)) ? path : null)));
    const left = due.filter((path) => path !== null);
    const take = async (): Promise<void> => {
      for (let path = left.shift(); path !== undefined && !this.#stopped; path = left.shift()) {
        await this.#deploy({ ownerId, path, scan, env }).catch((error: unknown) => this.#fail(ownerId, path, error));
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, take));
    const failed = ended.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    if (this.#isEmptied(scan)) return POLL_MS;
    return await this.#removeGone(ownerId, { paths: new Set(paths), isFirst });
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
    const dir = this.#dir;
    const ours = inputs.map((input) => {
      const path = input.startsWith(dir + sep) ? input.slice(dir.length + 1).replaceAll(sep, '/') : '';
      return stamps.get(path) ?? stampOf(input);
    });
    return [...(await Promise.all(ours)), around].join();
  }

  async #deploy(looking: { ownerId: string; path: string; scan: Scan; env: Record<string, string> }): Promise<void> {
    const { ownerId, path, scan, env } = looking;
    const { deployer } = this.#deps;
    const dir = this.#dir;
    const source = await readFile(resolve(dir, path), 'utf8').catch(() => '');
    const bundled = await this.#deps.bundleFile({ dir, path });
    const know = async (inputs: readonly string[] | null): Promise<void> => {
      this.#known.set(path, { inputs, stamp: await this.#stamp(inputs, scan) });
    };
    const refuse = (problems: readonly string[]) => this.#refuse({ ownerId, key: path, source, problems });
    if (bundled.kind === 'broken') {
      await refuse(bundled.problems.map(formatProblem));
      return know(null);
    }
    if (bundled.kind === 'module') {
      if (this.#deployedPaths?.has(path)) await refuse([`${path}:1:1: it no longer has a default export`]);
      return know(bundled.inputs);
    }
    const { bundle, sourceMap, inputs } = bundled;
    const deployed = await deployer.deployFile(ownerId, { key: path, project: null, source, bundle, sourceMap, env });
    if (this.#stopped) return;
    if (deployed.kind === 'refused') {
      await refuse([deployed.problem].map(formatProblem));
      return know(null);
    }
    await know(inputs);
    this.#reported.delete(path);
    this.#deployedPaths?.add(path);
    if (deployed.kind === 'same') return;
    const { workflowId, deploymentId } = deployed;
    this.#deps.log.info({ file: path, workflow: workflowId, deployment: deploymentId }, 'workflow file deployed');
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

  async #removeGone(ownerId: string, now: { paths: ReadonlySet<string>; isFirst: boolean }): Promise<number> {
    const gone = [...(this.#deployedPaths ?? [])].filter((path) => !now.paths.has(path));
    const missedBefore = this.#missing;
    this.#missing = new Set(gone);
    for (const path of gone) {
      if (this.#stopped || !(now.isFirst || missedBefore.has(path))) continue;
      await this.#deps.deployer.removeFile(ownerId, path);
      this.#deployedPaths?.delete(path);
      this.#known.delete(path);
      this.#reported.delete(path);
      this.#missing.delete(path);
      this.#deps.log.info({ file: path }, 'workflow file was deleted: its workflow is disabled');
    }
    return this.#missing.size > 0 ? GONE_MS : Number.POSITIVE_INFINITY;
  }

  /** Reports an error. Only a failure of storage is retried. */
  async #fail(ownerId: string, path: string, error: unknown): Promise<void> {
    if (error instanceof StoreUnavailable) throw error;
    await this.#refuse({ ownerId, key: path, source: '', problems: [`${path}:1:1: ${String(error)}`] });
    const scan = await this.#scan();
    if (scan !== null) this.#known.set(path, { inputs: null, stamp: await this.#stamp(null, scan) });
  }

  async #refuse(broken: BrokenFile): Promise<void> {
    const { key: path, problems } = broken;
    const isNew = this.#report(path, problems.join('\n'), () => {
      const stays = this.#deployedPaths?.has(path) ? ': its last good deployment stays' : '';
      this.#deps.log.error({ file: path, problems }, `workflow file refused${stays}`);
    });
    if (!isNew) return;
    try {
      await this.#deps.tellBroken(broken);
    } catch (error) {
      // To be told with the next scan.
      this.#reported.delete(path);
      throw error;
    }
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
    const text = await readFile(join(this.#dir, '.env'), 'utf8').catch(() => '');
    return { ...parseEnv(text) } as Record<string, string>;
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
    if (!this.#stopped) this.#quiet = setTimeout(() => this.#loop.wake(), QUIET_MS);
  }
}
