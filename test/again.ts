// `node test/again.ts <failures> <part ...>`: runs the files of failed tests once more, each alone, and ends with 0 when all of
// them pass now and nothing else of these parts failed. A machine that others share stops a process for a second now and then,
// and of thousands of tests one may wait in vain for that. What passes only here is told, and is to be fixed like any other
// failure: more than six files are not tried again, nor a part that failed without saying where.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesAgain } from './parts.ts';

const [path, ...failedParts] = process.argv.slice(2);
if (path === undefined || failedParts.length === 0) throw new Error('usage: node test/again.ts <failures> <part ...>');
const failures = `${path}.files`;
const files = filesAgain(existsSync(failures) ? readFileSync(failures, 'utf8') : '', failedParts);
if (files === null) {
  process.exitCode = 1;
} else {
  for (const { part, file } of files) {
    console.error(`once more, alone: ${file} (${part})`);
    const { status } = spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), part, file], {
      stdio: 'inherit',
    });
    console.error(status === 0 ? `PASSED ONLY AT A SECOND TIME: ${file} (${part})` : `failed again: ${file} (${part})`);
    if (status !== 0) process.exitCode = 1;
  }
}
