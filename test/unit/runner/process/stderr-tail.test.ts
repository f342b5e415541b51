// What is kept of a process's stderr, and how fast it is read.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { StderrTail } from '../../../../src/runner/process/stderr-tail.ts';

const MIB = 1024 * 1024;
/** What is kept. */
const KEPT = 16 * 1024;
const CHUNK = Buffer.alloc(256 * 1024, 'x');
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('the end is kept', async () => {
  const stream = new PassThrough();
  const tail = new StderrTail(stream);
  stream.write(CHUNK);
  stream.end('the last words: ü');
  await once(stream, 'end');
  assert.match(tail.text, /^x+the last words: ü$/);
  assert.equal(Buffer.byteLength(tail.text), KEPT);
});

test('a flood is read a part at a time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stream = new PassThrough({ highWaterMark: 1 });
  new StderrTail(stream);
  let read = 0;
  stream.on('data', (chunk: Buffer) => {
    read += chunk.length;
  });
  for (let n = 0; n < 64; n++) stream.write(CHUNK);
  const atOnce: number[] = [];
  for (let n = 0; n < 3; n++) {
    for (let turns = 0; turns < 50; turns++) await turn();
    atOnce.push(read);
    t.mock.timers.tick(10);
  }
  assert.deepEqual(atOnce, [MIB, 2 * MIB, 3 * MIB]);
});

test('what a process left in the pipe is read without a rest', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stream = new PassThrough();
  const tail = new StderrTail(stream);
  const ended = once(stream, 'end');
  for (let n = 0; n < 64; n++) stream.write(CHUNK);
  stream.end('so it ended');
  for (let turns = 0; turns < 50; turns++) await turn();
  assert.doesNotMatch(tail.text, /ended/);
  tail.end();
  await ended;
  assert.match(tail.text, /so it ended$/);
});

test('a process that writes without end does not wait for ever', async (t) => {
  const program =
    'for (let n = 0; n < 40; n++) process.stderr.write("y".repeat(100_000)); process.stderr.write("done")';
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  const tail = new StderrTail(child.stderr);
  child.on('exit', () => tail.end());
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  assert.match(tail.text, /y{10000}done$/);
});
