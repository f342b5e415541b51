// Requests to hosts of endpoints, byte by byte: whatever their path, they are events, and nothing of the API is there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUrls, isEndpoint, labelOfKey } from '../../../../src/domain/endpoint.ts';
import { type Harness, KEY, startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { trigger } from '../records.ts';

const KEYS = ['Xk3vJ8nZ5tX1bL7cR0sW2yAB', 'xK3VJ8NZ5TX1BL7CR0SW2YAB'] as const;
const SUFFIX = '.hooks.example.com';
const HOST = labelOfKey(KEYS[0]) + SUFFIX;
const OTHER_HOST = labelOfKey(KEYS[1]) + SUFFIX;
const endpointHosts = { protocol: 'https:', suffix: SUFFIX, port: '' };
const urls = createUrls({ publicUrl: 'https://errand.example.com', endpointHosts }, () => '');

type Context = Parameters<typeof startServer>[0];

async function started(t: Context, more: Parameters<typeof startServer>[1] = {}): Promise<Harness> {
  const harness = await startServer(t, { urls, ...more });
  await harness.seed.triggers(trigger(1, { key: KEYS[0] }), trigger(2, { key: KEYS[1] }));
  return harness;
}

/** Sends the lines as one request, and returns what was answered. */
async function send(t: Context, port: number, ...lines: string[]) {
  const raw = connect(t, port);
  raw.send([...lines, '', ''].join('\r\n'));
  const answer = await raw.answer(!lines[0]?.startsWith('HEAD'));
  raw.close();
  return answer;
}

// biome-ignore lint/suspicious/noExplicitAny: an event, member by member
const eventOf = (harness: Harness, at = -1): any => {
  return JSON.parse(Buffer.from(harness.accepted.at(at)?.body as Uint8Array).toString());
};

test('each host leads to its trigger', async (t) => {
  const harness = await started(t);
  for (const host of [HOST, OTHER_HOST]) {
    const { status, head } = await send(t, harness.port, 'POST / HTTP/1.1', `host: ${host}`, 'content-length: 0');
    assert.equal(status, 200);
    assert.match(head, /x-request-id: req_/);
  }
  const [first, second] = harness.accepted;
  assert.deepEqual([first?.emitterId, second?.emitterId], [trigger(1).id, trigger(2).id]);
});

test('the event has what the caller sent', async (t) => {
  const harness = await started(t);
  const cases = [
    ['/', '/', {}],
    ['/?', '/', {}],
    ['/a/b?x=1&y=2&y=3', '/a/b', { x: '1', y: ['2', '3'] }],
    // As it came: no escape is taken away, and no segment of dots.
    ['/%65/%7Ex/../%2F//?a%20b=c+d', '/%65/%7Ex/../%2F//', { 'a b': 'c d' }],
    [`/e/${KEYS[1]}`, `/e/${KEYS[1]}`, {}],
  ] as const;
  for (const [target, path, query] of cases) {
    for (const method of ['GET', 'DELETE', 'PROPFIND']) {
      const { status } = await send(t, harness.port, `${method} ${target} HTTP/1.1`, `host: ${HOST}`);
      assert.equal(status, 200, target);
      const event = eventOf(harness);
      assert.deepEqual([event.method, event.path, event.query], [method, path, query]);
      assert.deepEqual([event.url, event.headers.host], [`https://${HOST}${target}`, HOST]);
    }
  }
});

test('a host may be spelled in several ways', async (t) => {
  const harness = await started(t);
  const label = labelOfKey(KEYS[0]);
  const spellings = [HOST.toUpperCase(), `${label.toUpperCase()}${SUFFIX}`, `${HOST}.`, `${HOST}:443`, `${HOST}:`];
  for (const host of [...spellings, `${HOST}:65535`, `${HOST}.:8443`]) {
    const { status } = await send(t, harness.port, 'GET /x HTTP/1.1', `HOST:   ${host}`);
    assert.equal(status, 200, host);
    const { url, headers } = eventOf(harness);
    assert.deepEqual([url, headers.host], [`https://${host}/x`, host], 'as the caller spelled it');
  }
});

test('a host without an endpoint has nothing', async (t) => {
  const harness = await started(t);
  const label = labelOfKey(KEYS[0]);
  const unknown = [
    'errand',
    'www',
    labelOfKey('aaaaaaaaaaaaaaaaaaaaaaaa'),
    `${label}a`,
    `x.${label}`,
    `${label}.${label}`,
  ];
  const odd = ['a'.repeat(64), 'a'.repeat(10_000), '', '-', '_', '%61', KEYS[0], '1'.repeat(29)];
  for (const name of [...unknown, ...odd]) {
    for (const target of ['/', '/v1/workflows', '/healthz', `/e/${KEYS[0]}`, '/docs']) {
      const lines = [`GET ${target} HTTP/1.1`, `host: ${name}${SUFFIX}`, `authorization: Bearer ${KEY}`];
      const { status, head, body } = await send(t, harness.port, ...lines);
      assert.equal(status, 404, `${name.slice(0, 80)} ${target}`);
      assert.match(head, /application\/problem\+json/);
      assert.match(JSON.parse(body).detail, /^There is no endpoint at this address/);
    }
  }
  assert.equal(harness.accepted.length, 0);
});

test('no path of the API is there', async (t) => {
  const harness = await started(t);
  const paths = ['/v1/workflows', '/v1/users/me', '/v1/openapi.json', '/healthz', '/readyz', '/metrics', '/docs'];
  for (const path of [...paths, '/%76%31/workflows', '//v1/workflows', '/r/r_g4w9zl7uo0/1.token/resume']) {
    const before = harness.accepted.length;
    const lines = [`POST ${path} HTTP/1.1`, `host: ${HOST}`, `authorization: Bearer ${KEY}`, 'content-length: 0'];
    const { status, body } = await send(t, harness.port, ...lines);
    assert.equal(status, 200, path);
    assert.deepEqual(Object.keys(JSON.parse(body)), ['id']);
    assert.equal(harness.accepted.length, before + 1);
    assert.equal(eventOf(harness).path, path);
  }
  assert.deepEqual(harness.calls, []);
});

test('other hosts are as they were', async (t) => {
  const harness = await started(t);
  const hosts = ['errand.example.com', SUFFIX.slice(1), `x${SUFFIX.slice(1)}`, `${HOST}.example.com`, '127.0.0.1', ''];
  for (const host of [...hosts, '[::1]:4400', `${HOST}..`]) {
    const health = await send(t, harness.port, 'GET /healthz HTTP/1.1', `host: ${host}`);
    assert.equal(health.status, 200, host);
    assert.equal((await send(t, harness.port, 'GET /nothing HTTP/1.1', `host: ${host}`)).status, 404, host);
    const sent = await send(t, harness.port, `GET /e/${KEYS[0]}/x HTTP/1.1`, `host: ${host}`);
    assert.equal(sent.status, 200, host);
    assert.equal(eventOf(harness).url, `https://errand.example.com/e/${KEYS[0]}/x`);
  }
  const raw = await send(t, harness.port, 'GET /healthz HTTP/1.0');
  assert.equal(raw.status, 200, 'no host at all');
  assert.equal((await send(t, harness.port, 'GET / HTTP/1.0', 'x: y')).status, 200, 'the front page');
});

test('a forwarded host is not believed', async (t) => {
  const harness = await started(t);
  const names = ['x-forwarded-host', 'forwarded', 'x-host', 'x-original-host', 'x-forwarded-server'];
  for (const name of names) {
    const value = name === 'forwarded' ? `host=${HOST}` : HOST;
    const { status } = await send(t, harness.port, 'GET /nothing HTTP/1.1', 'host: a', `${name}: ${value}`);
    assert.equal(status, 404, name);
  }
  assert.equal(harness.accepted.length, 0);
  await send(t, harness.port, 'GET / HTTP/1.1', `host: ${HOST}`, `x-forwarded-host: ${OTHER_HOST}`);
  assert.equal(harness.accepted[0]?.emitterId, trigger(1).id);
  assert.equal(eventOf(harness).headers['x-forwarded-host'], OTHER_HOST);
});

test('a whole address in the request line counts', async (t) => {
  const harness = await started(t);
  const targets = [`http://${HOST}/x?y=1`, `HTTPS://${HOST.toUpperCase()}/x?y=1`, `http://${HOST}:80/x?y=1`];
  for (const target of targets) {
    const { status } = await send(t, harness.port, `GET ${target} HTTP/1.1`, `host: ${HOST}`);
    assert.equal(status, 200, target);
    const { url, path, query } = eventOf(harness);
    assert.deepEqual({ url, path, query }, { url: `https://${HOST}/x?y=1`, path: '/x', query: { y: '1' } });
  }
  // HTTP/1.0 needs no Host header.
  for (const [target, url] of [
    [`http://${HOST}`, `https://${HOST}/`],
    [`http://${HOST}?y=1`, `https://${HOST}/?y=1`],
    [`http://${HOST}:8443/v1`, `https://${HOST}:8443/v1`],
  ] as const) {
    const { status } = await send(t, harness.port, `GET ${target} HTTP/1.0`);
    assert.equal(status, 200, target);
    assert.equal(eventOf(harness).url, url);
  }
  const old = await send(t, harness.port, 'GET /x HTTP/1.0', `host: ${HOST}`);
  assert.equal(old.status, 200, 'and may have one');
  const count = harness.accepted.length;
  const other = await send(t, harness.port, `GET http://${OTHER_HOST}/ HTTP/1.1`, `host: ${HOST}`);
  assert.equal(other.status, 400);
  const api = await send(t, harness.port, `GET http://${HOST}/ HTTP/1.1`, 'host: errand.example.com');
  assert.equal(api.status, 400);
  assert.equal(harness.accepted.length, count);
});

test('two hosts in one request are refused', async (t) => {
  const harness = await started(t);
  for (const second of [HOST, OTHER_HOST, 'errand.example.com', '']) {
    const { status, body } = await send(t, harness.port, 'GET / HTTP/1.1', `host: ${HOST}`, `Host: ${second}`);
    assert.equal(status, 400);
    assert.match(JSON.parse(body).detail, /more than one Host/);
  }
  assert.equal(harness.accepted.length, 0);
});

test('one connection may name several hosts', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  const hosts = [HOST, 'errand.example.com', OTHER_HOST, 'none.hooks.example.com', HOST];
  raw.send(hosts.map((host) => `GET /healthz HTTP/1.1\r\nhost: ${host}\r\n\r\n`).join(''));
  const said = [];
  for (const _ of hosts) said.push(await raw.answer());
  assert.deepEqual(
    said.map(({ status }) => status),
    [200, 200, 200, 404, 200],
  );
  assert.match(said[1]?.body ?? '', /ok/);
  assert.deepEqual(
    harness.accepted.map(({ emitterId }) => emitterId),
    [trigger(1).id, trigger(2).id, trigger(1).id],
  );
});

