// Runs that wait: for somebody, for a time, for something to be done; and go on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { expectLedger, onlyRun, overRun, pass, stepped, urlsOf, waitingRun } from '../../support/waits.ts';

const newErrand = shareErrand();

const HOUR_MS = 3_600_000;
const SUSPEND = `$.export('urls', $.flow.suspend()); return 'asked';`;
const SEEN = `return { data: steps.ask.$resume_data, asked: steps.ask.$return_value, run: $.context.run };`;

function asking(errand: Errand, more: Json = {}): Promise<Json> {
  return stepped(errand, { before: `return 1.5;`, ask: SUSPEND, seen: SEEN, ...more });
}

async function asked(errand: Errand): Promise<{ workflow: Json; run: Json; resume_url: string; cancel_url: string }> {
  const workflow = await asking(errand);
  await errand.send(workflow, { n: 1 });
  const run = await waitingRun(errand, workflow, 'suspend');
  return { workflow, run, ...urlsOf(run) };
}

test('a mail with the link goes out while waiting', async () => {
  await using errand = await startErrand();
  const ask = `const { resume_url } = $.flow.suspend(); $.send.email({ subject: 'Approve?', text: 'Link: ' + resume_url });`;
  const workflow = await stepped(errand, { ask, done: `return steps.ask.$resume_data;` });
  await errand.send(workflow, {});
  const run = await waitingRun(errand, workflow);
  const mail = await until('the mail', async () => (await errand.outbox())[0]);
  const link = /Link: (\S+)/.exec(mail.replaceAll('=\r\n', '').replaceAll('=3D', '='))?.[1];
  assert.ok(link?.startsWith(`${errand.url}/r/${run.id}/1.`), mail);
  const answer = await fetch(link as string);
  const answered = (await answer.json()) as Json;
  assert.deepEqual([answer.status, answered.data.run_id], [200, run.id]);
  const over = await overRun(errand, run.id);
  assert.deepEqual([over.state, over.steps.length], ['succeeded', 2]);
  assert.equal((await errand.outbox()).length, 1);
});

