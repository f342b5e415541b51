// What every answer carries, whichever part writes it, and what no workflow can take away.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpAnswer } from '../../../src/domain/run/run.ts';
import { buildDocument } from '../../../src/http/openapi/openapi.ts';
import { appended, type Harness, KEY, startServer } from './harness.ts';
import { connect } from './raw-connection.ts';
import { trigger } from './records.ts';

const SANDBOX = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts';

async function answering(t: Parameters<typeof startServer>[0], headers: HttpAnswer['headers']): Promise<Harness> {
  const answer = { status: 200, headers, body: Buffer.from('<script>1</script>') };
  const accept = () => ({ appended: appended(1), answer: Promise.resolve({ kind: 'answer' as const, answer }) });
  const harness = await startServer(t, { actions: { accept } });
  await harness.seed.triggers(trigger(1, { customResponse: true }));
  return harness;
}

/** The head of the answer, header by header as it was sent: `fetch` would join those of one name. */
async function headOf(t: Parameters<typeof startServer>[0], { port }: Harness): Promise<string[]> {
  const raw = connect(t, port);
  raw.send('GET /e/key1 HTTP/1.1\r\nhost: x\r\n\r\n');
  const { head } = await raw.answer();
  raw.close();
  return head.split('\r\n');
}

test('every operation answers with nosniff', async (t) => {
  const { port } = await startServer(t);
  const { paths } = await buildDocument();
  const seen = new Set<number>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of [...Object.keys(operations), 'options', 'trace']) {
      for (const authorization of ['', `Bearer ${KEY}`]) {
        const raw = connect(t, port);
        const line = `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, 'x')} HTTP/1.1`;
        raw.send(`${line}\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-length: 0\r\n\r\n`);
        const { status, head } = await raw.answer(method !== 'head');
        raw.close();
        seen.add(status);
        assert.equal(head.match(/^x-content-type-options: nosniff$/gim)?.length, 1, `${line} ${status}: ${head}`);
      }
    }
  }
  for (const status of [200, 400, 401, 404, 405]) assert.ok(seen.has(status), `${status} was among them`);
});

test('refusals and pages answer with nosniff', async (t) => {
  const harness = await startServer(t, { maxBodyBytes: 10 });
  await harness.seed.triggers(trigger(1), trigger(2, { tokenHash: 'x' }));
  for (const request of [
    'GET / HTTP/1.1\r\nhost: x',
    'GET /docs/errors HTTP/1.1\r\nhost: x',
    'GET /nothing HTTP/1.1\r\nhost: x',
    'GET / HTTP/9.9\r\nhost: x',
    'GET / HTTP/1.1',
    'GET /v1/webhooks/%ff HTTP/1.1\r\nhost: x',
    `POST /v1/webhooks HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-length: 99999999`,
    'POST /e/key1 HTTP/1.1\r\nhost: x\r\ncontent-length: 11',
    'POST /e/key1 HTTP/1.1\r\nhost: x\r\ncontent-length: 0',
    'POST /e/key2 HTTP/1.1\r\nhost: x\r\ncontent-length: 0',
    'POST /e/none HTTP/1.1\r\nhost: x\r\ncontent-length: 0',
    'POST /e/key1 HTTP/1.1\r\nhost: x\r\nexpect: something-else\r\ncontent-length: 0',
    'POST /r/r_1/1.a/resume HTTP/1.1\r\nhost: x\r\ncontent-length: 0',
    'GET /r/r_1/1.a/resume HTTP/1.1\r\nhost: x\r\naccept: text/html',
    'OPTIONS /r/r_1/1.a/resume HTTP/1.1\r\nhost: x',
    'GET /r/r_1/1.a/resume HTTP/1.1\r\nhost: x\r\npurpose: prefetch',
  ]) {
    const raw = connect(t, harness.port);
    raw.send(`${request}\r\n\r\n`);
    const { head } = await raw.answer(!request.includes('OPTIONS'));
    raw.close();
    assert.equal(head.match(/^x-content-type-options: nosniff$/gim)?.length, 1, `${request}: ${head}`);
  }
});