test('a server that stops says so there', async (t) => {
  const harness = await started(t, { draining: () => true });
  const { status, head } = await send(t, harness.port, 'GET /healthz HTTP/1.1', `host: ${HOST}`);
  assert.equal(status, 503);
  assert.match(head, /connection: close/i);
  assert.equal(harness.accepted.length, 0);
});

test('without the setting a host means nothing', async (t) => {
  const harness = await startServer(t);
  await harness.seed.triggers(trigger(1, { key: KEYS[0] }));
  const lines = ['GET /nothing HTTP/1.1', `host: ${HOST}`];
  assert.equal((await send(t, harness.port, ...lines)).status, 404);
  assert.equal((await send(t, harness.port, 'GET /healthz HTTP/1.1', `host: ${HOST}`)).status, 200);
  assert.equal(harness.accepted.length, 0);
});

test('endpoints of this server are told from all other addresses', () => {
  const [key] = KEYS;
  const below = createUrls({ publicUrl: 'https://errand.example.com/sub', endpointHosts: null }, () => '');
  for (const [text, hosts, paths] of [
    [`https://${HOST}/any/path`, true, false],
    [`https://hooks.example.com/e/${key}`, false, false],
    [`https://${labelOfKey(key)}.hooks.example.com.evil.example/`, false, false],
    [`https://errand.example.com/e/${key}?n=1`, true, false],
    [`https://errand.example.com:443/sub/e/${key}`, false, true],
    [`http://errand.example.com/sub/e/${key}`, false, false],
    ['https://errand.example.com/sub/v1/workflows', false, false],
    [`https://errand.example.com.evil.example/e/${key}`, false, false],
  ] as const) {
    assert.deepEqual([isEndpoint(new URL(text), urls), isEndpoint(new URL(text), below)], [hosts, paths], text);
  }
});
