// Mails over a real mail server: taken, refused for good, and kept while the server is away.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime, { type Email } from 'postal-mime';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { createOwner, withScopes } from '../support/owners.ts';
import { freePort } from '../support/port.ts';
import { startMailServer } from '../support/sources/mail-server.ts';
import { until } from '../support/wait.ts';

const FAIL = `export default () => { throw new Error('no stock for order 7') }`;
const MAILING = `export default ({ $ }) => $.send.email({ subject: 'Grüße', text: 'Zeile 1\\n.\\nZeile 3', html: '<b>fett</b>' })`;

/** The one mail that a run caused, once it is in one of the states. */
async function mailOf(errand: Errand, run: Json, ...states: string[]): Promise<Json> {
  return until(`a mail that is ${states.join(' or ')}`, async () => {
    const { data } = await errand.client.get(`/v1/runs/${run.id}`);
    const receipt = data.causes.find((each: Json) => each.kind === 'mail');
    if (receipt === undefined) return null;
    const delivery = await errand.client.get(`/v1/deliveries/${receipt.id}`);
    return states.includes(delivery.data.state) && delivery.data;
  });
}

async function mailingRun(errand: Errand): Promise<Json> {
  const workflow = await errand.workflow(MAILING);
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, 1);
  return run;
}

/** The mails in the outbox, once there are so many. */
async function outboxOf(errand: Errand, count: number): Promise<Email[]> {
  const files = await until(`${count} mails`, async () => {
    const all = await errand.outbox();
    return all.length >= count && all;
  });
  return Promise.all(files.map((file) => PostalMime.parse(file)));
}

test('an error is mailed to the owner', async () => {
  await using server = await startMailServer();
  await using errand = await startErrand({ ERRAND_SMTP_URL: server.url, ERRAND_MAIL_FROM: 'errand@example.org' });
  const workflow = await errand.workflow(FAIL, { name: 'Stock' });
  await errand.send(workflow, {});
  const [mail] = await server.wait(1);
  assert.match(mail?.subject ?? '', /Stock.*Error/);
  assert.match(mail?.text ?? '', /no stock for order 7/);
  assert.equal(mail?.from?.address, 'errand@example.org');
  assert.deepEqual(
    mail?.to?.map(({ address }) => address),
    ['owner@example.com'],
  );
  await errand.settled();
  assert.deepEqual(await errand.outbox(), [], 'the outbox is for when there is no server');
});

test('a mail arrives as it was written', async () => {
  await using server = await startMailServer();
  await using errand = await startErrand({ ERRAND_SMTP_URL: server.url });
  const run = await mailingRun(errand);
  const [mail] = await server.wait(1);
  assert.equal(mail?.subject, 'Grüße');
  assert.equal(mail?.text?.replaceAll('\r\n', '\n').trim(), 'Zeile 1\n.\nZeile 3');
  assert.match(mail?.html ?? '', /<b>fett<\/b>/);
  const delivery = await mailOf(errand, run, 'delivered');
  assert.equal(delivery.attempts_made, 1);
  assert.deepEqual(
    delivery.attempts.map(({ n, outcome, status }: Json) => [n, outcome, status]),
    [[1, 'answered', 250]],
  );
});

test('a mail is shown as a page on which nothing runs', async () => {
  await using errand = await startErrand();
  const run = await mailingRun(errand);
  const { id, mail } = await mailOf(errand, run, 'delivered');
  const [listed] = (await errand.client.get('/v1/deliveries?kind=mail')).data;
  assert.deepEqual([listed.id, listed.subject], [id, 'Grüße']);
  assert.deepEqual(mail, { subject: 'Grüße', text: 'Zeile 1\n.\nZeile 3', has_html: true });
  const page = await errand.client.request('GET', `/v1/deliveries/${id}/mail`);
  assert.deepEqual([page.status, page.text], [200, '<b>fett</b>']);
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(page.headers.get('content-security-policy') ?? '', /^sandbox; default-src 'none'; /);
  // The links in a mail are good for changes.
  const { client: reader } = await withScopes(errand.client, ['read']);
  const shown = (await reader.get(`/v1/deliveries/${id}`)).data.mail;
  assert.deepEqual(shown, { subject: 'Grüße', text: '(hidden)', has_html: false });
  assert.equal((await reader.request('GET', `/v1/deliveries/${id}/mail`)).status, 403);
  const other = await createOwner(errand, 'other');
  assert.equal((await other.client.request('GET', `/v1/deliveries/${id}/mail`)).status, 404);
});

