// The client before servers and callers that do not do as they should: answers of others, halves, wrong addresses, odd options.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionError, Errand, type ErrandOptions, etagOf, ProblemError } from '../../src/client/client.ts';
import { freePort } from '../support/port.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { refuse, sendJson, startScripted } from './server.ts';

const newErrand = shareErrand();
const ME = { data: { id: 'u_1' } };
const WEBHOOK = { url: 'https://example.com' };

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of list) found.push(one);
  return found;
}

/** Returns a client that asks for nothing, and the requests that it would have made. */
function unsent(options: ErrandOptions = {}): { errand: Errand; asked: { url: string; headers: Headers }[] } {
  const asked: { url: string; headers: Headers }[] = [];
  const answer = async (url: unknown, init?: RequestInit): Promise<Response> => {
    asked.push({ url: String(url), headers: new Headers(init?.headers) });
    return Response.json(ME);
  };
  return { errand: new Errand({ url: 'http://errand.example.com', ...options, fetch: answer as typeof fetch }), asked };
}

test('half an answer is none, however it was cut', async () => {
  const whole = JSON.stringify(ME);
  const type = { 'content-type': 'application/json; charset=utf-8' };
  await using server = await startScripted((response, { method }, n) => {
    if (method === 'GET' && n === 2) response.writeHead(200, type).end(whole);
    // Shorter than it says; then as a proxy ends what it gave up.
    else if (n % 2 === 0) {
      response.writeHead(200, { ...type, 'content-length': whole.length });
      response.write(whole.slice(0, 9), () => response.destroy());
    } else response.writeHead(200, { ...type, connection: 'close' }).end(whole.slice(0, 9));
  });
  const errand = new Errand({ url: server.url, key: 'k' });
  assert.deepEqual(await errand.getMe(), ME);
  assert.equal(server.asked.length, 3);
  for (const n of [3, 4]) {
    await assert.rejects(errand.createWebhook(WEBHOOK), (error: unknown) => {
      assert.ok(error instanceof ConnectionError && error.wasSent, String(error));
      return true;
    });
    assert.equal(server.asked.length, n + 1, 'it may have been done');
  }
});

test('what is no list is told as that, and one that goes in circles ends', async () => {
  const info = { count: 1, total_count: null, start_cursor: 'a', end_cursor: 'a' };
  const odd = [{ data: 7 }, { data: [] }, { page_info: null, data: [] }, { page_info: info, data: {} }, []];
  await using server = await startScripted((response, _asked, n) =>
    sendJson(response, 200, odd[n] ?? { page_info: info, data: [{ id: 'a' }] }),
  );
  const errand = new Errand({ url: server.url });
  for (const answer of odd) {
    await assert.rejects(all(errand.listWebhooks()), { name: 'ConnectionError', message: /no page/ }, `${answer}`);
  }
  const asked = server.asked.length;
  const circle = errand.listWebhooks();
  await assert.rejects(all(circle), { name: 'ConnectionError', message: /does not go on behind a/ });
  assert.equal(server.asked.length, asked + 2);
  await assert.rejects(all(errand.listWebhooks({ before: 'a' })), { message: /does not go on behind a/ });
});

test('a page is neither a stream nor an export', async () => {
  await using server = await startScripted((response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>');
  });
  const errand = new Errand({ url: server.url, key: 'k' });
  const message = /was answered with text\/html: is that an Errand server\?/;
  for (const list of [errand.streamErrors(), errand.exportErrors()])
    await assert.rejects(all<object>(list), { name: 'ConnectionError', message });
  assert.equal(server.asked.length, 2);
  // In place of a server that was there: it may come back.
  await using away = await startScripted((response, _asked, n) => {
    if (n === 1) return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Back soon</h1>');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`retry: 1\nid: ${n}-0\ndata: {}\n\n`);
  });
  const seen: string[] = [];
  for await (const event of new Errand({ url: away.url }).streamErrors()) {
    if (event.kind === 'event') seen.push(event.id);
    if (seen.length === 2) break;
  }
  assert.deepEqual(seen, ['0-0', '2-0']);
});

