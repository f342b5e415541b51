// custom_response: the caller gets what the run responds, or is told why not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Gate, startGate } from '../support/gate.ts';
import { type OwnerOn, sessionOf, sharedErrand } from '../support/owners.ts';
import { until } from '../support/wait.ts';

const newOwner = sharedErrand();

const DEADLINE_MS = 30_000;
const NO_RESPONSE = 'No $.respond called in workflow';

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

function answering(errand: OwnerOn, code: string, more: Json = {}): Promise<Json> {
  return errand.workflow(code, { triggers: [{ type: 'http', custom_response: true }], ...more });
}

/** The deadline only ends a test whose caller would be left waiting. */
async function call(workflow: Json): Promise<Answered> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const answer = await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', signal });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

async function responded(errand: OwnerOn, expression: string): Promise<Answered> {
  const workflow = await answering(errand, `export default async ({ $ }) => { await $.respond(${expression}); }`);
  return call(workflow);
}

test('a run chooses status, headers and text', async () => {
  const errand = await newOwner();
  const answer = await responded(
    errand,
    `{ status: 418, headers: { 'X-Pot': 'tea', 'content-type': 'text/css' }, body: 'short é' }`,
  );
  assert.deepEqual(
    [answer.status, answer.headers.get('x-pot'), answer.headers.get('content-type'), answer.bytes.toString()],
    [418, 'tea', 'text/css', 'short é'],
  );
});

test('an answer that no caller waits for is told in the log', async () => {
  const errand = await newOwner();
  const code = `export default ({ $ }) => $.respond({ status: 201, immediate: true })`;
  const notes = async (workflow: Json, count: number): Promise<string[]> => {
    const [{ id }] = await errand.runs(workflow.id, count);
    const { data } = await errand.client.get(`/v1/runs/${id}`);
    return data.logs.map(({ level, text }: Json) => `${level}: ${text}`);
  };
  const deaf = await errand.workflow(code, { triggers: [{ type: 'http' }] });
  assert.equal((await call(deaf)).status, 200);
  const told =
    'warn: respond has no effect, since the caller was answered before the run: the HTTP trigger has no custom_response';
  assert.deepEqual(await notes(deaf, 1), [told]);
  await errand.client.post(`/v1/workflows/${deaf.id}/runs`, { event: {} });
  assert.deepEqual(await notes(deaf, 2), [], 'a run without a caller');
  const heard = await answering(errand, code);
  assert.equal((await call(heard)).status, 201);
  assert.deepEqual(await notes(heard, 1), []);
});

test('cookies are answered one by one', async () => {
  const errand = await newOwner();
  const both = `[['vary', 'a'], ['set-cookie', 'a=1; Path=/'], ['set-cookie', 'b=2']]`;
  for (const headers of [`{ 'Set-Cookie': ['a=1; Path=/', 'b=2'], vary: ['a'] }`, `new Headers(${both})`]) {
    const workflow = await answering(errand, `export default ({ $ }) => { $.respond({ headers: ${headers} }); }`);
    for (const which of ['first', 'repeated']) {
      const answer = await fetch(workflow.triggers[0].endpoint_url, { headers: { 'idempotency-key': 'one' } });
      const { pathname } = new URL(workflow.triggers[0].endpoint_url);
      const bound = ['a', 'b'].map((name, at) => `${name}=${at + 1}; Path=${pathname}`);
      assert.deepEqual(answer.headers.getSetCookie(), bound, `${which}: ${headers}`);
      assert.equal(answer.headers.get('vary'), 'a');
    }
  }
});

test('no endpoint sees or sets a session', async () => {
  const errand = await newOwner();
  const code = `export default ({ steps, $ }) => $.respond({
    headers: { 'set-cookie': ['errand-session-1=x; Path=/', '=errand-session-2=x; Path=/'] },
    body: steps.trigger.event.headers,
  })`;
  const workflow = await answering(errand, code);
  const url = workflow.triggers[0].endpoint_url;
  const session = await sessionOf(errand.client.url, errand.client.key);
  assert.equal(await session.status(), 200);
  const answer = await fetch(url, { headers: { cookie: `a=1; ${session.headers.cookie}; b=2` } });
  assert.equal(((await answer.json()) as Json).cookie, 'a=1; b=2');
  for (const cookie of answer.headers.getSetCookie())
    assert.ok(cookie.endsWith(`; Path=${new URL(url).pathname}`), cookie);
  const [run] = await errand.runs(workflow.id, 1);
  const { data: shown } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.equal(shown.event.headers.cookie, 'a=1; b=2');
});

test('no answer becomes a script or a style of a page of the server', async () => {
  const errand = await newOwner();
  const code = `export default ({ $ }) => $.respond({ headers: { 'content-type': 'text/javascript' }, body: 'alert(1)' })`;
  const { triggers } = await answering(errand, code);
  const statusOf = async (site: string, dest: string): Promise<number> => {
    const headers = { 'sec-fetch-site': site, 'sec-fetch-dest': dest };
    return (await fetch(triggers[0].endpoint_url, { headers })).status;
  };
  for (const dest of ['script', 'style', 'worker', 'sharedworker', 'serviceworker', 'object', 'embed'])
    assert.equal(await statusOf('same-origin', dest), 403, dest);
  // Sandboxed pages of workflows, and pages elsewhere.
  assert.equal(await statusOf('cross-site', 'script'), 200);
  for (const dest of ['empty', 'document', 'image']) assert.equal(await statusOf('same-origin', dest), 200, dest);
});

