// The global error workflow: every error reaches it, and its mails tell without flooding.

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import PostalMime from 'postal-mime';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createSource, post, trySource } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';

const WINDOW_MS = 10 * 60_000;
const FAIL = [
  'function check(body) {',
  `  throw Object.assign(new Error('order ' + body.n + ' has no address'), { code: body.code ?? 'E_ADDRESS' });`,
  '}',
  'export default ({ steps }) => check(steps.trigger.event.body);',
].join('\n');

interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly to: string;
}

async function mails(errand: Errand, count: number): Promise<Mail[]> {
  const raw = await until(`${count} mails`, async () => {
    const files = await errand.outbox();
    return files.length >= count && files;
  });
  const parsed = await Promise.all(raw.map((text) => PostalMime.parse(text)));
  return parsed.map(({ subject = '', text = '', to = [] }) => ({ subject, text, to: to[0]?.address ?? '' }));
}

async function me(errand: Errand): Promise<Json> {
  return (await errand.client.get('/v1/users/me')).data;
}

/** Fails once, and waits until the global error workflow has heard of it. */
async function failAndTell(errand: Errand, workflow: Json, event: Json, runsSoFar: number): Promise<void> {
  await errand.send(workflow, event);
  await errand.runs((await me(errand)).global_error_workflow_id, runsSoFar + 1);
  await errand.settled();
}

test('it runs for every error', async () => {
  await using errand = await startErrand();
  const { global_error_workflow_id: id } = await me(errand);
  const [one, two] = [await errand.workflow(FAIL), await errand.workflow(FAIL)];
  await errand.send(one, { n: 1 });
  await errand.send(two, { n: 2 });
  await errand.send(one, { n: 3 });
  const runs = await errand.runs(id, 3);
  assert.deepEqual([...new Set(runs.map((run) => `${run.state} ${run.event_name}`))], ['succeeded $errors']);
  const emitters = runs.map((run) => run.emitter_id).toSorted();
  assert.deepEqual(emitters, [one.id, one.id, two.id].toSorted());
});

test('more errors may wait for it than for any other', async () => {
  await using errand = await startErrand();
  const { global_error_workflow_id: id } = await me(errand);
  const { data } = await errand.client.get(`/v1/workflows/${id}`);
  assert.equal(data.settings.queue_limit, 1_000_000);
  assert.equal((await errand.workflow(FAIL)).settings.queue_limit, 10_000);
});

test('its mail says all that helps', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(FAIL, { name: 'Order import' });
  await errand.send(workflow, { n: 7 });
  const [mail] = await mails(errand, 1);
  const [record] = await errand.errors(workflow.id, 1);
  assert.equal(mail?.to, 'owner@example.com');
  assert.match(mail?.subject ?? '', /Order import.*E_ADDRESS/);
  const parts = [
    'Order import',
    workflow.id,
    'step',
    'E_ADDRESS',
    'order 7 has no address',
    record.event.error.ts,
    ...record.event.error.stack.split('\n').map((line: string) => line.trim()),
    `${errand.url}/`,
    record.id,
    `/v1/workflows/${workflow.id}/$errors/${record.id}/replay`,
  ];
  assert.deepEqual(
    parts.filter((part) => !mail?.text.includes(part)),
    [],
    mail?.text,
  );
});

test('its mail shows the event, and no header of a request', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(FAIL);
  const body = { n: 7, note: '<img src=x onerror=alert(1)> & more', lines: Array.from({ length: 40 }, (_, n) => n) };
  const exact = JSON.stringify(body).replace('{', '{"order":12345678901234567890,"total":1.10,');
  const headers = { 'content-type': 'application/json', 'x-token': 'secret-of-a-sender' };
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body: exact });
  const [file = ''] = await until('a mail', async () => {
    const files = await errand.outbox();
    return files.length > 0 && files;
  });
  const { text = '', html = '' } = await PostalMime.parse(file);
  assert.match(
    text,
    /^The event begins:\n\{\n {2}"order": 12345678901234567890,\n {2}"total": 1\.10,\n {2}"n": 7,\n {2}"note": "<img src=x/m,
  );
  assert.match(text, /^\.\.\.$/m);
  assert.ok(text.includes(`Server:    ${errand.url}\n`), text);
  assert.ok(!text.includes('"lines": 39') && !file.includes('secret-of-a-sender'));
  assert.ok(html.includes('&lt;img src=x onerror=alert(1)&gt; &amp; more') && !html.includes('<img'), html);
  const [record] = await errand.errors(workflow.id, 1);
  assert.ok(html.includes(`${record.id}?expand=event</a>`), html);
  // A dark client shows its own background where a mail has none, and the mail's dark text on it.
  assert.match(html, /<body style="[^"]*background: #ffffff; color: #212529/);
  assert.match(html, /<td [^>]*>Server<\/td><td /);
  assert.match(html, /The event begins:<\/p><pre [^>]*>\{\n {2}&quot;order&quot;: 12345678901234567890,/);
});

