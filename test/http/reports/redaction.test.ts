// What owners hide: by names of members and by patterns, wherever events and messages are shown, and before they are stored.

import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { SMTPServerOptions } from 'smtp-server';
import { createClient, type Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { type OwnerOn, sharedErrand } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';
import { startMailServer } from '../../support/sources/mail-server.ts';
import { until } from '../../support/wait.ts';
import { createWebhook } from '../../support/webhooks.ts';

const newOwner = sharedErrand();

const CARD = '4111111111111111';
const FAIL = `export default ({ steps, $ }) => {
  console.log('token=hunter2 of ${CARD}');
  $.export('$summary', 'card ${CARD}');
  throw new Error('no charge of ${CARD} with "password": "hunter2"', { cause: new Error('refused ${CARD}') });
}`;
const EVENT = `{"password":"hunter2", "card":${CARD}, "big":12345678901234567890, "nested":{"api-Key":["hunter2"]}, "text":"{\\"password\\":\\"hunter2\\"}", "q":"a=1&password=hunter2"}`;
const RULES = { keys: ['password', 'APIkey', 'token'], patterns: ['\\b\\d{16}\\b'] };
/** Enough of the card that no time and no id of a record has it. */
const SECRET = /hunter2|41111111/;

const hide = (errand: Pick<OwnerOn, 'client'>, rules: Json = RULES): Promise<Json> =>
  errand.client.put('/v1/users/me/redaction', rules);

const textOf = async ({ client }: Pick<OwnerOn, 'client'>, path: string): Promise<string> => {
  const { status, text } = await client.request('GET', path);
  equal(status, 200, `${path}: ${text}`);
  return text;
};

async function failed(errand: OwnerOn, settings: Json = {}): Promise<{ workflow: Json; record: Json; run: Json }> {
  const workflow = await errand.workflow(FAIL, { settings: { notify: false, ...settings } });
  await errand.send(workflow, EVENT);
  const [record] = await errand.errors(workflow.id, 1);
  const [run] = await errand.runs(workflow.id, 1);
  return { workflow, record, run };
}

/** Every place that shows the error. */
function placesOf({ workflow, record, run }: { workflow: Json; record: Json; run: Json }, groupId: string): string[] {
  const list = `/v1/workflows/${workflow.id}/$errors/event_summaries`;
  return [
    `${list}?expand=event`,
    `${list}/${record.id}?expand=event`,
    '/v1/errors?expand=event',
    '/v1/errors/export',
    `/v1/errors/${record.id}/fixture`,
    '/v1/error_groups',
    `/v1/error_groups/${groupId}`,
    '/v1/runs',
    `/v1/workflows/${workflow.id}/runs`,
    `/v1/runs/${run.id}`,
  ];
}

test('what rules hide is shown nowhere, and nothing else changes', async () => {
  const errand = await newOwner();
  const made = await failed(errand);
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  const places = placesOf(made, group.id);
  for (const path of places.filter((one) => !one.includes('error_groups')))
    match(await textOf(errand, path), SECRET, path);
  const before = await textOf(errand, places[0] as string);
  ok(before.includes('"big":12345678901234567890, "nested"'), 'byte for byte without rules');
  deepEqual(await hide(errand), RULES);
  for (const path of places) doesNotMatch(await textOf(errand, path), SECRET, path);
  const after = await textOf(errand, places[0] as string);
  ok(after.includes('"password":"[redacted]", "card":"[redacted]", "big":12345678901234567890,'), after);
  ok(after.includes('"nested":{"api-Key":"[redacted]"}'), after);
  await hide(errand, {});
  equal(await textOf(errand, places[0] as string), before);
});

test('what a mail server says of a mail is hidden in receipts and in the log', async () => {
  const onData: SMTPServerOptions['onData'] = (stream, _session, done) => {
    stream.resume().on('end', () => done(Object.assign(new Error(`a card, ${CARD}`), { responseCode: 552 })));
  };
  await using server = await startMailServer({ onData });
  await using errand = await startErrand({ ERRAND_SMTP_URL: server.url });
  await hide(errand);
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, EVENT);
  const [record] = await errand.errors(workflow.id, 1);
  const path = `/v1/workflows/${workflow.id}/$errors/event_summaries/${record.id}`;
  const { reason } = await until('the mail to be refused', async () => {
    const { data } = await errand.client.get(path);
    return data.receipts.find(({ kind, state }: Json) => kind === 'mail' && state === 'exhausted');
  });
  match(reason, /given up after 1 attempt: The mail server said: .*\[redacted\]/);
  const runs = (await errand.client.get('/v1/runs')).data;
  for (const { id } of runs) doesNotMatch(await textOf(errand, `/v1/runs/${id}`), SECRET);
  const lines = await until('a line of the log', () => {
    const all = errand.logged.map((line) => JSON.stringify(line));
    return all.some((line) => line.includes('The mail server said')) && all;
  });
  for (const line of lines) doesNotMatch(line, SECRET);
});

