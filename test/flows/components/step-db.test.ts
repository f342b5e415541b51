// `$.service.db` of actions that are steps: each step of a workflow has its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStep, runStep } from '../../support/actions.ts';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { shareErrand } from '../../support/shared-errand.ts';

const newErrand = shareErrand();

/** Counts its runs, and does what the body says with `db`, `$` and the event's `body`. */
const counting = (body = ''): string => `export default {
  type: 'action',
  props: { db: '$.service.db' },
  async run({ steps, $ }) {
    const { db } = this;
    const { body } = steps.trigger.event;
    const before = db.get('n');
    db.set('n', (before ?? 0) + 1);
    ${body}
    return [before ?? null, db.get('n'), ...Object.keys(db)];
  },
};`;

function createWorkflow(errand: Errand, codes: Readonly<Record<string, string>>, more: Json = {}): Promise<Json> {
  const steps = Object.entries(codes).map(([namespace, code]) => ({ namespace, code }));
  return errand.client.post('/v1/workflows', { name: 'test', steps, triggers: [{ type: 'http' }], ...more });
}

/** The newest run, once `count` are over. */
async function ran(errand: Errand, workflow: Json, body: object, count: number): Promise<Json> {
  await errand.send(workflow, body);
  const [newest] = await errand.runs(workflow.id, count);
  return (await errand.client.get(`/v1/runs/${newest.id}`)).data;
}

const valuesOf = (run: Json): unknown[] =>
  run.steps.map(({ return_value }: { return_value?: unknown[] }) => return_value?.slice(0, 2) ?? null);

test('a step remembers from run to run, across a restart', async () => {
  await using errand = await startErrand();
  const workflow = await createStep(errand, counting());
  const other = await createStep(errand, counting());
  assert.deepEqual(await runStep(errand, workflow), [null, 1, 'get', 'set']);
  assert.deepEqual((await runStep(errand, workflow, 2)).slice(0, 2), [1, 2]);
  await errand.restart();
  const again = (await errand.client.get(`/v1/workflows/${workflow.id}`)).data;
  assert.deepEqual((await runStep(errand, again, 3)).slice(0, 2), [2, 3]);
  const same = (await errand.client.get(`/v1/workflows/${other.id}`)).data;
  assert.deepEqual((await runStep(errand, same)).slice(0, 2), [null, 1], 'another workflow has its own');
});

test('each step has a db of its own', async () => {
  await using errand = await newErrand();
  const workflow = await createWorkflow(errand, {
    one: counting(`if (body.clears) db.set('n', undefined);`),
    two: counting(),
  });
  await ran(errand, workflow, {}, 1);
  assert.deepEqual(valuesOf(await ran(errand, workflow, { clears: true }, 2)).at(1), [1, 2]);
  assert.deepEqual(valuesOf(await ran(errand, workflow, {}, 3)), [
    [null, 1],
    [2, 3],
  ]);
});

test('a step that fails writes nothing, the steps before it do', async () => {
  await using errand = await newErrand();
  const workflow = await createWorkflow(errand, {
    one: counting(),
    two: counting(`
      if (body.throws) throw new Error('after all that');
      if (body.exits) process.exit(3);`),
  });
  assert.equal((await ran(errand, workflow, { throws: true }, 1)).state, 'failed');
  assert.equal((await ran(errand, workflow, { exits: true }, 2)).state, 'failed');
  assert.deepEqual(valuesOf(await ran(errand, workflow, {}, 3)), [
    [2, 3],
    [null, 1],
  ]);
});

test('what a step has set is kept over a wait', async () => {
  await using errand = await newErrand();
  const workflow = await createWorkflow(errand, {
    one: counting(`if (body.waits) $.flow.delay(1);`),
    two: counting(`if (body.waits && $.context.run.runs === 1) $.flow.rerun(1);`),
  });
  const { state, steps } = await ran(errand, workflow, { waits: true }, 1);
  assert.deepEqual([state, steps.length], ['succeeded', 2], JSON.stringify(steps));
  assert.deepEqual(valuesOf(await ran(errand, workflow, {}, 2)), [
    [1, 2],
    [2, 3],
  ]);
});

test('what is set when the step is over has no effect', async () => {
  await using errand = await newErrand();
  const workflow = await createWorkflow(errand, {
    one: counting(`setTimeout(() => db.set('n', 'late'), 20);`),
    two: `export default () => new Promise((resolve) => setTimeout(resolve, 200));`,
  });
  await ran(errand, workflow, {}, 1);
  assert.deepEqual(valuesOf(await ran(errand, workflow, {}, 2))[0], [1, 2]);
});

test('values that are no JSON fail the step', async () => {
  await using errand = await newErrand();
  const workflow = await createStep(errand, counting(`db.set('n', 1n);`));
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  assert.equal(error.event.error.code, 'TypeError');
});
