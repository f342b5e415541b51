// `node test/run.ts <part> [file ...]`: runs one part of the tests (parts.ts), or some files of it, and ends with its exit code.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { argumentsOf, PARTS } from './parts.ts';

const ROOT = join(import.meta.dirname, '..');

const [wanted, ...files] = process.argv.slice(2);
const part = PARTS.find((name) => name === wanted);
if (part === undefined) throw new Error(`usage: node test/run.ts ${PARTS.join('|')} [file ...]`);
const child = spawn(process.execPath, argumentsOf(part, files.length > 0 ? files : undefined), {
  cwd: ROOT,
  stdio: 'inherit',
  env: { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/node'), ...process.env, ERRAND_TEST_PART: part },
});
// The tests end first, and take down what they started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
