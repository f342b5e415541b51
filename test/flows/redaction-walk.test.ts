// Every answer of every route, made from the list of all routes: what an owner hides shows in none of them, nor in the signed
// page of a group, in notices, mails and lines of the log. A route that is added later is walked, too.

import { deepEqual, doesNotMatch, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { fill, type Operation, operationsOf } from '../support/belongings.ts';
import type { Client, Json } from '../support/client.ts';
import { CARD, PLANTED, type Planted, plant, RULES } from '../support/data/planted.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { startReceiver } from '../support/receiver.ts';

/** Parameters without which a route shows less than it may. Others ignore none: they are left out where a route has none of that name. */
const SHOWING = '?expand=event';
/** What stands behind the address of a stream, and how long one is listened to at most. */
const STREAM = /\/(stream|events|emits)$/;
const FROM_THE_START = '0-0';
const [SILENT_MS, GIVES_UP_MS] = [3000, 30_000];

/** Reads that were refused: they have shown nothing, so nothing was proved of them. */
const unanswered = new Set<string>();

/** Returns what each route answers, by method and path. Streams are read from the beginning of the log for a while. */
async function readRoutes(
  errand: Errand,
  operations: readonly Operation[],
  planted: Planted,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const operation of operations) {
    const path = fill(operation.path, [...planted.holesOf(operation.path)]);
    const name = `${operation.method} ${operation.path}`;
    if (operation.method === 'GET' && STREAM.test(operation.path)) texts.set(name, await listened(errand, path));
    else texts.set(name, await asked(errand, operation, path));
  }
  return texts;
}

async function asked({ client }: Errand, operation: Operation, path: string): Promise<string> {
  const { method, example, path: template } = operation;
  if (method !== 'GET') {
    const answer = await client.request(method, path, method === 'DELETE' ? undefined : (example ?? {}));
    // It may have been the route that sets them.
    if (path.endsWith('/redaction')) await client.put('/v1/users/me/redaction', RULES);
    return textOf(answer);
  }
  const plain = await client.request('GET', path);
  if (plain.status >= 400) unanswered.add(template);
  const expanded = await client.request('GET', path + SHOWING);
  return textOf(plain) + (expanded.status === 200 ? textOf(expanded) : '');
}

const textOf = ({ text, headers }: { text: string; headers: Headers }): string =>
  text + [...headers].map(([name, value]) => `${name}: ${value}`).join('\n');

async function listened({ client }: Errand, path: string): Promise<string> {
  const names = path.startsWith('/v1/errors/') ? [''] : ['', '?event_name=*', '?event_name=$errors'];
  return (await Promise.all(names.map((query) => heardOf(client, path + query)))).join('');
}

