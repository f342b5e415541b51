// What packages outside of a bundle cost a cold start: a process is started and loads code that imports one, which is part
// of the bundle, or loaded from a folder of packages. The packages are those that the project itself has installed.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleStep } from '../src/runner/bundling/bundle.ts';
import { NONE_OUTSIDE } from '../src/runner/bundling/outside.ts';
import { createRunner } from '../src/runner/pool/pool.ts';
import { deploymentOf } from '../test/unit/runner/kit.ts';
import { type Spread, spreadOf } from './stats.ts';

const ROOT = join(import.meta.dirname, '..');
const PACKAGES = ['semver', 'nodemailer', 'undici'];
const silent = { debug() {}, info() {}, warn() {}, error() {} };

export interface PackageStart {
  readonly name: string;
  readonly bundled: Spread;
  readonly outside: Spread;
}

/** Yields the times in ms for each package, `count` starts of each kind in turn. */
export async function* packageStarts(count: number): AsyncGenerator<PackageStart> {
  const tmpDir = await mkdtemp(join(tmpdir(), 'errand-packages-'));
  const folders = { packages: join(ROOT, 'node_modules'), components: null };
  const isolation = { level: 'process', network: 'full', user: null, packageFolders: () => folders } as const;
  const runner = createRunner({ log: silent, clock: { nowMs: Date.now }, tmpDir, isolation });
  const start = async (name: string, outside: typeof folders | typeof NONE_OUTSIDE, n: number): Promise<number> => {
    const code = `import it from '${name}'; globalThis.it = [it, ${n}]; export default () => 1;`;
    const bundled = await bundleStep({ namespace: 'one', code }, ROOT, outside);
    if (!bundled.ok) throw new Error(bundled.problems[0]?.text);
    const deployment = await deploymentOf('export default () => 1');
    const [step] = deployment.steps;
    if (step === undefined) throw new Error('a deployment has a step');
    const { bundle, sourceMap } = bundled;
    const before = performance.now();
    const described = await runner.describe({ ...deployment, steps: [{ ...step, code, bundle, sourceMap }] });
    if (!described.ok) throw new Error(`${name} cannot be loaded`);
    return performance.now() - before;
  };
  try {
    for (const name of PACKAGES) {
      const took = { bundled: [] as number[], outside: [] as number[] };
      for (let n = 0; n < count; n++) {
        took.bundled.push(await start(name, NONE_OUTSIDE, 2 * n));
        took.outside.push(await start(name, folders, 2 * n + 1));
      }
      yield { name, bundled: spreadOf(took.bundled), outside: spreadOf(took.outside) };
    }
  } finally {
    await runner.stop(0);
    await rm(tmpDir, { recursive: true, force: true });
  }
}
