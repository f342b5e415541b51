// Ctrl-C, and servers that break off: a command ends at once, without a stack, and half a file is never one with its name.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../support/wait.ts';
import { openShell, type Running } from './command.ts';

const KEY = 'a-key-that-no-owner-has-0000';
const LINE = `${JSON.stringify({ id: '1782000000123-0', error: { msg: 'x'.repeat(3000) } })}\n`;
const NDJSON = { 'content-type': 'application/x-ndjson' };

async function serve(answer: RequestListener) {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, key: KEY, [Symbol.dispose]: close };
}

async function interrupted(running: Running): Promise<string> {
  running.interrupt();
  const { code, stderr } = await running.ended;
  // The shell makes 130 of a process that a signal ended, too.
  assert.ok(code === 130 || code === null, `it ended with ${code}: ${stderr}`);
  assert.doesNotMatch(stderr, /^\s+at /m);
  return stderr;
}

test('Ctrl-C ends what waits for a server', async () => {
  let asked = 0;
  using hanging = await serve(() => void asked++);
  await using shell = await openShell(hanging);
  for (const args of [
    ['runs', 'list'],
    ['runs', 'tail'],
    ['errors', 'tail'],
    ['errors', 'export'],
    ['listen', 'wh_0Vj3aBc9dEfGhIjK', '--to', '3000'],
    ['owners', 'export', 'u_0Vj3aBc9dEfGhIjK'],
    ['operations', 'follow', 'op_0Vj3aBc9dEfGhIjK'],
  ]) {
    const before = asked;
    const running = shell.start(...args);
    await until(`${args.join(' ')} to ask`, () => asked > before);
    await interrupted(running);
  }
});

/** Sends lines, and then half of one. */
const half: RequestListener = (_request, response) => {
  response.writeHead(200, NDJSON);
  response.write(LINE.repeat(5));
  response.write(LINE.slice(0, 1000));
};

async function partIn(home: string): Promise<string> {
  const names = (await readdir(home)).filter((name) => name.startsWith('errors.ndjson'));
  assert.equal(names.length, 1, `${names}`);
  assert.match(names[0] ?? '', /^errors\.ndjson\.\d+\.partial$/);
  return join(home, names[0] ?? '');
}

test('an export that is interrupted leaves a part that is named as one', async () => {
  using server = await serve(half);
  await using shell = await openShell(server);
  const running = shell.start('errors', 'export', '--out', 'errors.ndjson');
  await until('five lines', async () => {
    const [name] = (await readdir(shell.home)).filter((one) => one.startsWith('errors.ndjson'));
    return name !== undefined && (await readFile(join(shell.home, name), 'utf8')) === LINE.repeat(5);
  });
  const said = await interrupted(running);
  assert.match(said, /errors\.ndjson\.\d+\.partial has a part, 5 errors; the others: --after 1782000000123-0, into/);
  assert.equal(await readFile(await partIn(shell.home), 'utf8'), LINE.repeat(5));
});

test('an export of a server that breaks off leaves a part that is named as one', async () => {
  // What came is not asked for again: a client goes on behind it, as long as something comes.
  let isFirst = true;
  using server = await serve((request, response) => {
    if (isFirst) half(request, response);
    isFirst = false;
    setImmediate(() => response.destroy());
  });
  await using shell = await openShell(server);
  const { code, stderr } = await shell.run(['errors', 'export', '--out', 'errors.ndjson', '--url', server.url]);
  assert.notEqual(code, 0);
  assert.match(stderr, /partial has a part, \d errors/);
  assert.match(stderr, /^errand: .*$/m);
  assert.doesNotMatch(stderr, /^\s+at /m);
  const lines = (await readFile(await partIn(shell.home), 'utf8')).split('\n');
  for (const line of lines.filter((one) => one !== '')) JSON.parse(line);
  const piped = await shell.run(['errors', 'export', '--url', server.url]);
  assert.equal(piped.code, 5, piped.stderr);
});

test('answers that are none of Errand’s are told in a line', async () => {
  const answers: readonly [status: number, type: string, body: string, said: RegExp][] = [
    [200, 'text/html', '<!doctype html><title>Welcome</title>', /is that an Errand server\?$/m],
    [200, 'application/json', 'null', /is that an Errand server\?$/m],
    [404, 'text/html', '<h1>Not found</h1>', /404/],
    [500, 'text/html', '<h1>Oops</h1>', /500/],
  ];
  for (const [status, type, body, said] of answers) {
    using server = await serve((_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(body);
    });
    await using shell = await openShell(server);
    const { code, stdout, stderr } = await shell.run(['runs', 'list', '--url', server.url]);
    assert.ok(code !== 0 && code !== null, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, said);
    assert.match(stderr, /^errand: [^\n]+\n$/, `${status} ${type}`);
    assert.doesNotMatch(stderr, /<h1>|<!doctype/);
  }
});
