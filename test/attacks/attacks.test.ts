// The corpus of attacks (corpus.ts), tried at both levels, and compared with what SECURITY.md says.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { IsolationSettings } from '../../src/runner/isolation/isolation.ts';
import { createAddresses } from '../../src/webhook/address.ts';
import { createEgress } from '../../src/webhook/egress.ts';
import { tableOf } from '../demo/markdown.ts';
import { noJail } from '../unit/runner/isolation/jail-kit.ts';
import { ISOLATION, type Kit, kit, returned } from '../unit/runner/kit.ts';
import type { Attack } from './attack.ts';
import { ATTACKS } from './corpus.ts';
import { NETWORK } from './network.ts';
import { withTable } from './table.ts';
import { createWorld, type World } from './world.ts';

const LEVELS = ['process', 'jail'] as const;
const skips: Readonly<Record<(typeof LEVELS)[number], string | false>> = { process: false, jail: await noJail() };
if (skips.jail !== false) process.stdout.write(`# attacks in a jail are not tried: ${skips.jail}\n`);

const bodyOf = (attempt: string, world: World): string => `const w = ${JSON.stringify(world)};
  const [fs, os, net] = ['fs', 'os', 'net'].map(node);
  const fail = () => { throw new Error() };
  try { return await (async () => { ${attempt} })() === true } catch { return false }`;

async function came(kitOf: Kit, world: World, { attempt }: Attack): Promise<boolean> {
  if (typeof attempt !== 'string') return await attempt(kitOf, world);
  return returned(await kitOf.evaluate(bodyOf(attempt, world), { memoryMb: 64, timeoutMs: 120_000 })) === true;
}

/** The same in a Node without any of this, in an empty folder, with the server's environment. */
function cameUnhindered(attempt: string, world: World, cwd: string): Promise<boolean> {
  const code = `const node = (name) => process.getBuiltinModule('node:' + name);
    process.stdout.write(String(await (async () => { ${bodyOf(attempt, world)} })()), () => process.exit());`;
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', code], { cwd }, (_error, stdout) =>
      resolve(stdout === 'true'),
    );
  });
}

const SETTINGS = [
  { level: 'process', network: 'full' },
  { level: 'jail', network: 'none' },
  { level: 'jail', network: 'public' },
] as const;
const openEgress = createEgress({ addresses: createAddresses({ allowTargets: [] }) });

for (const { level, network } of SETTINGS) {
  const isolation: IsolationSettings = { ...ISOLATION, level, network };
  describe(`code at the level ${level} with the network ${network}`, { skip: skips[level] }, () => {
    // The network is all that differs between the jails.
    for (const tried of network === 'public' ? NETWORK : ATTACKS) {
      test(`${tried.name}: ${tried[level]}`, async (t) => {
        const made = kit(t, { isolation, openEgress });
        const world = await createWorld(t, made);
        assert.equal((await came(made, world, tried)) ? 'possible' : 'stopped', tried[level]);
      });
    }
  });
}

describe('an attempt comes through where nothing stops it', () => {
  for (const { name, attempt, process: verdict, unhindered = true } of ATTACKS) {
    if (typeof attempt !== 'string' || verdict === 'possible' || !unhindered) continue;
    test(name, async (t) => {
      const world = await createWorld(t, kit(t));
      const cwd = mkdtempSync(join(world.openDir, 'cwd-'));
      assert.equal(await cameUnhindered(attempt, world, cwd), true);
    });
  }
});

test('SECURITY.md has a row for each attempt', async () => {
  const text = await readFile(new URL('../../SECURITY.md', import.meta.url), 'utf8');
  const rows = ATTACKS.map(({ name, process, jail, by }) => [name, process, jail, by]);
  assert.deepEqual(tableOf(text, 'Code in a step'), rows);
});

test('a table that says something else is noticed', async () => {
  const text = await readFile(new URL('../../SECURITY.md', import.meta.url), 'utf8');
  assert.equal(withTable(text), text);
  assert.notEqual(
    withTable(text.replace('| possible | stopped |', '| stopped | stopped |')),
    text.replace('| possible | stopped |', '| stopped | stopped |'),
  );
});
