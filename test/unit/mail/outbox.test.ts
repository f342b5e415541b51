import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { removeLetters } from '../../../src/mail/outbox-letters.ts';
import { mail, mailerFor, mailServer, type TestMailer } from './servers.ts';

const NAME = '2026-01-02T03-04-05.678Z-abcde12345.eml';

test('Without a server mails become files', async () => {
  await using mailer = mailerFor();
  const attempt = await mailer.send(mail());
  assert.deepEqual([attempt.outcome, attempt.status, attempt.permanent], ['answered', 250, false]);
  assert.equal(
    attempt.detail,
    `No mail was sent, since no mail server is configured (ERRAND_SMTP_URL). It is in the outbox folder as ${NAME}.`,
  );
  assert.deepEqual(await readdir(mailer.outboxDir), [NAME]);
  const { mode } = await stat(join(mailer.outboxDir, NAME));
  assert.equal(mode & 0o777, 0o600);
});

test('A file is a complete message', async () => {
  await using mailer = mailerFor();
  await mailer.send(mail({ body: { subject: 'Grüße', text: 'plain ☃\nsecond', html: '<b>bold</b>' } }));
  const raw = await written(mailer);
  const email = await PostalMime.parse(raw);
  assert.equal(email.subject, 'Grüße');
  assert.deepEqual(
    [email.text?.trim().replaceAll('\r\n', '\n'), email.html?.trim()],
    ['plain ☃\nsecond', '<b>bold</b>'],
  );
  assert.equal(email.to?.[0]?.address, 'owner@example.org');
  assert.equal(email.messageId, '<abcde12345@example.com>');
  assert.equal(/(?<!\r)\n/.test(raw.toString('latin1')), false, 'every line ends as RFC 5322 wants it');
});

test('The same mail again overwrites its file', async () => {
  await using mailer = mailerFor();
  await mailer.send(mail());
  const first = await written(mailer);
  await mailer.send({ ...mail(), attempt: 2 });
  assert.deepEqual(await readdir(mailer.outboxDir), [NAME]);
  assert.deepEqual(await written(mailer), first);
});

test('The letters of an owner go, with those of which a killed write left a part', async () => {
  await using mailer = mailerFor();
  const { ownerId } = mail().emission;
  for (const emitId of ['mine', 'whole']) await mailer.send(mail({ emitId }));
  const nameOf = (emitId: string) => `2026-01-02T03-04-05.678Z-${emitId}.eml`;
  const inOutbox = (name: string) => join(mailer.outboxDir, name);
  await rename(inOutbox(nameOf('whole')), inOutbox(`.${nameOf('whole')}.0123456789ab.tmp`));
  const parts = ['old', 'new', 'other'].map((id) => `.${nameOf(id)}.0123456789ab.tmp`);
  for (const name of parts) await writeFile(inOutbox(name), 'From: a');
  await writeFile(inOutbox(parts[2] as string), 'X-Errand-Owner: u_other\r\n\r\n');
  await writeFile(inOutbox(nameOf('other')), 'X-Errand-Owner: u_other\r\n\r\n');
  const now = Date.now();
  await utimes(inOutbox(parts[0] as string), now / 1000 - 3600, now / 1000 - 3600);
  await removeLetters(mailer.outboxDir, ownerId, now);
  assert.deepEqual((await readdir(mailer.outboxDir)).sort(), [parts[1], parts[2], nameOf('other')].sort());
  await removeLetters(join(mailer.outboxDir, 'none'), ownerId, now);
});

test('Different mails become different files', async () => {
  await using mailer = mailerFor();
  await Promise.all(['a', 'b', 'c/../d'].map((emitId) => mailer.send(mail({ emitId }))));
  const names = await readdir(mailer.outboxDir);
  assert.deepEqual(
    names.sort(),
    ['a', 'b', 'c____d'].map((id) => `2026-01-02T03-04-05.678Z-${id}.eml`),
  );
});

test('Without a recipient the file names the owner', async () => {
  await using server = await mailServer();
  await using mailer = mailerFor({ smtpUrl: server.url });
  const { status, detail } = await mailer.send(mail({ mailTo: null }));
  assert.equal(status, 250);
  assert.match(detail, /^No mail was sent, since the owner has no mail address .* outbox folder as /);
  const { to } = await PostalMime.parse(await written(mailer));
  assert.match(to?.[0]?.address ?? '', /^u_\w+@no-address\.invalid$/);
  assert.equal(server.connections(), 0);
});

