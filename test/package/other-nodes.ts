// Other versions of Node.js than the one that runs the tests, and of compilers: from the registry, where npm gets the packages of a
// release, too.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');

const run = promisify(execFile);

/**
 * Returns the program of the newest Node.js of a major version, which is kept for the next time; or, in words, why it cannot be had
 * here.
 */
export async function nodeOf(major: number): Promise<{ readonly path: string } | { readonly why: string }> {
  const name = `node-${process.platform}-${process.arch}`;
  return programOf({ name, version: String(major), program: 'bin/node', says: `v${major}.` });
}

/** Returns TypeScript's compiler of a version, such as 5.4, in the same way. */
export async function tscOf(version: string): Promise<{ readonly path: string } | { readonly why: string }> {
  return programOf({ name: 'typescript', version, program: 'bin/tsc', says: `Version ${version}.` });
}

interface Program {
  readonly name: string;
  readonly version: string;
  readonly program: string;
  readonly says: string;
}

async function programOf({ name, version, program, says }: Program) {
  const dir = join(ROOT, 'node_modules/.cache', `${name}-${version}`);
  const path = join(dir, 'node_modules', name, program);
  try {
    if (!existsSync(path)) {
      await mkdir(dir, { recursive: true });
      await writeFile(join(dir, 'package.json'), '{"private": true}');
      const args = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`];
      await run('npm', args, { cwd: dir, timeout: 300_000 });
    }
    const { stdout } = await run(path, ['--version']);
    return stdout.startsWith(says) ? { path } : { why: `${path} is ${stdout.trim()}` };
  } catch (error) {
    const why = String((error as { stderr?: unknown }).stderr || error);
    return { why: `${name} ${version} cannot be had here: ${why}` };
  }
}
