// errand mcp before input and servers that are not as they should be, without the SDK's client, which hides what it does not know.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { BARE_ENV } from '../support/bare-env.ts';
import type { Client, Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { openShell } from './command.ts';

const newErrand = shareErrand();
const ENTRY = join(import.meta.dirname, '../../src/errand.ts');

interface Spoken extends AsyncDisposable {
  /** Writes a line to its standard input. */
  say(line: unknown): void;
  /** Waits for the answer with this id. */
  answer(id: number): Promise<Json>;
  end(): void;
  interrupt(): void;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  stdout(): string;
  stderr(): string;
}

/** Starts the command and shakes hands. */
async function speak({ url, key }: Pick<Client, 'url' | 'key'>, home: string): Promise<Spoken> {
  const child = spawn(process.execPath, [ENTRY, 'mcp', '--url', url], {
    cwd: home,
    env: { ...BARE_ENV, HOME: home, ERRAND_API_KEY: key },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (part) => {
    stdout += part;
  });
  child.stderr.on('data', (part) => {
    stderr += part;
  });
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  const say = (line: unknown): void =>
    void child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  const answer = (id: number): Promise<Json> =>
    until(`answer ${id}; ${stderr}`, async () => {
      const whole = stdout.slice(0, stdout.lastIndexOf('\n') + 1).split('\n');
      return whole.flatMap((line) => (line === '' ? [] : [JSON.parse(line)])).find((one) => one.id === id);
    });
  const clientInfo = { name: 'test', version: '1' };
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  say({ jsonrpc: '2.0', id: 0, method: 'initialize', params: hello });
  assert.equal((await answer(0)).result.serverInfo.name, 'errand');
  say({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return {
    ...{ say, answer, ended },
    end: () => void child.stdin.end(),
    interrupt: () => void child.kill('SIGINT'),
    stdout: () => stdout,
    stderr: () => stderr,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const call = (id: number, name: string, args: object = {}): object => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } },
});

test('standard output has the protocol alone, whatever comes in', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(null);
  await using mcp = await speak(errand.client, shell.home);
  const ping = { jsonrpc: '2.0', id: 91, method: 'ping' };
  for (const line of ['no json', '{', '', 'null', '[]', [ping, ping], { jsonrpc: '2.0' }, { ...ping, jsonrpc: '1.0' }])
    mcp.say(line);
  mcp.say(call(1, 'no_such_tool'));
  mcp.say(call(2, 'search_errors', { limit: 'x', stat: 1 }));
  mcp.say(call(3, 'search_errors', { since: 'yesterday' }));
  mcp.say(call(4, 'search_errors', { text: 'x'.repeat(1_000_000) }));
  mcp.say({ jsonrpc: '2.0', id: 5, method: 'resources/list' });
  mcp.say(call(6, 'search_errors'));
  assert.match((await mcp.answer(1)).error.message, /no_such_tool not found/);
  assert.match((await mcp.answer(2)).result.content[0].text, /additional properties, .*limit must be integer/);
  const [, since] = (await mcp.answer(3)).result.content[0].text.split('since must be');
  assert.match(since ?? '', /ISO 8601/);
  assert.doesNotMatch((await mcp.answer(3)).result.content[0].text, /must be.*must be/s, 'told once');
  assert.match((await mcp.answer(4)).result.content[0].text, /more than 256 characters/);
  assert.equal((await mcp.answer(5)).error.code, -32601);
  assert.deepEqual((await mcp.answer(6)).result.structuredContent.errors, []);
  for (const line of mcp.stdout().split('\n').slice(0, -1)) assert.equal(JSON.parse(line).jsonrpc, '2.0');
  assert.match(mcp.stderr(), /no message of JSON-RPC 2\.0, and was passed over/);
  for (const line of mcp.stderr().split('\n')) assert.ok(line === '' || line.startsWith('errand: '), line);
  // What is no request at all has no answer.
  assert.doesNotMatch(mcp.stdout(), /"id":91/);
  mcp.end();
  assert.equal(await mcp.ended, 0);
});

test('a message that is too long ends the command with a reason', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(null);
  await using mcp = await speak(errand.client, shell.home);
  mcp.say('x'.repeat(11 * 2 ** 20));
  await mcp.ended;
  assert.match(mcp.stderr(), /a message is too long, and the connection ends: .*10485760 bytes/);
});

test('an interrupt ends the command', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(null);
  await using mcp = await speak(errand.client, shell.home);
  mcp.interrupt();
  assert.ok(['SIGINT', 130].includes(await mcp.ended));
});

test('tools tell of a key that was revoked, and of a server that is gone', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  const made = await errand.client.post('/v1/keys', { label: 'assistant', scopes: ['read'] });
  await using mcp = await speak({ url: errand.url, key: made.api_key }, shell.home);
  mcp.say(call(1, 'search_groups'));
  assert.deepEqual((await mcp.answer(1)).result.structuredContent.groups, []);
  await errand.client.delete(`/v1/keys/${made.id}`);
  mcp.say(call(2, 'search_groups'));
  const revoked = (await mcp.answer(2)).result;
  assert.equal(revoked.isError, true);
  assert.match(revoked.content[0].text, /revoked.*ask the person for another/s);
  await errand.stop();
  mcp.say(call(3, 'search_groups'));
  const gone = (await mcp.answer(3)).result;
  assert.equal(gone.isError, true);
  assert.match(gone.content[0].text, /cannot be reached: .*ECONNREFUSED/);
  mcp.end();
  assert.equal(await mcp.ended, 0);
});
