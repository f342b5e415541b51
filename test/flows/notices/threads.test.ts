// Mails about one group of errors as mail clients sort them: one thread, whatever the mail says.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Email } from 'postal-mime';
import { startErrand } from '../../support/errand.ts';
import { startMailServer } from '../../support/sources/mail-server.ts';

const DAY_MS = 24 * 60 * 60_000;
const THROW = `export default ({ steps }) => {
  const { code, text } = steps.trigger.event.body;
  throw Object.assign(new Error(text), { code });
};`;
const MAILING = `export default ({ $ }) => $.send.email({ subject: 'own', text: 'own' });`;

const headerOf = ({ headers }: Email, name: string): string | undefined =>
  headers.find(({ key }) => key === name)?.value;

test('all mails about one group of errors are one thread, and those about others are not', async () => {
  await using server = await startMailServer();
  await using errand = await startErrand({ ERRAND_SMTP_URL: server.url, ERRAND_MAIL_FROM: 'errand@example.org' });
  const { client } = errand;
  const channel = await client.post('/v1/channels', { kind: 'mail', config: { to: 'oncall@example.com' } });
  await client.put('/v1/users/me', { channels: [channel.id] });
  const workflow = await errand.workflow(THROW, { name: 'Orders' });
  await errand.send(workflow, { code: 'E', text: 'broken' });
  await server.wait(2);
  await errand.settled();
  await errand.send(workflow, { code: 'E', text: 'broken' });
  await errand.settled();
  errand.forward(DAY_MS + 60_000);
  await server.wait(4);
  await errand.settled();
  const [{ id }] = (await client.get('/v1/error_groups')).data;
  await client.put(`/v1/error_groups/${id}`, { state: 'resolved' });
  await server.wait(6);
  await errand.settled();
  const subjects = server.mails.map(({ subject = '' }) => subject);
  equal(subjects.filter((subject) => /more/.test(subject)).length, 2, subjects.join('\n'));
  equal(subjects.filter((subject) => /recovered/.test(subject)).length, 2, subjects.join('\n'));
  const thread = `<${id}@example.org>`;
  for (const mail of server.mails) {
    deepEqual([headerOf(mail, 'references'), headerOf(mail, 'in-reply-to')], [thread, thread], `${mail.subject}`);
    equal(headerOf(mail, 'auto-submitted'), 'auto-generated');
    equal(headerOf(mail, 'x-auto-response-suppress'), 'OOF, AutoReply');
  }
  equal(new Set(server.mails.map(({ messageId }) => messageId)).size, 6);
  await errand.send(workflow, { code: 'OTHER', text: 'something else' });
  await errand.send(await errand.workflow(MAILING), {});
  await server.wait(9);
  const [own, ...others] = server.mails.slice(6).toSorted((a) => (a.subject === 'own' ? -1 : 1));
  equal(own && headerOf(own, 'references'), undefined);
  const other = others.map((mail) => headerOf(mail, 'references'));
  equal(new Set(other).size, 1);
  match(other[0] ?? '', /^<eg_\w+@example\.org>$/);
  ok(other[0] !== thread);
});
