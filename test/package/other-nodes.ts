// Other versions of Node.js than the one that runs the tests: from the registry, where npm gets the packages of a release, too.

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
  const dir = join(ROOT, 'node_modules/.cache', `${name}-${major}`);
  const path = join(dir, 'node_modules', name, 'bin/node');
  try {
    if (!existsSync(path)) {
      await mkdir(dir, { recursive: true });
      await writeFile(join(dir, 'package.json'), '{"private": true}');
      const args = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${major}`];
      await run('npm', args, { cwd: dir, timeout: 300_000 });
    }
    const { stdout } = await run(path, ['--version']);
    return stdout.startsWith(`v${major}.`) ? { path } : { why: `${path} is ${stdout.trim()}` };
  } catch (error) {
    return { why: `Node.js ${major} cannot be had here: ${String((error as { stderr?: unknown }).stderr || error)}` };
  }
}
