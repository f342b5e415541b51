// `node test/run.ts <part> [file ...]`: runs one part of the tests (parts.ts), or some files of it, and ends with its exit code.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { allFiles, argumentsOf, groupsOf, PARTS, type Part } from './parts.ts';

const ROOT = join(import.meta.dirname, '..');

const [wanted, ...files] = process.argv.slice(2);
const part = PARTS.find((name) => name === wanted);
if (part === undefined) throw new Error(`usage: node test/run.ts ${PARTS.join('|')} [file ...]`);
const groups = mkdtempSync(join(tmpdir(), 'errand-groups-'));
process.once('exit', () => rmSync(groups, { recursive: true, force: true }));
const child = spawn(process.execPath, argumentsOf(part, files.length > 0 ? files : inGroups(part)), {
  cwd: ROOT,
  stdio: 'inherit',
  env: { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/node'), ...process.env, ERRAND_TEST_PART: part },
});
// The tests end first, and take down what they started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});

/** Returns what Node is to run: files that share a process by one file that imports them. */
function inGroups(part: Part): string[] {
  const grouped = groupsOf(part);
  const alone = allFiles(part).filter((file) => !grouped.flat().includes(file));
  const written = grouped.map((files, n) => {
    const path = join(groups, `group-${String(n + 1).padStart(2, '0')}.test.mjs`);
    const imports = files.map((file) => `await import(${JSON.stringify(pathToFileURL(join(ROOT, file)).href)});\n`);
    writeFileSync(path, imports.join(''));
    return path;
  });
  return [...written, ...alone];
}
