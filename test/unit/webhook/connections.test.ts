// Connections that do not come about, that die between two requests, and how much of an answer is read at all.

import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { KIB, LIMITS } from '../../../src/domain/limits.ts';
import { deliveryTo, posterFor, rawReceiver } from './receivers.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** More than one webhook may have in flight, twice. */
const HANGING = 2 * LIMITS.maxInFlightPerWebhook;

/** A thread with a receiver in it, so that it goes on while this thread stands still, and the other way round. */
async function receiverThread(
  code: string,
): Promise<AsyncDisposable & { url: string; port: number; state: Int32Array }> {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const head =
    "const net = require('node:net'); const { parentPort, workerData: state } = require('node:worker_threads');";
  const worker = new Worker(`${head}${code}`, { eval: true, workerData: state });
  const [port] = await once(worker, 'message');
  const url = `http://127.0.0.1:${port}/`;
  return { url, port, state, [Symbol.asyncDispose]: async () => void (await worker.terminate()) };
}

test('A receiver too busy to connect times out', async () => {
  // It listens and never accepts: when its queue is full, the system drops whoever knocks.
  await using busy = await receiverThread(`
    const server = net.createServer().listen(0, '127.0.0.1', 1, () => {
      parentPort.postMessage(server.address().port);
      setImmediate(() => Atomics.wait(state, 0, 0));
    });`);
  const fillers = Array.from({ length: 8 }, () => net.connect(busy.port, '127.0.0.1').on('error', () => {}));
  await Promise.any(fillers.map((socket) => once(socket, 'connect')));
  try {
    await using poster = posterFor({ connectTimeoutMs: 100 });
    const attempt = await poster.post(deliveryTo(busy.url));
    assert.deepEqual([attempt.outcome, attempt.detail], ['timeout', 'Connecting took longer than 0.1 s.']);
    const short = await poster.post(deliveryTo(busy.url, { settings: { timeoutMs: 50 } }));
    assert.equal(short.detail, 'The time of 0.05 s ran out before the request was sent.');
  } finally {
    for (const socket of fillers) socket.destroy();
    Atomics.notify(busy.state, 0);
  }
});

test('Requests that hang hold up no others to their origin', async () => {
  const all = Promise.withResolvers<void>();
  await using receiver = await rawReceiver((socket, nth) => {
    if (nth === HANGING) all.resolve();
    else if (nth > HANGING) socket.write(OK);
  });
  await using poster = posterFor();
  const hanging = Array.from({ length: HANGING }, () => poster.post(deliveryTo(receiver.url)));
  await Promise.race([all.promise, Promise.all(hanging)]);
  assert.equal((await poster.post(deliveryTo(receiver.url))).outcome, 'answered');
  await poster.close();
  for (const { outcome } of await Promise.all(hanging)) assert.equal(outcome, 'reset');
});

test('An end that nobody has read loses nothing', async () => {
  // Answers, promises to keep the connection, and ends it while this thread cannot see that.
  await using receiver = await receiverThread(`
    let n = 0;
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.write(${JSON.stringify(OK)}, () => {
        if (++n > 1) return;
        Atomics.wait(state, 0, 0);
        socket.end(() => { Atomics.store(state, 1, 1); Atomics.notify(state, 1); });
      }));
    }).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`);
  await using poster = posterFor();
  assert.equal((await poster.post(deliveryTo(receiver.url))).outcome, 'answered');
  Atomics.store(receiver.state, 0, 1);
  Atomics.notify(receiver.state, 0);
  Atomics.wait(receiver.state, 1, 0);
  const second = await poster.post(deliveryTo(receiver.url));
  assert.equal(second.outcome, 'answered', second.detail);
  assert.notEqual(second.timing.connectMs, null, 'over a fresh connection');
});

test('A connection that ended is not used again', async () => {
  let requests = 0;
  let isClosed = () => {};
  const closed = new Promise<void>((resolve) => (isClosed = resolve));
  await using receiver = await rawReceiver((socket) => {
    requests++;
    // Its own close comes only after the other side has closed as well.
    socket.once('close', isClosed).end(OK);
  });
  await using poster = posterFor();
  assert.equal((await poster.post(deliveryTo(receiver.url))).outcome, 'answered');
  await closed;
  assert.equal((await poster.post(deliveryTo(receiver.url))).outcome, 'answered');
  assert.deepEqual([requests, receiver.connections()], [2, 2]);
});

