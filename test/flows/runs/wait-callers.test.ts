// Callers that wait for the answer of a run that waits: nobody is left hanging.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { expectLedger, pass, stepped, waitingRun } from '../../support/waits.ts';

const newErrand = shareErrand();

/** Only ends a test whose caller would be left waiting. */
const DEADLINE_MS = 20_000;
const ANSWERED = `await $.respond({ status: 201, body: 'late' });`;

const answering = (errand: Errand, steps: Record<string, string>, more: Json = {}): Promise<Json> =>
  stepped(errand, steps, { triggers: [{ type: 'http', custom_response: true }], ...more });

async function call(workflow: Json, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const answer = await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, signal });
  return { status: answer.status, text: await answer.text() };
}

test('an answer given before the wait goes out', async () => {
  await using errand = await newErrand();
  const workflow = await answering(errand, {
    ask: `await $.respond({ status: 202, body: 'asked' }); $.flow.suspend();`,
    end: ANSWERED,
  });
  assert.deepEqual(await call(workflow, { 'idempotency-key': 'k' }), { status: 202, text: 'asked' });
  assert.deepEqual(await call(workflow, { 'idempotency-key': 'k' }), { status: 202, text: 'asked' });
  const run = await waitingRun(errand, workflow);
  await errand.client.post(`/v1/runs/${run.id}/cancel`);
  assert.deepEqual(await call(workflow, { 'idempotency-key': 'k' }), { status: 202, text: 'asked' });
  await expectLedger(errand, { cancelled: 1, total: 1 });
});

test('a suspension without an answer lets callers go', async () => {
  await using errand = await newErrand();
  const workflow = await answering(errand, { ask: `$.flow.suspend();`, end: ANSWERED });
  const headers = { 'idempotency-key': 'k' };
  const first = await call(workflow, headers);
  assert.equal(first.status, 400);
  assert.match(first.text, /No \$\.respond called in workflow/);
  assert.equal((await call(workflow, headers)).status, 400, 'who asks again is not left waiting either');
  await expectLedger(errand, { waiting: 1, total: 1 });
});

test('a caller waits over a short delay', async () => {
  await using errand = await newErrand();
  const workflow = await answering(errand, { wait: `$.flow.delay(50);`, end: ANSWERED });
  assert.deepEqual(await call(workflow), { status: 201, text: 'late' });
});

test('a long delay lets its caller go', async () => {
  await using errand = await startErrand();
  const workflow = await answering(errand, { wait: `$.flow.delay(61_000);`, end: ANSWERED });
  assert.equal((await call(workflow)).status, 400);
  const run = await waitingRun(errand, workflow);
  await pass(errand, 61_000);
  await until('its end', async () => (await errand.client.get(`/v1/runs/${run.id}`)).data.state === 'succeeded');
});

test('a caller waits over attempts that fail', async () => {
  await using errand = await newErrand();
  const flaky = `if ($.context.attempt < 3) throw new Error('no'); ${ANSWERED}`;
  const workflow = await answering(errand, { flaky }, { settings: { retry: { attempts: 3, base_ms: 10 } } });
  assert.deepEqual(await call(workflow), { status: 201, text: 'late' });
  const failing = await answering(
    errand,
    { flaky: `throw new Error('no');` },
    { settings: { retry: { attempts: 2, base_ms: 10 } } },
  );
  assert.equal((await call(failing)).status, 400);
});

test('a caller hears when the waiting run is cancelled', async () => {
  await using errand = await newErrand();
  const workflow = await answering(errand, { wait: `$.export('urls', $.flow.delay(30_000));`, end: ANSWERED });
  for (const how of ['key', 'address', 'delete']) {
    const answer = call(workflow);
    const run = await waitingRun(errand, workflow);
    if (how === 'key') await errand.client.post(`/v1/runs/${run.id}/cancel`);
    else if (how === 'address') await fetch(run.steps[0].exports.urls.cancel_url);
    else await errand.client.delete(`/v1/workflows/${workflow.id}`);
    assert.equal((await answer).status, 400, how);
  }
});

test('a resumed run answers its caller', async () => {
  await using errand = await newErrand();
  const workflow = await answering(errand, { wait: `$.export('urls', $.flow.delay(30_000));`, end: ANSWERED });
  const answer = call(workflow);
  const run = await waitingRun(errand, workflow);
  await fetch(run.steps[0].exports.urls.resume_url);
  assert.deepEqual(await answer, { status: 201, text: 'late' });
});
