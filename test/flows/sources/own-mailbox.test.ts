// The source `mailbox` against a real IMAP server: each message once, and nothing changes there.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ImapFlow } from 'imapflow';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { type Dovecot, noDovecot, PASSWORD, startDovecot } from '../../support/sources/dovecot.ts';
import { createOwn, emitted, runNow, tryOwn } from '../../support/sources/own-sources.ts';

const newErrand = shareErrand();

const skip = noDovecot;
let dovecot: Dovecot;
before(async () => {
  if (!skip) dovecot = await startDovecot();
});
after(() => dovecot?.[Symbol.asyncDispose]());

const plain = (name: string): string =>
  `Message-ID: <${name}@example.com>\r\nFrom: Ada <ada@example.com>\r\nTo: b@example.com\r\nSubject: ${name}\r\n\r\nText of ${name}\r\n`;

const WHOLE = [
  'Message-ID: <whole@example.com>',
  'In-Reply-To: <before@example.com>',
  'Date: Fri, 2 Jan 2026 03:04:05 +0100',
  'From: =?utf-8?Q?J=C3=B6rg?= <joerg@example.com>',
  'To: a@example.com, Team: b@example.com, "C" <c@example.com>;',
  'Subject: =?utf-8?B?w5xiZXI=?=',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=x',
  '',
  '--x',
  'Content-Type: text/html; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  '<b>gr=FCn</b>',
  '--x',
  'Content-Type: text/csv; name="rows.csv"',
  'Content-Disposition: attachment; filename="rows.csv"',
  '',
  'a,b',
  '--x',
  'Content-Type: application/octet-stream',
  'Content-Disposition: attachment; filename="large.bin"',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.alloc(300, 1).toString('base64'),
  '--x--',
  '',
].join('\r\n');

function propsOf(user: string, more: Json = {}): Json {
  return { host: dovecot.host, port: dovecot.port, security: 'none', user, password: PASSWORD, ...more };
}

const subjects = (events: Json[]): string[] => events.map(({ subject }) => subject);

/** Of all messages, by their subjects. */
async function flagsOf(client: ImapFlow): Promise<Record<string, string[]>> {
  const lock = await client.getMailboxLock('INBOX');
  try {
    const all = await client.fetchAll('1:*', { flags: true, envelope: true });
    return Object.fromEntries(all.map(({ envelope, flags }) => [envelope?.subject, [...(flags ?? [])]]));
  } finally {
    lock.release();
  }
}

test('new messages are emitted once, and stay unread', { skip }, async () => {
  await using errand = await startErrand();
  for (const name of ['one', 'two', 'three']) await dovecot.deliver('ann', plain(name));
  const source = await createOwn(errand, 'mailbox', propsOf('ann', { past: 2 }));
  assert.equal(source.configured_props.password, undefined);
  assert.deepEqual(subjects(await emitted(errand, source)), ['two', 'three']);
  await runNow(errand, source);
  await dovecot.deliver('ann', plain('four'));
  await errand.restart();
  await dovecot.deliver('ann', plain('five'));
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  await runNow(errand, source);
  const events = await emitted(errand, source);
  assert.deepEqual(subjects(events), ['two', 'three', 'four', 'five']);
  assert.equal(events[3].text.trim(), 'Text of five');
  const flags = await dovecot.as('ann', flagsOf);
  assert.ok(
    Object.values(flags).every((each) => !each.includes('\\Seen')),
    JSON.stringify(flags),
  );
  const other = await createOwner(errand);
  assertProblem(await other.client.request('GET', `/v1/sources/${source.id}`), 404);
});

test('a message is emitted with all that it says', { skip }, async () => {
  await using errand = await newErrand();
  await dovecot.deliver('bob', WHOLE);
  const source = await createOwn(errand, 'mailbox', propsOf('bob', { content_bytes: 100 }));
  const [{ received_at: receivedAt, flags: _flags, html, ...event }] = await emitted(errand, source);
  assert.ok(Date.parse(receivedAt) > 0);
  assert.equal(html.trim(), '<b>grün</b>');
  const { attachments, ...rest } = event;
  assert.deepEqual(rest, {
    mailbox: 'INBOX',
    uid: 1,
    size: Buffer.byteLength(WHOLE),
    message_id: '<whole@example.com>',
    in_reply_to: '<before@example.com>',
    date: '2026-01-02T02:04:05.000Z',
    from: { name: 'Jörg', address: 'joerg@example.com' },
    reply_to: [],
    to: [{ address: 'a@example.com' }, { address: 'b@example.com' }, { name: 'C', address: 'c@example.com' }],
    cc: [],
    subject: 'Über',
  });
  const [rows, large] = attachments;
  assert.deepEqual([rows.filename, rows.mime_type, rows.size], ['rows.csv', 'text/csv', rows.size]);
  assert.equal(Buffer.from(rows.content, 'base64').toString().trim(), 'a,b');
  assert.deepEqual([large.filename, large.size, large.content], ['large.bin', 300, undefined]);
});

