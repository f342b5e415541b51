// Writes every generated document; with `--check` compares them all, and exits 1 when one is another.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './shipped.ts';

const GENERATORS = [
  'src/http/openapi/openapi.ts',
  'release/client/client.ts',
  'release/cli-docs.ts',
  'release/completions.ts',
  'release/licences.ts',
  'test/attacks/table.ts',
];

for (const file of GENERATORS) {
  const { status } = spawnSync(process.execPath, [join(ROOT, file), ...process.argv.slice(2)], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
