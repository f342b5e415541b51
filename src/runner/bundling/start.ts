// Starts the process that bundles, isolated as the level says. Node's permission model closes the disk to it, except
// for the program and the folders of the code. The bundler is no Node program, so the system isolates it:
//
//   jail     bubblewrap: no network, no other processes, and no other files
//   process  another user, where the server is root
//
// At both levels the process has the limits and the filter of system calls of code, as far as the bundler can be
// started under them (main.ts), and its own cgroup where code has one.
//
// Neither program runs users' code. The server's own user builds the jail, since the code's user may not be allowed to
// read the folders. Inside, the process may only read what it is given.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, parse, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KIB } from '../../domain/limits.ts';
import { inheritedDescriptors } from '../isolation/descriptors.ts';
import { hardeningObstacle, underLimits } from '../isolation/hardening.ts';
import type { CodeUser, IsolationSettings } from '../isolation/isolation.ts';
import { FILTER, filterArguments, jailFilter, sendFilter, systemArguments } from '../isolation/jail.ts';
import { ownPackageFolders } from './own-packages.ts';
import { keptProgram, MODULES } from './program.ts';
import type { BundlerSetup } from './protocol.ts';

/** How the process is isolated: the level, its user and the folders it may read. */
export interface BundlerIsolation {
  readonly level: IsolationSettings['level'];
  readonly user: CodeUser | null;
  /** Absolute paths; missing ones are left out. Null: the whole disk, for the operator's own code. */
  readonly roots: readonly string[] | null;
}

/** The whole program: modules of the platform become part of bundles. */
const SOURCES = fileURLToPath(new URL('../../', import.meta.url));
const NODE = '/usr/bin/node';
const PATH = '/usr/local/bin:/usr/bin:/bin:/run/wrappers/bin:/run/current-system/sw/bin';
const HEAP_MB = 512;
/** The process reads many files at once, and writes none. */
const LIMITS_OF_BUNDLER = { descriptors: 4096, fileBytes: KIB, threads: null };
const ENV = { TZ: 'UTC', TMPDIR: '/tmp', PATH: '/nonexistent' };
const TMP_BYTES = String(1024 * KIB);

