// The package as its users get it: built and packed aside, and installed by npm in a folder of its own.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { swap } from '../../release/package-readme.ts';
import { buildServer } from '../../release/server-program.ts';
import { SHRINKWRAP } from '../../release/shrinkwrap.ts';

export const ROOT = join(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/.bin/tsc');
const ALWAYS_PACKED = ['package.json', 'README.md', 'LICENSE'];

const run = promisify(execFile);

export interface Server extends AsyncDisposable {
  readonly url: string;
  /** Lets it end by itself. */
  stop(): Promise<void>;
}

export interface Installed extends AsyncDisposable {
  /** Where its user's program lies; the package is in node_modules below it. */
  readonly dir: string;
  /** Paths in the tarball. */
  readonly packed: readonly string[];
  /** Installs what the package pins, in a folder of its own; returns the lockfile of what is there then. */
  pinned(): Promise<string>;
  /** Runs the installed command, and returns what it prints. */
  errand(args: string[], env?: Record<string, string>): Promise<string>;
  /** `errand start`, until it listens. `node`: the Node.js that runs it. */
  start(env: Record<string, string>, node?: string): Promise<Server>;
  /** Runs a program of the user's, a module of JavaScript, and returns what it prints as JSON. */
  program(code: string, ...args: string[]): Promise<unknown>;
  /** What the compiler says of a program in TypeScript that uses the package. */
  typeCheck(code: string): Promise<string>;
}

/** Dependencies come from npm's cache, where `npm ci` has put them; what is missing there from the registry. */
export async function install(): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), 'errand-package-'));
  const dispose = () => rm(folder, { recursive: true, force: true });
  try {
    const { tarball, packed } = await pack(folder);
    const dir = join(folder, 'app');
    await mkdir(dir);
    await writeFile(join(dir, 'package.json'), '{"type": "module"}');
    await npm(dir, ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', tarball]);
    return { ...installedAt(dir), packed, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Not in the repository's own folder, which would be left with a `dist`. */
async function pack(folder: string): Promise<{ tarball: string; packed: string[] }> {
  const from = join(folder, 'package');
  const made = (path: string) => path.startsWith('dist/') || path === SHRINKWRAP;
  // `!path` is left out by npm itself.
  const copied = [...ALWAYS_PACKED, ...manifest.files.filter((path) => !made(path) && !path.startsWith('!'))];
  for (const path of copied) await cp(join(ROOT, path), join(from, path), { recursive: true });
  await mkdir(join(from, 'release'));
  await swap(from);
  await buildServer(join(from, 'dist'));
  await cp(join(ROOT, 'dist/dashboard'), join(from, 'dist/dashboard'), { recursive: true });
  await run(process.execPath, [join(ROOT, 'release/shrinkwrap.ts'), from]);
  const { stdout } = await npm(from, ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]);
  const packed = Object.values(JSON.parse(stdout))[0] as { filename: string; files: { path: string }[] };
  return { tarball: join(folder, packed.filename), packed: packed.files.map(({ path }) => path) };
}

function npm(cwd: string, args: string[]): Promise<{ stdout: string }> {
  // What `npm test` says of this repository is not meant for the npm that works elsewhere.
  const ours = /^(npm_(package|lifecycle|config_local_prefix|config_prefix)|INIT_CWD)/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
  return run('npm', args, { cwd, env, maxBuffer: 1e8 });
}

async function pinnedBy(packageDir: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-pinned-'));
  try {
    // What is for development is in the manifest, and not in the shrinkwrap.
    const { devDependencies: _, ...shipped } = manifest;
    await writeFile(join(dir, 'package.json'), JSON.stringify(shipped));
    await cp(join(packageDir, SHRINKWRAP), join(dir, SHRINKWRAP));
    await npm(dir, ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']);
    return await readFile(join(dir, 'node_modules/.package-lock.json'), 'utf8');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function installedAt(dir: string): Omit<Installed, 'packed' | typeof Symbol.asyncDispose> {
  const command = join(dir, 'node_modules/.bin/errand');
  // The command begins with `#!/usr/bin/env node`, and this Node is the one to find.
  const PATH = `${join(process.execPath, '..')}:${process.env.PATH}`;
  return {
    dir,
    pinned: () => pinnedBy(join(dir, 'node_modules/errand')),
    errand: async (args, env = {}) => (await run(command, args, { cwd: dir, env: { PATH, ...env } })).stdout,
    start: async (env, node = process.execPath) => {
      const path = `${join(node, '..')}:${process.env.PATH}`;
      const child = spawn(node, [command, 'start'], {
        cwd: dir,
        env: { PATH: path, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const exited = once(child, 'exit');
      let [stdout, stderr] = ['', ''];
      child.stderr.on('data', (part) => {
        stderr += part;
      });
      const url = await new Promise<string>((resolve, reject) => {
        child.stdout.on('data', (part) => {
          stdout += part;
          const found = /listens on (\S+)/.exec(stdout)?.[1];
          if (found !== undefined) resolve(found);
        });
        exited.then(() => reject(new Error(`errand exited: ${stderr}`)), reject);
      });
      return {
        url,
        stop: async () => {
          child.kill('SIGTERM');
          await exited;
        },
        [Symbol.asyncDispose]: async () => {
          child.kill('SIGKILL');
          await exited;
        },
      };
    },
    program: async (code, ...args) => {
      const file = join(dir, 'program.js');
      await writeFile(file, code);
      return JSON.parse((await run(process.execPath, [file, ...args], { cwd: dir })).stdout);
    },
    typeCheck: async (code) => {
      await writeFile(join(dir, 'program.ts'), code);
      const types = ['--types', 'node,express', '--typeRoots', join(ROOT, 'node_modules/@types')];
      const options = [
        '--ignoreConfig',
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--target',
        'es2024',
        ...types,
        'program.ts',
      ];
      return run(TSC, options, { cwd: dir }).then(
        ({ stdout }) => stdout,
        ({ stdout }) => stdout,
      );
    },
  };
}
