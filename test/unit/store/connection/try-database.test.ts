// What a doctor finds of a database, without its password.

import { deepEqual, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { tryDatabase } from '../../../../src/store/postgres/maintenance/try-database.ts';
import { freePort } from '../../../support/port.ts';
import { emptyDatabase } from '../place.ts';

const urlAt = (port: number): string => `postgres://errand:a-secret-word@127.0.0.1:${port}/errand`;

test('a database that answers is told with its version', async (t) => {
  const { is, says } = await tryDatabase(await emptyDatabase(t));
  match(says, /^answers, Postgres \d+/);
  deepEqual(is, 'well');
});

test('a database where no server listens is wrong', async () => {
  const { is, says } = await tryDatabase(urlAt(await freePort()));
  deepEqual(is, 'wrong');
  match(says, /ECONNREFUSED/);
  ok(!says.includes('a-secret-word'), says);
});

test('a server that says nothing is not waited for', async () => {
  const server = net.createServer((socket) => socket.on('error', () => {}).resume());
  const sockets: net.Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  deepEqual(await tryDatabase(urlAt(port), 100), { is: 'wrong', says: 'no answer within 0.1 s' });
  for (const socket of sockets) socket.destroy();
  server.close();
});