test('a notice is shown as a mail, and listed by its channel', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const make = (name: string) =>
    client.post('/v1/channels', { kind: 'mail', name, config: { to: 'oncall@example.com' } });
  const [channel, silent] = [await make('On call'), await make('Nobody')];
  await client.put('/v1/users/me', { channels: [channel.id] });
  await errand.send(await errand.workflow(FAIL, { name: 'Stock' }), {});
  const of = async (id: string) => (await client.get(`/v1/deliveries?channel_id=${id}`)).data;
  const [notice] = await until('the notice', async () => (await of(channel.id)).length > 0 && of(channel.id));
  assert.deepEqual([notice.kind, notice.channel_id], ['channel', channel.id]);
  assert.deepEqual(await of(silent.id), []);
  const { mail } = (await client.get(`/v1/deliveries/${notice.id}`)).data;
  assert.match(mail.subject, /Stock failed/);
  assert.equal(notice.subject, mail.subject);
  assert.match(mail.text, /no stock for order 7/);
  const page = await client.request('GET', `/v1/deliveries/${notice.id}/mail`);
  assert.match(page.text, /no stock for order 7/);
  assert.equal((await client.request('GET', `/v1/deliveries?channel_id=${channel.id}&kind=mail`)).status, 400);
  const other = await createOwner(errand, 'other');
  assert.deepEqual((await other.client.get(`/v1/deliveries?channel_id=${channel.id}`)).data, []);
});

test('what code mails that is no mail has no page', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(`export default ({ $ }) => $.send.email({ subject: 'plain', text: 'alone' })`);
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, 1);
  const { id, mail } = await mailOf(errand, run, 'delivered');
  assert.equal(mail.has_html, false);
  assert.equal((await errand.client.request('GET', `/v1/deliveries/${id}/mail`)).status, 404);
});

test('a refused recipient is given up at once', async () => {
  await using server = await startMailServer({
    onRcptTo: (_address, _peer, done) => done(Object.assign(new Error('no such box'), { responseCode: 550 })),
  });
  await using errand = await startErrand({ ERRAND_SMTP_URL: server.url });
  const run = await mailingRun(errand);
  const delivery = await mailOf(errand, run, 'exhausted');
  assert.equal(delivery.attempts_made, 1);
  assert.equal(delivery.attempts[0].status, 550);
  assert.match(JSON.stringify(delivery.attempts[0]), /no such box/);
  assert.equal(delivery.next_attempt_at_ms, null);
  assert.deepEqual(server.mails, []);
  assert.equal(run.state, 'succeeded');
});

test('a busy server is asked again', async () => {
  let refusals = 1;
  await using server = await startMailServer({
    onRcptTo: (_address, _peer, done) =>
      refusals-- > 0 ? done(Object.assign(new Error('try later'), { responseCode: 451 })) : done(),
  });
  await using errand = await startErrand({ ERRAND_SMTP_URL: server.url });
  const run = await mailingRun(errand);
  const waiting = await mailOf(errand, run, 'retrying');
  assert.ok(waiting.next_attempt_at_ms > Date.now());
  errand.forward(60_000);
  const delivery = await mailOf(errand, run, 'delivered');
  assert.equal(delivery.attempts_made, 2);
  assert.equal(server.mails.length, 1);
});

test('mails wait for an absent server', async () => {
  const port = await freePort();
  await using errand = await startErrand({ ERRAND_SMTP_URL: `smtp://127.0.0.1:${port}` });
  const run = await mailingRun(errand);
  const waiting = await mailOf(errand, run, 'retrying');
  assert.equal(waiting.attempts[0].outcome, 'refused');
  await using server = await startMailServer({}, port);
  errand.forward(60_000);
  await server.wait(1);
  const delivery = await mailOf(errand, run, 'delivered');
  assert.deepEqual([delivery.attempts_made, server.mails.length], [2, 1]);
});

test('a waiting mail outlives a restart', async () => {
  const port = await freePort();
  await using errand = await startErrand({ ERRAND_SMTP_URL: `smtp://127.0.0.1:${port}` });
  const run = await mailingRun(errand);
  await mailOf(errand, run, 'retrying');
  await errand.stop();
  await using server = await startMailServer({}, port);
  errand.forward(60_000);
  await errand.restart();
  await server.wait(1);
  await mailOf(errand, run, 'delivered');
  assert.equal(server.mails.length, 1);
});

test('a given-up mail can be sent again', async () => {
  let isRefusing = true;
  await using server = await startMailServer({
    onRcptTo: (_address, _peer, done) =>
      isRefusing ? done(Object.assign(new Error('no such box'), { responseCode: 550 })) : done(),
  });
  await using errand = await startErrand({ ERRAND_SMTP_URL: server.url });
  const run = await mailingRun(errand);
  const given = await mailOf(errand, run, 'exhausted');
  isRefusing = false;
  const resent = await errand.client.post(`/v1/deliveries/${given.id}/resend`);
  assert.equal(resent.id, given.id);
  const delivery = await mailOf(errand, run, 'delivered');
  assert.equal(delivery.attempts_made, 2);
  // The mail about the error may arrive before it.
  await until('the mail itself', () => server.mails.some(({ subject }) => subject === 'Grüße'));
});

test('without a server mails become files', async () => {
  await using errand = await startErrand();
  const run = await mailingRun(errand);
  await mailOf(errand, run, 'delivered');
  const [mail = ''] = await errand.outbox();
  assert.match(mail, /^To: .*owner@example\.com/m);
  assert.match(mail, /^Subject: =\?UTF-8\?/im);
});

