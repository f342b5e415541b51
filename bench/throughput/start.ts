// How long a deployment's first run takes: its process is started, loads the code, runs it, and its result is there.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IsolationSettings } from '../../src/runner/isolation/isolation.ts';
import { createRunner } from '../../src/runner/pool/pool.ts';
import { deploymentOf, requestOf } from '../../test/unit/runner/kit.ts';
import { type Spread, spreadOf } from '../kit/stats.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const WARM_UPS = 3;

export interface Starts {
  readonly cold: Spread;
  /** The same with the process there. */
  readonly warm: Spread;
  /** Null: it was measured. */
  readonly reason: string | null;
}

export async function coldStarts(level: IsolationSettings['level'], count: number): Promise<Starts> {
  const tmpDir = await mkdtemp(join(tmpdir(), 'errand-start-'));
  await chmod(tmpDir, 0o711);
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null;
  const network = level === 'jail' ? 'none' : 'full';
  const runner = createRunner({
    log: silent,
    clock: { nowMs: Date.now },
    tmpDir,
    isolation: { level, network, user },
  });
  try {
    const reason = await runner.selfTest();
    if (reason !== null) return { cold: spreadOf([]), warm: spreadOf([]), reason };
    const deployment = await deploymentOf('export default () => 1');
    const took = async (alone: boolean): Promise<number> => {
      const before = performance.now();
      await runner.run(requestOf(deployment, { alone }));
      return performance.now() - before;
    };
    const all = async (alone: boolean): Promise<Spread> => {
      const figures: number[] = [];
      for (let n = -WARM_UPS; n < count; n++) {
        const ms = await took(alone);
        if (n >= 0) figures.push(ms);
      }
      return spreadOf(figures);
    };
    return { cold: await all(true), warm: await all(false), reason: null };
  } finally {
    await runner.stop(0);
    await rm(tmpDir, { recursive: true, force: true });
  }
}
