// The short versions of what needs a disk of its own: a disk that fills up in the middle of the round of all faults, and one
// whose power is cut. Both are mounted where no other process sees them, so each runs as a program of its own.

import { ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { BARE_ENV } from '../support/bare-env.ts';
import { reasonAgainstDisks } from './own-mounts.ts';

const PROVE = join(import.meta.dirname, 'prove.ts');
const SEED = process.env.PROVE_SEED ?? String(Date.now() % 1_000_000);
const skip = reasonAgainstDisks() ?? false;

async function prove(...args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [PROVE, '--seed', SEED, ...args], {
    env: BARE_ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [said, complained, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, said: `seed ${SEED}\n${said}${complained}` };
}

describe('a server on a disk of its own', { skip }, () => {
  it('loses, doubles and forgets nothing when the disk is full', async () => {
    const { code, said } = await prove('--only', 'mixed', '--faults', 'disk full', '--count', '2', '--minutes', '5');
    ok(code === 0 && said.includes('disk full 2'), said);
  });

  it('loses nothing to power cuts', async () => {
    const { code, said } = await prove('--power', '--cuts', '2');
    ok(code === 0 && said.includes('2 cuts') && said.includes('lost 0'), said);
  });
});