test('an object is answered as JSON', async () => {
  const errand = await newOwner();
  const answer = await responded(errand, `{ status: 200, body: { a: [1, null], b: 'é' } }`);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(answer.bytes.toString(), '{"a":[1,null],"b":"é"}');
});

test('bytes are answered as they are', async () => {
  const errand = await newOwner();
  const answer = await responded(errand, '{ status: 200, body: Buffer.from([0, 255, 13, 10, 128]) }');
  assert.deepEqual([...answer.bytes], [0, 255, 13, 10, 128]);
});

test('bodies of every length are answered byte for byte', async () => {
  const errand = await newOwner();
  const workflow = await answering(
    errand,
    `export default async ({ steps, $ }) => {
      const body = Buffer.alloc(Number(steps.trigger.event.query.bytes)).map((_, at) => at);
      await $.respond({ headers: { 'x-latin': '\xe9\xff' }, body });
    }`,
  );
  const url = workflow.triggers[0].endpoint_url;
  for (const bytes of [0, 1, 256, 8191, 8192, 8193, 100_000]) {
    const body = Buffer.from(Array.from({ length: bytes }, (_, at) => at % 256));
    const answer = await fetch(`${url}?bytes=${bytes}`, { method: 'POST' });
    assert.equal(Buffer.compare(Buffer.from(await answer.arrayBuffer()), body), 0, `${bytes} bytes`);
    assert.deepEqual([answer.headers.get('x-latin'), answer.headers.get('content-length')], ['éÿ', String(bytes)]);
    const head = await fetch(`${url}?bytes=${bytes}`, { method: 'HEAD' });
    assert.deepEqual([head.headers.get('content-length'), await head.text()], [String(bytes), '']);
  }
});

test('a stream is answered to its end', async () => {
  const errand = await newOwner();
  const workflow = await answering(
    errand,
    `import { Readable } from 'node:stream';
    export default async ({ $ }) => { await $.respond({ status: 200, body: Readable.from(['one ', 'two']) }); };`,
  );
  assert.equal((await call(workflow)).bytes.toString(), 'one two');
});

test('an answer without status is 200', async () => {
  const errand = await newOwner();
  const answer = await responded(errand, `{ body: 'fine' }`);
  assert.deepEqual([answer.status, answer.bytes.toString()], [200, 'fine']);
});

test('a run that never responds is 400', async () => {
  const errand = await newOwner();
  const answer = await call(await answering(errand, 'export default () => 7'));
  assert.equal(answer.status, 400);
  assert.ok(JSON.parse(answer.bytes.toString()).error.includes(NO_RESPONSE), answer.bytes.toString());
});

test('an error before the response is 400', async () => {
  const errand = await newOwner();
  const workflow = await answering(errand, `export default () => { throw new Error('a secret of the workflow') }`);
  const answer = await call(workflow);
  const text = answer.bytes.toString();
  assert.equal(answer.status, 400);
  assert.ok(text.includes(NO_RESPONSE), text);
  assert.equal(text.includes('a secret of the workflow'), false);
  assert.equal((await errand.errors(workflow.id, 1)).length, 1);
});

test('an answer that cannot be sent is 400, and its error says why', async () => {
  const errand = await newOwner();
  const refused = [
    ['{ status: 999 }', /^respond was refused: a status is a number from 200 to 599, not 999$/],
    ["{ headers: { 'x-secret': 'a\\nb' } }", /^respond was refused: this header cannot be sent: x-secret$/],
    ["{ body: 'x'.repeat(7_000_000) }", /^respond was refused: a body has at most \d+ bytes$/],
    ['{ body: { secret: 1n } }', /^respond was refused: the body is not a JSON value/],
    ["'secret'", /^respond was refused: an answer is an object/],
  ] as const;
  for (const [given, why] of refused) {
    const code = `export default async ({ $ }) => { try { await $.respond(${given}); } catch {} }`;
    const workflow = await answering(errand, code);
    for (const which of ['first', 'repeated']) {
      const headers = { 'idempotency-key': 'one' };
      const answer = await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers });
      const { error } = (await answer.json()) as Json;
      assert.deepEqual([answer.status, /cannot be sent as an answer/.test(error)], [400, true], `${which}: ${error}`);
      assert.doesNotMatch(error, /secret|999/);
    }
    const [record] = await errand.errors(workflow.id, 1);
    assert.match(record.event.error.msg, why);
  }
});

test('a run that takes too long is 504', async () => {
  const errand = await newOwner();
  const workflow = await answering(errand, 'export default () => new Promise(() => {})', {
    settings: { timeout_ms: 200 },
  });
  assert.equal((await call(workflow)).status, 504);
  const [error] = await errand.errors(workflow.id, 1);
  assert.equal(error.event.error.code, 'Timeout');
});

