import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { Attempt } from '../../../src/domain/delivery/delivery.ts';
import { freePort } from '../../support/port.ts';
import { standStill } from '../../support/wait.ts';
import { selfSigned } from '../webhook/certificate.ts';
import { mail, mailerFor, mailServer, NOW_MS, rawServer } from './servers.ts';

test('A mail arrives as it was written', async () => {
  await using server = await mailServer();
  await using mailer = mailerFor({ smtpUrl: server.url });
  const attempt = await mailer.send(mail());
  assert.deepEqual(
    [attempt.outcome, attempt.status, attempt.permanent, attempt.startedAtMs],
    ['answered', 250, false, NOW_MS],
  );
  assert.match(attempt.detail, /^The mail server took the mail: 250 /);
  const [{ email, envelope } = fail()] = server.arrived;
  assert.deepEqual(envelope, { from: 'errand@example.com', to: ['owner@example.org'] });
  assert.equal(email.subject, 'Grüße');
  assert.equal(email.text?.replaceAll('\r\n', '\n'), 'First line\n.leading dot\nFrom here on ☃\n');
  assert.equal(email.html, undefined);
  assert.deepEqual(
    [email.from, email.to],
    [{ name: 'Errand', address: 'errand@example.com' }, [{ name: '', address: 'owner@example.org' }]],
  );
  assert.equal(email.messageId, '<abcde12345@example.com>');
  assert.equal(email.date, '2026-01-02T03:04:05.000Z');
});

test('Text and HTML travel together', async () => {
  await using server = await mailServer();
  await using mailer = mailerFor({ smtpUrl: server.url });
  await mailer.send(mail({ body: { subject: 's', text: 'plain', html: '<b>bold</b>' } }));
  const [{ email } = fail()] = server.arrived;
  assert.deepEqual([email.text?.trim(), email.html?.trim()], ['plain', '<b>bold</b>']);
});

test('The same mail again is byte for byte equal', async () => {
  await using server = await mailServer();
  await using mailer = mailerFor({ smtpUrl: server.url });
  const delivery = mail({ body: { subject: 's', text: 't', html: '<p>h</p>' } });
  await mailer.send(delivery);
  await mailer.send({ ...delivery, attempt: 2, fence: 2 });
  const [first, second] = server.arrived.map(({ raw }) => raw.toString());
  assert.equal(first, second);
});

test('No subject begins another header', async () => {
  await using server = await mailServer();
  await using mailer = mailerFor({ smtpUrl: server.url });
  const breaks = ['\r\n', '\n', '\r', '\n\n', '\u0085', '\0', '\r\n\r\n'];
  for (const lineBreak of breaks) {
    await mailer.send(mail({ body: { subject: `a${lineBreak}Bcc: evil@example.net`, text: 'body' } }));
  }
  assert.equal(server.arrived.length, breaks.length);
  for (const { email, envelope } of server.arrived) {
    assert.equal(email.subject, 'a Bcc: evil@example.net');
    assert.equal(email.bcc, undefined);
    assert.deepEqual(envelope.to, ['owner@example.org']);
    assert.equal(email.text?.trim(), 'body');
  }
});

test('One recipient is never several', async () => {
  await using server = await mailServer();
  await using mailer = mailerFor({ smtpUrl: server.url });
  const several = [
    'a@x.org, b@x.org',
    'a@x.org\r\nBcc: b@x.org',
    'A <a@x.org>',
    'g: a@x.org;',
    'a@x.org b@x.org',
    '"a b"@x.org',
    'a',
    '',
    'a(b)@x.org',
    '[a]@x.org',
    'a\\b@x.org',
    'a\u202eb@x.org',
    'a\u200bb@x.org',
  ];
  for (const mailTo of several) {
    const attempt = await mailer.send(mail({ mailTo }));
    assert.deepEqual(
      [attempt.outcome, attempt.permanent, attempt.detail],
      ['refused', true, 'The recipient is not one mail address.'],
    );
  }
  assert.equal((await mailer.send(mail({ mailTo: "o'neil+tag@sub.example.org" }))).status, 250);
  assert.equal(server.arrived.length, 1);
});

test('Many mails share a few connections', async () => {
  await using server = await mailServer();
  await using mailer = mailerFor({ smtpUrl: server.url });
  const attempts = await Promise.all(Array.from({ length: 40 }, (_, n) => mailer.send(mail({ emitId: `emit${n}` }))));
  assert.ok(attempts.every(({ status }) => status === 250));
  assert.equal(new Set(server.arrived.map(({ email }) => email.messageId)).size, 40);
  assert.ok(server.connections() <= 5);
});