test('what was emitted is marked as read when asked', { skip }, async () => {
  await using errand = await newErrand();
  await dovecot.deliver('cy', plain('old'));
  const source = await createOwn(errand, 'mailbox', propsOf('cy', { past: 0, mark_read: true }));
  await dovecot.deliver('cy', plain('new'));
  await runNow(errand, source);
  const flags = await dovecot.as('cy', flagsOf);
  assert.deepEqual([flags.old?.includes('\\Seen'), flags.new?.includes('\\Seen')], [false, true]);
});

test('a mailbox that is numbered anew repeats nothing', { skip }, async () => {
  await using errand = await newErrand();
  await dovecot.as('dan', (client) => client.mailboxCreate('Orders'));
  for (const name of ['one', 'two']) await dovecot.deliver('dan', plain(name), 'Orders');
  const source = await createOwn(errand, 'mailbox', propsOf('dan', { mailbox: 'Orders', past: 1 }));
  await dovecot.as('dan', async (client) => {
    await client.mailboxDelete('Orders');
    await client.mailboxCreate('Orders');
  });
  for (const name of ['one', 'two', 'three']) await dovecot.deliver('dan', plain(name), 'Orders');
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  await runNow(errand, source);
  assert.deepEqual(subjects(await emitted(errand, source)), ['two', 'three']);
  const { data } = await errand.client.get(`/v1/sources/${source.id}/logs`);
  assert.ok(data.some(({ text }: Json) => /renumbered its messages; 1 are treated as new/.test(text)));
});

test('more messages than fit come with the next poll', { skip }, async () => {
  await using errand = await newErrand();
  const source = await createOwn(errand, 'mailbox', propsOf('eve'));
  await dovecot.as('eve', async (client) => {
    for (let n = 1; n <= 60; n++) await client.append('INBOX', plain(`m${n}`));
    // One of them has gone before it is read.
    await client.mailboxOpen('INBOX');
    await client.messageDelete('30', { uid: true });
  });
  for (const count of [50, 59]) {
    await runNow(errand, source);
    assert.equal((await emitted(errand, source)).length, count);
  }
  await runNow(errand, source);
  const events = await emitted(errand, source);
  assert.equal(new Set(subjects(events)).size, 59);
  assert.equal(events.at(-1)?.subject, 'm60');
});

test('TLS is checked, from the beginning or by STARTTLS', { skip }, async () => {
  await using errand = await newErrand();
  await dovecot.deliver('fay', plain('safe'));
  const secured = [{ security: 'tls', port: dovecot.tlsPort }, { security: 'starttls' }];
  for (const props of secured) {
    const refused = await tryOwn(errand, 'mailbox', propsOf('fay', props));
    assertProblem(refused, 422);
    assert.match(refused.json.detail, /self.signed certificate/);
    const source = await createOwn(errand, 'mailbox', propsOf('fay', { ...props, ca: dovecot.ca }));
    assert.deepEqual(subjects(await emitted(errand, source)), ['safe']);
  }
});

test('a server that was away costs no message', { skip }, async () => {
  await using errand = await startErrand();
  const source = await createOwn(errand, 'mailbox', propsOf('gus'));
  await dovecot.deliver('gus', plain('one'));
  await dovecot.stop();
  assert.equal((await runNow(errand, source)).state, 'failed');
  const [error] = await errand.errors(source.id, 1);
  assert.match(error.event.error.msg, /^INBOX of gus at 127\.0\.0\.1:\d+ cannot be read: .*ECONNREFUSED/);
  assert.ok(!JSON.stringify(error).includes(PASSWORD));
  await dovecot.start();
  await runNow(errand, source);
  assert.deepEqual(subjects(await emitted(errand, source)), ['one']);
});

test('what cannot be read is refused at once', { skip }, async () => {
  await using errand = await newErrand();
  for (const [more, why] of [
    [{ password: 'wrong' }, /INBOX of hal at .*the user or the password is wrong/],
    [{ mailbox: 'None' }, /None of hal .*(exist|None)/],
    [{ security: 'ssl' }, /security is tls, starttls, none/],
    [{ port: 1 }, /ECONNREFUSED/],
    [{ host: undefined }, /host/],
    [{ content_bytes: 1e9 }, /content_bytes/],
  ] as const) {
    const refused = await tryOwn(errand, 'mailbox', propsOf('hal', more));
    assertProblem(refused, 422);
    assert.match(refused.json.detail, why);
    assert.ok(!JSON.stringify(refused.json).includes(PASSWORD));
  }
  assert.equal((await errand.client.get('/v1/sources')).data.length, 0);
});