test('no header of a workflow removes the sandbox', async (t) => {
  const hostile: HttpAnswer['headers'][] = [
    {},
    { 'content-security-policy': '' },
    { 'Content-Security-Policy': '' },
    { 'CONTENT-SECURITY-POLICY': ' ' },
    { 'content-security-policy': [] },
    { 'content-security-policy': ['', ''] },
    { 'content-security-policy': ['sandbox allow-same-origin allow-scripts', "default-src 'self'"] },
    { 'content-security-policy': "default-src 'self'", 'Content-Security-Policy': 'sandbox allow-same-origin' },
    { 'content-security-policy': ', , ;' },
    { 'content-security-policy': 'report-uri "' },
    { 'content-security-policy-report-only': 'sandbox' },
    { 'x-content-security-policy': '', 'x-webkit-csp': '' },
    { 'content-type': 'image/svg+xml' },
    { 'content-type': ['text/plain', 'text/html'] },
    { 'content-type': 'application/xhtml+xml', refresh: '0' },
    { connection: 'content-security-policy', 'keep-alive': 'x' },
    { trailer: 'content-security-policy', te: 'trailers' },
  ];
  for (const headers of hostile) {
    const lines = await headOf(t, await answering(t, headers));
    const policies = lines.filter((line) => /^content-security-policy:/i.test(line));
    assert.equal(policies.at(-1), `content-security-policy: ${SANDBOX}`, JSON.stringify(headers));
    assert.ok(!lines.some((line) => /^(trailer|connection: content)/i.test(line)), JSON.stringify(headers));
  }
});

test("a workflow's own policy comes on top", async (t) => {
  const lines = await headOf(t, await answering(t, { 'Content-Security-Policy': "default-src 'self'" }));
  const policies = lines.filter((line) => /^content-security-policy:/i.test(line));
  assert.deepEqual(policies, ["Content-Security-Policy: default-src 'self'", `content-security-policy: ${SANDBOX}`]);
});

test('no workflow answers for the whole origin', async (t) => {
  const headers = {
    'Alt-Svc': 'h2=":1"',
    'Clear-Site-Data': '"*"',
    NEL: '{"report_to":"x","max_age":1}',
    'Report-To': '{}',
    'Strict-Transport-Security': 'max-age=1',
    'Service-Worker-Allowed': '/',
    'Secure-Session-Registration': '(ES256); path="/e/x"; challenge="c"',
    'Sec-Session-Registration': '(ES256); path="/e/x"; challenge="c"',
    'Accept-CH': 'Sec-CH-UA-Model',
    'Critical-CH': 'Sec-CH-UA-Model',
    'Use-As-Dictionary': 'match="/*"',
    'Set-Login': 'logged-out',
    'Origin-Agent-Cluster': '?0',
    'Public-Key-Pins-Report-Only': 'report-uri="https://x"',
    'X-Accel-Redirect': '/v1/users/me',
    'X-Accel-Expires': '60',
    'X-Accel-Limit-Rate': '1',
    'X-Accel-Charset': 'utf-7',
    'X-Sendfile': '/etc/passwd',
    'X-LIGHTTPD-send-file': '/etc/passwd',
    'X-LiteSpeed-Location': '/v1/users/me',
    'X-Reproxy-URL': 'http://127.0.0.1/',
    'X-Content-Type-Options': 'none',
    'x-content-type-options': ['sniff', ''],
    'X-Mine': 'yes',
  };
  const head = (await headOf(t, await answering(t, headers))).join('\n');
  const names = Object.keys(headers).filter((name) => !/^x-(mine|content)/i.test(name));
  for (const name of names) assert.doesNotMatch(head, new RegExp(`^${name}:`, 'im'));
  assert.deepEqual(head.match(/^x-content-type-options:.*$/gim), ['x-content-type-options: nosniff']);
  assert.match(head, /^X-Mine: yes$/m);
});
