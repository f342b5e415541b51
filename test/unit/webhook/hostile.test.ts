// Receivers that misbehave: each of them comes to an Attempt, and leaves the poster fit for the next one.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { Attempt } from '../../../src/domain/delivery/delivery.ts';
import { deliveryTo, posterFor, rawReceiver, silentReceiver } from './receivers.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const TIMEOUT_MS = 50;

type Behaviour = (socket: Socket) => void;

function says(...pieces: string[]): Behaviour {
  return (socket) => {
    for (const piece of pieces) socket.write(piece);
  };
}

/** Writes again and again, for as long as the other side listens. */
function endlessly(head: string, piece: string): Behaviour {
  return (socket) => {
    socket.write(head);
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    more();
  };
}

const MISBEHAVIOURS: [name: string, behave: Behaviour, expected: Partial<Attempt>][] = [
  ['closes without an answer', (socket) => socket.end(), { outcome: 'reset', status: null }],
  ['resets without an answer', (socket) => socket.resetAndDestroy(), { outcome: 'reset', status: null }],
  ['closes within the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nx: '), { outcome: 'reset', status: null }],
  [
    'closes within the body',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'),
    { outcome: 'reset', status: 200, responseBody: 'abc' },
  ],
  [
    'closes within a chunk',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab'),
    { outcome: 'reset', status: 200 },
  ],
  ['speaks no HTTP', says('SSH-2.0-OpenSSH_9.9\r\n'), { outcome: 'reset', status: null }],
  [
    'switches protocols',
    says('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    { outcome: 'reset' },
  ],
  [
    'sends endless headers',
    endlessly('HTTP/1.1 200 OK\r\n', `x-more: ${'x'.repeat(500)}\r\n`),
    {
      outcome: 'reset',
      status: null,
      detail: 'The response headers were larger than 32 KiB, so the connection was dropped.',
    },
  ],
  [
    'sends one endless header',
    endlessly('HTTP/1.1 200 OK\r\nx-more: ', 'x'.repeat(500)),
    {
      outcome: 'reset',
      status: null,
      detail: 'The response headers were larger than 32 KiB, so the connection was dropped.',
    },
  ],
  [
    'sends an endless body',
    endlessly('HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(10_000)),
    { outcome: 'answered', status: 200, detail: 'The receiver answered 200; its response was cut off after 64 KiB.' },
  ],
  [
    'announces and sends 50 MB',
    endlessly('HTTP/1.1 500 Oops\r\ncontent-length: 50000000\r\n\r\n', 'x'.repeat(10_000)),
    { outcome: 'answered', status: 500, responseBody: 'x'.repeat(4096) },
  ],
  [
    'answers in HTTP/1.0',
    (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nold'),
    { outcome: 'answered', status: 200, responseBody: 'old' },
  ],
  [
    'sends early hints first',
    says('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n', OK),
    { outcome: 'answered', status: 200 },
  ],
  [
    'says continue unasked',
    says('HTTP/1.1 100 Continue\r\n\r\n', OK),
    { outcome: 'answered', status: 200, responseBody: 'ok' },
  ],
  [
    'says continue and more',
    says(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 P\r\n\r\n${OK}`),
    { outcome: 'answered', status: 200 },
  ],
  ['answers twice', says(OK + OK), { outcome: 'answered', status: 200, responseBody: 'ok' }],
];

for (const [name, behave, expected] of MISBEHAVIOURS) {
  test(`A receiver that ${name} comes to an attempt`, async () => {
    await using receiver = await rawReceiver(behave);
    await using poster = posterFor();
    const attempt = await poster.post(deliveryTo(receiver.url));
    assert.deepEqual({ ...attempt, ...expected }, attempt);
    assert.equal((await poster.post(deliveryTo(receiver.url))).outcome, expected.outcome);
  });
}

/** The first in which a stall came as far as it should. */
const STALLS_MS = [1000, 4000, 16_000];
const DRIP_MS = 5;
function drips(head: string, piece: string): Behaviour {
  return (socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(piece), DRIP_MS);
    socket.on('close', () => clearInterval(timer));
  };
}

const STALLS: [name: string, behave: Behaviour, status: number | null, detail: RegExp][] = [
  ['no answer', () => {}, null, /^The time of \d+ s ran out before an answer came\.$/],
  ['dripping headers', drips('HTTP/1.1 200 OK\r\n', 'x: y\r\n'), null, /before an answer came/],
  ['endless hints', drips('', 'HTTP/1.1 103 Early Hints\r\n\r\n'), null, /before an answer came/],
  ['no body', says('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n'), 200, /before the whole response body came/],
  ['half a body', says('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'), 200, /before the whole response body came/],
  ['dripping body', drips('HTTP/1.1 200 OK\r\n\r\n', 'x'), 200, /before the whole response body came/],
  [
    'dripping chunks',
    drips('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'),
    200,
    /response body/,
  ],
];

test('The time covers the whole exchange', async () => {
  // Side by side, with time enough for what each of them does before it stalls: on a machine that is busy, with more.
  const stalls = STALLS.map(async ([name, behave, status, detail]) => {
    await using receiver = await rawReceiver(behave);
    for (const timeoutMs of STALLS_MS) {
      await using poster = posterFor({ timeoutMs });
      const attempt = await poster.post(deliveryTo(receiver.url));
      assert.equal(attempt.outcome, 'timeout', name);
      const isThere = attempt.status === status && detail.test(attempt.detail);
      if (isThere || timeoutMs === STALLS_MS.at(-1)) {
        assert.equal(attempt.status, status, name);
        assert.match(attempt.detail, detail, name);
        break;
      }
    }
  });
  await Promise.all(stalls);
});

test('A timeout while connecting names its phase', async (t) => {
  const connectTimeoutMs = TIMEOUT_MS;
  const never = () => new Promise<never>(() => {});
  await using unresolved = posterFor({ connectTimeoutMs, lookup: never });
  assert.deepEqual(summary(await unresolved.post(deliveryTo('http://receiver.test/'))), [
    'timeout',
    'Looking up the name took longer than 0.05 s.',
  ]);

  // The time is up when the greeting has come, however long connecting took.
  const greeted = Promise.withResolvers<void>();
  await using silent = await silentReceiver('https', greeted.resolve);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await using poster = posterFor({ connectTimeoutMs });
  const posting = poster.post(deliveryTo(silent.url));
  await greeted.promise;
  t.mock.timers.tick(connectTimeoutMs);
  assert.deepEqual(summary(await posting), ['timeout', 'The TLS handshake took longer than 0.05 s.']);
});

test('What timed out before connecting is never sent', async () => {
  let answerLookup = (_: { address: string; family: number }[]) => {};
  const lookup = () => new Promise<{ address: string; family: number }[]>((resolve) => (answerLookup = resolve));
  let requests = 0;
  await using receiver = await rawReceiver((socket) => {
    requests++;
    socket.write(OK);
  });
  await using poster = posterFor({ lookup });
  const settings = { timeoutMs: TIMEOUT_MS };
  const late = await poster.post(deliveryTo(`http://receiver.test:${receiver.port}/`, { settings }));
  assert.equal(late.detail, 'The time of 0.05 s ran out before the request was sent.');
  answerLookup([{ address: '127.0.0.1', family: 4 }]);
  while (receiver.connections() === 0) await new Promise(setImmediate);
  // Alive: another delivery to the same place arrives, and is the only one that does.
  assert.equal((await poster.post(deliveryTo(receiver.url))).status, 200);
  assert.equal(requests, 1);
});

test('A connection closed between requests never hangs', async () => {
  // Announces to keep the connection and then closes it, in the three ways that race with the next request.
  const closings: Behaviour[] = [
    (socket) => socket.end(OK),
    (socket) => socket.write(OK, () => socket.resetAndDestroy()),
    (socket) => socket.write(OK, () => setImmediate(() => socket.destroy())),
  ];
  for (const close of closings) {
    await using receiver = await rawReceiver(close);
    await using poster = posterFor();
    const outcomes: string[] = [];
    for (let n = 0; n < 100; n++) outcomes.push((await poster.post(deliveryTo(receiver.url))).outcome);
    assert.deepEqual(
      outcomes.filter((outcome) => outcome !== 'answered' && outcome !== 'reset'),
      [],
    );
    assert.ok(outcomes.includes('answered'));
  }
});

test('A request onto a dying connection is a reset', async () => {
  // Answers the first request and closes as the second one arrives, unanswered.
  await using receiver = await rawReceiver((socket, nth) => (nth === 2 ? socket.destroy() : socket.write(OK)));
  await using poster = posterFor();
  const attempts = [1, 2, 3].map(() => () => poster.post(deliveryTo(receiver.url)));
  const outcomes: string[] = [];
  for (const post of attempts) outcomes.push((await post()).outcome);
  assert.deepEqual(outcomes, ['answered', 'reset', 'answered']);
  assert.equal(receiver.connections(), 2);
});

function summary({ outcome, detail }: Attempt): string[] {
  return [outcome, detail];
}
