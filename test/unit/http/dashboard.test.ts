// How the dashboard's files are served.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { openDashboard } from '../../../src/http/dashboard/built.ts';
import { type Harness, startServer } from './harness.ts';
import { connect } from './raw-connection.ts';

const PAGE = '<!doctype html><title>Errand</title>';
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(2000))});`;

async function serve(t: TestContext): Promise<Harness & { folder: string }> {
  const folder = `${await mkdtemp(join(tmpdir(), 'errand-dashboard-'))}/`;
  t.after(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), PAGE);
  await writeFile(join(folder, 'assets/main-Ab1_-x.js'), SCRIPT);
  await writeFile(join(folder, 'assets/main-Ab1_-x.js.gz'), gzipSync(SCRIPT));
  await writeFile(join(folder, 'assets/main-Ab1_-x.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(join(folder, 'assets/secret.txt'), 'secret');
  return { ...(await startServer(t, { dashboard: openDashboard(folder) })), folder };
}

test('every address of the dashboard gives its page', async (t) => {
  const { call } = await serve(t);
  for (const path of [
    '/',
    '/errors',
    '/errors/eg_1',
    '/errors/eg_1/17-0',
    '/sign-in',
    '/@u_1/orders-p_1/edit',
    '/workflows',
    '/settings',
  ]) {
    const { status, text, headers } = await call('GET', path, { key: null });
    assert.deepEqual([status, text, headers.get('cache-control')], [200, PAGE, 'no-cache'], path);
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "trusted-types 'none'",
    ]) {
      assert.ok(policy.split('; ').includes(part), part);
    }
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.deepEqual([headers.get('x-frame-options'), headers.get('referrer-policy')], ['DENY', 'no-referrer']);
  }
  assert.equal((await call('GET', '/nothing', { key: null })).status, 404);
});

test('the page is sent again only when it has changed', async (t) => {
  const { call } = await serve(t);
  const etag = (await call('GET', '/', { key: null })).headers.get('etag') ?? '';
  const again = await call('GET', '/', { key: null, headers: { 'if-none-match': `"other", W/${etag}` } });
  assert.deepEqual([again.status, again.text], [304, '']);
  assert.equal((await call('GET', '/', { key: null, headers: { 'if-none-match': '"other"' } })).status, 200);
});

test('assets are sent as the browser takes them', async (t) => {
  const { port } = await serve(t);
  const ask = async (accepted: string) => {
    const answer = await fetchRaw(port, accepted);
    return answer;
  };
  const br = await ask('gzip, deflate, br');
  assert.equal(br.headers.get('content-encoding'), 'br');
  assert.equal(brotliDecompressSync(br.bytes).toString(), SCRIPT);
  const gzip = await ask('gzip, br;q=0');
  assert.equal(gunzipSync(gzip.bytes).toString(), SCRIPT);
  const plain = await ask('identity');
  assert.deepEqual([plain.headers.get('content-encoding'), plain.bytes.toString()], [null, SCRIPT]);
  for (const { headers } of [br, gzip, plain]) {
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(headers.get('vary'), 'accept-encoding');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  }
  assert.equal(new Set([br, gzip, plain].map(({ headers }) => headers.get('etag'))).size, 3);
});

/** Without `fetch`, which decodes what it gets. */
async function fetchRaw(port: number, accepted: string): Promise<{ headers: Headers; bytes: Buffer }> {
  const { get } = await import('node:http');
  const { promise, resolve, reject } = Promise.withResolvers<{ headers: Headers; bytes: Buffer }>();
  const path = '/assets/main-Ab1_-x.js';
  get({ host: '127.0.0.1', port, path, headers: { 'accept-encoding': accepted } }, async (response) => {
    const bytes = Buffer.concat(await response.toArray());
    resolve({ headers: new Headers(response.headers as Record<string, string>), bytes });
  }).on('error', reject);
  return promise;
}

test('no other file is read', async (t) => {
  const { port, call } = await serve(t);
  for (const path of [
    'secret.txt',
    'missing.js',
    'main-Ab1_-x.js.gz',
    'main-Ab1_-x.js.map',
    '..%2findex.html',
    '%2e%2e%2findex.html',
    '..\\index.html',
    'a%00.js',
  ]) {
    const { status, text } = await call('GET', `/assets/${path}`, { key: null });
    assert.ok([400, 404].includes(status), `${path}: ${status}`);
    assert.doesNotMatch(text, /secret$|doctype/);
  }
  const raw = connect(t, port);
  raw.send('GET /assets/../index.html HTTP/1.1\r\nhost: x\r\n\r\n');
  assert.equal((await raw.answer()).status, 404);
});

test('a server without the dashboard says how to build it', async (t) => {
  const { call } = await startServer(t, { dashboard: null });
  const { status, text } = await call('GET', '/', { key: null });
  assert.equal(status, 200);
  assert.match(text, /npm run build/);
  assert.equal(openDashboard('/nowhere/'), null);
});
