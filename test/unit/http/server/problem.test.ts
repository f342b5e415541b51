import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { REFUSALS, Refusal, type RefusalCode } from '../../../../src/domain/refusal.ts';
import { REFUSAL_MEANINGS } from '../../../../src/http/docs/faults.ts';
import { problemFrom, problemOf, refusalOf } from '../../../../src/http/problem.ts';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import { startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { trigger } from '../records.ts';

const NO_METRICS = {
  text: () => Promise.reject(new Error('no fake for text')),
  enveloped: () => {},
  refused: () => {},
};
const CODES = Object.keys(REFUSALS) as RefusalCode[];

test('the documented table equals the faults', async () => {
  const text = await readFile(new URL('../../../../docs/errors.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` \| (\d+) \| (.+?) \| (.+) \|$/gm)].map((row) => row.slice(1));
  const wanted = CODES.map((code) => [
    code,
    String(REFUSALS[code].status),
    REFUSALS[code].title,
    REFUSAL_MEANINGS[code],
  ]);
  assert.deepEqual(rows, wanted);
});

test('every fault has a whole problem', () => {
  for (const code of CODES) {
    const { status, headers, body } = problemFrom(new Refusal(code, 'why'), 'req_1');
    assert.equal(status, REFUSALS[code].status);
    const { title } = REFUSALS[code];
    assert.deepEqual(JSON.parse(body), { type: `/docs/errors#${code}`, title, status, detail: 'why', error: 'why' });
    assert.match(headers['content-type'] ?? '', /^application\/problem\+json/);
    assert.equal(headers['x-request-id'], 'req_1');
    assert.equal(headers['retry-after'] !== undefined, status === 429 || status === 503, code);
    assert.equal(headers['www-authenticate'] !== undefined, status === 401, code);
  }
});

test('parameter faults keep file, line and column', () => {
  const errors = [{ parameter: 'steps[0].code', message: 'Unexpected "}"', file: 'charge.ts', line: 3, column: 7 }];
  const { body } = problemFrom(new Refusal('code_invalid', 'no', { errors }), 'r');
  assert.deepEqual(JSON.parse(body).errors, errors);
});

test('only known errors speak to callers', () => {
  assert.equal(refusalOf(new StoreUnavailable('disk'))?.code, 'unavailable');
  const fastifyError = Object.assign(new Error('too big'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 });
  assert.equal(refusalOf(fastifyError)?.code, 'too_large');
  assert.equal(
    refusalOf(Object.assign(new Error('x'), { code: 'FST_ERR_BAD_URL', statusCode: 400 }))?.code,
    'malformed',
  );
  const strangers = [new Error('x'), 'text', null, undefined, Object.assign(new Error('x'), { statusCode: 404 })];
  const bugs = [Object.assign(new Error('x'), { code: 'FST_ERR_HOOK', statusCode: 500 }), { statusCode: 400 }];
  for (const error of [...strangers, ...bugs]) assert.equal(refusalOf(error), null);
});

test('storage that fails a request is told of', () => {
  const told: Error[] = [];
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const deps = { log, metrics: NO_METRICS, storageFailed: (error: Error) => void told.push(error) };
  const error = new StoreUnavailable('the disk is full');
  assert.equal(problemOf(error, 'req_9', deps).status, 503);
  problemOf(new Refusal('unavailable', 'stopping'), 'req_10', deps);
  problemOf(new TypeError('a bug'), 'req_11', deps);
  assert.deepEqual(told, [error]);
});

test('an unknown error is logged whole', () => {
  const lines: object[] = [];
  const ignore = () => {};
  const log = { debug: ignore, info: ignore, warn: ignore, error: (fields: object) => void lines.push(fields) };
  const error = new TypeError('inner thing');
  const { status, body } = problemOf(error, 'req_9', { log, metrics: NO_METRICS });
  assert.equal(status, 500);
  assert.doesNotMatch(body, /inner thing|TypeError/);
  assert.deepEqual(lines, [{ request_id: 'req_9', err: error }]);
});

test('a path that differs a little from one that exists is told which', async (t) => {
  const { call } = await startServer(t);
  for (const [path, meant] of [
    ['/v1/workflows/', '/v1/workflows'],
    ['/v1//workflows', '/v1/workflows'],
    ['/v1/workflows/p_1/runs/?limit=3', '/v1/workflows/p_1/runs'],
    ['/v1/workflows/p_1/$errors/event_summaries/', '/v1/workflows/p_1/$errors/event_summaries'],
    ['/users/me', '/v1/users/me'],
    ['/data_stores/ds_1/', '/v1/data_stores/ds_1'],
    ['/api/v1/workflows', '/v1/workflows'],
    ['/v1/v1/workflows', '/v1/workflows'],
    ['/v1/workflow', '/v1/workflows'],
    ['/v1/Webhooks', '/v1/webhooks'],
    ['/v1/workflows/p_1/errors/event_summaries', '/v1/workflows/p_1/$errors/event_summaries'],
    ['/v1/workflows/p_1/runz', '/v1/workflows/p_1/runs'],
  ] as const) {
    const { status, json } = await call('GET', path);
    assert.equal(status, 404, path);
    const shown = path.split('?')[0];
    assert.equal(json.detail, `There is nothing at ${shown}; did you mean ${meant}? /docs lists what exists`);
  }
  for (const path of ['/', '/v1', '/v1/nothing', '/v1/*', '/x', `/v1/${'workflows/'.repeat(300)}`]) {
    const { status, json } = await call('GET', path);
    if (status === 404) assert.doesNotMatch(json.detail, /did you mean/, path);
  }
});

test('an unknown route answers 404', async (t) => {
  const { call } = await startServer(t);
  const { status, json, headers } = await call('GET', '/nothing/here?x=1', { key: null });
  assert.equal(status, 404);
  assert.match(json.error, /nothing at \/nothing\/here;/);
  assert.match(headers.get('x-request-id') ?? '', /^req_/);
});

test('a person in a browser gets a page where there is nothing, and a program the problem', async (t) => {
  const { call } = await startServer(t);
  const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  for (const path of ['/nothing/here', '/docs/nothing', '/workflows/p_1/x', '/%3Cscript%3E', '/a<b>"c\'&d']) {
    const page = await call('GET', path, { key: null, headers });
    assert.deepEqual([page.status, page.headers.get('content-type')], [404, 'text/html; charset=utf-8'], path);
    assert.match(page.text, /<h1>Not found<\/h1>/);
    assert.match(page.text, /href="\/docs"/);
    assert.doesNotMatch(page.text, /<script|<b>/i, path);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.match(page.headers.get('x-request-id') ?? '', /^req_/);
    assert.equal(page.headers.get('cache-control'), 'no-store');
  }
  for (const [method, path, accept] of [
    ['GET', '/v1/nothing', headers.accept],
    ['GET', '/assets/nothing.js', headers.accept],
    ['GET', '/nothing', '*/*'],
    ['POST', '/nothing', headers.accept],
  ] as const) {
    const answer = await call(method, path, { key: null, headers: { accept } });
    assert.equal(answer.headers.get('content-type'), 'application/problem+json; charset=utf-8', `${method} ${path}`);
  }
});

test('a wrong method answers 405 with Allow', async (t) => {
  const { call } = await startServer(t);
  for (const [method, path, allow] of [
    ['POST', '/v1/webhooks/wh_x', 'DELETE, GET, HEAD, PATCH, PUT'],
    ['DELETE', '/v1/workflows', 'GET, HEAD, POST'],
    ['POST', '/v1/workflows/p_x/$errors/event_summaries', 'GET, HEAD'],
    ['OPTIONS', '/healthz', 'GET, HEAD'],
  ] as const) {
    const { status, headers } = await call(method, path);
    assert.deepEqual([status, headers.get('allow')], [405, allow]);
  }
});

test('what is not built yet is absent', async (t) => {
  const { call } = await startServer(t);
  assert.equal((await call('POST', '/v1/workflows/p_x/test', { json: {} })).status, 404);
  assert.equal((await call('GET', '/v1/emitters/p_x/events')).status, 404);
});

test('a path that cannot be decoded answers 400', async (t) => {
  const { call } = await startServer(t);
  const { status, json } = await call('GET', '/v1/webhooks/%ff');
  assert.equal(status, 400);
  assert.match(json.type, /#malformed$/);
});

test('a write that may have happened is not denied', () => {
  class Unknown extends StoreUnavailable {
    override readonly mayBeWritten = true;
  }
  assert.match(refusalOf(new StoreUnavailable('disk'))?.message ?? '', /nothing was written/);
  assert.match(refusalOf(new Unknown('cut'))?.message ?? '', /may have happened/);
});

test('every refusal is counted, by every part that answers', async (t) => {
  const { call, port, seed, refused } = await startServer(t);
  const endpoint = trigger(1, { tokenHash: 'x' });
  await seed.triggers(endpoint);
  const counted = async (what: () => Promise<unknown>): Promise<RefusalCode[]> => {
    refused.length = 0;
    await what();
    return [...refused];
  };
  const open = { key: null };
  assert.deepEqual(await counted(() => call('GET', '/v1/workflows', open)), ['unauthenticated'], 'no key');
  assert.deepEqual(await counted(() => call('GET', '/v1/workflows', { key: 'of-nobody' })), ['unauthenticated']);
  assert.deepEqual(await counted(() => call('GET', '/v1/nothing', open)), ['unauthenticated'], 'no route');
  assert.deepEqual(await counted(() => call('POST', `/e/${endpoint.key}`, open)), ['unauthenticated'], 'no token');
  assert.deepEqual(await counted(() => call('GET', '/metrics')), ['forbidden']);
  assert.deepEqual(await counted(() => call('GET', '/nothing', open)), ['not_found']);
  assert.deepEqual(await counted(() => call('DELETE', '/v1/workflows')), ['method_not_allowed']);
  assert.deepEqual(await counted(() => call('GET', '/r/nothing', open)), ['not_found']);
  const broken = connect(t, port);
  broken.send('no request\r\n\r\n');
  assert.deepEqual(await counted(() => broken.answer()), ['malformed']);
  assert.deepEqual(await counted(() => call('GET', '/v1/workflows')), [], 'nor what is answered');
});
