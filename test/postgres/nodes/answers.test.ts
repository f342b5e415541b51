// Callers of one node, and another one that executes the runs: each caller gets its answer, or is told why not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Errand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createSource, emissions, eventsOf, trySource } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';
import { API, answering, atGate, call, inState, PATIENT, RUN } from './callers.ts';
import { seenFrom, shareNodes, startNodes } from './nodes.ts';

const DELIVER = { ERRAND_ROLES: 'deliver' };
const NO_RESPONSE = 'No $.respond called in workflow';
const ECHO = `export default async ({ steps, $ }) => {
  const { n } = steps.trigger.event.body;
  await $.respond({ status: 201, headers: { 'x-n': String(n) }, body: { n } });
};`;

test('a caller gets the answer of a run elsewhere', async () => {
  await using nodes = await startNodes(API, RUN);
  const [api] = nodes.all;
  const workflow = await answering(api, ECHO);
  for (let n = 0; n < 10; n++) {
    const { status, headers, text } = await call(workflow, { n });
    assert.deepEqual([status, headers.get('x-n'), text], [201, `${n}`, `{"n":${n}}`]);
  }
});

test('bytes are answered as they are elsewhere', async () => {
  await using nodes = await startNodes(API, RUN);
  const [api] = nodes.all;
  const workflow = await answering(
    api,
    'export default ({ $ }) => $.respond({ status: 200, body: Buffer.from([0, 255, 13, 10, 128]) });',
  );
  const answer = await fetch(workflow.triggers[0].endpoint_url, { method: 'POST' });
  assert.deepEqual([...new Uint8Array(await answer.arrayBuffer())], [0, 255, 13, 10, 128]);
});

test('an immediate answer does not wait elsewhere', async () => {
  await using gate = await startGate();
  await using nodes = await startNodes(API, RUN);
  const [api] = nodes.all;
  const workflow = await answering(
    api,
    `export default async ({ $ }) => {
      await $.respond({ immediate: true, status: 202, body: 'working' });
      await (await fetch(process.env.GATE)).text();
    };`,
    atGate(gate),
  );
  const { status, text } = await call(workflow);
  assert.deepEqual([status, text], [202, 'working']);
  await gate.wait(1);
  await inState(api, workflow, 'running');
  gate.open();
  const [run] = await api.runs(workflow.id, 1);
  assert.equal(run.state, 'succeeded');
});

test('an error after the answer is captured elsewhere', async () => {
  await using nodes = await startNodes(API, RUN);
  const [api] = nodes.all;
  const workflow = await answering(
    api,
    `export default async ({ $ }) => {
      await $.respond({ immediate: true, status: 202, body: 'working' });
      throw new Error('too late');
    };`,
  );
  assert.equal((await call(workflow)).status, 202);
  const [error] = await api.errors(workflow.id, 1);
  assert.equal(error.event.error.msg, 'too late');
});

test('a run elsewhere that never responds is 400', async () => {
  await using nodes = await startNodes(API, RUN);
  const [api] = nodes.all;
  for (const code of ['export default () => 7', `export default () => { throw new Error('a secret') }`]) {
    const { status, text } = await call(await answering(api, code));
    assert.deepEqual([status, text.includes(NO_RESPONSE), text.includes('a secret')], [400, true, false]);
  }
});

test('a run elsewhere that takes too long is 504', async () => {
  await using nodes = await startNodes(API, RUN);
  const [api] = nodes.all;
  const workflow = await answering(api, 'export default () => new Promise(() => {})', {
    settings: { timeout_ms: 300 },
  });
  assert.equal((await call(workflow)).status, 504);
  const [error] = await api.errors(workflow.id, 1);
  assert.equal(error.event.error.code, 'Timeout');
});

test('a caller hears that its run was cancelled elsewhere', async () => {
  await using gate = await startGate();
  await using nodes = await startNodes(API, RUN, {});
  const [api, , c] = nodes.all;
  const workflow = await answering(api, PATIENT, atGate(gate, { concurrency: 1 }));
  const first = call(workflow);
  await gate.wait(1);
  const second = call(workflow);
  const [queued] = await inState(api, workflow, 'queued');
  await c.client.post(`/v1/runs/${queued.id}/cancel`);
  assert.equal((await second).status, 400);
  const [running] = await inState(api, workflow, 'running');
  await c.client.post(`/v1/runs/${running.id}/cancel`);
  const { status, text } = await first;
  assert.deepEqual([status, text.includes(NO_RESPONSE)], [400, true]);
});

