// Requests that a step asks for, as they are made ready in its process. Making them is the server's work.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { bodies, faultOf, type Kit, kit } from './kit.ts';

interface Prepared {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function prepared({ evaluate }: Kit, request: string): Promise<Prepared> {
  const outcome = await evaluate(`const { http } = $.send; http(${request})`);
  assert.deepEqual(
    [outcome.end.kind, outcome.outgoing.map(({ kind, name }) => [kind, name])],
    ['succeeded', [['http', '']]],
  );
  return bodies(outcome)[0] as Prepared;
}

const U = 'url: "https://a.example/x"';

test('the method follows from the data', async (t) => {
  const given = kit(t);
  assert.deepEqual(await prepared(given, `{ ${U} }`), { method: 'GET', url: 'https://a.example/x', headers: {} });
  assert.equal((await prepared(given, `{ ${U}, data: null }`)).method, 'GET');
  assert.equal((await prepared(given, `{ ${U}, data: { a: 1 } }`)).method, 'POST');
  assert.equal((await prepared(given, `{ ${U}, data: "", method: "put" }`)).method, 'PUT');
  assert.equal((await prepared(given, `{ ${U}, method: "delete" }`)).method, 'DELETE');
});

test('data goes out as what it is', async (t) => {
  const given = kit(t);
  const sent = async (data: string, type?: string) => {
    const headers = type === undefined ? '' : `, headers: { 'Content-Type': '${type}' }`;
    const { body, headers: made } = await prepared(given, `{ ${U}, data: ${data}${headers} }`);
    return [body, made['content-type']];
  };
  const form = 'application/x-www-form-urlencoded';
  assert.deepEqual(await sent('{ a: [1, "ü"] }'), ['{"a":[1,"ü"]}', 'application/json']);
  assert.deepEqual(await sent('{ a: 1 }', 'application/vnd.x+json'), ['{"a":1}', 'application/vnd.x+json']);
  assert.deepEqual(await sent('{ a: "b c", n: 1, no: null }', form), ['a=b+c&n=1', form]);
  assert.deepEqual(await sent('new URLSearchParams({ a: "ü" })'), ['a=%C3%BC', form]);
  assert.deepEqual(await sent('"text \\ud800"'), ['text \ufffd', 'text/plain; charset=utf-8']);
  assert.deepEqual(await sent('"<a/>"', 'text/xml'), ['<a/>', 'text/xml']);
  assert.deepEqual(await sent('Buffer.from([0, 255])'), [{ $base64: 'AP8=' }, undefined]);
  assert.deepEqual(await sent('new Uint8Array([0, 255]).buffer', 'image/x'), [{ $base64: 'AP8=' }, 'image/x']);
  assert.deepEqual(await sent('5'), ['5', 'application/json']);
  assert.deepEqual(await sent('false'), ['false', 'application/json']);
});

test('params are appended to the address', async (t) => {
  const given = kit(t);
  const url = async (request: string) => (await prepared(given, request)).url;
  const params = 'params: { q: "ü &", no: undefined, nil: null, n: 5, list: [1, 2], at: new Date(0), o: { a: 1 } }';
  assert.equal(
    await url(`{ url: "http://a.example/?p=1#gone", ${params} }`),
    'http://a.example/?p=1&q=%C3%BC+%26&n=5&list%5B%5D=1&list%5B%5D=2&at=1970-01-01T00%3A00%3A00.000Z&o=%7B%22a%22%3A1%7D',
  );
  assert.equal(
    await url('{ url: new URL("http://a.example/b c"), params: new URLSearchParams("x=1") }'),
    'http://a.example/b%20c?x=1',
  );
  assert.equal(await url('{ url: "http://a.example/?q=a%20b" }'), 'http://a.example/?q=a%20b');
});

test('headers and credentials are written once', async (t) => {
  const given = kit(t);
  const headers = async (request: string) => (await prepared(given, request)).headers;
  assert.deepEqual(await headers(`{ ${U}, headers: { "X-A": 1, no: null, "x-list": ["p", "q"], "x-a": " 2 " } }`), {
    'x-a': '2',
    'x-list': 'p, q',
  });
  assert.deepEqual(await headers(`{ ${U}, headers: new Headers({ "X-A": "1" }) }`), { 'x-a': '1' });
  const basic = (login: string) => ({ authorization: `Basic ${Buffer.from(login).toString('base64')}` });
  assert.deepEqual(await headers(`{ ${U}, auth: { username: "ü", password: "p:w" } }`), basic('ü:p:w'));
  assert.deepEqual(
    await headers(`{ ${U}, auth: { username: "u" }, headers: { Authorization: "Bearer x" } }`),
    basic('u:'),
  );
  const inAddress = await prepared(given, '{ url: "https://u%20v:p%zz@a.example/x" }');
  assert.deepEqual([inAddress.url, inAddress.headers], ['https://a.example/x', basic('u v:p%zz')]);
  const own = await prepared(given, '{ url: "https://u:p@a.example/x", headers: { authorization: "Bearer x" } }');
  assert.deepEqual(own.headers, { authorization: 'Bearer x' });
});

test('what cannot be requested is refused at once', async (t) => {
  const { evaluate } = kit(t);
  const cases: [string, RegExp][] = [
    ['', /needs a url that begins with http:\/\/ or https:\/\/, not undefined/],
    ['"https://a.example"', /needs a url/],
    ['{ url: "a.example/x" }', /not "a\.example\/x"/],
    ['{ url: "ftp://a.example/" }', /needs a url/],
    ['{ url: "https://" }', /needs a url/],
    ['{ url: 5 }', /not 5/],
    [`{ ${U}, method: "G T" }`, /a method is one as GET, .*, not G T/],
    [`{ ${U}, method: "CONNECT" }`, /not CONNECT/],
    [`{ ${U}, method: "trace" }`, /not TRACE/],
    [`{ ${U}, method: "M".repeat(33) }`, /a method is/],
    [`{ ${U}, method: 5 }`, /not 5/],
    [`{ ${U}, params: "a=1" }`, /params are an object/],
    [`{ ${U}, params: { long: "x".repeat(8192) } }`, /at most 8192 characters with its params/],
    [`{ ${U}, headers: "x: y" }`, /headers are an object/],
    [`{ ${U}, headers: { host: "b" } }`, /the header host cannot be set: it is the connection’s own/],
    [`{ ${U}, headers: { "Content-Length": 5 } }`, /content-length cannot be set/],
    [`{ ${U}, headers: { "Proxy-X": "b" } }`, /proxy-x cannot be set/],
    [`{ ${U}, headers: { "a b": "x" } }`, /the header a b has a name or a value that HTTP cannot carry/],
    [`{ ${U}, headers: { a: "x\\r\\ny: z" } }`, /the header a has/],
    [`{ ${U}, headers: { a: "☃" } }`, /the header a has/],
    [`{ ${U}, headers: { a: "x".repeat(4097) } }`, /the header a has a value of more than 4096/],
    [`{ ${U}, headers: { ["x".repeat(129)]: "" } }`, /has a name of more than 128/],
    [`{ ${U}, headers: Object.fromEntries(Array.from({ length: 33 }, (_, n) => ["h" + n, n])) }`, /at most 32 headers/],
    [`{ ${U}, auth: "u:p" }`, /auth is \{username, password\}/],
    [`{ ${U}, auth: { username: 1, password: 2 } }`, /both strings/],
    [`{ ${U}, data: new FormData() }`, /for files and streams use fetch/],
    [`{ ${U}, data: new Blob(["x"]) }`, /for files and streams use fetch/],
    [`{ ${U}, data: new ReadableStream() }`, /for files and streams use fetch/],
  ];
  for (const [request, pattern] of cases) {
    const outcome = await evaluate(`$.send.http(${request})`);
    const fault = faultOf(outcome);
    assert.equal(fault.code, 'ConfigurationError', request);
    assert.match(fault.msg, pattern);
    assert.deepEqual(outcome.outgoing, []);
  }
});

test('bodies of requests have a limit', async (t) => {
  const { evaluate } = kit(t);
  const { requestBodyBytes } = LIMITS;
  const send = (data: string) => evaluate(`$.send.http({ ${U}, data: ${data} })`);
  assert.equal((await send(`Buffer.alloc(${requestBodyBytes})`)).end.kind, 'succeeded');
  for (const data of [`Buffer.alloc(${requestBodyBytes + 1})`, `"ä".repeat(${requestBodyBytes / 2 + 1})`]) {
    const fault = faultOf(await send(data));
    assert.equal(fault.code, 'PayloadTooLarge');
    assert.match(fault.msg, /^The body of a request has at most 1048576 bytes, not 10485/);
  }
  assert.equal(faultOf(await send('{ n: 1n }')).code, 'TypeError');
});

test('a workflow is triggered by its id', async (t) => {
  const { evaluate } = kit(t);
  const id = 'p_0123456789abcdEF';
  const outcome = await evaluate(
    `const { trigger } = $.flow; trigger("${id}", { a: [1] }); trigger("${id}"); trigger("${id}", null)`,
  );
  assert.deepEqual(bodies(outcome), [{ a: [1] }, {}, null]);
  assert.deepEqual(
    outcome.outgoing.map(({ kind, name }) => [kind, name]),
    [1, 2, 3].map(() => ['trigger', id]),
  );
  for (const given of ['', '5', '"p_1"', '"dc_0123456789abcdEF"', '"p_0123456789abcdE/"', '{}']) {
    const fault = faultOf(await evaluate(`$.flow.trigger(${given})`));
    assert.equal(fault.code, 'ConfigurationError');
    assert.match(fault.msg, /needs the id of a workflow \(p_ and 16 letters or digits\), not/);
  }
  assert.equal(faultOf(await evaluate(`$.flow.trigger("${id}", () => 1)`)).code, 'TypeError');
});

test('requests and triggers count as sends', async (t) => {
  const { evaluate } = kit(t);
  const over = await evaluate(`for (let i = 0; i < 7; i++) $.send.http({ ${U}, data: Buffer.alloc(1 << 20) })`);
  assert.deepEqual([faultOf(over).code, over.outgoing.length], ['PayloadTooLarge', 4]);
  const many = await evaluate('for (;;) $.flow.trigger("p_0123456789abcdEF", 1)');
  assert.deepEqual([faultOf(many).code, many.outgoing.length], ['PayloadTooLarge', LIMITS.emissionsPerRun]);
});
