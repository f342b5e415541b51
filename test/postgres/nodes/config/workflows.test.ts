// Workflows made, changed and deleted at one node, as the next request at another one finds them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../support/client.ts';
import { timesOf } from '../../../support/data/thorough.ts';
import { startGate } from '../../../support/gate.ts';
import { assertProblem } from '../../../support/problem.ts';
import { createSource, post } from '../../../support/sources/sources.ts';
import { seenFrom, shareNodes } from '../nodes.ts';

const ROUNDS = timesOf(15, 5);
const NOTHING = 'export default () => 1';
const ANSWERING = { triggers: [{ type: 'http', custom_response: true }] };

interface Called {
  readonly status: number;
  readonly text: string;
}

async function call(workflow: Json, headers: Record<string, string> = {}): Promise<Called> {
  const url = workflow.triggers?.[0]?.endpoint_url ?? workflow.endpoint_url;
  const answer = await fetch(url, { method: 'POST', headers });
  return { status: answer.status, text: await answer.text() };
}

function answering(text: string): string {
  return `export default ({ $ }) => $.respond({ status: 200, body: ${JSON.stringify(text)} + (process.env.MARK ?? '') });`;
}

test('a new endpoint answers at once elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  for (let n = 0; n < ROUNDS; n++) {
    const workflow = await a.workflow(NOTHING);
    assert.equal((await call(seenFrom(b, workflow))).status, 200);
    const { data } = await b.client.get(`/v1/workflows/${workflow.id}`);
    assert.deepEqual([data.id, data.deployment_id], [workflow.id, workflow.deployment_id]);
    await a.client.delete(`/v1/workflows/${workflow.id}`);
    assert.equal((await call(seenFrom(b, workflow))).status, 404);
    assertProblem(await b.client.request('GET', `/v1/workflows/${workflow.id}`), 404);
  }
});

test('an inactive endpoint is 404 at once elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(NOTHING);
  for (let n = 0; n < ROUNDS; n++) {
    await a.client.put(`/v1/workflows/${workflow.id}`, { active: false });
    assert.equal((await call(seenFrom(b, workflow))).status, 404);
    await a.client.put(`/v1/workflows/${workflow.id}`, { active: true });
    assert.equal((await call(seenFrom(b, workflow))).status, 200);
  }
  assert.equal((await a.runs(workflow.id, ROUNDS)).length, ROUNDS);
});

test('an inactive listener hears nothing elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const emitter = await a.workflow(NOTHING);
  const listener = await a.workflow(NOTHING, {
    triggers: [{ type: 'emitter', emitter_id: emitter.triggers[0].id }],
  });
  for (let n = 0; n < ROUNDS; n++) {
    await a.client.put(`/v1/workflows/${listener.id}`, { active: false });
    await b.send(seenFrom(b, emitter), {});
    await a.client.put(`/v1/workflows/${listener.id}`, { active: true });
    await b.send(seenFrom(b, emitter), {});
  }
  await a.settled();
  assert.equal((await a.client.get(`/v1/workflows/${listener.id}/runs`)).page_info.total_count, ROUNDS);
});

test('a changed token counts at once elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const withToken = (token: string): Json => ({
    triggers: [{ type: 'http', auth: { type: 'bearer', token } }],
  });
  const made = await a.workflow(NOTHING, withToken('token-number-0'));
  const workflow = seenFrom(b, made);
  for (let n = 1; n <= ROUNDS; n++) {
    await a.client.put(`/v1/workflows/${workflow.id}`, withToken(`token-number-${n}`));
    const statuses = [n - 1, n].map((which) => call(workflow, { authorization: `Bearer token-number-${which}` }));
    assert.deepEqual(
      (await Promise.all(statuses)).map(({ status }) => status),
      [401, 200],
    );
  }
});