test('a search finds nothing that is hidden', async () => {
  const errand = await newOwner();
  await failed(errand);
  for (const path of ['errors', 'runs']) {
    equal((await errand.client.get(`/v1/${path}?text=${CARD}`)).data.length, 1, path);
  }
  await hide(errand);
  for (const text of [CARD, '4111', 'hunter2']) {
    for (const path of ['errors', 'runs', 'error_groups']) {
      deepEqual((await errand.client.get(`/v1/${path}?text=${text}`)).data, [], `${path} ${text}`);
    }
  }
  equal((await errand.client.get('/v1/errors?text=no%20charge')).data.length, 1);
});

test('a replay runs the bytes that arrived', async () => {
  const errand = await newOwner();
  await hide(errand);
  const { workflow, record } = await failed(errand);
  const echo = 'export default ({ steps }) => { throw new Error(String(steps.trigger.event.body.password.length)) }';
  await errand.client.put(`/v1/workflows/${workflow.id}`, { steps: [{ namespace: 'step', code: echo }] });
  await errand.client.post(`/v1/workflows/${workflow.id}/$errors/${record.id}/replay`, {});
  const [newest] = await errand.errors(workflow.id, 2);
  equal(newest.event.error.msg, '7', 'hunter2, and not [redacted]');
});

test('rules of a workflow hide nothing of another one, nor of another owner', async () => {
  const errand = await newOwner();
  const [one, other] = [await failed(errand), await failed(errand)];
  await errand.client.put(`/v1/workflows/${one.workflow.id}/redaction`, RULES);
  const listOf = ({ workflow }: Json) =>
    textOf(errand, `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`);
  doesNotMatch(await listOf(one), SECRET);
  match(await listOf(other), SECRET);
  const stranger = await newOwner();
  await hide(stranger);
  match(await listOf(other), SECRET);
  const path = `/v1/workflows/${one.workflow.id}/redaction`;
  assertProblem(await stranger.client.request('GET', path), 404);
  assertProblem(await stranger.client.request('PUT', path, RULES), 404);
  deepEqual((await errand.client.get(path)).data, { ...RULES, before_storing: false });
  await errand.client.request('DELETE', `/v1/workflows/${one.workflow.id}`);
  const ofDeleted = await textOf(errand, `/v1/errors/${one.record.id}/fixture`);
  doesNotMatch(ofDeleted, SECRET, 'the rules of a deleted workflow hold');
});

