// Starts the process that bundles, kept in as the level says. Node's permission model closes the disk to it but for the
// program and the folders that code may be made of; the bundler, which is no Node, is closed out by the system:
//
//   jail     bubblewrap: no network, no other processes, and no files but those
//   process  another user, where the server is root
//
// Neither runs users' code. The jail is built by the server's own user and not the code's, who may not be allowed to read
// the folders: inside it has no rights but to read what it is shown.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KIB } from '../../domain/limits.ts';
import { inheritedDescriptors } from '../descriptors.ts';
import { underLimits } from '../hardening.ts';
import type { CodeUser, IsolationSettings } from '../isolation.ts';
import { systemArguments } from '../jail.ts';
import type { BundlerSetup } from './protocol.ts';

/** Where the process is confined: by what level, and to what folders. */
export interface BundlerPlace {
  readonly level: IsolationSettings['level'];
  readonly user: CodeUser | null;
  /** Absolute; those that are not there are left out. Null: the whole disk, for code that is the operator's own. */
  readonly roots: readonly string[] | null;
}

/** `.ts` in the checkout, `.js` in the published package. */
const PROGRAM = fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url));
/** Of the whole program: modules of the platform become part of bundles. */
const SOURCES = fileURLToPath(new URL('../../', import.meta.url));
const NODE = '/usr/bin/node';
const PATH = '/usr/local/bin:/usr/bin:/bin:/run/wrappers/bin:/run/current-system/sw/bin';
const HEAP_MB = 512;
const DESCRIPTORS = 4096;
const ENV = { TZ: 'UTC', TMPDIR: '/tmp', PATH: '/nonexistent' };
const INFO_FD = 4;
const TMP_BYTES = String(1024 * KIB);

/** `child`'s process group is the bundler's, too. */
export function startBundler(place: BundlerPlace): ChildProcess {
  const { level, user, roots } = place;
  const isJailed = level === 'jail' && roots !== null;
  const close = inheritedDescriptors().filter((descriptor) => descriptor > (isJailed ? INFO_FD : 3));
  const needs = roots === null ? [] : [...programFiles(), ...placesOf(roots)];
  const setup: BundlerSetup = { close, user: isJailed || roots === null ? null : user, needs };
  const node = [...nodeFlags(roots === null ? null : needs), PROGRAM, JSON.stringify(setup)];
  if (!isJailed) {
    // It reads many files at once, and writes none.
    const limits = { descriptors: DESCRIPTORS, fileBytes: KIB, threads: null };
    const [command = '', ...args] = underLimits([process.execPath, ...node], limits);
    return spawn(command, args, {
      cwd: '/',
      env: ENV,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
  }
  const env = Object.entries(ENV).flatMap(([name, value]) => ['--setenv', name, value]);
  const tmp = ['/tmp', '/dev/shm'].flatMap((path) => ['--size', TMP_BYTES, '--tmpfs', path]); // folders may lie below these
  const args = [...systemArguments('none'), ...tmp, ...bindsOf(needs), '--remount-ro', '/', '--chdir', '/'];
  return spawn('bwrap', [...args, ...env, '--', NODE, ...node], {
    cwd: '/',
    env: { PATH },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
}

/** By the names that they were given, and by those that they have. */
function placesOf(roots: readonly string[]): string[] {
  const there = roots.map((root) => resolve(root)).filter((root) => existsSync(root));
  return [...new Set(there.flatMap((root) => [root, realpathSync(root)]))];
}

/** What its program is made of. */
function programFiles(): string[] {
  const require = createRequire(import.meta.url);
  const esbuild = dirname(require.resolve('esbuild/package.json'));
  const binary = dirname(
    createRequire(join(esbuild, 'package.json')).resolve(`@esbuild/${platform()}-${arch()}/package.json`),
  );
  return [SOURCES, esbuild, binary].map((path) => path.replace(/\/$/, ''));
}

/** The scopes of packages above them are asked for whether their files are modules. */
function scopesOf(paths: readonly string[]): string[] {
  const scopes = new Set<string>();
  for (const path of paths) {
    for (let dir = dirname(path); dir !== dirname(dir); dir = dirname(dir)) scopes.add(join(dir, 'package.json'));
  }
  return [...scopes];
}

/** None that hides a module of Node's: code that imports one would be refused as if it named a package. */
function nodeFlags(readable: readonly string[] | null): string[] {
  const common = [`--max-old-space-size=${HEAP_MB}`, '--no-warnings', '--no-addons'];
  if (readable === null) return common;
  return [
    ...common,
    '--permission',
    '--allow-child-process',
    '--allow-worker',
    ...[...readable.flatMap((path) => [path, join(path, '*')]), ...scopesOf(programFiles())].map(
      (path) => `--allow-fs-read=${path}`,
    ),
  ];
}

function bindsOf(needs: readonly string[]): string[] {
  const scopes = scopesOf(programFiles()).filter((path) => existsSync(path));
  return [...needs, ...scopes].flatMap((path) => ['--ro-bind', realpathSync(path), path]);
}