/** Starts the process. Its process group contains the bundler, too. */
export function startBundler(isolation: BundlerIsolation): ChildProcess {
  const { level, user, roots } = isolation;
  const isJailed = level === 'jail' && roots !== null;
  const close = inheritedDescriptors().filter((descriptor) => descriptor > (isJailed ? FILTER : 3));
  // Another user might not be allowed to read what is kept.
  const kept = isJailed || roots === null || user === null ? keptProgram() : null;
  const own = [...programFiles(), ...(kept === null ? [] : [kept])];
  const needs = roots === null ? [] : [...own, ...existingPaths(roots)];
  const hardens = hardeningObstacle() === null;
  const setup: BundlerSetup = {
    close,
    user: isJailed || roots === null ? null : user,
    limits: hardens ? LIMITS_OF_BUNDLER : null,
    parent: isJailed ? null : process.pid,
    needs,
  };
  const node = [...nodeFlags(roots === null ? null : needs, hardens), kept ?? MODULES, JSON.stringify(setup)];
  if (!isJailed) {
    const plain = [process.execPath, ...node];
    const [command = '', ...args] = hardens ? plain : underLimits(plain, LIMITS_OF_BUNDLER);
    return spawn(command, args, {
      cwd: '/',
      env: ENV,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
  }
  const env = Object.entries(ENV).flatMap(([name, value]) => ['--setenv', name, value]);
  const tmp = ['/tmp', '/dev/shm'].flatMap((path) => ['--size', TMP_BYTES, '--tmpfs', path]); // folders may lie below these
  const folders = [...linksOf(), ...bindsOf(needs)];
  const args = [...systemArguments('none'), ...tmp, ...folders, '--remount-ro', '/', '--chdir', '/'];
  const filter = jailFilter('bundling');
  const child = spawn('bwrap', [...args, ...filterArguments(filter), ...env, '--', NODE, ...node], {
    cwd: '/',
    env: { PATH },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', filter === null ? 'ignore' : 'pipe'],
  });
  if (filter !== null) sendFilter(child, filter);
  return child;
}

/** Returns the roots that exist, with their real paths. */
function existingPaths(roots: readonly string[]): string[] {
  const there = roots.map((root) => resolve(root)).filter((root) => existsSync(root));
  return [...new Set(there.flatMap((root) => [root, realpathSync(root)]))];
}

/**
 * Returns the folders that its program consists of, and those of the packages that code may import without a folder of packages;
 * real paths.
 */
function programFiles(): string[] {
  const require = createRequire(import.meta.url);
  const esbuild = dirname(require.resolve('esbuild/package.json'));
  const binary = dirname(
    createRequire(join(esbuild, 'package.json')).resolve(`@esbuild/${platform()}-${arch()}/package.json`),
  );
  const semver = dirname(require.resolve('semver/package.json'));
  return [SOURCES, esbuild, binary, semver, ...ownPackageFolders()].map((path) => path.replace(/\/$/, ''));
}

interface Link {
  readonly path: string;
  /** A real path. */
  readonly target: string;
}

/**
 * Returns the links on the way to the packages of the program, which Node follows to find them: `node_modules` may be one, and
 * so may a package in it.
 */
function programLinks(): Link[] {
  const folders = createRequire(import.meta.url).resolve.paths('esbuild') ?? [];
  const found = new Map<string, Link>();
  for (const name of ['esbuild', 'semver']) {
    const path = folders.map((folder) => join(folder, name)).find((one) => existsSync(join(one, 'package.json')));
    for (const link of path === undefined ? [] : linksOn(path)) found.set(link.path, link);
  }
  return [...found.values()];
}

/** Returns the links that a path goes through, also by other links. `path`: absolute; it exists, so no link leads to itself. */
function linksOn(path: string): Link[] {
  const links: Link[] = [];
  let { root: at } = parse(path);
  for (const name of path.slice(at.length).split(sep)) {
    const next = join(at, name);
    if (lstatSync(next).isSymbolicLink()) {
      links.push({ path: next, target: realpathSync(next) }, ...linksOn(resolve(at, readlinkSync(next))));
    }
    at = realpathSync(next);
  }
  return links;
}

/** Returns every package.json above the paths: Node reads them to learn whether files are modules. */
function scopesOf(paths: readonly string[]): string[] {
  const scopes = new Set<string>();
  for (const path of paths) {
    for (let dir = dirname(path); dir !== dirname(dir); dir = dirname(dir)) scopes.add(join(dir, 'package.json'));
  }
  return [...scopes];
}

/**
 * Returns Node's flags. No flag hides a module of Node's: an import of one would be refused as if it named a package.
 */
function nodeFlags(readable: readonly string[] | null, hardens: boolean): string[] {
  const ffi = hardens ? ['--experimental-ffi'] : [];
  const common = [`--max-old-space-size=${HEAP_MB}`, '--no-warnings', '--no-addons', ...ffi];
  if (readable === null) return common;
  return [
    ...common,
    '--permission',
    '--allow-child-process',
    '--allow-worker',
    ...(hardens ? ['--allow-ffi'] : []),
    ...[
      ...readable.flatMap((path) => [path, join(path, '*')]),
      ...scopesOf(programFiles()),
      ...programLinks().map(({ path }) => path),
    ].map((path) => `--allow-fs-read=${path}`),
  ];
}

/** Returns the arguments that make links. They come before folders are shown: one of these may have such a link in it. */
function linksOf(): string[] {
  return programLinks().flatMap(({ path, target }) => ['--symlink', target, path]);
}

function bindsOf(needs: readonly string[]): string[] {
  const scopes = scopesOf(programFiles()).filter((path) => existsSync(path));
  return [...needs, ...scopes].flatMap((path) => ['--ro-bind', realpathSync(path), path]);
}
