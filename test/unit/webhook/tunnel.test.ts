// Connections to targets that user code named, when their names are not found.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddresses } from '../../../src/webhook/address.ts';
import type { Lookup } from '../../../src/webhook/names.ts';
import { createOwn } from '../../../src/webhook/own.ts';
import { createTunnels } from '../../../src/webhook/tunnel.ts';

const addresses = createAddresses({ allowTargets: [], own: createOwn({ services: () => [] }) });
const never = new AbortController().signal;

function failing(): { lookup: Lookup; asked: string[]; fail: () => void } {
  const asked: string[] = [];
  const open: (() => void)[] = [];
  const lookup: Lookup = (name) => {
    asked.push(name);
    return new Promise((_, reject) => {
      open.push(() => reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })));
    });
  };
  const fail = (): void => {
    for (const end of open.splice(0)) end();
  };
  return { lookup, asked, fail };
}

/** Fails when it does not come to it. */
async function untilAsked(asked: readonly string[], count: number): Promise<void> {
  for (let i = 0; i < 1000 && asked.length < count; i++) await turns(1);
  assert.equal(asked.length, count);
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

test('a name that is not found is a failed lookup, each time', async () => {
  const { lookup, asked, fail } = failing();
  const tunnels = createTunnels({ addresses, lookup });
  for (const round of [1, 2]) {
    const both = [1, 2].map(() => tunnels.open({ host: 'gone.test', port: 443 }, never));
    const ended = Promise.all(
      both.map((opening) => assert.rejects(opening, { name: 'ConnectFailed', phase: 'dns', systemCode: 'ENOTFOUND' })),
    );
    await untilAsked(asked, round);
    await turns(5);
    fail();
    await ended;
    assert.equal(asked.length, round, 'asked once for both, and again the next time');
  }
});

test('lookups that fail make room for those that wait', async () => {
  const { lookup, asked, fail } = failing();
  const tunnels = createTunnels({ addresses, lookup });
  const names = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test'];
  const ended = names.map((host) =>
    assert.rejects(tunnels.open({ host, port: 443 }, never), { name: 'ConnectFailed', phase: 'dns' }),
  );
  await untilAsked(asked, 4);
  await turns(5);
  assert.deepEqual(asked, names.slice(0, 4));
  fail();
  await untilAsked(asked, 5);
  fail();
  await Promise.all(ended);
  assert.deepEqual(asked, names);
});
