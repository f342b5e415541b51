// A thousand requests that stop halfway, against a whole server as a process of its own.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { test } from 'node:test';
import { API_KEY } from '../../support/errand.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { spawnErrand } from '../../support/process.ts';

const CALLERS = 1000;
const BODY_BYTES = 500_000;
const SENT_BYTES = 400_000;
/** What a thousand connections themselves cost on a slow machine, with some to spare; their bodies would be 400 MB. */
const MAX_GROWTH_KB = 220_000;

async function memoryKb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
}

test('a thousand half-sent bodies hold no memory', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  await using folder = await createFolder();
  await using errand = await spawnErrand({ ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: API_KEY });
  const { port } = new URL(errand.url);
  const before = await memoryKb(errand.child.pid as number);
  const sockets: Socket[] = [];
  const answered: Promise<string>[] = [];
  const half = Buffer.alloc(SENT_BYTES, 'x');
  for (let n = 0; n < CALLERS; n++) {
    const socket = createConnection({ port: Number(port), host: '127.0.0.1' });
    socket.on('error', () => {});
    answered.push(once(socket, 'data').then(([chunk]) => String(chunk)));
    const path = n % 2 === 0 ? '/e/unknown' : '/v1/webhooks';
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`);
    socket.write(half);
    sockets.push(socket);
  }
  for (const [n, head] of (await Promise.all(answered)).entries()) {
    assert.match(head, n % 2 === 0 ? /^HTTP\/1\.1 404 / : /^HTTP\/1\.1 401 /);
  }
  const grown = (await memoryKb(errand.child.pid as number)) - before;
  const health = await fetch(`${errand.url}/v1/users/me`, { headers: { authorization: `Bearer ${API_KEY}` } });
  assert.equal(health.status, 200, 'and a good request is answered');
  for (const socket of sockets) socket.destroy();
  assert.ok(grown < MAX_GROWTH_KB, `${grown} kB more`);
});