test('What may have been processed is not sent twice', async () => {
  let requests = 0;
  // Reads the second request whole, over the kept connection, and goes away without a word.
  await using receiver = await rawReceiver((socket) => {
    if (++requests === 2) socket.destroy();
    else socket.write(OK);
  });
  await using poster = posterFor();
  const outcomes: string[] = [];
  for (let n = 0; n < 2; n++) outcomes.push((await poster.post(deliveryTo(receiver.url))).outcome);
  assert.deepEqual([outcomes, requests], [['answered', 'reset'], 2]);
});

const RESETS: [name: string, text: string, status: number | null][] = [
  ['before the answer', '', null],
  ['within the status line', 'HTTP/1.1 20', null],
  ['within the headers', 'HTTP/1.1 200 OK\r\nx: y', null],
  ['after early hints', 'HTTP/1.1 103 Early Hints\r\n\r\n', null],
  ['after the headers', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n', 200],
  ['within the body', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc', 200],
  ['within a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc', 200],
  ['before the last chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n', 200],
];

for (const [name, text, status] of RESETS) {
  test(`A reset fails the attempt: ${name}`, async () => {
    for (const cut of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
      await using receiver = await rawReceiver((socket) => void socket.write(text || '\r\n', () => cut(socket)));
      await using poster = posterFor();
      const attempt = await poster.post(deliveryTo(receiver.url));
      assert.equal(attempt.outcome, 'reset');
      // A reset may overtake what was sent before it, and then less of the answer has come.
      assert.ok(attempt.status === status || attempt.status === null, `${attempt.status}`);
    }
  });
}

test('A body of no length ends with its connection', async () => {
  for (const head of ['HTTP/1.1 200 OK\r\n\r\n', 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n\r\n']) {
    await using receiver = await rawReceiver((socket) => socket.end(`${head}all of it`));
    await using poster = posterFor();
    for (let n = 0; n < 2; n++) {
      const attempt = await poster.post(deliveryTo(receiver.url));
      assert.deepEqual([attempt.outcome, attempt.status, attempt.responseBody], ['answered', 200, 'all of it']);
    }
    assert.equal(receiver.connections(), 2);
  }
});

const ENDLESS: [name: string, head: string, piece: string, outcome: string][] = [
  ['a body', 'HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(1000), 'answered'],
  ['one chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n', 'x'.repeat(1000), 'answered'],
  ['tiny chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'.repeat(200), 'answered'],
  ['a chunk extension', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', 'x'.repeat(1000), 'answered'],
  ['headers', 'HTTP/1.1 200 OK\r\n', `x: ${'y'.repeat(1000)}\r\n`, 'reset'],
  ['early hints', '', 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(20), 'reset'],
  ['continuing', '', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(20), 'reset'],
  ['empty lines', '', '\r\n'.repeat(500), 'reset'],
];

for (const [name, head, piece, outcome] of ENDLESS) {
  test(`Little is read of an endless answer: ${name}`, async () => {
    await using receiver = await rawReceiver((socket) => {
      socket.write(head);
      const more = () => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on('drain', more);
      more();
    });
    const sockets: Socket[] = [];
    const keep = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
    diagnostics.subscribe('undici:client:connected', keep);
    try {
      await using poster = posterFor();
      const attempt = await poster.post(deliveryTo(receiver.url));
      assert.equal(attempt.outcome, outcome, attempt.detail);
      assert.ok(attempt.responseBody.length <= 4 * KIB);
    } finally {
      diagnostics.unsubscribe('undici:client:connected', keep);
    }
    assert.equal(sockets.length, 1);
    // 64 KiB of body and 32 KiB of headers, and what Node had read on by then.
    assert.ok((sockets[0]?.bytesRead ?? 0) <= 256 * KIB, `${sockets[0]?.bytesRead} bytes were read`);
  });
}
