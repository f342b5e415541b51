// Chapters 2 to 7: an order that makes the workflow throw, and the notifications of that.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { curlOf, type Json, sendEvent } from './api.ts';
import { isSigned } from './receivers.ts';
import { until } from './wait.ts';
import type { Deployed, World } from './world.ts';

/** A number larger than JavaScript holds exactly, a price with a trailing zero, two spaces: it must come back as it is. */
export const BAD_ORDER = '{"number": 12345678901234567890, "customer": "ada",  "lines": [{"price": 4.50, "count": 2}]}';
const GOOD_ORDER = '{"number": 1, "customer": "bob", "lines": [{"price": 9, "count": 1}], "voucher": {"amount": 2}}';

/** Returns the record id of the error. */
export async function fail(world: World, deployed: Deployed): Promise<string> {
  const emitId = await sendOrders(world, deployed);
  const record = await listed(world, deployed, emitId);
  await forwarded(world, deployed, record);
  await delivered(world, deployed, record);
  await mailed(world, record);
  await receipts(world, deployed, record);
  return record.id;
}

async function sendOrders({ story, api }: World, { checkOrder }: Deployed): Promise<string | undefined> {
  story.heading('Two orders: one with a voucher, one without');
  const endpoint = checkOrder.triggers[0].endpoint_url;
  const good = await sendEvent(endpoint, GOOD_ORDER, story);
  const bad = await sendEvent(endpoint, BAD_ORDER, story);
  story.say('');
  story.fact('both were accepted: 200 means that the event is on disk', good.status === 200 && bad.status === 200);
  const runs = await until('two runs that are over', async () => {
    const page = await api.get(`/v1/workflows/${checkOrder.id}/runs`);
    const over = page.data.filter((run: Json) => run.ended_at_ms !== null);
    return over.length === 2 && over;
  });
  const succeeded = runs.find((run: Json) => run.state === 'succeeded');
  story.fact(`one run succeeded: "${succeeded.summary}"`, succeeded.summary === 'bob pays 7.00');
  story.fact('one run failed', runs.filter((run: Json) => run.state === 'failed').length === 1);
  return bad.id;
}

async function listed({ story, api }: World, { checkOrder }: Deployed, emitId: string | undefined): Promise<Json> {
  story.heading('The error is listed, with the event that caused it');
  const path = `/v1/workflows/${checkOrder.id}/$errors/event_summaries?expand=event`;
  story.command(curlOf('GET', path));
  const text = await api.text(path);
  const page = JSON.parse(text);
  const [record] = page.data;
  const { error, original_context: context } = record.event;
  const { code, msg, namespace, stack } = error;
  story.show(`${JSON.stringify({ code, msg, namespace }, null, 1).replaceAll('\n', '')}\n${stack}\n`);
  story.fact('there is one error', page.page_info.total_count === 1);
  story.fact(`its code is ${code}, from step "${namespace}"`, code === 'TypeError' && namespace === 'check');
  story.fact('the stack names line and column of the code as it was written', /check\.ts:\d+:\d+/.test(stack));
  story.fact('its context names the event that the caller was given the id of', context.id === emitId);
  story.fact(
    'the order is there byte for byte, 12345678901234567890, 4.50 and two spaces included',
    text.includes(BAD_ORDER),
  );
  return record;
}

async function forwarded({ story, api, archive }: World, { keepErrors }: Deployed, record: Json): Promise<void> {
  story.heading('Another workflow was told, by subscription');
  const run = await until('the run of Keep errors', async () => {
    const { data } = await api.get(`/v1/workflows/${keepErrors.id}/runs?state=succeeded`);
    return data[0];
  });
  const event = (await api.get(`/v1/runs/${run.id}`)).data.event;
  story.show(`${run.id} ${run.state}: ${run.summary}\n`);
  story.fact('its event is {original_event, original_context, error}', Object.keys(event).length === 3);
  const kept = archive.kept.get(`/${record.id}`);
  story.fact('it has put the error into the archive, under its record id', kept !== undefined);
  story.fact('the archive, too, has the order byte for byte', kept?.includes(BAD_ORDER) === true);
}

async function delivered({ story, receiver }: World, { alerts }: Deployed, record: Json): Promise<void> {
  story.heading('A webhook was told, with a signature');
  const [request] = await until('the request at the receiver', () => receiver.received.length > 0 && receiver.received);
  if (request === undefined) throw new Error('nothing was received');
  const { headers, body } = request;
  const shown = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'errand-emitter-id', 'errand-event-name'];
  story.show(`POST /alerts\n${shown.map((name) => `${name}: ${headers[name]}`).join('\n')}\n`);
  story.fact('npm’s standardwebhooks verifies it with the secret', isSigned(alerts.secret, request));
  const forged = { headers, body: body.replace('"ada"', '"eve"') };
  story.fact('and refuses the same request with one word changed', !isSigned(alerts.secret, forged));
  story.fact('its body is the error with the original event, byte for byte', body.includes(BAD_ORDER));
  story.fact('webhook-id names the emission, in every attempt', headers['webhook-id'] === record.metadata.emit_id);
}

async function mailed({ story, server }: World, record: Json): Promise<void> {
  story.heading('A mail was written');
  const outbox = join(server.dataDir, 'outbox');
  const name = await until('a mail in the outbox', async () => {
    const names = await readdir(outbox).catch(() => []);
    return names.find((file) => file.endsWith('.eml'));
  });
  const mail = await readFile(join(outbox, name), 'utf8');
  const [head = '', ...rest] = mail.split('\r\n\r\n');
  const unfolded = head.replaceAll(/\r\n(?=[ \t])/g, '');
  const lines = unfolded.split('\r\n').filter((line) => /^(From|To|Subject): /.test(line));
  const text = rest.join('\r\n\r\n').replaceAll('=\r\n', '').replaceAll('=3D', '=').trim().replaceAll('\r\n', '\n');
  story.show(`${lines.join('\n')}\n\n${text}\n`);
  story.say('No mail server is configured, so it lies in the outbox folder of the data dir instead of nowhere.\n');
  story.fact('it is addressed to the owner', mail.includes('To: you@example.com'));
  story.fact('it says what failed, and links to the error and its replay', text.includes(`${record.id}/replay`));
}

async function receipts({ story, api }: World, deployed: Deployed, record: Json): Promise<void> {
  story.heading('Receipts: who was told of this error');
  const path = `/v1/workflows/${deployed.checkOrder.id}/$errors/event_summaries/${record.id}`;
  story.command(curlOf('GET', path));
  const told = await until('receipts that are all final', async () => {
    const { data } = await api.get(path);
    const isFinal = data.receipts.every(({ state }: Json) => state === 'succeeded' || state === 'delivered');
    return isFinal && data.receipts.length === 4 && data.receipts;
  });
  const me = (await api.get('/v1/users/me')).data;
  const names = new Map([
    [me.global_error_workflow_id, 'the global error workflow'],
    [deployed.keepErrors.id, 'Keep errors'],
    [deployed.alerts.id, 'alerts'],
    ['mail', me.email],
  ]);
  const line = ({ kind, state, via, listener_id }: Json): string =>
    `${kind.padEnd(9)} ${state.padEnd(10)} ${names.get(listener_id)} (${via})`;
  story.show(`${told.map(line).join('\n')}\n`);
  story.fact('four were told, each once', new Set(told.map(({ listener_id }: Json) => listener_id)).size === 4);
}
