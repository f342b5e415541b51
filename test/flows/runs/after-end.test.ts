// What code throws when its run has ended fails no run, and is told: once for each run that did not fail.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { createSource, post } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';

const LATE = `function behind(then) { setTimeout(function sendLate() { then(); }, 1); }
function later() { throw new TypeError('too late for ' + globalThis.order); }
export default async ({ steps, $ }) => {
  const { how, order } = steps.trigger.event.body;
  globalThis.order = order;
  if (how === 'timer') setTimeout(later, 1);
  if (how === 'promise') setTimeout(() => Promise.reject(new Error('not awaited')), 1);
  if (how === 'endless') setInterval(later, 1);
  if (how === 'failed') { setTimeout(later, 1); throw new Error('at once'); }
  if (how === 'sent') behind(() => { $.export('x', 1); $.send.emit({ order }); $.send.http({ url: 'http://127.0.0.1:9/' }); });
  if (how === 'exported') behind(() => $.export('x', 1));
  if (how === 'sent, failed') { behind(() => $.send.emit({ order })); throw new Error('at once'); }
  if (how === 'waiting') { setTimeout(later, 1); $.flow.delay(3_600_000); }
};`;

async function errorsOf(errand: Pick<Errand, 'client'>, id: string, count: number): Promise<Json[]> {
  return until(`${count} errors`, async () => {
    const path = `${id.startsWith('dc_') ? 'sources' : 'workflows'}/${id}`;
    const { data } = await errand.client.get(`/v1/${path}/$errors/event_summaries?expand=event`);
    return data.length >= count && data;
  });
}

test('what a run has left behind is told once, with its event and its run', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(LATE, { name: 'Orders' });
  const body = '{"how": "endless", "order": 12345678901234567890}';
  const [first] = workflow.triggers;
  await fetch(first.endpoint_url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  const [error] = await errorsOf(errand, workflow.id, 1);
  const [run] = await errand.runs(workflow.id, 1);
  equal(run.state, 'succeeded');
  equal(error?.event.error.code, 'ThrownAfterEnd');
  equal(error?.event.error.msg, `Thrown after ${run.id} had ended: TypeError: too late for 12345678901234567000`);
  match(error?.event.error.stack, /^ *at (?:Timeout\.)?later /);
  deepEqual([error?.event.error.cellId, error?.event.error.namespace], [workflow.steps[0].id, 'step']);
  deepEqual(error?.event.original_event.body.how, 'endless');
  equal(error?.event.original_context.deployment_id, workflow.deployment_id);
  const whole = await errand.client.request('GET', `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`);
  ok(whole.text.includes(body), 'byte for byte');
  // The timer goes on; the next run shares its process.
  await errand.send(workflow, { how: 'promise', order: 2 });
  const [newest, oldest] = await errorsOf(errand, workflow.id, 2);
  match(newest?.event.error.msg, /^Thrown after r_\w+ had ended: Error: not awaited$/);
  equal(oldest?.id, error?.id);
  const replay = await errand.client.request('POST', `/v1/workflows/${workflow.id}/$errors/${error?.id}/replay`);
  deepEqual([replay.status, /thrown after its run had ended/.test(replay.text)], [422, true], replay.text);
  const dry = await errand.client.post('/v1/replays', { workflow_id: workflow.id, dry_run: true });
  deepEqual([dry.to_replay, dry.reasons.length], [0, 1]);
  const [mail = ''] = await until('both mails', async () => {
    const all = await errand.outbox();
    return all.length === 2 && all;
  });
  match(mail, /Subject: \[Errand\] Orders: ThrownAfterEnd/);
  ok(!mail.includes('/replay'));
});

test('what a run would have sent when it had ended is an error, not lost in silence', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(LATE, { name: 'Orders' });
  for (const how of ['exported', 'sent, failed', 'sent']) await errand.send(workflow, { how, order: 7 });
  const [error, failed, ...others] = await errorsOf(errand, workflow.id, 2);
  const runs = await errand.runs(workflow.id, 3);
  const run = runs.find(({ state, id }: Json) => state === 'succeeded' && error?.event.error.msg.includes(id));
  equal(error?.event.error.code, 'LostAfterEnd');
  const { msg, stack, cellId, namespace } = error?.event.error ?? {};
  const lost = `Called after ${run?.id} had ended: $.send.emit, $.send.http had no effect: the code must await what it begins`;
  equal(msg, lost);
  match(stack, /^ *at .*sendLate /m);
  ok(!/runner|late-calls/.test(stack), stack);
  deepEqual([cellId, namespace], [workflow.steps[0].id, 'step']);
  deepEqual(error?.event.original_event.body, { how: 'sent', order: 7 });
  await until('the reports', () => errand.logged.filter(({ name }) => name === 'runner.after_end').length === 3);
  deepEqual([failed?.event.error.code, others.length], ['Error', 0], 'a failed run has its one error');
  const replay = await errand.client.request('POST', `/v1/workflows/${workflow.id}/$errors/${error?.id}/replay`);
  deepEqual([replay.status, /calls after its run had ended/.test(replay.text)], [422, true], replay.text);
  const { data: groups } = await errand.client.get('/v1/error_groups?code=LostAfterEnd');
  deepEqual([groups.length, groups[0].count], [1, 1]);
  const mail = await until('its mail', async () => (await errand.outbox()).find((one) => one.includes('LostAfterEnd')));
  ok(!mail?.includes('/replay'));
});

test('runs of one cause are one group, whose errors are counted exactly', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(LATE);
  for (let order = 0; order < 5; order++) await errand.send(workflow, { how: 'timer', order });
  await errorsOf(errand, workflow.id, 5);
  const { data } = await errand.client.get('/v1/error_groups');
  deepEqual(
    data.map(({ count, why }: Json) => [count, /same code `ThrownAfterEnd`/.test(why)]),
    [[5, true]],
  );
  const { data: ledger } = await errand.client.get('/v1/ledger');
  equal(ledger.errors.captured, 5);
});

test('a failed run has its one error, and one that waits is told', async () => {
  await using errand = await startErrand();
  const failing = await errand.workflow(LATE);
  await errand.send(failing, { how: 'failed' });
  await until('the exception', () => errand.logged.some(({ name }) => name === 'runner.stray_exception'));
  const waiting = await errand.workflow(LATE);
  await errand.send(waiting, { how: 'waiting' });
  const [late] = await errorsOf(errand, waiting.id, 1);
  equal(late?.event.error.code, 'ThrownAfterEnd');
  const errors = await errorsOf(errand, failing.id, 1);
  deepEqual(
    errors.map(({ event }) => event.error.code),
    ['Error'],
  );
  const [run] = (await errand.client.get(`/v1/workflows/${waiting.id}/runs`)).data;
  deepEqual([run.state, run.error_id], ['waiting', null]);
});

test('a source tells what it has left behind, and its owner alone hears of it', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand, 'other');
  const code = `export default {
    props: { http: '$.interface.http' },
    run() { setTimeout(() => { throw new Error('feed is gone'); }, 1); },
  };`;
  const [quiet, source] = [await createSource(errand, code), await createSource(errand, code)];
  await post(source, {});
  const [error] = await errorsOf(errand, source.id, 1);
  match(error?.event.error.msg, /Error: feed is gone$/);
  equal(error?.event.original_context.source_id, source.id);
  deepEqual((await errand.client.get(`/v1/sources/${quiet.id}/$errors/event_summaries`)).data, []);
  deepEqual((await other.client.get('/v1/errors')).data, []);
});
