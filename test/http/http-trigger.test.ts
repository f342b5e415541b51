// What a request to an HTTP trigger becomes: an event that holds what arrived, byte for byte.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { Json } from '../support/client.ts';
import { type OwnerOn, sharedErrand } from '../support/owners.ts';
import { assertProblem } from '../support/problem.ts';

const newOwner = sharedErrand();

const ECHO = 'export default ({ steps }) => steps.trigger.event';
const FAIL = `export default () => { throw new Error('as asked') }`;
/** Nothing of it survives JSON.parse and JSON.stringify. */
const VERBATIM =
  '{ "n":12345678901234567890 , "d":1,"d":2,\t"u":"\\u0000\\ud800\\u00e9é\\/" ,"e":1e400,\n"z":-0.0, "__proto__":{"a":1}}';

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

/** Sends one request, waits for its run, and returns the run's text and its event. */
async function arrive(errand: OwnerOn, workflow: Json, { method = 'POST', path = '', headers = {}, body }: Sent) {
  const before = await errand.client.get(`/v1/workflows/${workflow.id}/runs`);
  const answer = await fetch(workflow.triggers[0].endpoint_url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: body as string }),
  });
  const said = await answer.text();
  assert.equal(answer.status, 200, said);
  assert.match(answer.headers.get('x-request-id') ?? '', /^req_/);
  const [run] = await errand.runs(workflow.id, before.data.length + 1);
  const { text, json } = await errand.client.request('GET', `/v1/runs/${run.id}`);
  return { said, text, event: json.data.event, data: json.data };
}

test('any method, path and query arrive', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(ECHO);
  const endpoint = workflow.triggers[0].endpoint_url;
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    const path = '/orders/7%20x?y=2&x=1&y=3&z';
    const { event } = await arrive(errand, workflow, { method, path, headers: { 'X-Custom': 'Value' } });
    assert.deepEqual(Object.keys(event), ['method', 'path', 'query', 'client_ip', 'url', 'headers', 'body']);
    const { headers, ...rest } = event;
    assert.deepEqual(rest, {
      method,
      path: '/orders/7%20x',
      query: { y: ['2', '3'], x: '1', z: '' },
      client_ip: '127.0.0.1',
      url: endpoint + path,
      body: null,
    });
    assert.deepEqual([headers['x-custom'], headers.host], ['Value', new URL(endpoint).host]);
  }
  const { event } = await arrive(errand, workflow, { method: 'GET' });
  assert.deepEqual([event.path, event.query], ['/', {}]);
});

test('a query cannot hide its names', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(ECHO);
  const { text } = await arrive(errand, workflow, { path: '?__proto__=1&constructor=2&a%20b=c+d%26' });
  assert.match(text, /"path":"\/","query":\{"__proto__":"1","constructor":"2","a b":"c d&"\}/);
});

test('the answer is the id of the event', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FAIL);
  const { said } = await arrive(errand, workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  assert.deepEqual(JSON.parse(said), { id: error.event.original_context.id });
});

test('a JSON body is kept verbatim', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FAIL);
  const listener = await errand.workflow(ECHO, { triggers: [] });
  await errand.subscribe(workflow.id, listener.id, '$errors');
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const { text } = await arrive(errand, workflow, { headers, body: VERBATIM });
  assert.ok(text.includes(`"body":${VERBATIM}`), text);

  const list = `/v1/workflows/${workflow.id}/$errors/event_summaries`;
  const [record] = await errand.errors(workflow.id, 1);
  for (const path of [`${list}?expand=event`, `${list}/${record.id}?expand=event`]) {
    const answer = await errand.client.request('GET', path);
    assert.ok(answer.text.includes(`"body":${VERBATIM}`), answer.text);
  }
  const [forwarded] = await errand.runs(listener.id, 1);
  const heard = await errand.client.request('GET', `/v1/runs/${forwarded.id}`);
  assert.ok(heard.text.includes(`"body":${VERBATIM}`), heard.text);
});

test('a replay has the same bytes', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FAIL);
  await errand.send(workflow, VERBATIM);
  const [record] = await errand.errors(workflow.id, 1);
  const { run_id, emit_id } = await errand.client.post(`/v1/workflows/${workflow.id}/$errors/${record.id}/replay`);
  const [again] = await errand.errors(workflow.id, 2);
  const { text, json } = await errand.client.request('GET', `/v1/runs/${run_id}`);
  assert.ok(text.includes(`"body":${VERBATIM}`), text);
  assert.equal(json.data.replay, true);
  assert.deepEqual(again.event.original_event.headers, record.event.original_event.headers);
  const [first, second] = [record.event.original_context, again.event.original_context];
  assert.deepEqual([second.replay, second.trace_id], [true, first.trace_id]);
  assert.notEqual(second.id, first.id);
  assert.equal(second.id, emit_id);
});

test('a step sees the exact text', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow('export default ({ steps }) => steps.trigger.raw');
  const { data } = await arrive(errand, workflow, { headers: { 'content-type': 'application/json' }, body: VERBATIM });
  assert.ok(data.steps[0].return_value.includes(`"body":${VERBATIM}`));
});

