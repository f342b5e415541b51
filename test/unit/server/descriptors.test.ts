// A process that has no file descriptor left refuses connections, and stays.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { BARE_ENV } from '../../support/bare-env.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { spawnErrand } from '../../support/process.ts';
import { until } from '../../support/wait.ts';
import { mailServer } from '../mail/servers.ts';
import { httpReceiver } from '../webhook/receivers.ts';

const DESCRIPTORS = 128;
const LIMITED = `ulimit -n ${DESCRIPTORS}; exec "$0" "$@"`;
/** Node's words, whichever file it could not open. */
const NO_FILE = /EMFILE|ERR_INVALID_PACKAGE_CONFIG/;
const LATE_LOADS = join(import.meta.dirname, 'late-loads.ts');

test('what could not be loaded is loaded once it can be', async () => {
  await using mails = await mailServer();
  await using receiver = await httpReceiver();
  const args = [process.execPath, LATE_LOADS, mails.url, receiver.url];
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', LIMITED, ...args]);
  const { without, later } = JSON.parse(stdout);
  for (const [name, came] of Object.entries(without)) assert.match(String(came), NO_FILE, name);
  assert.equal(later.request, 'The receiver answered 200.');
  assert.match(later.outbox, /It is in the outbox folder/);
  assert.match(later.mail, /The mail server took the mail/);
  assert.match(later.metrics, /^text\/plain/);
  assert.equal(later.pattern, '1');
  assert.equal(mails.arrived.length, 1);
});

test('a server without a free descriptor serves open connections', async () => {
  await using folder = await createFolder();
  const program = ['test/unit/server/few-descriptors.ts', String(DESCRIPTORS), 'src/main.ts'];
  await using server = await spawnErrand({ ERRAND_DATA_DIR: folder.path }, undefined, program);
  const key = (await readFile(join(folder.path, 'api-key'), 'utf8')).trim();
  const { ask, close } = oneConnection(server.url, key);
  const steps = [{ namespace: 'step', code: 'export default defineComponent({ run: () => 1 });' }];
  const made = await ask('/v1/workflows', JSON.stringify({ name: 'test', steps, triggers: [{ type: 'http' }] }));
  assert.equal(made.status, 200, made.text);
  assert.match(server.stderr(), /"level":40[^\n]*may open 128 files and connections[^\n]*it may need 26000/);
  const files = await openFilesBy(folder.path);
  assert.deepEqual(
    [files.is, /may open 128 files/.test(files.says)],
    ['look', true],
    'as the server has it, not the shell',
  );
  const { id, triggers } = JSON.parse(made.text).data;

  const idle = await useUp(Number(new URL(server.url).port));
  const { pathname } = new URL(triggers[0].endpoint_url);
  assert.equal((await ask(pathname, '{}')).status, 200);
  // What the run leads to loads the client of deliveries.
  const isOver = async () => {
    const [run] = JSON.parse((await ask(`/v1/workflows/${id}/runs`)).text).data;
    return run !== undefined && ['succeeded', 'failed'].includes(run.state);
  };
  await until('the end of the run', isOver);
  assert.equal((await ask('/readyz')).status, 200);

  for (const socket of idle) socket.destroy();
  await until('a new connection', () =>
    fetch(`${server.url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  close();
  assert.equal(server.child.exitCode, null);
});

/** Returns what a doctor without that limit finds. */
async function openFilesBy(dataDir: string): Promise<{ is: string; says: string }> {
  const env = { ...BARE_ENV, ERRAND_DATA_DIR: dataDir };
  const args = [join(import.meta.dirname, '../../../src/errand.ts'), 'doctor', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout).find(({ what }: { what: string }) => what === 'open files');
}

interface Asked {
  readonly status: number | undefined;
  readonly text: string;
}

/** Asks over one connection that stays open. */
function oneConnection(url: string, key: string) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (path: string, body?: string): Promise<Asked> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const method = body === undefined ? 'GET' : 'POST';
      const request = http.request(url + path, { agent, method, headers }, async (response) => {
        const chunks = await Array.fromAsync(response);
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() });
      });
      request.on('error', reject).end(body);
    });
  return { ask, close: () => agent.destroy() };
}

/** Opens connections, and asks over each, until the server closes one at once; returns those that stay. */
async function useUp(port: number): Promise<net.Socket[]> {
  const opened: net.Socket[] = [];
  for (let isAnswered = true; isAnswered; ) {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {});
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    isAnswered = await new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true)).once('close', () => resolve(false));
    });
    opened.push(socket);
    assert.ok(opened.length <= DESCRIPTORS, 'the server has more descriptors than it was given');
  }
  return opened;
}
