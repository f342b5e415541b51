// How long after a save `errand dev` has deployed the file: `node bench/dev-save.ts [saves] [--types] [--pause ms]`. A folder of ten
// workflows, of which one is saved again and again, each time with other code. `--types`: the TypeScript of the project checks types
// beside it. `--pause`: between two saves; who thinks for a minute finds that processes which were idle have ended.

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  options: { types: { type: 'boolean', default: false }, pause: { type: 'string', default: '500' } },
  allowPositionals: true,
});
const SAVES = Number(positionals[0] ?? 40);
const PAUSE_MS = Number(values.pause);

const code = (name: string, n: number): string => `import { defineWorkflow } from 'errand/workflow';
import { half } from './lib/half.ts';
export default defineWorkflow({
  name: '${name}',
  triggers: [{ type: 'http' }],
  steps: (flow) => flow.step('halve', () => half(${n})),
});
`;

const home = await mkdtemp(join(tmpdir(), 'errand-dev-save-'));
const dir = join(home, 'workflows');
await mkdir(join(dir, 'lib'), { recursive: true });
await writeFile(join(dir, 'lib/half.ts'), 'export const half = (n: number): number => n / 2;\n');
await symlink(join(ROOT, 'node_modules'), join(home, 'node_modules'));
for (let n = 0; n < 10; n++) await writeFile(join(dir, `flow-${n}.ts`), code(`Flow ${n}`, n));
const TSCONFIG = {
  compilerOptions: {
    ...{
      module: 'nodenext',
      target: 'es2024',
      strict: true,
      noEmit: true,
      types: ['node'],
      allowImportingTsExtensions: true,
    },
    paths: { 'errand/workflow': [join(ROOT, 'src/sdk/workflow.ts')] },
  },
  include: ['workflows'],
};
if (values.types) await writeFile(join(home, 'tsconfig.json'), JSON.stringify(TSCONFIG));
const args = ['dev', '--port', '0', ...(values.types ? [] : ['--no-types'])];
const child = spawn(process.execPath, [join(ROOT, 'src/errand.ts'), ...args], {
  cwd: home,
  env: { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', ERRAND_CODE_USER: 'server' },
});
let shown = '';
child.stdout.on('data', (part) => {
  shown += part;
});
const wait = async (pattern: RegExp): Promise<RegExpExecArray> => {
  for (const begun = performance.now(); performance.now() - begun < 60_000; ) {
    const found = pattern.exec(shown);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${pattern} in ${shown}`);
};
try {
  await wait(/deployed with every save/);
  const took: number[] = [];
  for (let n = 0; n < SAVES; n++) {
    shown = '';
    const savedAt = performance.now();
    await writeFile(join(dir, 'flow-3.ts'), code('Flow 3', 1000 + n));
    await wait(/deployed flow-3\.ts (\d+) ms after it was saved/);
    took.push(performance.now() - savedAt);
    // A person saves now and then.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  took.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(took[Math.min(took.length - 1, Math.floor(share * took.length))] ?? 0);
  const [load] = loadavg();
  process.stdout.write(
    `load ${load?.toFixed(1)}; saved → deployed, ${SAVES} times: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, longest ${at(1)} ms\n`,
  );
} finally {
  child.kill('SIGINT');
  await new Promise((resolve) => child.once('close', resolve));
  await rm(home, { recursive: true, force: true });
}
