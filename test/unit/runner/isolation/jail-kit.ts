// Whether jails can be tried on this machine.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRunner } from '../../../../src/runner/pool/pool.ts';
import { ISOLATION } from '../kit.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Why not; false when they can. */
export async function noJail(): Promise<string | false> {
  const tmpDir = mkdtempSync(join(tmpdir(), 'errand-trial-'));
  const isolation = { ...ISOLATION, level: 'jail', network: 'none' } as const;
  try {
    const runner = createRunner({ log: silent, clock: { nowMs: Date.now }, tmpDir, isolation });
    const reason = await runner.selfTest();
    await runner.stop(0);
    return reason ?? false;
  } catch (error) {
    return (error as Error).message;
  } finally {
    rmSync(tmpDir, { recursive: true, force: true });
  }
}
