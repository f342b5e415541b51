// A host that takes a connection, and falls silent right behind its greeting: it has stopped, or the network has failed.

import { equal, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { CONNECT_TIMEOUT_MS, Connection } from '../../../../src/store/postgres/connection/connection.ts';
import { Hosts } from '../../../../src/store/postgres/connection/hosts.ts';
import { Notices } from '../../../../src/store/postgres/connection/notify.ts';
import { Pool } from '../../../../src/store/postgres/connection/pool.ts';
import { isConnectionError } from '../../../../src/store/postgres/connection/storage-error.ts';

/** AuthenticationOk and ReadyForQuery. */
const GREETING = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
/** CommandComplete of nothing, and ReadyForQuery. */
const DONE = Buffer.from([0x43, 0, 0, 0, 5, 0, 0x5a, 0, 0, 0, 5, 0x49]);

/** On each connection it answers so many messages behind the greeting. Time passes by the test alone. */
async function silentHost(t: TestContext, { answers }: { answers: number }) {
  const sockets = new Set<Socket>();
  let unanswered = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    let messages = 0;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      messages++;
      if (messages === 1) socket.write(GREETING);
      else if (messages <= 1 + answers) socket.write(DONE);
      else unanswered++;
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return {
    host: `127.0.0.1:${port}`,
    /** Lets time pass, once so many connections wait for an answer. */
    pass: async (ms: number, waiting = 1) => {
      while (unanswered < waiting) await setImmediate();
      t.mock.timers.tick(ms);
    },
    async [Symbol.asyncDispose]() {
      t.mock.timers.reset();
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}

test('a silent host is not waited for for ever', async (t) => {
  await using silent = await silentHost(t, { answers: 0 });
  const opened = rejects(
    Connection.open({ url: `postgres://user@${silent.host}/name`, name: 'errand test' }),
    isConnectionError,
  );
  await silent.pass(CONNECT_TIMEOUT_MS);
  await opened;
});

test('a host that does not say whether it takes writes is passed over', async (t) => {
  await using silent = await silentHost(t, { answers: 1 });
  const url = `postgres://user@${silent.host},${silent.host}/name`;
  const found = rejects(new Hosts({ url, name: 'errand test' }).find(), isConnectionError);
  await silent.pass(CONNECT_TIMEOUT_MS, 2);
  await found;
});

test('a silent host is told of by who listens', async (t) => {
  await using silent = await silentHost(t, { answers: 1 });
  const options = { url: `postgres://user@${silent.host}/name`, name: 'errand test' };
  const told = Promise.withResolvers<string>();
  const log = {
    debug: () => {},
    info: () => {},
    error: () => {},
    warn: (_: object, name: string) => told.resolve(name),
  };
  const notices = new Notices({ pool: new Pool({ ...options, connections: 1 }), options, log });
  notices.listen({ notify: () => undefined });
  await silent.pass(CONNECT_TIMEOUT_MS);
  equal(await told.promise, 'notifications from other nodes do not arrive; polling finds the work');
  await notices.close();
});