function replyError(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}

const REPLIES: [code: number, text: string, permanent: boolean][] = [
  [550, 'No such user here', true],
  [554, 'Refused as spam', true],
  [530, 'Authentication required', false],
  [503, 'Bad sequence of commands', false],
  [450, 'Greylisted, come back later', false],
  [451, 'Try again', false],
];

for (const [code, text, permanent] of REPLIES) {
  test(`A recipient refused with ${code} is ${permanent ? 'permanent' : 'not permanent'}`, async () => {
    await using server = await mailServer({ onRcptTo: (_to, _session, done) => done(replyError(code, text)) });
    await using mailer = mailerFor({ smtpUrl: server.url });
    const attempt = await mailer.send(mail());
    assert.deepEqual([attempt.outcome, attempt.status, attempt.permanent], ['answered', code, permanent]);
    assert.equal(attempt.detail, `The mail server said: ${code} ${text}.`);
    assert.equal(attempt.responseBody, `${code} ${text}`);
  });
}

test('A refusal after the data counts too', async () => {
  await using server = await mailServer({
    onData: (stream, _session, done) => stream.on('end', () => done(replyError(552, 'Mailbox full'))).resume(),
  });
  await using mailer = mailerFor({ smtpUrl: server.url });
  const attempt = await mailer.send(mail());
  assert.deepEqual([attempt.status, attempt.permanent], [552, true]);
});

test('A refusal leaves the connection usable', async () => {
  await using server = await mailServer({
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('no') ? replyError(550, 'No') : null),
  });
  await using mailer = mailerFor({ smtpUrl: server.url });
  const statuses: (number | null)[] = [];
  for (const mailTo of ['no@x.org', 'yes@x.org', 'no@x.org', 'yes@x.org']) {
    statuses.push((await mailer.send(mail({ mailTo }))).status);
  }
  assert.deepEqual(statuses, [550, 250, 550, 250]);
});

test('Greylisting passes at the second attempt', async () => {
  const seen = new Set<string>();
  await using server = await mailServer({
    onRcptTo({ address }, _session, done) {
      done(seen.has(address) ? null : replyError(450, 'Greylisted'));
      seen.add(address);
    },
  });
  await using mailer = mailerFor({ smtpUrl: server.url });
  assert.equal((await mailer.send(mail())).status, 450);
  assert.equal((await mailer.send(mail())).status, 250);
});

test('Wrong credentials are not the mail fault', async () => {
  await using server = await mailServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'user' && password === 'p@ss:word'
        ? done(null, { user: username })
        : done(replyError(535, 'Wrong password')),
  });
  const url = (password: string) => `smtp://user:${encodeURIComponent(password)}@127.0.0.1:${server.port}`;
  await using wrong = mailerFor({ smtpUrl: url('guess-me') });
  const attempt = await wrong.send(mail());
  assert.deepEqual([attempt.outcome, attempt.status, attempt.permanent], ['answered', 535, false]);
  assert.equal(JSON.stringify(attempt).includes('guess-me'), false);
  await using right = mailerFor({ smtpUrl: url('p@ss:word') });
  assert.equal((await right.send(mail())).status, 250);
});

test('An untrusted certificate gets no mail', async () => {
  await using server = await mailServer({ disabledCommands: ['AUTH'], ...selfSigned('IP:127.0.0.1') });
  await using mailer = mailerFor({ smtpUrl: server.url });
  const attempt = await mailer.send(mail());
  assert.deepEqual([attempt.outcome, attempt.status, attempt.permanent], ['tls', null, false]);
  assert.match(attempt.detail, /^The TLS handshake with the mail server failed/);
  assert.equal(server.arrived.length, 0);
});

test('A server that is down and up again', async () => {
  const before = await mailServer({}, await freePort());
  await using mailer = mailerFor({ smtpUrl: before.url });
  assert.equal((await mailer.send(mail())).status, 250);
  await before[Symbol.asyncDispose]();
  const down = await mailer.send(mail());
  assert.deepEqual([down.outcome, down.status, down.permanent], ['refused', null, false]);
  assert.equal(down.detail, 'The mail server could not be reached (ECONNREFUSED).');
  await using after = await mailServer({}, before.port);
  assert.equal((await mailer.send(mail())).status, 250);
  assert.equal(after.arrived.length, 1);
});