/** Reads until it shows what is planted, or without that as many events as it took before. */
async function heardOf({ url, key }: Client, path: string): Promise<string> {
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${key}`, 'last-event-id': FROM_THE_START };
  const givesUp = setTimeout(() => stop.abort(), heard.get(path) === undefined ? SILENT_MS : GIVES_UP_MS);
  let text = '';
  try {
    const answer = await fetch(url + path, { headers, signal: stop.signal });
    for await (const part of answer.body ?? []) {
      text += Buffer.from(part).toString();
      if (PLANTED.test(text) || countOf(text) >= (heard.get(path) ?? Number.POSITIVE_INFINITY)) break;
    }
  } catch {
    // One that has nothing to say.
  }
  clearTimeout(givesUp);
  stop.abort();
  if (!heard.has(path) && countOf(text) > 0) heard.set(path, countOf(text));
  return text;
}

/** How many events each stream had sent when it showed what is planted. */
const heard = new Map<string, number>();
const countOf = (text: string): number => text.match(/^data:/gm)?.length ?? 0;

const showing = (texts: ReadonlyMap<string, string>): string[] =>
  [...texts].filter(([, text]) => PLANTED.test(text)).map(([name]) => name);

/** The same, each with a bit of the text around it. */
const shownIn = (texts: ReadonlyMap<string, string>): string[] =>
  showing(texts).map((name) => `${name}: ${new RegExp(`.{0,80}(${PLANTED.source})`).exec(texts.get(name) ?? '')?.[0]}`);

/** Where it shows without rules: else the walk would prove nothing of them. */
const SHOWN_WITHOUT_RULES = [
  'GET /v1/errors',
  'GET /v1/errors/export',
  'GET /v1/errors/stream',
  'GET /v1/errors/{record_id}/fixture',
  'GET /v1/error_groups',
  'GET /v1/error_groups/{id}',
  'GET /v1/error_groups/{id}/differences',
  'GET /v1/workflows/{id}/event_summaries',
  'GET /v1/workflows/{id}/$errors/event_summaries',
  'GET /v1/workflows/{id}/$errors/event_summaries/{record_id}',
  'GET /v1/workflows/{id}/$errors/export',
  'GET /v1/webhooks/{id}/$errors/event_summaries',
  'GET /v1/heartbeats/{id}/$errors/event_summaries',
  'GET /v1/sources/{id}/event_summaries',
  'GET /v1/sources/{id}/logs',
  'GET /v1/sources/{id}/state',
  'GET /v1/emitters/{id}/events',
  'GET /sse/dc/{id}/emits',
  'GET /v1/deliveries/{id}',
  'GET /v1/workflows/{id}/runs',
  'GET /v1/runs',
  'GET /v1/runs/{id}',
  'POST /v1/workflows/{id}/error_groups/preview',
  'PUT /v1/error_groups/{id}',
];

/** Reads of what is not planted: none of them has anything of an event. */
const HOLD_NO_EVENTS: readonly string[] = [
  '/v1/accounts/{id}',
  '/v1/components/{key}',
  '/v1/data_stores/{id}',
  '/v1/data_stores/{id}/records',
  '/v1/data_stores/{id}/records/{key}',
];

test('what is hidden shows without rules, and nowhere with them', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using echo = await startReceiver();
  const planted = await plant(errand, { receiver, echo });
  const operations = await operationsOf(errand.client, /^\//);
  const reads = operations.filter(({ method }) => method === 'GET');
  const writes = operations.filter(({ method }) => method === 'PUT' || method === 'POST');
  const deletes = operations.filter(({ method, path }) => method === 'DELETE' && !path.startsWith('/v1/owners'));
  const before = showing(await readRoutes(errand, operations.filter(isRead), planted));
  deepEqual(
    SHOWN_WITHOUT_RULES.filter((name) => !before.includes(name)),
    [],
    'these show it as long as there are no rules',
  );
  match(await pageOf(planted.link), PLANTED);
  deepEqual([...unanswered].sort(), HOLD_NO_EVENTS);
  await errand.client.put('/v1/users/me/redaction', RULES);
  const answers = new Map<string, string>();
  for (const some of [reads, writes, reads, deletes]) {
    for (const [name, text] of await readRoutes(errand, some, planted)) {
      answers.set(name, (answers.get(name) ?? '') + text);
    }
  }
  ok(answers.size > 130);
  deepEqual(shownIn(answers), []);
  doesNotMatch(await pageOf(planted.link), PLANTED);
});

/** Reads, and writes that answer what they read and change nothing here. */
const isRead = ({ id, method }: Operation): boolean =>
  method === 'GET' || ['previewErrorGroups', 'updateErrorGroup'].includes(id);

async function pageOf(link: string): Promise<string> {
  const pages = ['', '/mute', '/replay'].map(async (end) => (await fetch(link + end)).text());
  return (await Promise.all(pages)).join('');
}

test('subjects of mails are hidden wherever deliveries show', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const workflow = await errand.workflow(`export default ({ steps, $ }) => {
    $.send.email({ subject: steps.trigger.event.body.subject, text: 'x' });
  };`);
  await errand.send(workflow, { subject: `Order with ${CARD}` });
  await errand.send(workflow, { subject: `${'long '.repeat(37)} and ${CARD}` });
  await errand.settled();
  const { id } = await client.get('/v1/users/me').then(({ data }) => data);
  const subjects = async (): Promise<string> => {
    const { data } = await client.get('/v1/deliveries?kind=mail');
    const whole = await Promise.all(data.map((one: Json) => client.get(`/v1/deliveries/${one.id}`)));
    const resent = await Promise.all(data.map((one: Json) => client.post(`/v1/deliveries/${one.id}/resend`)));
    await errand.settled();
    const { text: exported } = await client.request('GET', `/v1/owners/${id}/export`);
    const lines = exported.split('\n').filter((line) => line.includes('"subject"'));
    return [data, whole, resent].map((one) => JSON.stringify(one)).join('\n') + lines.join('\n');
  };
  const before = await subjects();
  match(before, new RegExp(CARD));
  match(before, /card-5501…/, 'one is cut within what is hidden');
  await client.put('/v1/users/me/redaction', RULES);
  const after = await subjects();
  match(after, /"subject":"Order with \[redacted\]"/);
  doesNotMatch(after, /card-5/);
});

test('what is hidden is in no notice, mail or line of the log', async () => {
  await using errand = await startErrand();
  await errand.client.put('/v1/users/me/redaction', RULES);
  await using receiver = await startReceiver();
  await using echo = await startReceiver();
  const planted = await plant(errand, { receiver, echo });
  errand.forward(86_400_000);
  const mails = (await errand.outbox()).map(decoded);
  ok(mails.length > 3 && planted.notices().length > 3);
  const lines = errand.logged.map((line) => JSON.stringify(line));
  ok(
    lines.some((line) => line.includes('runner.stray_exception')),
    'a stray exception is logged',
  );
  ok(
    lines.some((line) => line.includes('runner.process_died')),
    'and the death of a process',
  );
  for (const [what, texts] of Object.entries({ mails, notices: planted.notices(), lines })) {
    deepEqual(
      texts.filter((text) => PLANTED.test(text)),
      [],
      what,
    );
  }
});

/** A mail's text, which may be encoded in parts. */
function decoded(mail: string): string {
  const plain = mail
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const encoded = [...mail.matchAll(/(?:[A-Za-z0-9+/]{60,}={0,2}\r?\n)+[A-Za-z0-9+/]*={0,2}/g)].map(([text]) =>
    Buffer.from(text, 'base64').toString(),
  );
  return [mail, plain, ...encoded].join('\n');
}
