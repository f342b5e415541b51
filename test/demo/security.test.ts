// SECURITY.md says what user code can do and what it cannot. Here is user code that tries.

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { startErrand } from '../support/errand.ts';
import { tableOf } from './markdown.ts';
import { readDocument } from './reader.ts';

/** Rows of the table in their order, each with an expression that throws when it is refused. */
const TRIES: readonly (readonly [row: string, code: string])[] = [
  ['reads a file outside its folder', "fs.readFileSync('/etc/hostname')"],
  ['writes a file outside its `tmp`', "fs.writeFileSync('../code/step.mjs', '')"],
  ['starts a process', "child_process.execFileSync('/bin/true')"],
  ['starts a worker thread', "new worker_threads.Worker('0', { eval: true })"],
  ['loads a native addon', "process.dlopen({ exports: {} }, '/nowhere.node')"],
  ['opens the inspector', 'inspector.open(0)'],
  ['sends a signal to the server', 'process.kill(process.ppid, 0)'],
  ['sees the server’s environment', "process.env.PATH ?? fail('not there')"],
  [
    'opens a database file anywhere with `node:sqlite`, the store included',
    "new (await import('node:sqlite')).DatabaseSync('../../../errand.db', { readOnly: true })",
  ],
  [
    'connects to any address, also on this machine and in private networks',
    '(await fetch(steps.trigger.event.url)).status',
  ],
  ['connects to a Unix socket that the server’s user may use', 'await connected(steps.trigger.event.socket)'],
  ['listens on a port', "await once(net.createServer().listen(0).unref(), 'listening')"],
  [
    'needs more memory than `memory_mb`, outside the JavaScript heap',
    'Buffer.alloc(2 * 1024 * 1024 * steps.trigger.event.memoryMb, 1)',
  ],
  ['fills the disk through its `tmp`', "fs.writeFileSync('large', Buffer.alloc(1e6))"],
];

const CODE = `
import child_process from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import inspector from 'node:inspector';
import net from 'node:net';
import worker_threads from 'node:worker_threads';
const fail = (message) => { throw new Error(message); };
const connected = (path) => once(net.connect(path).unref(), 'connect');
const outcome = async (attempt) => attempt().then(() => 'possible', () => 'refused');
export default async ({ steps }) => [
  ${TRIES.map(([, code]) => `await outcome(async () => ${code}),`).join('\n  ')}
];
`;

test('user code can do what SECURITY.md says', async () => {
  const memoryMb = 64;
  await using errand = await startErrand();
  const socket = join(errand.dataDir, 'somebody.sock');
  const somebody = createServer((connection) => connection.destroy()).listen(socket);
  try {
    const workflow = await errand.workflow(CODE, { settings: { memory_mb: memoryMb } });
    await errand.client.post(`/v1/workflows/${workflow.id}/runs`, {
      event: { url: `${errand.url}/healthz`, socket, memoryMb },
    });
    const [run] = await errand.runs(workflow.id, 1);
    assert.equal(run.state, 'succeeded', JSON.stringify(run));
    const { data } = await errand.client.get(`/v1/runs/${run.id}`);
    const found = TRIES.map(([row], i) => [row.replaceAll('’', "'"), data.steps[0].return_value[i]]);
    assert.deepEqual(tableOf(await readDocument('SECURITY.md'), 'Code in a step'), found);
  } finally {
    somebody.close();
  }
});
