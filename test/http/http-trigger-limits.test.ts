// What an HTTP trigger does not take: too much, too little, or what it cannot read. None of it runs anything.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { LIMITS } from '../../src/domain/limits.ts';
import type { Json } from '../support/client.ts';
import { type RawAnswer, sendRaw } from '../support/data/raw-http.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { shareErrand } from '../support/shared-errand.ts';

const newErrand = shareErrand();

const ECHO = 'export default ({ steps }) => steps.trigger.event.body.length';
const TOO_DEEP = `The event is nested deeper than ${LIMITS.nestingDepth} levels`;
const DEFAULT_LIMIT = 512 * 1024;

async function call(
  workflow: Json,
  body: string | Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
): Promise<number> {
  const answer = await fetch(workflow.triggers[0].endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', ...headers },
    body: body as string,
    duplex: 'half',
  } as RequestInit);
  const text = await answer.text();
  if (answer.status !== 200) {
    assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/, text);
    assert.equal(JSON.parse(text).status, answer.status);
  }
  return answer.status;
}

/** One more call runs, and it alone. */
async function assertNothingRan(errand: Errand, workflow: Json): Promise<void> {
  assert.equal(await call(workflow, 'fine'), 200);
  const runs = await errand.runs(workflow.id, 1);
  assert.deepEqual(
    runs.map((run) => run.state),
    ['succeeded'],
  );
}

