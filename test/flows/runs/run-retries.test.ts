// Failed runs that are tried again by themselves: from the step that failed, so often, and told once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { expectLedger, onlyRun, overRun, pass, stepped, waitingRun } from '../../support/waits.ts';

const newErrand = shareErrand();

const HOUR_MS = 3_600_000;
const AT_ONCE = { attempts: 3, base_ms: 0, max_ms: 0 };
const retrying = (retry: Json = AT_ONCE, more: Json = {}): Json => ({ settings: { retry, ...more } });
/** Fails in the attempts before `n`. */
const succeedsIn = (n: number): string =>
  `if ($.context.attempt < ${n}) throw new Error('attempt ' + $.context.attempt); return $.context.attempt;`;

const texts = (run: Json): string[] => run.logs.map((line: Json) => line.text);

test('a run that succeeds in the end has no error', async () => {
  await using errand = await startErrand();
  const once = `console.log('once'); $.send.email({ subject: 'once' }); return { n: 1.5 };`;
  const workflow = await stepped(
    errand,
    { once, flaky: succeedsIn(3), last: `return steps.once.$return_value;` },
    retrying(),
  );
  await errand.send(workflow, {});
  const run = await onlyRun(errand, workflow);
  assert.deepEqual([run.state, run.attempt, run.error_id, texts(run)], ['succeeded', 3, null, ['once']]);
  assert.deepEqual(
    run.steps.map((step: Json) => [step.namespace, step.state, step.return_value]),
    [
      ['once', 'succeeded', { n: 1.5 }],
      ['flaky', 'succeeded', 3],
      ['last', 'succeeded', { n: 1.5 }],
    ],
  );
  await errand.settled();
  assert.equal((await errand.outbox()).length, 1, 'what the first step sent went out once');
  assert.deepEqual(await errand.errors(workflow.id, 0), []);
  await expectLedger(errand, { succeeded: 1, failed: 0, waiting: 0 });
});

test('a run that always fails has one error', async () => {
  await using errand = await newErrand();
  const workflow = await stepped(errand, { before: `console.log('once');`, flaky: succeedsIn(9) }, retrying());
  await errand.send(workflow, { n: 1 });
  const run = await onlyRun(errand, workflow);
  assert.deepEqual([run.state, run.attempt, run.error.msg, texts(run)], ['failed', 3, 'attempt 3', ['once']]);
  const [record, ...others] = await errand.errors(workflow.id, 1);
  assert.deepEqual([record?.event.error.msg, record?.event.original_context.attempt, others], ['attempt 3', 3, []]);
  assert.equal(run.error_id, record?.id);
  await errand.settled();
  await expectLedger(errand, { failed: 1, waiting: 0 }, 1);
});

test('the first failure is told when asked for', async () => {
  await using errand = await newErrand();
  const always = await stepped(errand, { flaky: succeedsIn(9) }, retrying({ ...AT_ONCE, report_first: true }));
  await errand.send(always, {});
  const run = await onlyRun(errand, always);
  const told = await errand.errors(always.id, 2);
  assert.deepEqual(
    told.map((record) => record.event.error.msg),
    ['attempt 3', 'attempt 1'],
  );
  assert.deepEqual([run.state, run.error_id], ['failed', told[0]?.id]);
  const passing = await stepped(errand, { flaky: succeedsIn(2) }, retrying({ ...AT_ONCE, report_first: true }));
  await errand.send(passing, {});
  const over = await onlyRun(errand, passing);
  assert.deepEqual([over.state, over.error_id], ['succeeded', null]);
  const [first, ...others] = await errand.errors(passing.id, 1);
  assert.deepEqual([first?.event.error.msg, others], ['attempt 1', []]);
  await errand.settled();
  await expectLedger(errand, { failed: 1, waiting: 0 }, 3);
});

