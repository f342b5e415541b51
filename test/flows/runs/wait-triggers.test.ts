// A workflow that runs another one: `$.flow.trigger`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { expectLedger, onlyRun, stepped } from '../../support/waits.ts';

const SEEN = `return { event: steps.trigger.event, context: steps.trigger.context };`;

test('a workflow runs another one with an event', async () => {
  await using errand = await startErrand();
  const other = await stepped(errand, { seen: SEEN }, { triggers: [] });
  const listener = await errand.workflow('export default () => 1', { triggers: [] });
  const first = await stepped(errand, { go: `$.flow.trigger('${other.id}', { order: [1.5, 'é'] });` });
  await errand.subscribe(first.id, listener.id, '*');
  await errand.send(first, {});
  const run = await onlyRun(errand, other);
  const { event, context } = run.steps[0].return_value;
  assert.deepEqual(event, { order: [1.5, 'é'] });
  const caller = await onlyRun(errand, first);
  assert.deepEqual(
    [context.source_type, context.emitter_id, context.trace_id],
    ['WORKFLOW', first.id, caller.emission_id],
  );
  assert.equal(run.caused_by.run_id, caller.id);
  assert.ok(caller.causes.some((receipt: { id: string }) => receipt.id === run.id));
  await errand.settled();
  const { data } = await errand.client.get(`/v1/workflows/${listener.id}/runs`);
  assert.deepEqual(data, [], 'nobody else heard it');
  await expectLedger(errand, { succeeded: 2 });
});

test('a trigger takes effect when the wait begins', async () => {
  await using errand = await startErrand();
  const other = await stepped(errand, { seen: `return steps.trigger.event;` }, { triggers: [] });
  const first = await stepped(errand, { go: `$.flow.trigger('${other.id}', 1); $.flow.suspend();`, end: `return 1;` });
  await errand.send(first, {});
  assert.equal((await onlyRun(errand, other)).steps[0].return_value, 1);
  await expectLedger(errand, { waiting: 1, succeeded: 1 });
});

test("another owner's workflow is not there", async () => {
  await using errand = await startErrand();
  const second = await createOwner(errand);
  const theirs = await second.workflow('export default () => 1', { triggers: [] });
  const first = await stepped(errand, {
    go: `$.flow.trigger('${theirs.id}', {}); $.flow.suspend();`,
    end: `return 1;`,
  });
  await errand.send(first, {});
  const run = await onlyRun(errand, first);
  assert.deepEqual(
    [run.state, run.error.code, run.error.namespace, run.steps[0].state],
    ['failed', 'ConfigurationError', 'go', 'failed'],
  );
  assert.ok(run.error.msg.includes(theirs.id), run.error.msg);
  assert.equal(run.logs.at(-1).level, 'error');
  assert.deepEqual((await second.client.get(`/v1/workflows/${theirs.id}/runs`)).data, []);
  await errand.settled();
  await expectLedger(errand, { failed: 1, waiting: 0 }, 1);
});