function rawCall(workflow: Json, headers: string[], ...parts: (string | Uint8Array)[]): Promise<RawAnswer> {
  const { host, pathname } = new URL(workflow.triggers[0].endpoint_url);
  const head = [`POST ${pathname} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers, '', ''].join('\r\n');
  return sendRaw(workflow.triggers[0].endpoint_url, [head, ...parts]);
}

test('a body at the limit is taken', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ECHO);
  assert.equal(await call(workflow, 'x'.repeat(DEFAULT_LIMIT)), 200);
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.equal(data.steps[0].return_value, DEFAULT_LIMIT);
});

test('a body over the limit is 413', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ECHO);
  assert.equal(await call(workflow, 'x'.repeat(DEFAULT_LIMIT + 1)), 413);
  await assertNothingRan(errand, workflow);
});

test('the limit is a setting', async () => {
  await using errand = await startErrand({ ERRAND_MAX_BODY_BYTES: '1000' });
  const workflow = await errand.workflow(ECHO);
  assert.equal(await call(workflow, 'x'.repeat(1001)), 413);
  await assertNothingRan(errand, workflow);
  assert.equal(await call(workflow, 'x'.repeat(1000)), 200);
});

test('a chunked body is measured as it comes', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ECHO);
  const stream = (count: number) =>
    new ReadableStream({
      pull(controller) {
        if (count-- > 0) controller.enqueue(new Uint8Array(64 * 1024).fill(120));
        else controller.close();
      },
    });
  assert.equal(await call(workflow, stream(9)), 413);
  await assertNothingRan(errand, workflow);
  assert.equal(await call(workflow, stream(8)), 200);
});

test('a bomb is stopped at the limit', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ECHO);
  const inflated = Buffer.alloc(100 * 1024 * 1024, 'x');
  assert.equal(await call(workflow, gzipSync(inflated), { 'content-encoding': 'gzip' }), 413);
  assert.equal(await call(workflow, deflateSync(inflated), { 'content-encoding': 'deflate' }), 413);
  const just = gzipSync(Buffer.alloc(DEFAULT_LIMIT + 1, 'x'));
  assert.equal(await call(workflow, just, { 'content-encoding': 'gzip' }), 413);
  await assertNothingRan(errand, workflow);
  const fits = gzipSync(Buffer.alloc(DEFAULT_LIMIT, 'x'));
  assert.equal(await call(workflow, fits, { 'content-encoding': 'gzip' }), 200);
});

test('an unknown encoding is 415', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ECHO);
  for (const encoding of ['snappy', 'gzip, snappy', 'compress', 'zstd', 'gzip, gzip']) {
    const answer = await fetch(workflow.triggers[0].endpoint_url, {
      method: 'POST',
      headers: { 'content-encoding': encoding },
      body: 'whatever',
    });
    assert.equal(answer.status, 415, encoding);
    assert.match(((await answer.json()) as Json).detail, /gzip, deflate, br and identity/);
  }
  await assertNothingRan(errand, workflow);
});

test('a broken compression is 400', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ECHO);
  const whole = gzipSync('a body that is cut short in the middle');
  for (const body of [
    Buffer.from('not gzip at all'),
    ...[whole.length - 9, whole.length - 4, 3].map((end) => whole.subarray(0, end)),
  ]) {
    assert.equal(await call(workflow, body, { 'content-encoding': 'gzip' }), 400);
  }
  await assertNothingRan(errand, workflow);
});

test('a body cut short is 400', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ECHO);
  const short = await rawCall(workflow, ['Content-Length: 100'], 'only so much');
  assert.equal(short.status, 400, short.text);
  const openEnded = await rawCall(workflow, ['Transfer-Encoding: chunked'], '5\r\nhello\r\n');
  assert.equal(openEnded.status, 400, openEnded.text);
  const badChunk = await rawCall(workflow, ['Transfer-Encoding: chunked'], 'zz\r\nhello\r\n0\r\n\r\n');
  assert.equal(badChunk.status, 400, badChunk.text);
  await assertNothingRan(errand, workflow);
});

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test('JSON nested too deep is 400', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ECHO);
  const type = { 'content-type': 'application/json' };
  for (const levels of [LIMITS.nestingDepth + 1, 250_000]) {
    assert.equal(await call(workflow, nested(levels), type), 400);
    assert.equal(await call(workflow, gzipSync(nested(levels)), { ...type, 'content-encoding': 'gzip' }), 400);
  }
  await assertNothingRan(errand, workflow);
  assert.equal(await call(workflow, nested(LIMITS.nestingDepth), type), 200);
  // What only looks like JSON is text.
  assert.equal(await call(workflow, '['.repeat(1000), type), 200);
  assert.equal(await call(workflow, nested(1000)), 200);
  const [newest] = await errand.runs(workflow.id, 4);
  assert.equal(newest.state, 'succeeded');
});

test('events over the API are judged alike', async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const workflow = await errand.workflow('export default ({ steps }) => { if (steps.trigger.event.body) throw 1 }');
  await errand.send(workflow, true);
  const [error] = await errand.errors(workflow.id, 1);
  const source = await client.post('/v1/sources', { component_code: 'export default { run() {} }' });
  const webhook = await client.post('/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  const paths = [
    `/v1/workflows/${workflow.id}/runs`,
    `/v1/workflows/${workflow.id}/$errors/${error.id}/replay`,
    `/v1/sources/${source.id}/invoke`,
    `/v1/webhooks/${webhook.id}/test`,
  ];
  const ask = (path: string, levels: number) => client.request('POST', path, `{"event":${nested(levels)}}`);
  for (const path of paths) {
    for (const levels of [LIMITS.nestingDepth + 1, 200_000]) {
      const { status, json } = await ask(path, levels);
      assert.deepEqual([status, json.type, json.error], [400, '/docs/errors#malformed', TOO_DEEP], path);
    }
    assert.equal((await ask(path, LIMITS.nestingDepth)).status, 200, path);
  }
  const inQuery = await client.request('POST', `${paths[0]}?event=${nested(LIMITS.nestingDepth + 1)}`);
  assert.deepEqual([inQuery.status, inQuery.json.error], [400, TOO_DEEP]);
  await errand.settled();
  assert.equal((await errand.runs(workflow.id, 3)).length, 3);
});

test('a request with two lengths is 400', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ECHO);
  const both = await rawCall(workflow, ['Content-Length: 5', 'Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n');
  assert.equal(both.status, 400, both.text);
  const twice = await rawCall(workflow, ['Content-Length: 5', 'Content-Length: 6'], 'hello!');
  assert.equal(twice.status, 400, twice.text);
  await assertNothingRan(errand, workflow);
});