test('what the failed step sent is sent once', async () => {
  await using errand = await startErrand();
  const sends = `$.send.email({ subject: 'mail of attempt ' + $.context.attempt }); $.send.emit({ attempt: $.context.attempt });`;
  const workflow = await stepped(errand, { flaky: `${sends} ${succeedsIn(3)}` }, retrying());
  await errand.send(workflow, {});
  const run = await onlyRun(errand, workflow);
  await errand.settled();
  const mails = await errand.outbox();
  assert.deepEqual([run.state, mails.length], ['succeeded', 1]);
  assert.match(mails[0] as string, /mail of attempt 3/);
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/event_summaries?expand=event`);
  assert.deepEqual(
    data.map((record: Json) => record.event),
    [{ attempt: 3 }],
  );
});

test('what the last failed attempt sent goes out', async () => {
  await using errand = await newErrand();
  const code = `$.send.emit({ attempt: $.context.attempt }); ${succeedsIn(9)}`;
  const workflow = await stepped(errand, { flaky: code }, retrying());
  await errand.send(workflow, {});
  await onlyRun(errand, workflow);
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/event_summaries?expand=event`);
  assert.deepEqual(
    data.map((record: Json) => record.event),
    [{ attempt: 3 }],
  );
});

test('the wait for the next attempt is shown', async () => {
  await using errand = await startErrand();
  const workflow = await stepped(errand, { flaky: succeedsIn(2) }, retrying({ attempts: 2, base_ms: HOUR_MS }));
  await errand.send(workflow, {});
  const run = await waitingRun(errand, workflow, 'retry');
  assert.deepEqual([run.attempt, run.error_id, run.steps[0].state], [2, null, 'failed']);
  const inMs = run.waiting.until_ms - Date.now();
  assert.ok(inMs > HOUR_MS * 0.85 && inMs < HOUR_MS * 1.1, String(inMs));
  await expectLedger(errand, { waiting: 1, failed: 0 });
  await errand.restart();
  await pass(errand, 1.1 * HOUR_MS);
  const over = await overRun(errand, run.id);
  assert.deepEqual([over.state, over.attempt], ['succeeded', 2]);
});

test('a run that waits to be tried can be cancelled', async () => {
  await using errand = await newErrand();
  const workflow = await stepped(errand, { flaky: succeedsIn(2) }, retrying({ attempts: 2, base_ms: HOUR_MS }));
  await errand.send(workflow, {});
  const run = await waitingRun(errand, workflow, 'retry');
  assert.equal((await errand.client.post(`/v1/runs/${run.id}/cancel`)).state, 'cancelled');
  assert.deepEqual(await errand.errors(workflow.id, 0), []);
  await expectLedger(errand, { cancelled: 1, waiting: 0 });
});

test('a timeout is tried again only when named', async () => {
  await using errand = await newErrand();
  const slow = `if ($.context.attempt < 2) await new Promise(() => {}); return 'quick';`;
  const more = { timeout_ms: 3000 };
  const never = await stepped(errand, { slow }, retrying(AT_ONCE, more));
  await errand.send(never, {});
  const failed = await onlyRun(errand, never);
  assert.deepEqual([failed.state, failed.attempt, failed.error.code], ['failed', 1, 'Timeout']);
  const named = await stepped(errand, { slow }, retrying({ ...AT_ONCE, also: ['Timeout'] }, more));
  await errand.send(named, {});
  const run = await onlyRun(errand, named);
  assert.deepEqual([run.state, run.attempt], ['succeeded', 2]);
});

test('a wait between failures keeps the count', async () => {
  await using errand = await newErrand();
  const steps = { first: succeedsIn(2), wait: `$.flow.delay(5);`, second: succeedsIn(3), last: `return 'end';` };
  const workflow = await stepped(errand, steps, retrying());
  await errand.send(workflow, {});
  const run = await onlyRun(errand, workflow);
  assert.deepEqual([run.state, run.attempt, run.steps.length], ['succeeded', 3, 4]);
  const fewer = await stepped(errand, steps, retrying({ ...AT_ONCE, attempts: 2 }));
  await errand.send(fewer, {});
  const failed = await onlyRun(errand, fewer);
  assert.deepEqual([failed.state, failed.attempt, failed.error.msg], ['failed', 2, 'attempt 2']);
});

test('a trigger of nobody fails the run for good', async () => {
  await using errand = await newErrand();
  const code = `$.flow.trigger('p_0000000000000000', {}); $.send.emit({ n: 1 });`;
  const workflow = await stepped(errand, { send: code }, retrying());
  await errand.send(workflow, {});
  const run = await onlyRun(errand, workflow);
  assert.deepEqual(
    [run.state, run.attempt, run.error.code, run.error.namespace],
    ['failed', 1, 'ConfigurationError', 'send'],
  );
  assert.match(run.error.msg, /there is no workflow p_0000000000000000/);
  const emitted = await until('what it emitted', async () => {
    const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/event_summaries`);
    return data.length === 1 && data;
  });
  assert.equal(emitted.length, 1);
});
