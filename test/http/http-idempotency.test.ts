// The same Idempotency-Key on the same trigger: the first answer again, and no second run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { startGate } from '../support/gate.ts';
import { freePort } from '../support/port.ts';
import { shareErrand } from '../support/shared-errand.ts';

const newErrand = shareErrand();

const HOUR_MS = 3_600_000;
const COUNTING = `let count = 0;
export default async ({ steps, $ }) => {
  count++;
  await $.respond({ status: 201, headers: { 'x-count': String(count) }, body: { count, body: steps.trigger.event.body } });
};`;
const ANSWERING = { triggers: [{ type: 'http', custom_response: true }] };

async function call(workflow: Json, key: string, body = '1', trigger = 0): Promise<string> {
  const answer = await fetch(workflow.triggers[trigger].endpoint_url, {
    method: 'POST',
    headers: { 'idempotency-key': key, 'content-type': 'application/json' },
    body,
  });
  return [answer.status, answer.headers.get('content-type'), answer.headers.get('x-count'), await answer.text()].join();
}

test('the same key runs once', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow('export default ({ steps }) => steps.trigger.event.body');
  const first = await call(workflow, 'one', '1');
  assert.match(first, /^200,/);
  assert.equal(await call(workflow, 'one', '1'), first);
  const other = await call(workflow, 'two', '3');
  assert.notEqual(other, first);
  const runs = await errand.runs(workflow.id, 2);
  assert.equal(runs.length, 2);
  const { data: ledger } = await errand.client.get('/v1/ledger');
  assert.equal(ledger.emissions, 2);
});

test('the same key repeats a custom answer', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(COUNTING, ANSWERING);
  const first = await call(workflow, 'one', '"a"');
  assert.match(first, /^201,application\/json.*,1,\{"count":1,"body":"a"\}$/);
  assert.equal(await call(workflow, 'one', '"a"'), first);
  assert.match(await call(workflow, 'two', '"c"'), /,\{"count":2,"body":"c"\}$/);
  assert.equal(await call(workflow, 'one', '"a"'), first);
  assert.equal((await errand.runs(workflow.id, 2)).length, 2);
});

test('an answer outlives a restart', async () => {
  await using errand = await startErrand({ ERRAND_PORT: `${await freePort()}` });
  const plain = await errand.workflow('export default () => 1');
  const custom = await errand.workflow(COUNTING, ANSWERING);
  const before = [await call(plain, 'one'), await call(custom, 'one')];
  await errand.settled();
  await errand.restart();
  assert.deepEqual([await call(plain, 'one'), await call(custom, 'one')], before);
  assert.match(await call(custom, 'two'), /^201,/);
  assert.equal((await errand.runs(custom.id, 2)).length, 2);
  assert.equal((await errand.runs(plain.id, 1)).length, 1);
});

test('duplicates at the same moment run once', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const workflow = await errand.workflow(
    `let count = 0;
    export default async ({ $ }) => {
      count++;
      await (await fetch(process.env.GATE)).text();
      await $.respond({ status: 200, body: 'count ' + count });
    }`,
    { ...ANSWERING, settings: { env: { GATE: gate.url } } },
  );
  const calls = Array.from({ length: 10 }, () => call(workflow, 'same'));
  await gate.wait(1);
  calls.push(call(workflow, 'same'));
  gate.open();
  const answers = await Promise.all(calls);
  assert.match(answers[0] ?? '', /^200,.*count 1$/);
  assert.deepEqual([...new Set(answers)], [answers[0]]);
  assert.match(await call(workflow, 'other'), /count 2$/);
  assert.equal((await errand.runs(workflow.id, 2)).length, 2);
});

test('duplicates of a plain trigger agree', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow('export default () => 1');
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => call(workflow, n % 2 ? 'odd' : 'even')));
  assert.equal(new Set(answers).size, 2);
  assert.equal((await errand.runs(workflow.id, 2)).length, 2);
});

test('keys belong to one trigger', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow('export default () => 1', { triggers: [{ type: 'http' }, { type: 'http' }] });
  const first = await call(workflow, 'one', '1', 0);
  const second = await call(workflow, 'one', '1', 1);
  assert.notEqual(first, second);
  assert.equal(await call(workflow, 'one', '1', 1), second);
  assert.equal((await errand.runs(workflow.id, 2)).length, 2);
});

test('a key is forgotten after a day', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow('export default () => 1');
  const first = await call(workflow, 'one');
  errand.forward(23 * HOUR_MS);
  assert.equal(await call(workflow, 'one'), first);
  errand.forward(2 * HOUR_MS);
  assert.notEqual(await call(workflow, 'one'), first);
  assert.equal((await errand.runs(workflow.id, 2)).length, 2);
});

test('another request with the same key is refused', async () => {
  await using errand = await startErrand({ ERRAND_PORT: `${await freePort()}` });
  const plain = await errand.workflow('export default () => 1');
  const custom = await errand.workflow(COUNTING, ANSWERING);
  const first = [await call(plain, 'one', '1'), await call(custom, 'one', '1')];
  const refused = async () => {
    for (const workflow of [plain, custom]) {
      const url = workflow.triggers[0].endpoint_url;
      const headers = { 'idempotency-key': 'one', 'content-type': 'application/json' };
      for (const [method, path, body] of [
        ['POST', '', '2'],
        ['PUT', '', '1'],
        ['POST', '/further', '1'],
        ['POST', '?page=2', '1'],
        ['DELETE', '', null],
      ] as const) {
        const answer = await fetch(url + path, { method, headers, body });
        const problem = (await answer.json()) as { type: string; errors: { parameter: string }[] };
        assert.equal(answer.status, 422, `${method} ${path}`);
        assert.equal(problem.type, '/docs/errors#key_reused');
        assert.equal(problem.errors[0]?.parameter, 'Idempotency-Key');
      }
    }
  };
  await refused();
  await errand.settled();
  await errand.restart();
  await refused();
  assert.deepEqual([await call(plain, 'one', '1'), await call(custom, 'one', '1')], first);
  assert.equal((await errand.runs(plain.id, 1)).length, 1);
  errand.forward(25 * HOUR_MS);
  assert.match(await call(plain, 'one', '2'), /^200,/);
});

test('another request does not wait for the first', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const code = `export default async ({ $ }) => { await fetch(process.env.GATE); await $.respond({ status: 200, body: 'first' }); }`;
  const workflow = await errand.workflow(code, { ...ANSWERING, settings: { env: { GATE: gate.url } } });
  const first = call(workflow, 'one', '1');
  await gate.wait(1);
  assert.match(await call(workflow, 'one', '2'), /^422,/);
  const repeated = call(workflow, 'one', '1');
  gate.open();
  assert.match(await first, /^200,.*first$/);
  assert.equal(await repeated, await first);
});