test('its mail of a source tells how to replay', async () => {
  await using errand = await startErrand();
  const code = `export default { props: { http: '$.interface.http' }, run() { throw new Error('no such feed'); } };`;
  const source = await createSource(errand, code, { name: 'Feed' });
  await post(source, {});
  const [{ text } = { text: '' }] = await mails(errand, 1);
  const [record] = await errand.errors(source.id, 1);
  assert.match(text, new RegExp(`^Source: +Feed \\(${source.id}\\)$`, 'm'));
  assert.ok(text.endsWith(`POST ${errand.url}/v1/sources/${source.id}/$errors/${record.id}/replay\n`), text);
  const hooked = code.replace('run()', `hooks: { async activate() { throw new Error('no such hook'); } }, run()`);
  assert.equal((await trySource(errand, hooked, { name: 'Refused' })).status, 422);
  const quiet = await createSource(errand, code, { name: 'Hook' });
  assert.equal((await errand.client.request('PUT', `/v1/sources/${quiet.id}`, { component_code: hooked })).status, 422);
  const both = await mails(errand, 2);
  assert.ok(!both.some((mail) => mail.text.includes('Refused')), 'its caller was told');
  const ofHook = both.find((mail) => mail.text.includes('no such hook'));
  assert.ok(ofHook && !ofHook.text.includes('/replay'), 'there is no event to replay');
});

test('the links of the mail are good', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, { n: 7 });
  const [mail] = await mails(errand, 1);
  const urls = [...(mail?.text ?? '').matchAll(/https?:\/\/\S+/g)].map(([url]) => url);
  const replay = urls.find((url) => url.endsWith('/replay'));
  const link = urls.find((url) => url.includes('event_summaries/') || url.includes('/errors/'));
  assert.ok(replay !== undefined && link !== undefined, `${mail?.text}`);
  const shown = await errand.client.request('GET', link.slice(errand.url.length));
  assert.equal(shown.status, 200);
  assert.ok(shown.text.includes('has no address'), shown.text);
  const again = await errand.client.request('POST', replay.slice(errand.url.length));
  assert.equal(again.status, 200, again.text);
  assert.equal((await errand.errors(workflow.id, 2)).length, 2);
});

test('the links of the mail open a page in a browser, also without a key', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, { n: 7 });
  const [mail] = await mails(errand, 1);
  const urls = [...(mail?.text ?? '').matchAll(/^https?:\/\/\S+/gm)].map(([url]) => url ?? '');
  assert.ok(urls.length >= 2, String(mail?.text));
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  for (const url of urls) {
    const page = await fetch(url, { headers: { accept } });
    assert.equal(page.status, 200, url);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/, url);
    await page.body?.cancel();
  }
  const [record] = await errand.errors(workflow.id, 1);
  const address = `${errand.url}/v1/workflows/${workflow.id}/$errors/event_summaries/${record.id}`;
  const opened = await fetch(address, { headers: { accept }, redirect: 'manual' });
  assert.deepEqual(
    [opened.status, opened.headers.get('location')],
    [303, `/emitters/${workflow.id}/errors/${record.id}`],
  );
  // Programs are told as before, and so is what does not exist: nothing is learned from where a browser is sent.
  assert.equal((await fetch(address)).status, 401);
  assert.equal((await fetch(address, { headers: { accept, authorization: 'Bearer wrong' } })).status, 401);
  const nowhere = `${errand.url}/v1/workflows/p_%2F%2Fexample.com/$errors/event_summaries/0-0`;
  const sent = await fetch(nowhere, { headers: { accept }, redirect: 'manual' });
  assert.equal(sent.headers.get('location'), '/emitters/p_%2F%2Fexample.com/errors/0-0');
});