test('a run that waits is shown as it is', async () => {
  await using errand = await newErrand();
  const { run, workflow } = await asked(errand);
  assert.equal(run.state, 'waiting');
  assert.equal(run.waiting.kind, 'suspend');
  const inMs = run.waiting.until_ms - Date.now();
  assert.ok(inMs > 23 * HOUR_MS && inMs <= 24 * HOUR_MS, String(inMs));
  assert.deepEqual(
    run.steps.map((step: Json) => [step.namespace, step.return_value]),
    [
      ['before', 1.5],
      ['ask', 'asked'],
    ],
  );
  assert.deepEqual([run.ended_at_ms, run.error_id, run.attempt], [null, null, 1]);
  const { data: running } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=running`);
  assert.deepEqual(running, []);
  await expectLedger(errand, { waiting: 1, running: 0, queued: 0 });
});

test('a POST brings data to later steps', async () => {
  await using errand = await newErrand();
  const { run, resume_url } = await asked(errand);
  const headers = { 'content-type': 'application/json', 'x-by': 'somebody' };
  const answer = await fetch(`${resume_url}?from=mail`, { method: 'POST', headers, body: '{"approved":true,"n":1.0}' });
  assert.equal(answer.status, 200, await answer.text());
  const over = await overRun(errand, run.id);
  assert.equal(over.state, 'succeeded');
  const [, ask, seen] = over.steps;
  assert.deepEqual(
    [ask.resume_data, seen.return_value.data, seen.return_value.asked],
    [{ approved: true, n: 1 }, { approved: true, n: 1 }, 'asked'],
  );
  const { callback_request: request, runs } = seen.return_value.run;
  assert.deepEqual(
    [request.method, request.path, request.query, request.body, request.headers['x-by'], runs],
    ['POST', '/', { from: 'mail' }, { approved: true, n: 1 }, 'somebody', 1],
  );
  assert.equal(over.waiting, undefined);
  await expectLedger(errand, { succeeded: 1, waiting: 0 });
});

test('text and nothing are data as well', async () => {
  await using errand = await newErrand();
  for (const [body, data] of [
    ['plain words', 'plain words'],
    ['', null],
  ] as const) {
    const { run, resume_url } = await asked(errand);
    await fetch(resume_url, { method: 'PUT', body, headers: { 'content-type': 'text/plain' } });
    const over = await overRun(errand, run.id);
    assert.deepEqual([over.state, over.steps[1].resume_data], ['succeeded', data]);
  }
});

test('its cancel address ends a run', async () => {
  await using errand = await newErrand();
  const { run, cancel_url, resume_url } = await asked(errand);
  const answer = await fetch(cancel_url, { method: 'POST' });
  assert.deepEqual([answer.status, await answer.json()], [200, { data: { run_id: run.id, state: 'cancelled' } }]);
  const over = (await errand.client.get(`/v1/runs/${run.id}`)).data;
  assert.deepEqual([over.state, over.error_id, over.steps.length], ['cancelled', null, 2]);
  const late = await fetch(resume_url);
  assert.equal(late.status, 409);
  assert.match(((await late.json()) as Json).detail, /cancelled/);
  await expectLedger(errand, { cancelled: 1, waiting: 0 });
});

test('an API key cancels a waiting run', async () => {
  await using errand = await newErrand();
  const { run } = await asked(errand);
  const answered = await errand.client.post(`/v1/runs/${run.id}/cancel`);
  assert.deepEqual([answered.id, answered.state], [run.id, 'cancelled']);
  await expectLedger(errand, { cancelled: 1, waiting: 0 });
});

test('a suspension that nobody ends is cancelled', async () => {
  await using errand = await startErrand();
  const { run, resume_url } = await asked(errand);
  await pass(errand, 23 * HOUR_MS);
  assert.equal((await errand.client.get(`/v1/runs/${run.id}`)).data.state, 'waiting');
  await pass(errand, HOUR_MS);
  const over = await overRun(errand, run.id);
  assert.deepEqual([over.state, over.error_id], ['cancelled', null]);
  assert.equal((await fetch(resume_url)).status, 409);
  await expectLedger(errand, { cancelled: 1, waiting: 0, total: 1 });
});

test('a delay goes on when its time comes', async () => {
  await using errand = await startErrand();
  const workflow = await stepped(errand, { wait: `$.flow.delay(${HOUR_MS}); return 1;`, seen: `return steps.wait;` });
  await errand.send(workflow, {});
  const waiting = await waitingRun(errand, workflow, 'delay');
  await pass(errand, HOUR_MS);
  const over = await overRun(errand, waiting.id);
  assert.deepEqual([over.state, over.steps[1].return_value], ['succeeded', { $return_value: 1 }]);
});

test('a short delay needs no poll', async () => {
  await using errand = await newErrand();
  const workflow = await stepped(errand, { wait: `$.flow.delay(20);`, seen: `return $.context.run;` });
  await errand.send(workflow, {});
  const run = await onlyRun(errand, workflow);
  assert.deepEqual([run.state, run.steps[1].return_value], ['succeeded', { runs: 1 }]);
});

test('a step is executed again until done', async () => {
  await using errand = await newErrand();
  const poll = `const { runs, context } = $.context.run;
    console.log('poll ' + runs);
    if (runs < 4) $.flow.rerun(5, { seen: [...(context?.seen ?? []), runs] });
    return context ?? null;`;
  const workflow = await stepped(errand, {
    once: `console.log('once');`,
    poll,
    last: `return steps.poll.$return_value;`,
  });
  await errand.send(workflow, {});
  const run = await onlyRun(errand, workflow);
  assert.deepEqual([run.state, run.steps.length, run.attempt], ['succeeded', 3, 1]);
  assert.deepEqual(run.steps[2].return_value, { seen: [1, 2, 3] });
  assert.deepEqual(
    run.logs.map((line: Json) => line.text),
    ['once', 'poll 1', 'poll 2', 'poll 3', 'poll 4'],
  );
});

test('a wait outlives a restart', async () => {
  await using errand = await startErrand();
  const workflow = await asking(errand);
  await errand.send(workflow, { n: 1 });
  const run = await waitingRun(errand, workflow);
  const delayed = await stepped(errand, { wait: `$.flow.delay(${HOUR_MS});`, seen: `return 'after';` });
  await errand.send(delayed, {});
  const { id } = await waitingRun(errand, delayed);
  await errand.restart();
  const { pathname } = new URL(urlsOf(run).resume_url);
  const answer = await fetch(errand.url + pathname, {
    method: 'POST',
    body: '[1]',
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(answer.status, 200);
  const over = await overRun(errand, run.id);
  assert.deepEqual([over.state, over.steps[1].resume_data, over.steps[2].return_value.data], ['succeeded', [1], [1]]);
  await pass(errand, HOUR_MS);
  assert.equal((await overRun(errand, id)).state, 'succeeded');
  await expectLedger(errand, { succeeded: 2, waiting: 0, total: 2 });
});

test('a run keeps the code that it began with', async () => {
  await using errand = await newErrand();
  const { workflow, run, resume_url } = await asked(errand);
  const steps = [{ namespace: 'other', code: 'export default () => 2' }];
  const changed = await errand.client.put(`/v1/workflows/${workflow.id}`, { steps });
  assert.notEqual(changed.deployment_id, run.deployment_id);
  await fetch(resume_url);
  const over = await overRun(errand, run.id);
  assert.deepEqual([over.state, over.deployment_id, over.steps.length], ['succeeded', run.deployment_id, 3]);
});

test('an address works before its step has ended', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const ask = `const urls = $.flow.suspend(); $.export('urls', urls); await (await fetch(process.env.GATE + '/' + encodeURIComponent(urls.resume_url))).text();`;
  const workflow = await stepped(errand, { ask, seen: SEEN }, { settings: { env: { GATE: gate.url } } });
  await errand.send(workflow, {});
  const [path] = await gate.wait(1);
  const resume = decodeURIComponent((path as string).slice(1));
  const answer = await fetch(resume, {
    method: 'POST',
    body: '"early"',
    headers: { 'content-type': 'application/json' },
  });
  assert.deepEqual([answer.status, ((await answer.json()) as Json).data.state], [200, 'running']);
  assert.equal((await fetch(resume)).status, 409);
  gate.open();
  const run = await onlyRun(errand, workflow);
  assert.deepEqual([run.state, run.steps[1].return_value.data], ['succeeded', 'early']);
});

test('a deleted workflow takes its waiting runs along', async () => {
  await using errand = await newErrand();
  const { workflow, resume_url } = await asked(errand);
  await errand.client.delete(`/v1/workflows/${workflow.id}`);
  assert.ok([404, 409].includes((await fetch(resume_url)).status));
  await expectLedger(errand, { cancelled: 1, waiting: 0 });
});
