// What "errand doctor" says of mail servers. They are real, and get no mail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SMTPServerOptions } from 'smtp-server';
import { checkSmtp } from '../../../src/mail/smtp-check.ts';
import { freePort } from '../../support/port.ts';
import { selfSigned } from '../webhook/certificate.ts';
import { mailServer, rawServer } from './servers.ts';

const SIGN_IN: SMTPServerOptions = {
  authOptional: false,
  allowInsecureAuth: true,
  disabledCommands: ['STARTTLS'],
  onAuth: ({ username, password }, _session, done) =>
    password === 'p@ss:word' ? done(null, { user: username }) : done(new Error('Invalid username or password')),
};
const withUser = (url: string, password: string): string =>
  url.replace('//', `//ada:${encodeURIComponent(password)}@`).replace('127.0.0.1', 'localhost');

test('a mail server that takes user and password is well', async () => {
  await using server = await mailServer(SIGN_IN);
  const { is, says } = await checkSmtp(withUser(server.url, 'p@ss:word'));
  assert.deepEqual([is, says], ['well', `localhost:${server.port} answers, and takes user and password`]);
  assert.deepEqual([server.connections(), server.arrived.length], [1, 0]);
});

test('a wrong password is told without it', async () => {
  await using server = await mailServer(SIGN_IN);
  const { is, says } = await checkSmtp(withUser(server.url, 'guess-me'));
  assert.equal(is, 'wrong');
  assert.match(says, /^localhost:\d+: The mail server said: 535 .*; correct user and password in ERRAND_SMTP_URL/);
  assert.ok(!says.includes('guess-me'), says);
});

test('a server that wants a sign-in that is not offered', async () => {
  await using server = await mailServer();
  const { is, says } = await checkSmtp(withUser(server.url, 'p@ss:word'));
  assert.equal(is, 'look');
  assert.match(says, /answers without TLS, but offers no sign-in, .* user and password are not used$/);
});

test('STARTTLS and TLS with a certificate that is trusted', async () => {
  const tls = '?tls.rejectUnauthorized=false';
  const own = selfSigned('IP:127.0.0.1');
  await using upgrades = await mailServer({ disabledCommands: ['AUTH'], ...own });
  await using encrypted = await mailServer({ disabledCommands: ['AUTH'], secure: true, ...own });
  for (const url of [upgrades.url + tls, encrypted.url.replace('smtp:', 'smtps:') + tls]) {
    const { is, says } = await checkSmtp(url);
    assert.deepEqual([is, / answers over TLS$/.test(says)], ['well', true], says);
  }
});

test('a certificate that is not trusted', async () => {
  await using server = await mailServer({ disabledCommands: ['AUTH'], ...selfSigned('IP:127.0.0.1') });
  const { is, says } = await checkSmtp(server.url);
  assert.equal(is, 'wrong');
  assert.match(
    says,
    /TLS handshake.*\(DEPTH_ZERO_SELF_SIGNED_CERT\); its certificate is not trusted here: .*NODE_EXTRA_CA_CERTS/,
  );
});

test('TLS from a server that does not speak it', async () => {
  await using server = await mailServer();
  const { is, says } = await checkSmtp(server.url.replace('smtp:', 'smtps:'));
  assert.equal(is, 'wrong');
  assert.match(says, /; it does not speak TLS at once: smtps:\/\/ is for TLS from the first byte/);
});

test('a port where nothing listens', async () => {
  const { is, says } = await checkSmtp(`smtp://127.0.0.1:${await freePort()}`);
  assert.equal(is, 'wrong');
  assert.match(says, /could not be reached \(ECONNREFUSED\); nothing listens there, or a firewall refuses/);
});

test('a server that says nothing, or too little, is given up', async () => {
  const behaviours: Parameters<typeof rawServer>[0][] = [
    () => {},
    (socket) => socket.write('220 hello\r\n'),
    (socket) => {
      const drip = setInterval(() => socket.write('220-still here\r\n'), 20);
      socket.on('close', () => clearInterval(drip));
    },
  ];
  for (const behaviour of behaviours) {
    await using server = await rawServer(behaviour);
    const { is, says } = await checkSmtp(server.url, 300);
    assert.equal(is, 'wrong');
    assert.match(says, /^127\.0\.0\.1:\d+: no answer within 0\.3 s; check host and port/);
  }
});

test('what is no mail server, and what refuses', async () => {
  await using other = await rawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const { is, says } = await checkSmtp(other.url);
  assert.equal(is, 'wrong', says);
  await using refuses = await rawServer((socket) => socket.end('554 5.7.1 not \x1b[31myou\r\n'));
  const refused = await checkSmtp(refuses.url);
  assert.match(refused.says, /The mail server said: 554 5\.7\.1 not \S*you; its operator knows/);
  assert.ok(!refused.says.includes('\x1b'));
  assert.equal((await checkSmtp('http://127.0.0.1')).is, 'wrong');
});