test('a source that is refused to its caller mails nobody', async () => {
  await using errand = await startErrand();
  const hooked = `export default { hooks: { async activate() { throw new Error('no such hook'); } }, run() {} };`;
  assert.equal((await trySource(errand, hooked, { name: 'Refused' })).status, 422);
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, { n: 7 });
  const told = await mails(errand, 1);
  assert.deepEqual(
    told.map(({ text }) => text.includes('Refused') || text.includes('no such hook')),
    [false],
    'only what comes later is told',
  );
});

test('a mail to an owner without an address names the owner', async () => {
  await using errand = await startErrand();
  await errand.client.put('/v1/users/me', { email: null });
  const { id } = await me(errand);
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, { n: 7 });
  const [mail] = await mails(errand, 1);
  assert.equal(mail?.to, `${id}@no-address.invalid`);
});

// The end of a window shows at the next poll: these wait for it side by side.
describe('digests', { concurrency: true }, () => {
  it('repeats come as one digest', async () => {
    await using errand = await startErrand();
    const changed = await errand.client.put('/v1/users/me', { digest_window_ms: WINDOW_MS });
    assert.equal(changed.digest_window_ms, WINDOW_MS);
    const workflow = await errand.workflow(FAIL, { name: 'Noisy' });
    for (let n = 1; n <= 5; n++) await failAndTell(errand, workflow, { n }, n - 1);
    assert.equal((await errand.outbox()).length, 1);
    errand.forward(WINDOW_MS);
    const [first, digest] = await mails(errand, 2);
    assert.match(first?.text ?? '', /order 1 /);
    assert.match(`${digest?.subject} ${digest?.text}`, /\+4 more since \d{1,2}:\d\d/);
    assert.match(`${digest?.subject} ${digest?.text}`, /Noisy/);
    await failAndTell(errand, workflow, { n: 6 }, 5);
    errand.forward(WINDOW_MS);
    assert.equal((await mails(errand, 3)).length, 3, 'what comes after a digest is told too');
  });

  it('a window without repeats sends no digest', async () => {
    await using errand = await startErrand();
    await errand.client.put('/v1/users/me', { digest_window_ms: WINDOW_MS });
    const [quiet, noisy] = [
      await errand.workflow(FAIL, { name: 'Quiet' }),
      await errand.workflow(FAIL, { name: 'Noisy' }),
    ];
    await failAndTell(errand, quiet, { n: 1 }, 0);
    await failAndTell(errand, noisy, { n: 2 }, 1);
    await failAndTell(errand, noisy, { n: 3 }, 2);
    errand.forward(WINDOW_MS);
    const found = await mails(errand, 3);
    assert.match(`${found[2]?.subject} ${found[2]?.text}`, /Noisy.*\+1 more since/s);
    await errand.settled();
    assert.equal((await errand.outbox()).length, 3);
  });

  it('a digest outlives a restart', async () => {
    await using errand = await startErrand();
    await errand.client.put('/v1/users/me', { digest_window_ms: WINDOW_MS });
    const workflow = await errand.workflow(FAIL);
    for (let n = 1; n <= 3; n++) await failAndTell(errand, workflow, { n }, n - 1);
    await errand.stop();
    errand.forward(WINDOW_MS);
    await errand.restart();
    const found = await mails(errand, 2);
    assert.match(`${found[1]?.subject} ${found[1]?.text}`, /\+2 more since/);
  });
});

