// A server that does not answer is told of once, and its answer is still taken.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { tellingSlowAnswers } from '../../../src/cli/shell/slow-answer.ts';
import { Errand } from '../../../src/client/client.ts';

const ME = { data: { id: 'u_1' } };

test('a server that does not answer is told of once', async () => {
  const waiting: ServerResponse[] = [];
  const server = createServer((_request, response) => void waiting.push(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const notes: string[] = [];
  const answer = (): void => {
    const response = waiting.shift();
    response?.setHeader('content-type', 'application/json');
    response?.end(JSON.stringify(ME));
  };
  const told = Promise.withResolvers<void>();
  const note = (line: string): void => {
    notes.push(line);
    told.resolve();
  };
  try {
    const errand = new Errand({ url, key: 'k'.repeat(30), fetch: tellingSlowAnswers({ note }, 1) });
    for (let n = 0; n < 2; n++) {
      const asked = errand.getMe();
      await told.promise;
      while (waiting.length === 0) await once(server, 'request');
      answer();
      assert.deepEqual(await asked, ME);
    }
    assert.deepEqual(notes, [`errand: ${url} has not answered for 0.001 s; waiting`]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