test('a caller hears that its workflow was deleted elsewhere', async () => {
  await using gate = await startGate();
  await using nodes = await startNodes(API, RUN, {});
  const [api, , c] = nodes.all;
  const workflow = await answering(api, PATIENT, atGate(gate, { concurrency: 1 }));
  const first = call(workflow);
  await gate.wait(1);
  const second = call(workflow);
  await inState(api, workflow, 'queued');
  await c.client.delete(`/v1/workflows/${workflow.id}`);
  assert.ok((await second).status >= 400);
  gate.open();
  assert.deepEqual([(await first).status, (await first).text], [200, 'late']);
});

test('a caller hears that the queue is full elsewhere', async () => {
  await using gate = await startGate();
  await using nodes = await startNodes(API, RUN, API);
  const [api, , c] = nodes.all;
  const workflow = await answering(api, PATIENT, atGate(gate, { concurrency: 1, queue_limit: 1 }));
  const waiting = [call(workflow)];
  await gate.wait(1);
  waiting.push(call(workflow));
  await inState(api, workflow, 'queued');
  for (const node of [api, c]) {
    const { status, headers } = await call(seenFrom(node, workflow));
    assert.deepEqual([status, headers.has('retry-after')], [429, true]);
  }
  gate.open();
  assert.deepEqual(
    (await Promise.all(waiting)).map(({ status }) => status),
    [200, 200],
  );
});

test('a hundred callers each get their own answer', async () => {
  await using nodes = await startNodes(API, RUN, API);
  const [a, , c] = nodes.all;
  const workflow = await answering(a, ECHO);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => call(seenFrom(n % 2 ? a : c, workflow), { n })),
  );
  assert.deepEqual(
    answers.map(({ status, headers, text }) => [status, headers.get('x-n'), text]),
    answers.map((_, n) => [201, `${n}`, `{"n":${n}}`]),
  );
  assert.equal((await a.settled()).runs.succeeded, 100);
});

test('callers of nodes that all run get theirs', async () => {
  await using nodes = await shareNodes(3);
  const [a] = nodes.all;
  const workflow = await answering(a, ECHO, { settings: { concurrency: 2 } });
  const answers = await Promise.all(
    Array.from({ length: 90 }, (_, n) => call(seenFrom(nodes.all[n % 3] as Errand, workflow), { n })),
  );
  assert.deepEqual(
    answers.map(({ text }) => text),
    answers.map((_, n) => `{"n":${n}}`),
  );
});

test('hooks run elsewhere', async () => {
  await using nodes = await startNodes(API, RUN);
  const [api] = nodes.all;
  const source = await createSource(
    api,
    `export default {
      props: { http: { type: '$.interface.http', customResponse: true } },
      hooks: {
        deploy() { this.$emit({ hook: 'deploy' }); },
        activate() { this.$emit({ hook: 'activate' }); },
        deactivate() { this.$emit({ hook: 'deactivate' }); },
      },
      run(event) { this.http.respond({ status: 203, body: 'source ' + event.body.n }); this.$emit(event.body); },
    };`,
  );
  const { status, text } = await call(source, { n: 7 });
  assert.deepEqual([status, text], [203, 'source 7']);
  await api.client.put(`/v1/sources/${source.id}`, { active: false });
  assert.deepEqual(eventsOf(await emissions(api, source.id, 4)), [
    { hook: 'deploy' },
    { hook: 'activate' },
    { n: 7 },
    { hook: 'deactivate' },
  ]);
});

for (const hook of ['deploy', 'activate']) {
  test(`a ${hook} hook that throws elsewhere fails the request`, async () => {
    await using nodes = await startNodes(API, RUN);
    const [api] = nodes.all;
    const answer = await trySource(
      api,
      `export default { hooks: { ${hook}() { throw new Error('not today'); } }, run() {} };`,
    );
    assert.equal(answer.status, 422);
    assert.match(answer.text, /not today/);
    assert.deepEqual((await api.client.get('/v1/sources')).data, []);
  });
}

test('each role does its part of one event', async () => {
  await using receiver = await startReceiver();
  await using nodes = await startNodes(API, RUN, DELIVER);
  const [api, , deliver] = nodes.all;
  const workflow = await api.workflow('export default ({ steps, $ }) => { $.send.emit(steps.trigger.event.body); };');
  const failing = await api.workflow('export default () => { throw new Error("no"); }', {
    name: 'Failing',
    triggers: [{ type: 'emitter', emitter_id: workflow.id }],
  });
  const webhook = await api.client.post('/v1/webhooks', { url: receiver.url });
  await api.subscribe(workflow.id, webhook.id);
  await api.send(workflow, { n: 1 });
  const [got] = await receiver.wait(1);
  assert.equal(got?.body.toString(), '{"n":1}');
  await api.errors(failing.id, 1);
  const [mail] = await until('a mail', async () => {
    const found = await deliver.outbox();
    return found.length > 0 && found;
  });
  assert.match(mail ?? '', /Failing/);
});
