// Errors of the global error workflow itself, which tells of all others: mailed by the service.

import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { startReceiver } from '../../support/receiver.ts';
import { startMailServer } from '../../support/sources/mail-server.ts';
import { until } from '../../support/wait.ts';

const THROW = "export default () => { throw new Error('first'); };";
const BROKEN = "export default () => { throw Object.assign(new Error('no such chat'), { code: 'DESK' }); };";
const HOUR_MS = 3_600_000;

/** Has errors told by a workflow that fails, and returns it. */
async function breakDesk(errand: Pick<Errand, 'workflow' | 'client'>, settings: Json = {}): Promise<Json> {
  const desk = await errand.workflow(BROKEN, { name: 'Desk', settings });
  await errand.client.put('/v1/users/me', { global_error_workflow_id: desk.id });
  return desk;
}

const mailsOf = async (errand: Errand, count: number): Promise<Json[]> => {
  const found = await until(`${count} mails`, async () => {
    const all = await errand.outbox();
    return all.length >= count && all;
  });
  return Promise.all(found.map((text) => PostalMime.parse(text)));
};

async function shown(errand: Errand, workflow: Json): Promise<Json> {
  const [{ id }] = (await errand.errors(workflow.id, 1)) as [Json];
  return (await errand.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries/${id}`)).data;
}

test('they are mailed once, counted, and told to be over', async () => {
  await using errand = await startErrand();
  const desk = await breakDesk(errand);
  const workflow = await errand.workflow(THROW, { name: 'Orders' });
  await errand.send(workflow, {});
  const [mail] = await mailsOf(errand, 1);
  for (let n = 0; n < 2; n++) await errand.send(workflow, { n });
  await errand.errors(desk.id, 3);
  match(mail.subject, /Desk failed: DESK no such chat/);
  match(mail.text, /the global error workflow, which tells you of the errors/);
  match(mail.html, /the global error workflow, which tells you of the errors/);
  await errand.settled();
  const { receipts, told } = await shown(errand, desk);
  equal(told, 'counted');
  deepEqual(
    receipts.map(({ kind, listener_id: to, via }: Json) => [kind, to, via]),
    [
      ['withheld', desk.id, 'global'],
      ['withheld', 'ch_mail', 'channel'],
    ],
  );
  equal((await shown(errand, workflow)).told, 'failed');
  await errand.restart();
  errand.forward(25 * HOUR_MS);
  const [, digest] = await mailsOf(errand, 2);
  match(digest.subject, /Desk: 2 more DESK/);
  await until('it to be told', async () => (await shown(errand, desk)).told === 'told');
  const { data: deliveries } = await errand.client.get('/v1/deliveries?channel_id=ch_mail');
  equal(deliveries.length, 2);
  const { data: whole } = await errand.client.get(`/v1/deliveries/${deliveries[0].id}`);
  match(whole.mail.text, /which tells you of the errors/);
  const { data: groups } = await errand.client.get(`/v1/error_groups?emitter_id=${desk.id}`);
  await errand.client.put(`/v1/error_groups/${groups[0].id}`, { state: 'resolved' });
  errand.forward(HOUR_MS);
  const [, , over] = await mailsOf(errand, 3);
  match(over.subject, /Desk recovered/);
  doesNotMatch(over.text, /which tells you of the errors/);
});

test('they go to channels where there are some, and nowhere when that is asked for', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { id } = await errand.client.post('/v1/channels', { kind: 'discord', config: { url: receiver.url } });
  const desk = await breakDesk(errand, { channels: [id] });
  const workflow = await errand.workflow(THROW);
  await errand.send(workflow, {});
  await receiver.wait(1);
  const quiet = await errand.workflow(BROKEN, { name: 'Quiet', settings: { notify: false } });
  await errand.client.put('/v1/users/me', { global_error_workflow_id: quiet.id });
  await errand.send(workflow, {});
  await errand.errors(quiet.id, 1);
  // Its own errors from before are not those of the global error workflow any more.
  await errand.client.put(`/v1/workflows/${desk.id}`, { settings: { channels: [] } });
  await errand.settled();
  equal((await shown(errand, quiet)).told, 'withheld');
  deepEqual(await errand.outbox(), []);
});

test('they are mailed where no channel is active', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { id } = await errand.client.post('/v1/channels', { kind: 'discord', config: { url: receiver.url } });
  const desk = await breakDesk(errand, { channels: [id] });
  await errand.client.put(`/v1/channels/${id}`, { active: false });
  const workflow = await errand.workflow(THROW);
  await errand.send(workflow, {});
  await mailsOf(errand, 1);
  await errand.settled();
  const { receipts, told } = await shown(errand, desk);
  equal(told, 'told');
  deepEqual(
    receipts.map(({ kind, listener_id: to }: Json) => [kind, to]),
    [
      ['withheld', desk.id],
      ['delivery', 'ch_mail'],
      ['withheld', id],
    ],
  );
  // Not those of any other workflow.
  await errand.client.put(`/v1/workflows/${workflow.id}`, { settings: { channels: [id] } });
  await errand.send(workflow, {});
  await errand.errors(desk.id, 2);
  await errand.settled();
  equal((await errand.outbox()).length, 1);
  equal(receiver.received.length, 0);
});

test('each owner is mailed of their own, by a channel that nobody can change', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand, 'other');
  for (const one of [errand, other]) {
    await breakDesk(one);
    await one.send(await one.workflow(THROW), {});
  }
  const mails = await mailsOf(errand, 2);
  deepEqual(mails.map(({ to }) => to[0].address).toSorted(), ['other@example.com', 'owner@example.com']);
  const ofOne = async ({ client }: Pick<Errand, 'client'>): Promise<string[]> =>
    (await client.get('/v1/deliveries?channel_id=ch_mail')).data.map(({ id }: Json) => id);
  const [[first], [second, ...more]] = await Promise.all([ofOne(errand), ofOne(other)]);
  deepEqual(more, []);
  equal((await other.client.request('GET', `/v1/deliveries/${first}`)).status, 404);
  equal((await errand.client.request('GET', `/v1/deliveries/${second}`)).status, 404);
  const path = '/v1/channels/ch_mail';
  for (const [method, at, body] of [
    ['GET', path],
    ['PUT', path, {}],
    ['DELETE', path],
    ['POST', `${path}/test`, {}],
  ] as const)
    equal((await errand.client.request(method, at, body)).status, 404, method);
  const named = await errand.client.request('PUT', '/v1/users/me', { channels: ['ch_mail'] });
  equal(named.status, 422, named.text);
});

test('mails that a mail server refuses are told by no mail, and those about it once in a window', async () => {
  await using server = await startMailServer({
    onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no such user'), { responseCode: 550 })),
  });
  await using errand = await startErrand({ ERRAND_SMTP_URL: server.url });
  const { global_error_workflow_id: id } = (await errand.client.get('/v1/users/me')).data;
  const workflow = await errand.workflow(THROW);
  await errand.send(workflow, {});
  const [refused] = (await errand.errors(id, 1)) as [Json];
  equal(refused.event.error.code, 'DeliveryExhausted');
  const notices = async (): Promise<Json[]> => (await errand.client.get('/v1/deliveries?channel_id=ch_mail')).data;
  const givenUp = (count: number) =>
    until(`${count} mails to be given up`, async () => {
      const all = await notices();
      return all.length >= count && all.every(({ state }) => state === 'exhausted');
    });
  const desk = await breakDesk(errand);
  await errand.send(workflow, {});
  // The error of the mail that was given up goes to the global error workflow, whose error at that is counted.
  await givenUp(1);
  await errand.errors(desk.id, 2);
  await errand.settled();
  equal((await notices()).length, 1);
  errand.forward(25 * HOUR_MS);
  await givenUp(2);
  await errand.errors(desk.id, 3);
  await errand.settled();
  equal((await notices()).length, 2);
});
