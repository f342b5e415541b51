// `node test/run.ts <part>`: runs one part of the tests (parts.ts), and ends with its exit code.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { argumentsOf, type Part } from './parts.ts';

const ROOT = join(import.meta.dirname, '..');
const PARTS: readonly Part[] = ['unit', 'sqlite', 'slow', 'postgres', 'rare', 'postgres:all'];

const part = PARTS.find((name) => name === process.argv[2]);
if (part === undefined) throw new Error(`usage: node test/run.ts ${PARTS.join('|')}`);
const child = spawn(process.execPath, argumentsOf(part), {
  cwd: ROOT,
  stdio: 'inherit',
  env: { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/node'), ...process.env },
});
// The tests end first, and take down what they started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