test('rules of a workflow hide what others make of its errors: mails, notices, and errors of listeners', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  await using gone = await startReceiver();
  await using told = await startReceiver();
  gone.answer(410);
  const channel = await client.post('/v1/channels', { kind: 'http', config: { url: told.url } });
  const me = await client.put('/v1/users/me', { channels: [channel.id] });
  const failing = await errand.workflow(FAIL);
  const listener = await errand.workflow(`export default () => { throw new Error('not taken') }`, { triggers: [] });
  const webhook = await createWebhook(errand, gone);
  for (const { id } of [listener, webhook]) await errand.subscribe(failing.id, id, '$errors');
  await errand.send(failing, EVENT);
  for (const { id } of [failing, listener, webhook]) await errand.errors(id, 1);
  await errand.runs(me.global_error_workflow_id, 3);
  await told.wait(3);
  await errand.settled();
  const { data: groups } = await client.get('/v1/error_groups');
  for (const { id } of groups) await client.put(`/v1/error_groups/${id}`, { state: 'resolved' });
  await told.wait(6);
  const mails = await until('mails of all errors and recoveries', async () => {
    const { data } = await client.get('/v1/deliveries?kind=mail');
    return data.length === 6 && data;
  });
  const { data: notices } = await client.get(`/v1/deliveries?channel_id=${channel.id}`);
  const { data: runs } = await client.get(`/v1/workflows/${me.global_error_workflow_id}/runs`);
  const idsOf = (records: Json[], path: string, end = ''): string[] => records.map(({ id }) => `${path}/${id}${end}`);
  const places = [
    ...idsOf([...mails, ...notices], '/v1/deliveries', '/mail'),
    ...idsOf(runs, '/v1/runs'),
    `/v1/workflows/${listener.id}/$errors/event_summaries?expand=event`,
    `/v1/webhooks/${webhook.id}/$errors/event_summaries?expand=event`,
    `/v1/workflows/${me.global_error_workflow_id}/event_summaries?event_name=$email&expand=event`,
  ];
  for (const path of places) match(await textOf(errand, path), SECRET, path);
  await client.put(`/v1/workflows/${failing.id}/redaction`, RULES);
  places.push('/v1/errors?expand=event', '/v1/errors/export', '/v1/runs', '/v1/deliveries');
  for (const path of places) doesNotMatch(await textOf(errand, path), SECRET, path);
  for (const { id } of [...mails, ...notices]) await client.post(`/v1/deliveries/${id}/resend`);
  await told.wait(12);
  await errand.settled();
  for (const mail of await errand.outbox()) doesNotMatch(mail, SECRET);
  for (const { body } of told.received.slice(6)) doesNotMatch(String(body), SECRET);
});

test('mails show what is shown', async () => {
  await using errand = await startErrand();
  await hide(errand);
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, EVENT);
  const [mail] = await until('a mail', async () => (await errand.outbox()).length > 0 && errand.outbox());
  match(mail as string, /redacted/);
  doesNotMatch(mail as string, SECRET);
  await errand.restart();
  doesNotMatch(await textOf(errand, `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`), SECRET);
});

test('a pattern for long numbers leaves times, ids and links of the service', async () => {
  await using errand = await startErrand();
  await hide(errand, { patterns: ['\\d{10,19}'] });
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, EVENT);
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  equal(typeof data.steps[0].started_at_ms, 'number');
  equal(typeof data.logs[0].ts_ms, 'number');
  deepEqual([data.steps[0].exports.$summary, data.logs[0].text], ['card [redacted]', 'token=hunter2 of [redacted]']);
  const mails = await until('a mail', async () => (await errand.outbox()).length > 0 && errand.outbox());
  const text = (mails[0] as string).replace(/=\r?\n/g, '').replaceAll('=3D', '=');
  const [link] = /http:\/\/127[^\s"]*\/n\/[^\s"/]+\/[^\s"/]+\/[^\s"/]+/.exec(text) ?? [];
  ok(link, text);
  equal((await fetch(link)).status, 200, link);
  doesNotMatch(text, /41111111/);
});

test('a search of groups pages what it shows', async () => {
  const errand = await newOwner();
  const code = `export default ({ steps }) => { throw new Error(steps.trigger.event.body.text); }`;
  const workflow = await errand.workflow(code, { settings: { notify: false } });
  const words = ['hidden', 'open', 'hidden', 'open', 'open'];
  for (const [n, word] of words.entries()) {
    await errand.send(workflow, { text: `${word} ${'abcde'[n]}lpha` });
    await errand.errors(workflow.id, n + 1);
  }
  await hide(errand, { patterns: ['hidden [a-e]lpha'] });
  const page = (query: string): Promise<Json> => errand.client.get(`/v1/error_groups?text=lpha&${query}`);
  const templates = ({ data }: Json): string[] => data.map(({ fingerprint }: Json) => fingerprint.template);
  for (const sort of ['last_seen', 'count']) {
    const whole = await page(`sort=${sort}`);
    deepEqual([whole.page_info.total_count, whole.page_info.next_cursor, templates(whole).length], [null, null, 3]);
    const first = await page(`sort=${sort}&limit=2`);
    const second = await page(`sort=${sort}&limit=2&after=${encodeURIComponent(first.page_info.end_cursor)}`);
    deepEqual([...templates(first), ...templates(second)], templates(whole));
    const back = await page(`sort=${sort}&limit=2&before=${encodeURIComponent(second.page_info.start_cursor)}`);
    deepEqual(templates(back), templates(first));
  }
});