test('an export from a server that is away fails as other calls do', async () => {
  const errand = new Errand({ url: `http://127.0.0.1:${await freePort()}`, retries: 0 });
  await assert.rejects(all(errand.exportErrors()), { name: 'ConnectionError', message: /ECONNREFUSED/ });
  let asked = 0;
  const fails = async (): Promise<Response> => {
    asked += 1;
    throw new TypeError('fetch failed');
  };
  await assert.rejects(all(new Errand({ fetch: fails as typeof fetch, retries: 0 }).exportErrors()), ConnectionError);
  assert.equal(asked, 1);
});

test('what code answers itself is told apart', async () => {
  await using server = await startScripted((response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('thanks');
  });
  const errand = new Errand({ url: server.url });
  await assert.rejects(errand.callEndpoint({ key: 'abc' }), /answered with text\/plain: what code answers itself/);
  assert.equal(server.asked.length, 1);
});

test('a change of what was read overwrites nothing, and is sent once', async () => {
  await using owner = await newErrand();
  const errand = new Errand(owner.client);
  const { data: store } = await errand.createDataStore({ name: 'stock' });
  const at = { id: store.id, key: 'apples' };
  await errand.setDataRecord({ ...at, value: 1 }, { ifNoneMatch: '*' });
  const late = { name: 'ProblemError', code: 'precondition_failed' };
  await assert.rejects(errand.setDataRecord({ ...at, value: 2 }, { ifNoneMatch: '*' }), late);
  const read = await errand.getDataRecord(at);
  const changed = await errand.setDataRecord({ ...at, value: 3 }, { ifMatch: etagOf(read) });
  await assert.rejects(errand.setDataRecord({ ...at, value: 4 }, { ifMatch: etagOf(read) }), late);
  await assert.rejects(errand.deleteDataRecord(at, { ifMatch: etagOf(read) }), late);
  assert.equal((await errand.deleteDataRecord(at, { ifMatch: etagOf(changed) })).data.value, 3);
  assert.deepEqual(Object.keys(read), ['data'], 'the answer is what the server sent');
  const list = await errand.listDataStores();
  for (const answer of [list, { ...read }]) assert.throws(() => etagOf(answer), /no answer that came with an ETag/);

  // Its second attempt would be refused because of the first one.
  await using server = await startScripted((response) => response.destroy());
  const cut = new Errand({ url: server.url, key: 'k' });
  for (const condition of [{ ifMatch: '"a"' }, { ifNoneMatch: '*' as const }, { headers: { 'If-Match': '"a"' } }])
    await assert.rejects(cut.setDataRecord({ ...at, value: 1 }, condition), { name: 'ConnectionError', wasSent: true });
  assert.equal(server.asked.length, 3);
  await using refusing = await startScripted((response, _asked, n) => {
    if (n === 0) refuse(response, 429, 'rate_limited', { 'retry-after': '0' });
    else sendJson(response, 200, ME);
  });
  await new Errand({ url: refusing.url }).setDataRecord({ ...at, value: 1 }, { ifMatch: '"a"' });
  assert.equal(refusing.asked.length, 2, 'the first one was not begun');
});