test('the body follows its content type', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(ECHO);
  const cases: [string | undefined, string | undefined, Json][] = [
    ['application/json', '[1,"two",null]', [1, 'two', null]],
    ['APPLICATION/JSON;charset=UTF-8', 'true', true],
    ['application/json', '{"a":', '{"a":'],
    ['application/json', '', null],
    ['application/x-www-form-urlencoded', 'a=1&b=x+y&b=%C3%A9&c', { a: '1', b: ['x y', 'é'], c: '' }],
    // Escapes that are no UTF-8, as old shops and payment services send them: nothing of the form is lost.
    [
      'application/x-www-form-urlencoded',
      'a=Jos%E9+%&b=1&a=%ED%A0%80&&c=%EF%BF%BD',
      { a: [b64('José %'), { $base64: '7aCA' }], b: '1', c: '\ufffd' },
    ],
    ['application/x-www-form-urlencoded', 'na%EFf=1&b=2', b64('na%EFf=1&b=2')],
    [
      'application/x-www-form-urlencoded; Charset="windows-1252"',
      'na%EFf=%80+%C3%A9&=&x',
      { naïf: '€ Ã©', '': '', x: '' },
    ],
    [
      'application/x-www-form-urlencoded;charset=shift_jis',
      'a=%93%FA%96%7B&b=%FF',
      { a: '日本', b: { $base64: '/w==' } },
    ],
    ['application/x-www-form-urlencoded;charset=utf-8', 'a=%C3%A9', { a: 'é' }],
    ['application/x-www-form-urlencoded;charset=klingon', 'a=%C3%A9&b=%E9', { a: 'é', b: b64('é') }],
    ['text/plain', '{"a":1}', '{"a":1}'],
    ['text/plain', 'a "quoted"\n\u0000 ünï\u2028 text', 'a "quoted"\n\u0000 ünï\u2028 text'],
    ['application/xml', '<a/>', '<a/>'],
    ['text/plain', '', null],
  ];
  for (const [type, body, expected] of cases) {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const { event } = await arrive(errand, workflow, { headers, ...(body === undefined ? {} : { body }) });
    assert.deepEqual(event.body, expected, `${type} ${body}`);
  }
});

function b64(latin1: string): Json {
  return { $base64: Buffer.from(latin1, 'latin1').toString('base64') };
}

test('bytes that are no text become base64', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(ECHO);
  const bytes = Buffer.from([0x7b, 0x22, 0xff, 0xc3, 0x28, 0x00, 0xed, 0xa0, 0x80]);
  for (const type of ['application/octet-stream', 'application/json', 'text/plain']) {
    const { event } = await arrive(errand, workflow, { headers: { 'content-type': type }, body: bytes });
    assert.deepEqual(event.body, { $base64: bytes.toString('base64') }, type);
  }
});

test('a compressed body arrives inflated', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(ECHO);
  for (const [encoding, body] of [
    ['gzip', gzipSync(VERBATIM)],
    ['x-gzip', gzipSync(VERBATIM)],
    ['GZIP', gzipSync(VERBATIM)],
    ['deflate', deflateSync(VERBATIM)],
    ['deflate', deflateRawSync(VERBATIM)],
    ['identity', VERBATIM],
  ] as const) {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    const { text } = await arrive(errand, workflow, { headers, body });
    assert.ok(text.includes(`"body":${VERBATIM}`), `${encoding}: ${text}`);
  }
});

test('a trigger checks its bearer token', async () => {
  const errand = await newOwner();
  const auth = { type: 'bearer', token: 'a-token-to-call-with' };
  const workflow = await errand.workflow(FAIL, { triggers: [{ type: 'http', auth }] });
  const url = workflow.triggers[0].endpoint_url;
  const call = async (headers: Record<string, string>) => {
    const answer = await fetch(url, { method: 'POST', headers });
    await answer.body?.cancel();
    return [answer.status, answer.headers.get('www-authenticate')?.split(' ')[0]];
  };
  for (const authorization of ['', 'Bearer wrong', 'Bearer ', 'Basic YTpi', `Bearer ${auth.token}x`]) {
    assert.deepEqual(await call(authorization === '' ? {} : { authorization }), [401, 'Bearer'], authorization);
  }
  assert.deepEqual(await call({ authorization: `bearer ${auth.token}` }), [200, undefined]);
  const [error] = await errand.errors(workflow.id, 1);
  assert.equal(error.event.original_context.verified, true);
  assert.equal('authorization' in error.event.original_event.headers, false);
  assert.doesNotMatch(JSON.stringify(error), new RegExp(auth.token));
  const { page_info } = await errand.client.get(`/v1/workflows/${workflow.id}/runs`);
  assert.equal(page_info.total_count, 1);
  const { text } = await errand.client.request('GET', `/v1/workflows/${workflow.id}`);
  assert.equal(text.includes(auth.token), false, 'a token is not shown again');
});

test('an unchecked event is not verified', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FAIL);
  await fetch(workflow.triggers[0].endpoint_url, { headers: { authorization: 'Bearer whatever' } });
  const [error] = await errand.errors(workflow.id, 1);
  assert.deepEqual([error.event.original_context.verified, error.event.original_context.source_type], [false, 'HTTP']);
  assert.equal(error.event.original_event.headers.authorization, 'Bearer whatever');
});

test('an unknown key is 404', async () => {
  const errand = await newOwner();
  const { triggers } = await errand.workflow(ECHO);
  for (const url of [
    `${errand.client.url}/e/${'x'.repeat(24)}`,
    `${triggers[0].endpoint_url}x`,
    `${errand.client.url}/e/`,
  ]) {
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(url, { method });
      const text = await answer.text();
      assertProblem({ status: answer.status, headers: answer.headers, text, json: JSON.parse(text) }, 404);
    }
  }
});

test('two triggers have keys of their own', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(ECHO, { triggers: [{ type: 'http' }, { type: 'http' }] });
  const urls = workflow.triggers.map((trigger: Json) => trigger.endpoint_url);
  assert.equal(new Set(urls).size, 2);
  for (const url of urls) assert.equal((await fetch(url)).status, 200);
  const runs = await errand.runs(workflow.id, 2);
  assert.deepEqual(
    runs.map((run) => run.emitter_id).toSorted(),
    workflow.triggers.map((trigger: Json) => trigger.id).toSorted(),
  );
});
