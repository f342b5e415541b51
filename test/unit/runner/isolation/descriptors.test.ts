// What the kernel keeps for a process of code, counted from outside.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { hardeningObstacle } from '../../../../src/runner/isolation/hardening.ts';
import { ISOLATION, kit, returned, signal } from '../kit.ts';
import { noJail } from './jail-kit.ts';

const skip = process.getuid?.() !== 0 && "needs root: no other user sees another's descriptors";
const PAIRS = `import net from 'node:net';
  export default async ({ $ }) => {
    const path = process.cwd() + '/pairs';
    const server = net.createServer({ pauseOnConnect: true }, (socket) => socket.on('error', () => {}));
    await new Promise((resolve) => server.on('error', resolve).listen(path, resolve));
    const full = Buffer.alloc(1e6);
    for (let n = 0; n < 3000; n++) {
      await new Promise((resolve) => {
        const socket = net.connect(path, () => { socket.write(full); resolve() }).on('error', resolve);
      });
    }
    await $.respond({ immediate: true, body: String(process.pid) });
    await new Promise(() => {});
  }`;

test('3,000 pairs of sockets are 512 descriptors', { skip }, async (t) => {
  const { run } = kit(t);
  const { came, onAnswer } = signal();
  const ended = run(PAIRS, { onAnswer, timeoutMs: 20_000, memoryMb: 256 });
  const pid = Buffer.from((await Promise.race([came, ended.then(() => assert.fail('it ended'))])).body).toString();
  const open = readdirSync(`/proc/${pid}/fd`).length;
  assert.ok(open <= LIMITS.codeDescriptors, String(open));
  assert.ok(open > LIMITS.codeDescriptors / 2, `the attack is one: ${open}`);
});

const OPENS = `import fs from 'node:fs';
  export default () => {
    const open = [];
    try { for (;;) open.push(fs.openSync('x', 'w')) } catch (e) { return [open.length, e.code] }
  }`;
const jail = await noJail();

for (const hardens of [true, false]) {
  for (const [level, noLevel] of [
    ['process', false],
    ['jail', jail],
  ] as const) {
    const who = hardens ? 'by itself' : 'by a shell';
    test(`a process is limited ${who} at the level ${level}`, { skip: noLevel }, async (t) => {
      if (hardens && hardeningObstacle() !== null) return t.skip(String(hardeningObstacle()));
      const { run } = kit(t, {
        isolation: { ...ISOLATION, level, network: level === 'jail' ? 'none' : 'full', hardens },
      });
      const [open, code] = returned(await run(OPENS)) as [number, string];
      assert.equal(code, 'EMFILE');
      assert.ok(open < LIMITS.codeDescriptors && open > LIMITS.codeDescriptors - 100, String(open));
      const environment = returned(await run('export default () => Object.keys(process.env).sort()'));
      assert.deepEqual(environment, ['HOME', 'PIPEDREAM_WORKFLOW_ID', 'TMPDIR', 'TZ']);
    });
  }
}