test('a header has one value, however it is spelt', async () => {
  const { errand, asked } = unsent({ key: 'k', headers: { Authorization: 'Basic eDp5', 'X-A': '1' } });
  await errand.getMe();
  await errand.callEndpoint({ key: 'abc' }, { headers: { 'Idempotency-Key': 'order-7', 'x-a': '2' } });
  await errand.callEndpoint({ key: 'abc' }, { headers: { 'Idempotency-Key': 'order-7' }, idempotencyKey: 'order-8' });
  assert.deepEqual(
    asked.map(({ headers }) => [headers.get('authorization'), headers.get('x-a'), headers.get('idempotency-key')]),
    [
      ['Basic eDp5', '1', null],
      ['Basic eDp5', '2', 'order-7'],
      ['Basic eDp5', '1', 'order-8'],
    ],
  );
  const wrong: Record<string, string>[] = [
    { 'x-a': 'secret\n' },
    { 'x-a': 'secret😀' },
    { 'x a': 'secret' },
    { '': 'secret' },
  ];
  for (const headers of wrong) {
    await assert.rejects(errand.getMe({}, { headers }), (error: Error) => {
      assert.ok(error instanceof TypeError && !error.message.includes('secret'), error.message);
      return true;
    });
  }
  await assert.rejects(errand.callEndpoint({ key: 'abc' }, { idempotencyKey: 'a\r\nb' }), TypeError);
  assert.equal(asked.length, 3);
});

test('a server has an address with or without a path', async () => {
  for (const [url, wanted] of [
    ['https://errand.example.com/', 'https://errand.example.com'],
    ['HTTPS://Errand.example.com:443', 'https://errand.example.com'],
    ['http://[::1]:4400//', 'http://[::1]:4400'],
    ['https://example.com/errand/', 'https://example.com/errand'],
    ['https://example.com/a b/v10', 'https://example.com/a%20b/v10'],
  ] as const) {
    const { errand, asked } = unsent({ url });
    await errand.getMe();
    assert.equal(asked[0]?.url, `${wanted}/v1/users/me`);
  }
  for (const url of ['https://errand.example.com/v1', 'https://errand.example.com/v1/'])
    assert.throws(() => new Errand({ url }), /ends with \/v1/);
  for (const url of ['http://exa mple.com', 'http://[::1', 'http://x:99999', '//x.example', '/errand'])
    assert.throws(() => new Errand({ url }), { name: 'TypeError', message: /is not like https:/ });
});

test('numbers with which a call would not begin or not end are refused', async () => {
  const { errand, asked } = unsent({ timeoutMs: Number.POSITIVE_INFINITY });
  for (const timeoutMs of [undefined, Number.POSITIVE_INFINITY, 2 ** 40]) await errand.getMe({}, { timeoutMs });
  assert.equal(asked.length, 3);
  for (const options of [{ timeoutMs: 0 }, { timeoutMs: Number.NaN }, { retries: Number.NaN }, { retries: -1 }]) {
    assert.throws(() => new Errand(options), TypeError);
    await assert.rejects(errand.getMe({}, options), TypeError);
  }
  await assert.rejects(all(errand.streamErrors({}, { idleTimeoutMs: Number.NaN })), TypeError);
  assert.equal(asked.length, 3);
});

test('a refusal without end, or of a strange shape, is still a refusal', async () => {
  await using server = await startScripted((response, _asked, n) => {
    response.writeHead(400, { 'content-type': 'application/problem+json' });
    if (n === 0) response.write('x'.repeat(1000));
    else response.end(['null', '[]', '"x"', '{"detail": 5}', '{"detail": "no", "type": 7, "errors": "x"}'][n - 1]);
  });
  const errand = new Errand({ url: server.url, key: 'k', retries: 0 });
  await assert.rejects(errand.getMe({}, { timeoutMs: 100 }), { name: 'ConnectionError', message: /took longer than/ });
  for (let n = 1; n <= 5; n++) {
    const error = await errand.getMe().catch((refused: unknown) => refused);
    assert.ok(error instanceof ProblemError && error.status === 400 && error.code === null, `${n}: ${error}`);
    assert.deepEqual(error.errors, [], `${n}`);
  }
});

test('a server without TLS is told from one that is away', async () => {
  await using server = await startScripted((response) => void response.end());
  const { port } = new URL(server.url);
  const errand = new Errand({ url: `https://127.0.0.1:${port}`, key: 'k'.repeat(30), retries: 0 });
  await assert.rejects(errand.getMe(), {
    name: 'ConnectionError',
    message: `https://127.0.0.1:${port} cannot be reached: it does not speak TLS; is its address http://?`,
  });
});