test('an immediate answer does not wait', async () => {
  const errand = await newOwner();
  await using gate = await startGate();
  const workflow = await answering(
    errand,
    `export default async ({ $ }) => {
      await $.respond({ immediate: true, status: 202, body: 'working' });
      await (await fetch(process.env.GATE)).text();
    }`,
    { settings: { env: { GATE: gate.url } } },
  );
  const answer = await call(workflow);
  assert.deepEqual([answer.status, answer.bytes.toString()], [202, 'working']);
  await gate.wait(1);
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs`);
  assert.equal(data[0].state, 'running');
  gate.open();
  const [run] = await errand.runs(workflow.id, 1);
  assert.equal(run.state, 'succeeded');
});

test('an error after the answer is captured', async () => {
  const errand = await newOwner();
  const workflow = await answering(
    errand,
    `export default async ({ $ }) => {
      await $.respond({ immediate: true, status: 202, body: 'working' });
      throw new Error('too late');
    }`,
  );
  assert.equal((await call(workflow)).status, 202);
  const [error] = await errand.errors(workflow.id, 1);
  assert.equal(error.event.error.msg, 'too late');
});

test('a later step may respond', async () => {
  const errand = await newOwner();
  const workflow = await errand.client.post('/v1/workflows', {
    name: 'two',
    steps: [
      { namespace: 'sum', code: 'export default () => 40 + 2' },
      {
        namespace: 'say',
        code: 'export default ({ steps, $ }) => $.respond({ status: 200, body: String(steps.sum.$return_value) })',
      },
    ],
    triggers: [{ type: 'http', custom_response: true }],
  });
  assert.equal((await call(workflow)).bytes.toString(), '42');
});

test('a plain trigger ignores a response', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(`export default ({ $ }) => $.respond({ status: 500, body: 'no' })`);
  const answer = await call(workflow);
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(JSON.parse(answer.bytes.toString())), ['id']);
  const [run] = await errand.runs(workflow.id, 1);
  assert.equal(run.state, 'succeeded');
});

test('a header of the answer cannot be forged', async () => {
  const errand = await newOwner();
  const workflow = await answering(
    errand,
    `export default ({ $ }) => $.respond({ status: 200, headers: { 'x-a': 'b\\r\\nx-evil: 1' }, body: 'ok' })`,
  );
  const answer = await call(workflow);
  assert.equal(answer.headers.has('x-evil'), false);
  const fine = await responded(errand, `{ status: 200, body: 'fine' }`);
  assert.equal(fine.bytes.toString(), 'fine');
});

/** A run that holds the only place, and a caller whose run waits behind it. */
async function waitingCaller(errand: OwnerOn, gate: Gate, settings: Json = {}) {
  const workflow = await answering(errand, 'export default async () => { await fetch(process.env.GATE); }', {
    settings: { concurrency: 1, env: { GATE: gate.url }, ...settings },
  });
  await errand.client.post(`/v1/workflows/${workflow.id}/runs`, { event: {} });
  await gate.wait(1);
  const answer = call(workflow);
  answer.catch(() => {});
  const queued = await until('a queued run', async () => {
    const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=queued`);
    return data[0];
  });
  return { workflow, answer, queued };
}

test('a caller hears that its queued run was cancelled', async () => {
  const errand = await newOwner();
  await using gate = await startGate();
  const { answer, queued } = await waitingCaller(errand, gate);
  await errand.client.post(`/v1/runs/${queued.id}/cancel`);
  const { status, bytes } = await answer;
  assert.deepEqual([status, bytes.toString().includes(NO_RESPONSE)], [400, true]);
});

test('a caller hears that its workflow was deleted', async () => {
  const errand = await newOwner();
  await using gate = await startGate();
  const { workflow, answer } = await waitingCaller(errand, gate);
  await errand.client.delete(`/v1/workflows/${workflow.id}`);
  assert.ok((await answer).status >= 400);
});

test('a caller hears that the queue is full', async () => {
  const errand = await newOwner();
  await using gate = await startGate();
  const { workflow, answer } = await waitingCaller(errand, gate, { queue_limit: 1 });
  assert.ok((await call(workflow)).status >= 400);
  gate.open();
  assert.equal((await answer).status, 400);
});

test('a run goes on when its caller is gone', async () => {
  const errand = await newOwner();
  await using gate = await startGate();
  const code = `export default async ({ $ }) => { await fetch(process.env.GATE); await $.respond({ status: 200, body: 'late' }); }`;
  const workflow = await answering(errand, code, { settings: { env: { GATE: gate.url } } });
  const gone = new AbortController();
  const headers = { 'idempotency-key': 'once' };
  const url = workflow.triggers[0].endpoint_url;
  const first = fetch(url, { method: 'POST', headers, signal: gone.signal });
  await gate.wait(1);
  gone.abort();
  await assert.rejects(first);
  gate.open();
  const [run] = await errand.runs(workflow.id, 1);
  assert.equal(run.state, 'succeeded');
  assert.equal(await (await fetch(url, { method: 'POST', headers })).text(), 'late', 'for whoever asks again');
});
