// Whatever a user's data can aim goes through the guarded client: nothing else in src opens a connection, but for what is
// named here with its reason.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

const SRC = join(import.meta.dirname, '../../../src');

const WAYS_OUT: Record<string, RegExp> = {
  fetch: /\bfetch\s*\(|\bfetch\b(?=\s*[,;)}])|globalThis\.fetch/,
  'another HTTP client':
    /(?:from |import\(|require\(|resolve\()'(?:undici|axios|got|node-fetch|needle|superagent)(?:\/[^']*)?'/,
  'a request of node:http':
    /\bhttps?\.(?:request|get|Agent)\(|getBuiltinModule\('node:https?'\)\.(?:request|get|Agent)\b|\{[^}]*\b(?:request|get|Agent|ClientRequest)\b[^}]*\} from 'node:https?'/,
  'node:http2': /'node:http2'/,
  'a socket':
    /\bnet\.(?:connect|createConnection|Socket)\b|\btls\.connect\b|\{[^}]*\b(?:connect|createConnection)\b[^}]*\} from 'node:(?:net|tls)'|\bnew Socket\(/,
  'a datagram': /'node:dgram'/,
  'a browser API': /\bnew (?:WebSocket|EventSource|XMLHttpRequest)\(/,
  'a mail client': /(?:from |import\(|require\()'nodemailer/,
  'a database client': /^import (?:postgres|pg)(?:,|\s).*from '(?:postgres|pg)'/m,
};

interface Exception {
  /** A file, or a folder. */
  readonly where: string;
  readonly way: string;
  readonly why: string;
}

const EXCEPTIONS: readonly Exception[] = [
  { where: 'webhook/client.ts', way: 'another HTTP client', why: 'the guarded client itself' },
  { where: 'webhook/exchange.ts', way: 'another HTTP client', why: "the type of the guarded client's dispatcher" },
  {
    where: 'webhook/undici.ts',
    way: 'another HTTP client',
    why: 'loads it for the guarded client, and for the classes of its errors',
  },
  {
    where: 'cli/shell/http-fetch.ts',
    way: 'a request of node:http',
    why: "the operator's own command line, to the operator's own server",
  },
  { where: 'cli/shell/', way: 'fetch', why: "the operator's own command line, to the operator's own server" },
  { where: 'cli/commands/', way: 'fetch', why: "the operator's own command line, to the operator's own server" },
  {
    where: 'cli/listen/listen.ts',
    way: 'fetch',
    why: "the operator's own command line, to a program of the operator's",
  },
  { where: 'mcp/endpoint.ts', way: 'fetch', why: 'the routes of this server itself, without a connection' },
  { where: 'client/', way: 'fetch', why: "the package's client, in the caller's process, to the caller's server" },
  { where: 'webhook/tunnel.ts', way: 'a socket', why: 'to addresses that it has judged as the guarded client does' },
  {
    where: 'runner/modules/platform-request.ts',
    way: 'a request of node:http',
    why: "becomes part of users' bundles: user code, in its process",
  },
  {
    where: 'runner/child/confine/egress.ts',
    way: 'a socket',
    why: "in user code's process: the jail's own socket to the tunnel",
  },
  { where: 'runner/child/api/request-prop.ts', way: 'fetch', why: "in user code's process, as its own requests are" },
  {
    where: 'cli/accounts/sign-in.ts',
    way: 'fetch',
    why: 'on the machine of who signs in, to the address that they give',
  },
  { where: 'runner/child/main.ts', way: 'a socket', why: 'the pipe to the server that started the process' },
  { where: 'runner/bundling/main.ts', way: 'a socket', why: 'the pipe to the server that started the process' },
  { where: 'mail/', way: 'a mail client', why: 'the mail server of the settings' },
  { where: 'store/postgres/', way: 'a database client', why: 'the database of the settings' },
  { where: 'store/postgres/move/import.ts', way: 'fetch', why: 'a function of its own that reads rows' },
];

const isFor =
  (found: string) =>
  ({ where, way }: Exception) =>
    found.startsWith(where) && found.endsWith(` ${way}`);

async function waysOut(): Promise<string[]> {
  const names = (await readdir(SRC, { recursive: true })).filter((name) => name.endsWith('.ts'));
  assert.ok(names.length > 100);
  const found = names.map(async (name) => {
    const code = (await readFile(join(SRC, name), 'utf8')).replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
    return Object.keys(WAYS_OUT)
      .filter((way) => WAYS_OUT[way]?.test(code))
      .map((way) => `${name} ${way}`);
  });
  return (await Promise.all(found)).flat();
}

test('Nothing else in src opens connections', async () => {
  const unexpected = (await waysOut()).filter((found) => !EXCEPTIONS.some(isFor(found)));
  assert.deepEqual(
    unexpected,
    [],
    'use the guarded client of src/webhook/client.ts, or name the exception with its reason',
  );
});

test('Every exception is still needed', async () => {
  const found = await waysOut();
  const needless = EXCEPTIONS.filter((exception) => !found.some((each) => isFor(each)(exception)));
  assert.deepEqual(needless, []);
});

test('Only one guarded client is made, by the service', async () => {
  const names = (await readdir(SRC, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const makers: string[] = [];
  for (const name of names) {
    const code = await readFile(join(SRC, name), 'utf8');
    makers.push(...Array(code.match(/\bcreateGuardedClient\(/g)?.length ?? 0).fill(name));
  }
  assert.deepEqual(makers.toSorted(), ['server/senders.ts', 'webhook/client.ts']);
});