const STALLS: [name: string, behave: (socket: Socket) => void, expected: Partial<Attempt>][] = [
  ['never greets', () => {}, { outcome: 'timeout', detail: 'The mail server did not answer in time.' }],
  ['greets and falls silent', (socket) => socket.write('220 hello\r\n'), { outcome: 'timeout' }],
  ['drips its greeting', drips, { outcome: 'timeout' }],
  ['closes at once', (socket) => socket.end(), { outcome: 'reset' }],
  ['resets at once', (socket) => socket.resetAndDestroy(), { outcome: 'reset' }],
  [
    'is out of service',
    (socket) => socket.end('421 Closing down\r\n'),
    { outcome: 'answered', status: 421, permanent: false },
  ],
  ['speaks no SMTP', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'), { permanent: false }],
];

for (const [name, behave, expected] of STALLS) {
  test(`A mail server that ${name} comes to an attempt`, async () => {
    await using server = await rawServer(behave);
    // What is told of the phase is told before the time of the whole attempt is over.
    const timeoutMs = expected.detail ? undefined : 300;
    const soon = expected.outcome === 'timeout' ? { connectTimeoutMs: 100, timeoutMs } : {};
    await using mailer = mailerFor({ smtpUrl: server.url, ...soon });
    const attempt = await mailer.send(mail());
    assert.deepEqual({ ...attempt, ...expected }, attempt);
    assert.notEqual(attempt.status, 250);
  });
}

test('The whole attempt has one time', async () => {
  await using server = await rawServer((socket) => {
    socket.write('220 hello\r\n');
    socket.on('data', () => socket.write('250-more\r\n'));
    const timer = setInterval(() => socket.write('250-more\r\n'), 10);
    socket.on('close', () => clearInterval(timer));
  });
  await using mailer = mailerFor({ smtpUrl: server.url, timeoutMs: 100 });
  const attempt = await mailer.send(mail());
  assert.deepEqual([attempt.outcome, attempt.status], ['timeout', null]);
  assert.equal(attempt.detail, 'The time of 0.1 s ran out before the mail server took the mail.');
});

test('A reply that came in time counts, however late it is read', async () => {
  const timeoutMs = 400;
  await using server = await rawServer((socket) => {
    socket.write('220 hello\r\n');
    let isMail = false;
    socket.on('data', (chunk) => {
      const said = chunk.toString();
      if (isMail ? !said.endsWith('\r\n.\r\n') : said.startsWith('QUIT')) return;
      const isEnd = isMail;
      isMail = said.startsWith('DATA');
      socket.write(isMail ? '354 go on\r\n' : '250 taken\r\n');
      if (isEnd) standStill(timeoutMs);
    });
  });
  await using mailer = mailerFor({ smtpUrl: server.url, timeoutMs });
  const attempt = await mailer.send(mail());
  assert.deepEqual([attempt.outcome, attempt.status], ['answered', 250], 'sent once more, it would arrive twice');
});

test('A stopped attempt ends at once', async () => {
  await using server = await rawServer(() => {});
  await using mailer = mailerFor({ smtpUrl: server.url });
  assert.equal((await mailer.send(mail(), AbortSignal.abort())).outcome, 'reset');
  assert.equal(server.sockets.size, 0);
  const controller = new AbortController();
  const pending = mailer.send(mail(), controller.signal);
  while (server.sockets.size === 0) await new Promise(setImmediate);
  controller.abort();
  const attempt = await pending;
  assert.deepEqual(
    [attempt.outcome, attempt.detail],
    ['reset', 'The attempt was stopped before the mail server took the mail.'],
  );
});

test('After closing nothing is sent', async () => {
  await using server = await mailServer();
  await using mailer = mailerFor({ smtpUrl: server.url });
  await mailer.close();
  await mailer.close();
  const attempt = await mailer.send(mail());
  assert.deepEqual([attempt.outcome, attempt.status], ['reset', null]);
  assert.equal(server.connections(), 0);
});

test('A bad server address throws without its password', () => {
  for (const smtpUrl of [
    '',
    'mail.example.com',
    'http://u:hunter2@x',
    'smtp://',
    'smtp://u:hunter2@',
    'u:hunter2@x:25',
  ]) {
    assert.throws(
      () => mailerFor({ smtpUrl }),
      (error: Error) => /mail server/.test(error.message) && !error.message.includes('hunter2'),
      smtpUrl,
    );
  }
});

function drips(socket: Socket): void {
  const timer = setInterval(() => socket.write('2'), 10);
  socket.on('close', () => clearInterval(timer));
}

function fail(): never {
  throw new Error('no mail arrived');
}
