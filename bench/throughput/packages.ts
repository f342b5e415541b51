// What packages cost a cold start: a process is started and loads code that imports one, which is part of the bundle, or
// loaded from a folder of packages. The packages are those that the project itself has installed. Beside them: the stand-in
// for `axios` of the platform, and the package axios, each beside code that imports neither.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleStep } from '../../src/runner/bundling/bundle.ts';
import { NONE_OUTSIDE } from '../../src/runner/bundling/outside.ts';
import { createRunner } from '../../src/runner/pool/pool.ts';
import { deploymentOf } from '../../test/unit/runner/kit.ts';
import { type Spread, spreadOf } from '../kit/stats.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGES = ['semver', 'nodemailer', 'undici'];
const silent = { debug() {}, info() {}, warn() {}, error() {} };

export interface PackageStart {
  readonly name: string;
  readonly bundled: Spread;
  readonly outside: Spread;
}

/** Yields the times in ms for each package, `count` starts of each kind in turn. */
export async function* packageStarts(count: number): AsyncGenerator<PackageStart> {
  const folders = { packages: join(ROOT, 'node_modules'), components: null };
  await using runner = await startRunner(folders);
  for (const name of PACKAGES) {
    const code = `import it from '${name}'; globalThis.it = it;`;
    const took = { bundled: [] as number[], outside: [] as number[] };
    for (let n = 0; n < count; n++) {
      took.bundled.push((await runner.start(code, ROOT, NONE_OUTSIDE)).tookMs);
      took.outside.push((await runner.start(code, ROOT, folders)).tookMs);
    }
    yield { name, bundled: spreadOf(took.bundled), outside: spreadOf(took.outside) };
  }
}

const AXIOS: Readonly<Record<string, string>> = {
  'imports nothing': '',
  'imports axios of the platform': "import { axios } from '@pipedream/platform'; globalThis.it = axios;",
  'imports the package axios': "import axios from 'axios'; globalThis.it = axios;",
};

export interface AxiosStart {
  readonly name: string;
  readonly start: Spread;
  readonly bundling: Spread;
  readonly bundleBytes: number;
  readonly mapBytes: number;
}

/** Times in ms, `count` starts of each kind in turn. */
export async function axiosStarts(count: number): Promise<AxiosStart[]> {
  await using runner = await startRunner(NONE_OUTSIDE);
  const all = Object.entries(AXIOS).map(([name, code]) => ({ name, code, starts: [] as Start[] }));
  for (let n = 0; n < count; n++) {
    for (const { code, starts } of all) starts.push(await runner.start(code, null, NONE_OUTSIDE));
  }
  return all.map(({ name, starts }) => ({
    name,
    start: spreadOf(starts.map(({ tookMs }) => tookMs)),
    bundling: spreadOf(starts.map(({ bundledMs }) => bundledMs)),
    bundleBytes: starts[0]?.bundleBytes ?? 0,
    mapBytes: starts[0]?.mapBytes ?? 0,
  }));
}

interface Start {
  readonly tookMs: number;
  readonly bundledMs: number;
  readonly bundleBytes: number;
  readonly mapBytes: number;
}

type Folders = typeof NONE_OUTSIDE;

interface Starter extends AsyncDisposable {
  /** Bundles code, and starts a process that loads it. */
  start(imports: string, packagesDir: string | null, outside: Folders): Promise<Start>;
}

async function startRunner(folders: Folders): Promise<Starter> {
  const tmpDir = await mkdtemp(join(tmpdir(), 'errand-packages-'));
  const isolation = { level: 'process', network: 'full', user: null, packageFolders: () => folders } as const;
  const runner = createRunner({ log: silent, clock: { nowMs: Date.now }, tmpDir, isolation });
  let starts = 0;
  return {
    start: async (imports, packagesDir, outside) => {
      // No two have the same code: it is described once.
      const code = `${imports} globalThis.start = ${++starts}; export default () => 1;`;
      const began = performance.now();
      const bundled = await bundleStep({ namespace: 'one', code }, packagesDir, outside);
      if (!bundled.ok) throw new Error(bundled.problems[0]?.text);
      const deployment = await deploymentOf('export default () => 1');
      const [step] = deployment.steps;
      if (step === undefined) throw new Error('a deployment has a step');
      const { bundle, sourceMap } = bundled;
      const before = performance.now();
      const described = await runner.describe({ ...deployment, steps: [{ ...step, code, bundle, sourceMap }] });
      if (!described.ok) throw new Error(`this cannot be loaded: ${imports}`);
      const tookMs = performance.now() - before;
      return { tookMs, bundledMs: before - began, bundleBytes: bundle.length, mapBytes: sourceMap.length };
    },
    [Symbol.asyncDispose]: async () => {
      await runner.stop(0);
      await rm(tmpDir, { recursive: true, force: true });
    },
  };
}