test('a trigger comes and goes at once elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const { id } = await a.workflow(NOTHING, { triggers: [] });
  for (let n = 0; n < ROUNDS; n++) {
    const changed = await a.client.put(`/v1/workflows/${id}`, { triggers: [{ type: 'http' }] });
    assert.equal((await call(seenFrom(b, changed))).status, 200);
    await a.client.put(`/v1/workflows/${id}`, { triggers: [] });
    assert.equal((await call(seenFrom(b, changed))).status, 404);
  }
});

test('new code runs at once elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(answering('code 0'), ANSWERING);
  for (let n = 1; n <= ROUNDS; n++) {
    const steps = [{ namespace: 'step', code: answering(`code ${n}`) }];
    const changed = await a.client.put(`/v1/workflows/${workflow.id}`, { steps });
    assert.deepEqual(await call(seenFrom(b, workflow)), { status: 200, text: `code ${n}` });
    if (n % 5 > 0) continue;
    const { data } = await b.client.get(`/v1/workflows/${workflow.id}/deployments`);
    assert.equal(data[0].id, changed.deployment_id);
    await b.client.post(`/v1/workflows/${workflow.id}/deployments/${data[1].id}/activate`);
    assert.deepEqual(await call(seenFrom(a, workflow)), { status: 200, text: `code ${n - 1}` });
  }
});

test('a changed setting counts at once elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(answering('mark '), ANSWERING);
  for (let n = 1; n <= ROUNDS; n++) {
    await a.client.put(`/v1/workflows/${workflow.id}`, { settings: { env: { MARK: `${n}` } } });
    assert.deepEqual(await call(seenFrom(b, workflow)), { status: 200, text: `mark ${n}` });
  }
});

test('a run keeps the code that it began with', async () => {
  await using nodes = await shareNodes(2);
  await using gate = await startGate();
  const [a, b] = nodes.all;
  const code = (version: number): string => `export default async () => {
    await (await fetch(process.env.GATE)).text();
    return ${version};
  }`;
  const workflow = await a.workflow(code(1), { settings: { env: { GATE: gate.url } } });
  await b.send(seenFrom(b, workflow), {});
  await gate.wait(1);
  await a.client.put(`/v1/workflows/${workflow.id}`, { steps: [{ namespace: 'step', code: code(2) }] });
  await b.send(seenFrom(b, workflow), {});
  await gate.wait(2);
  gate.open();
  const runs = await a.runs(workflow.id, 2);
  const whole = await Promise.all(runs.map((run) => a.client.get(`/v1/runs/${run.id}`)));
  assert.deepEqual(
    whole.map(({ data }) => data.steps[0].return_value),
    [2, 1],
  );
});

test('a source changes at once elsewhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const code = (n: number): string => `export default {
    props: { http: { type: '$.interface.http', customResponse: true } },
    run() { this.http.respond({ status: 200, body: 'source ${n}' }); },
  };`;
  const made = await createSource(a, code(0));
  const source = seenFrom(b, made);
  for (let n = 1; n <= 8; n++) {
    await a.client.put(`/v1/sources/${source.id}`, { component_code: code(n) });
    assert.deepEqual(await call(source), { status: 200, text: `source ${n}` });
    await a.client.put(`/v1/sources/${source.id}`, { active: false });
    await assert.rejects(post(source, {}), /404/);
    await a.client.put(`/v1/sources/${source.id}`, { active: true });
  }
  await a.client.delete(`/v1/sources/${source.id}`);
  assert.equal((await call(source)).status, 404);
});

test('a deleted workflow is gone everywhere', async () => {
  await using nodes = await shareNodes(2);
  const [a, b] = nodes.all;
  const workflow = await a.workflow(NOTHING);
  await a.client.delete(`/v1/workflows/${workflow.id}`);
  for (const { client } of [a, b]) {
    for (const path of ['', '/runs', '/deployments', '/$errors/event_summaries']) {
      assertProblem(await client.request('GET', `/v1/workflows/${workflow.id}${path}`), 404);
    }
    assertProblem(await client.request('POST', `/v1/workflows/${workflow.id}/runs`, { event: {} }), 404);
  }
});
