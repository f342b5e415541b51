// The yardstick that comes closest: Node-RED, which stores nothing and runs code in its own process, with two flows of the same
// shape as two of ours. HTTP in → function → HTTP response; and HTTP in → a function that throws, whose error a catch node hands
// to a function and that to an HTTP request, while the caller is answered at once. Installed from npm into a cache folder, on the
// first use.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../test/support/port.ts';
import { BODY, load } from '../kit/load.ts';
import { sharedNowMs, startReceiver } from '../kit/receiver.ts';
import { cpuSecondsOf } from '../kit/server.ts';
import type { Times } from './throughput.ts';

export const VERSION = '5.0.7';

const FOLDER = join(import.meta.dirname, '../../node_modules/.cache', `node-red-${VERSION}`);
const PROGRAM = join(FOLDER, 'node_modules/node-red/red.js');
const READY_MS = 60_000;
const POLL_MS = 50;
/** Nothing has arrived for so long: the rest is lost, since Node-RED keeps nothing. */
const QUIET_MS = 2_000;

export interface NodeRedRate {
  /** Requests answered, or errors that arrived at the receiver, by the time from the first request to the last of them. */
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly failures: number;
  /** Errors that never arrived. */
  readonly lost: number;
}

interface NodeRed extends AsyncDisposable {
  readonly url: string;
  cpuSeconds(): Promise<number>;
}

async function install(): Promise<void> {
  if (existsSync(PROGRAM)) return;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, 'package.json'), '{"private":true}\n');
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `node-red@${VERSION}`];
  await promisify(execFile)('npm', args, { cwd: FOLDER, maxBuffer: 1e8 });
}

function flows(receiverUrl: string): object[] {
  const node = (id: string, type: string, to: readonly string[], more: object = {}): object => ({
    ...{ id, type, z: 'tab', name: id, x: 100, y: 100, wires: to.length === 0 ? [] : [to] },
    ...more,
  });
  const code = (func: string): object => ({
    func,
    outputs: 1,
    timeout: 0,
    noerr: 0,
    initialize: '',
    finalize: '',
    libs: [],
  });
  const post = (url: string): object => ({ url, method: 'post', upload: false, swaggerDoc: '' });
  const respond = { statusCode: '200', headers: {} };
  return [
    { id: 'tab', type: 'tab', label: 'bench', disabled: false, info: '' },
    node('answer-in', 'http in', ['answer'], post('/answer')),
    node('answer', 'function', ['answered'], code('msg.payload = "done"; return msg;')),
    node('answered', 'http response', [], respond),
    node('throw-in', 'http in', ['throws', 'taken'], post('/throw')),
    node('throws', 'function', [], { ...code('throw new Error("order " + msg.payload.order);'), wires: [[]] }),
    node('taken', 'function', ['told'], code('msg.payload = "taken"; return msg;')),
    node('told', 'http response', [], respond),
    node('catch', 'catch', ['handles'], { scope: ['throws'], uncaught: false }),
    node('handles', 'function', ['sends'], code('return { payload: { error: msg.error, event: msg.payload } };')),
    node('sends', 'http request', [], {
      ...{ method: 'POST', ret: 'txt', url: receiverUrl, persist: true },
      wires: [[]],
    }),
  ];
}

async function startNodeRed(receiverUrl: string): Promise<NodeRed> {
  await install();
  const dir = await mkdtemp(join(tmpdir(), 'errand-node-red-'));
  const port = await freePort();
  await writeFile(join(dir, 'flows.json'), JSON.stringify(flows(receiverUrl)));
  const settings = {
    uiPort: port,
    uiHost: '127.0.0.1',
    httpAdminRoot: false,
    logging: { console: { level: 'fatal' } },
  };
  await writeFile(
    join(dir, 'settings.js'),
    `module.exports = ${JSON.stringify({ ...settings, flowFile: 'flows.json' })};`,
  );
  const child = spawn(process.execPath, [PROGRAM, '--settings', join(dir, 'settings.js'), '--userDir', dir], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await answering(`${url}/answer`, child);
  } catch (error) {
    await end();
    throw error;
  }
  return { url, cpuSeconds: () => cpuSecondsOf(child.pid as number), [Symbol.asyncDispose]: end };
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (const deadline = performance.now() + READY_MS; ; await pause(POLL_MS)) {
    const headers = { 'content-type': 'application/json' };
    const text = await fetch(url, { method: 'POST', headers, body: BODY })
      .then((answer) => answer.text())
      .catch(() => undefined);
    if (text === 'done') return;
    if (child.exitCode !== null) throw new Error(`Node-RED has ended with code ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error(`Node-RED does not answer: ${text}`);
  }
}

export async function nodeRedAnswers({ warmUpSeconds, seconds }: Times): Promise<NodeRedRate> {
  await using nodeRed = await startNodeRed('http://127.0.0.1:9/');
  await load(`${nodeRed.url}/answer`, warmUpSeconds);
  const before = await nodeRed.cpuSeconds();
  const { perSecond, requests, failures } = await load(`${nodeRed.url}/answer`, seconds);
  return { perSecond, failures, cpuUs: (((await nodeRed.cpuSeconds()) - before) / requests) * 1e6, lost: 0 };
}

export async function nodeRedErrors({ warmUpSeconds, seconds }: Times): Promise<NodeRedRate> {
  await using receiver = await startReceiver();
  await using nodeRed = await startNodeRed(receiver.url);
  const arrived = async (): Promise<{ count: number; lastAtMs: number }> => {
    for (let before = -1; ; await pause(POLL_MS)) {
      const { count, lastAtMs } = await receiver.arrivals();
      if (count === before && sharedNowMs() - lastAtMs > QUIET_MS) return { count, lastAtMs };
      before = count;
    }
  };
  await load(`${nodeRed.url}/throw`, warmUpSeconds);
  const before = await arrived();
  const cpuBefore = await nodeRed.cpuSeconds();
  const startedMs = sharedNowMs();
  const { requests, failures } = await load(`${nodeRed.url}/throw`, seconds);
  const after = await arrived();
  const count = after.count - before.count;
  const cpuUs = (((await nodeRed.cpuSeconds()) - cpuBefore) / count) * 1e6;
  return {
    perSecond: (count / (after.lastAtMs - startedMs)) * 1000,
    failures,
    cpuUs,
    lost: Math.max(0, requests - count),
  };
}