test('another code or workflow is told at once', async () => {
  await using errand = await startErrand();
  const [one, two] = [await errand.workflow(FAIL, { name: 'One' }), await errand.workflow(FAIL, { name: 'Two' })];
  await failAndTell(errand, one, { n: 1 }, 0);
  await failAndTell(errand, one, { n: 2, code: 'E_OTHER' }, 1);
  await failAndTell(errand, two, { n: 3 }, 2);
  await failAndTell(errand, two, { n: 4 }, 3);
  const found = await mails(errand, 3);
  assert.equal(found.length, 3);
  const subjects = found.map((mail) => /(One|Two).*(E_ADDRESS|E_OTHER)/.exec(mail.subject)?.slice(1).join(' '));
  assert.deepEqual(subjects.toSorted(), ['One E_ADDRESS', 'One E_OTHER', 'Two E_ADDRESS']);
});

test('a workflow can be kept out', async () => {
  await using errand = await startErrand();
  const { global_error_workflow_id: id } = await me(errand);
  const silent = await errand.workflow(FAIL, { settings: { notify: false } });
  const loud = await errand.workflow(FAIL);
  const listener = await errand.workflow('export default () => 1', { triggers: [] });
  await errand.subscribe(silent.id, listener.id, '$errors');
  await errand.send(silent, { n: 1 });
  await errand.runs(listener.id, 1);
  await errand.send(loud, { n: 2 });
  const runs = await errand.runs(id, 1);
  await errand.settled();
  assert.deepEqual(
    runs.map((run) => run.emitter_id),
    [loud.id],
  );
  assert.equal((await errand.errors(silent.id, 1)).length, 1);
  assert.equal((await errand.client.get(`/v1/workflows/${id}/runs`)).page_info.total_count, 1);
});

test('forwarding does not stop it', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(FAIL);
  const listener = await errand.workflow('export default () => 1', { triggers: [] });
  await errand.subscribe(workflow.id, listener.id, '$errors');
  await errand.send(workflow, { n: 1 });
  await errand.runs(listener.id, 1);
  assert.equal((await errand.runs((await me(errand)).global_error_workflow_id, 1)).length, 1);
  assert.equal((await mails(errand, 1)).length, 1);
});

test('its code can be edited', async () => {
  await using errand = await startErrand();
  const { global_error_workflow_id: id } = await me(errand);
  const code = `export default async ({ steps, $ }) => {
    const { error, original_event } = steps.trigger.event;
    await $.send.email({ subject: 'mine: ' + error.code, text: original_event.body.n + '' });
  }`;
  await errand.client.put(`/v1/workflows/${id}`, { steps: [{ namespace: 'own', code }] });
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, { n: 3 });
  const [mail] = await mails(errand, 1);
  assert.deepEqual([mail?.subject, mail?.text.trim()], ['mine: E_ADDRESS', '3']);
});

test('its own errors are listed, and mailed by the service', async () => {
  await using errand = await startErrand();
  const { global_error_workflow_id: id } = await me(errand);
  const code = `export default () => { throw new Error('the teller fell') }`;
  await errand.client.put(`/v1/workflows/${id}`, { steps: [{ namespace: 'own', code }] });
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, { n: 1 });
  const [error] = await errand.errors(id, 1);
  assert.equal(error.event.error.msg, 'the teller fell');
  await errand.send(workflow, { n: 2 });
  await errand.errors(id, 2);
  await errand.settled();
  const { page_info } = await errand.client.get(`/v1/workflows/${id}/runs`);
  assert.equal(page_info.total_count, 2);
  const subjects = (await mails(errand, 1)).map(({ subject }) => subject);
  assert.deepEqual(subjects, ['[Errand] Global error workflow failed: Error the teller fell']);
});

test('another workflow can take its place', async () => {
  await using errand = await startErrand();
  const first = await me(errand);
  const other = await errand.workflow('export default () => 1', { triggers: [] });
  const changed = await errand.client.put('/v1/users/me', { global_error_workflow_id: other.id });
  assert.equal(changed.global_error_workflow_id, other.id);
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, { n: 1 });
  await errand.runs(other.id, 1);
  await errand.settled();
  const { data } = await errand.client.get(`/v1/workflows/${first.global_error_workflow_id}/runs`);
  assert.deepEqual(data, []);
  const unknown = await errand.client.request('PUT', '/v1/users/me', { global_error_workflow_id: 'p_nobody1' });
  assert.ok([404, 422].includes(unknown.status), unknown.text);
  assert.equal((await me(errand)).global_error_workflow_id, other.id);
});