test('what is redacted before storing is stored nowhere, and not replayed', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FAIL, { settings: { notify: false } });
  const path = `/v1/workflows/${workflow.id}`;
  await errand.client.put(`${path}/redaction`, { ...RULES, before_storing: true });
  await errand.send(workflow, EVENT);
  const [record] = await errand.errors(workflow.id, 1);
  const [run] = await errand.runs(workflow.id, 1);
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  await errand.client.post('/v1/errors', {
    workflow_id: workflow.id,
    message: 'no',
    stack: `    at ${CARD} (shop.js:1:2)`,
  });
  await errand.client.put(`${path}/redaction`, {});
  for (const place of placesOf({ workflow, record, run }, group.id))
    doesNotMatch(await textOf(errand, place), SECRET, place);
  const replay = await errand.client.request('POST', `${path}/$errors/${record.id}/replay`, {});
  assertProblem(replay, 422);
  match(replay.json.error ?? replay.json.detail, /redacted before it was stored/);
  const retried = await errand.client.request('POST', `/v1/runs/${run.id}/retry`, {});
  assertProblem(retried, 422);
  const { sample, ...dry } = await errand.client.post('/v1/replays', { error_ids: [record.id], dry_run: true });
  match(sample[0].reason, /redacted before it was stored/);
  deepEqual([dry.to_replay, dry.passed_over, dry.reasons[0].reason], [0, 1, sample[0].reason]);
  await errand.client.post(`${path}/$errors/${record.id}/replay`, { event: { password: 'new' } });
});

test('rules that cannot be used are refused, and none takes long', async () => {
  const errand = await newOwner();
  const path = '/v1/users/me/redaction';
  for (const [patterns, why] of [
    [['('], /patterns\/0 is no regular expression/],
    [['(?=a)b'], /patterns\/0 is no regular expression/],
    [['a*'], /patterns\/0 matches the empty text/],
    [['a{1000}', 'b{1000}', 'c{1000}'], /patterns take \d+ instructions/],
  ] as const) {
    const answer = await errand.client.request('PUT', path, { patterns });
    assertProblem(answer, 400);
    match(answer.json.error ?? answer.json.detail, why);
  }
  for (const body of [{ keys: [''] }, { keys: ['x'.repeat(201)] }, { patterns: [7] }, { before_storing: true }]) {
    equal((await errand.client.request('PUT', path, body)).status, 400, JSON.stringify(body));
  }
  // Each would keep an engine that goes back busy for years.
  await hide(errand, { keys: ['*a*a*a*a*a*b'], patterns: ['(a+)+c', '(a|a)+d', '(?:a?){50}a{50}e'] });
  const workflow = await errand.workflow(`export default () => { throw new Error('a'.repeat(5000)) }`, {
    settings: { notify: false },
  });
  await errand.send(workflow, { [`${'a'.repeat(250)}`]: 'a'.repeat(100_000) });
  await errand.errors(workflow.id, 1);
  match(await textOf(errand, '/v1/errors?expand=event'), /aaaa/);
});

test('a key that only reads sets no rules', async () => {
  const errand = await newOwner();
  const { api_key: key } = await errand.client.post('/v1/keys', { label: 'reads', scopes: ['read'] });
  const reader = createClient(errand.client.url, key);
  assertProblem(await reader.request('PUT', '/v1/users/me/redaction', RULES), 403);
  deepEqual((await reader.get('/v1/users/me/redaction')).data, { keys: [], patterns: [] });
});