test('A folder that cannot be written to', async () => {
  await using mailer = mailerFor();
  await mkdir(dirname(mailer.outboxDir), { recursive: true });
  await writeFile(mailer.outboxDir, 'a file where the folder belongs');
  const attempt = await mailer.send(mail());
  assert.deepEqual([attempt.outcome, attempt.status, attempt.permanent], ['refused', null, false]);
  assert.equal(attempt.detail, 'The mail could not be written to the outbox folder (EEXIST).');
});

test('A failed write leaves nothing behind', async () => {
  await using mailer = mailerFor();
  await mkdir(join(mailer.outboxDir, NAME), { recursive: true });
  assert.equal((await mailer.send(mail())).outcome, 'refused');
  assert.deepEqual(await readdir(mailer.outboxDir), [NAME]);
});

const MALFORMED: [raw: string | Uint8Array, detail: string][] = [
  ['', 'The mail is not a JSON object in UTF-8.'],
  ['null', 'The mail is not a JSON object in UTF-8.'],
  ['[]', 'The mail is not a JSON object in UTF-8.'],
  ['"text"', 'The mail is not a JSON object in UTF-8.'],
  ['{"subject": "s"', 'The mail is not a JSON object in UTF-8.'],
  [Uint8Array.of(0x22, 0xff, 0x22), 'The mail is not a JSON object in UTF-8.'],
  ['{}', 'The mail has no subject (a string).'],
  ['{"subject": 1, "text": "t"}', 'The mail has no subject (a string).'],
  ['{"subject": "s"}', 'The mail has no text (a string).'],
  ['{"subject": "s", "text": {"path": "/etc/passwd"}}', 'The mail has no text (a string).'],
  ['{"subject": "s", "text": "t", "html": {"path": "/etc/passwd"}}', 'The html of the mail is not a string.'],
];

test('What is no mail is refused for good', async () => {
  await using mailer = mailerFor();
  for (const [raw, detail] of MALFORMED) {
    const attempt = await mailer.send(mail({ raw: Buffer.from(raw as string) }));
    assert.deepEqual(
      [attempt.outcome, attempt.status, attempt.permanent, attempt.detail],
      ['refused', null, true, detail],
    );
  }
  assert.equal(existsSync(mailer.outboxDir), false);
  assert.equal((await mailer.send(mail({ body: { subject: '', text: '', html: null } }))).status, 250);
});

test('A name in the subject does not turn what follows', async () => {
  await using mailer = mailerFor();
  await mailer.send(mail({ body: { subject: '\u202ex\u2066 of \u05d0\u05d1 failed', text: 'body' } }));
  assert.equal((await PostalMime.parse(await written(mailer))).subject, 'x of \u05d0\u05d1 failed');
});

test('Any subject comes back on one line', async () => {
  await using mailer = mailerFor();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (subject) => {
      await mailer.send(mail({ body: { subject, text: 'body' } }));
      const email = await PostalMime.parse(await written(mailer));
      const turns = /[\u202a-\u202e\u2066-\u2069]/g;
      const squeezed = (text: string) =>
        text
          .replace(/\p{Cc}+/gu, ' ')
          .replace(turns, '')
          .replace(/\s+/gu, ' ')
          .trim();
      assert.equal(squeezed(email.subject ?? ''), squeezed(subject));
      assert.equal(email.text?.trim(), 'body');
      // An empty subject has no header.
      const others = email.headers.map(({ key }) => key).filter((key) => key !== 'subject');
      const promised = ['auto-submitted', 'content-transfer-encoding', 'content-type', 'date', 'from', 'message-id'];
      assert.deepEqual(others.sort(), [
        ...promised,
        'mime-version',
        'to',
        'x-auto-response-suppress',
        'x-errand-owner',
      ]);
    }),
    { numRuns: 50 },
  );
});

function written(mailer: TestMailer): Promise<Buffer> {
  return readdir(mailer.outboxDir).then(([name]) => readFile(join(mailer.outboxDir, name ?? '')));
}
