// The command that sends an event again: a shell runs it, and the request that arrives has the bytes of the first one.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { curlOf } from '../../../dashboard/src/errors/curl.ts';
import { eventBytes } from '../../../src/http/ingress/event.ts';

interface Came {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly type: string | undefined;
  readonly body: Buffer;
  /** As a workflow gets it. */
  readonly event: string;
}

const OPTIONS = { pathStart: 2, baseUrl: 'http://127.0.0.1', isVerified: false, isForSource: false };
const came: Came[] = [];
const server = createServer(async (req, res) => {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part);
  const body = Buffer.concat(parts);
  const { method, url, headers } = req;
  came.push({ method, url, type: headers['content-type'], body, event: eventBytes(req, body, OPTIONS).toString() });
  res.end();
});
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => server.close());

const endpoint = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/e`;
const run = promisify(execFile);

async function sendAgain(event: string): Promise<Came> {
  const command = curlOf(event, endpoint()) ?? '';
  // The body may be longer than a program's argument may be: a shell reads the command, as when it is pasted.
  const shell = run('sh');
  shell.child.stdin?.end(command);
  await shell;
  return came.pop() as Came;
}

for (const [what, method, path, type, body] of [
  [
    'JSON as it was written',
    'POST',
    '',
    'application/json',
    '{ "a": 12345678901234567890,\n "a": 1e400, "body": {"x": "}"} }',
  ],
  ['JSON that is a text', 'PUT', '', 'application/json', '"it\'s \\"quoted\\""'],
  ['JSON that is null', 'POST', '', 'application/json', 'null'],
  ['JSON with a member of base64', 'POST', '', 'application/json', '{"$base64":"AAAA"}'],
  ['what claims to be JSON', 'POST', '', 'application/json', 'not json {'],
  ['a form', 'POST', '', 'application/x-www-form-urlencoded', 'a=1&a=%26&b=x+%C3%BC'],
  ['text that names a file', 'POST', '', 'text/plain', '@/etc/hostname'],
  ['text without a type', 'POST', '', undefined, 'a=1&b=2'],
  ['text with what a terminal would obey', 'POST', '', 'text/plain', 'a\u001b[201~\u0000b\r\n'],
  ['bytes', 'POST', '', 'application/octet-stream', Buffer.from([0, 255, 254, 10, 13, 39, 0])],
  ['a megabyte', 'POST', '', 'text/plain', `'${'x'.repeat(1_000_000)}`],
  ['a megabyte of bytes', 'POST', '', 'image/png', Buffer.concat([Buffer.from([255]), randomBytes(1_000_000)])],
  ['a query with brackets', 'GET', '/a{1}/b?ids[]=1&ids[]=%5B&q=it%27s', undefined, ''],
  ['no body', 'DELETE', '', undefined, ''],
  ['HEAD', 'HEAD', '', undefined, ''],
] as const) {
  test(`a command sends ${what} again`, async () => {
    const headers = type === undefined ? {} : { 'content-type': type };
    // Without a type, `fetch` gives one to text, and none to bytes.
    const sent = body.length === 0 ? undefined : new Uint8Array(Buffer.from(body));
    await fetch(endpoint() + path, { method, headers, body: sent });
    const first = came.pop() as Came;
    const again = await sendAgain(first.event);
    assert.deepEqual([again.method, again.url, again.type], [first.method, first.url, first.type]);
    assert.ok(again.body.equals(first.body), again.body.subarray(0, 100).toString());
  });
}

test('an event that was typed is sent as JSON', async () => {
  const again = await sendAgain('{"method": "POST", "path": "/", "body": {"order": 1}}');
  assert.deepEqual([again.type, again.body.toString()], ['application/json', '{"order": 1}']);
  assert.equal(curlOf('{"order": 1}', endpoint()), null);
});