test('the receipt of a mail that no person has got says so', async () => {
  await using server = await startMailServer();
  await using errand = await startErrand();
  const made = errand.client;
  const channel = await made.post('/v1/channels', { kind: 'mail', config: { to: 'oncall@example.com' } });
  await made.put('/v1/users/me', { channels: [channel.id] });
  const receipts = async (workflow: Json): Promise<Json[]> =>
    until('both mails', async () => {
      const [{ id } = { id: '' }] = await errand.errors(workflow.id, 1);
      const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/$errors/event_summaries/${id}`);
      const sent = data.receipts.filter(({ state }: Json) => state === 'delivered');
      return sent.length === 2 && sent;
    });
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, {});
  const why = /^No mail was sent, since no mail server is configured .* in the outbox folder as \S+\.eml\.$/;
  for (const { reason } of await receipts(workflow)) assert.match(reason, why);
  const mails = async (of = 'kind=mail'): Promise<Json[]> => (await errand.client.get(`/v1/deliveries?${of}`)).data;
  for (const mail of [...(await mails()), ...(await mails(`channel_id=${channel.id}`))]) {
    assert.match(mail.why, why);
    assert.equal((await made.get(`/v1/deliveries/${mail.id}`)).data.why, mail.why);
  }
  await errand.restart({ ERRAND_SMTP_URL: server.url });
  const other = await errand.workflow(FAIL);
  await errand.send(other, {});
  await server.wait(2);
  for (const { reason } of await receipts(other)) assert.equal(reason, undefined);
  assert.deepEqual(
    (await mails()).map((mail) => mail.why !== null),
    [false, true],
  );
});

test('a message with paragraphs stays in its place, and makes no links', async () => {
  await using errand = await startErrand();
  const said = 'no address\n\nStep:\n \r\n\nReplay it here:\nhttps://example.org/replay\n\nthanks';
  const workflow = await errand.workflow(`export default () => { throw new Error(${JSON.stringify(said)}) }`);
  await errand.send(workflow, {});
  await errand.errors(workflow.id, 1);
  const [{ html = '', text = '' } = {}] = await outboxOf(errand, 1);
  const lines = ['Replay it here:', 'https://example.org/replay', 'thanks'];
  assert.ok(text.includes(`${lines.join(`\n${' '.repeat(11)}`)}\nWhen: `), text);
  assert.ok(!html.includes('href="https://example.org'), html);
  assert.match(html, /<td [^>]*>When<\/td>/, 'the facts go on behind it');
});

test('a mail about a listener of errors shows neither header nor address of the request', async () => {
  await using errand = await startErrand();
  const [failing, listener] = [await errand.workflow(FAIL), await errand.workflow(FAIL, { triggers: [] })];
  await errand.subscribe(failing.id, listener.id, '$errors');
  const { pathname } = new URL(failing.triggers[0].endpoint_url);
  await errand.client.request(
    'POST',
    `${pathname}?token=of-a-query`,
    { n: 7 },
    { authorization: 'Bearer of-a-header' },
  );
  await errand.errors(listener.id, 1);
  const all = await outboxOf(errand, 2);
  const { text = '' } = all.find((mail) => mail.text?.includes(listener.id)) ?? {};
  assert.match(text, /^The event begins:\n\{\n {2}"original_event": \{\n {4}"n": 7\n {2}\},/m);
  for (const secret of ['of-a-query', 'of-a-header', pathname]) assert.ok(!text.includes(secret), secret);
});

test('an error with a large and deep event is mailed, too', async () => {
  await using errand = await startErrand({ ERRAND_MAX_BODY_BYTES: '2000000' });
  const workflow = await errand.workflow(FAIL);
  const body = `${'['.repeat(250)}${'0,'.repeat(900_000)}0${']'.repeat(250)}`;
  const headers = { 'content-type': 'application/json' };
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body });
  const [{ text = '' } = {}] = await outboxOf(errand, 1);
  assert.match(text, /^The event begins:\n\[\n {2}\[\n(?: +\[\n){10}\.\.\.$/m);
});

test('an address to which no mail would be sent is refused when it is set', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const refused = [
    'a(b)@x.org',
    '[a]@x.org',
    'a\\b@x.org',
    'a\u202eb@x.org',
    'a\u200bb@x.org',
    'a b@x.org',
    'a@x.org, b@x.org',
  ];
  for (const email of refused) {
    assert.equal((await client.request('PUT', '/v1/users/me', { email })).status, 400, email);
    const channel = { kind: 'mail', config: { to: email } };
    assert.equal((await client.request('POST', '/v1/channels', channel)).status, 400, email);
  }
  for (const email of ['ada+errors@example.com', 'jürgen@münchen.example', "o'neil@xn--mnchen-3ya.example"])
    assert.equal((await client.put('/v1/users/me', { email })).email, email);
});
