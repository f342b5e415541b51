// The order of system calls behind an answer, as the kernel sees it: the event is written to the WAL, a sync of the WAL that begins
// behind that succeeds, and then the answer is written to its caller.

import { equal, match, ok } from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient, type Json } from '../../../support/client.ts';
import { createErrandOn } from '../../../support/flows.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { spawnErrand } from '../../../support/process.ts';
import { programOf } from '../../../support/programs.ts';
import { until } from '../../../support/wait.ts';

const KEY = 'a-key-that-only-this-test-knows';
const EVENTS = 20;
const STRACE = programOf('strace');
const WRITER = join(import.meta.dirname, 'first-writer.ts');
const mayTrace = STRACE !== undefined && spawnSync(STRACE, ['-o', '/dev/null', 'true']).status === 0;

/** A system call, at the lines of its begin and its end; null: it has failed or not ended. */
interface Call {
  readonly text: string;
  readonly begun: number;
  ended: number | null;
}

/** Reads what `strace -f -y` has written: a call that another thread interrupts has two lines. */
function callsOf(trace: string): Call[] {
  const calls: Call[] = [];
  const unfinished = new Map<string, Call>();
  for (const [at, line] of trace.split('\n').entries()) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const hasFailed = / = -1 /.test(rest);
    if (rest.startsWith('<... ')) {
      const call = unfinished.get(thread);
      if (call && !hasFailed) call.ended = at;
      continue;
    }
    const isWhole = !rest.endsWith('<unfinished ...>');
    const call = { text: rest, begun: at, ended: isWhole && !hasFailed ? at : null };
    if (!isWhole) unfinished.set(thread, call);
    calls.push(call);
  }
  return calls;
}

test('an answer is written when a sync behind its event has ended', {
  skip: !mayTrace && 'strace is not installed, or may not trace',
}, async () => {
  await using folder = await createFolder();
  await using server = await spawnErrand({ ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: KEY });
  const client = createClient(server.url, KEY);
  const errand = createErrandOn(() => client);
  const made = await errand.workflow('export default () => 1;');
  const file = join(folder.path, 'trace');
  const which = ['-e', 'trace=pwrite64,write,writev,sendto,fdatasync', '-e', 'signal=none'];
  const args = ['-f', '-y', '-s', '100000', ...which, '-o', file, '-p', String(server.child.pid)];
  const strace = spawn(STRACE ?? '', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(strace, 'exit');
  let said = '';
  strace.stderr.on('data', (part) => {
    said += part;
  });
  const ids: string[] = [];
  try {
    await until('it is traced', () => {
      ok(strace.exitCode === null, said);
      return said.includes('attached');
    });
    for (let n = 0; n < EVENTS; n++) {
      const body = JSON.stringify({ marker: `event-${n}-of-the-trace` });
      const answer = await fetch(made.triggers[0].endpoint_url, { method: 'POST', body });
      ids.push(((await answer.json()) as Json).id);
      await errand.settled();
    }
  } finally {
    strace.kill('SIGINT');
    await ended;
  }
  const calls = callsOf(readFileSync(file, 'latin1'));
  for (const [n, id] of ids.entries()) {
    const written = calls.find(
      ({ text }) => /^pwrite64\(\d+<[^>]*errand\.db-wal>/.test(text) && text.includes(`event-${n}-of-the-trace`),
    );
    ok(written, `event ${n} was not seen to be written to the WAL`);
    const answered = calls.find(
      ({ text }) => /^(write|writev|sendto)\(\d+<(socket|TCP)/.test(text) && text.includes(id),
    );
    ok(answered, `the answer to event ${n} was not seen`);
    const synced = calls.some(
      ({ text, begun, ended }) =>
        /^fdatasync\(\d+<[^>]*errand\.db-wal>/.test(text) &&
        begun > written.begun &&
        ended !== null &&
        ended < answered.begun,
    );
    ok(synced, `no sync of the WAL between event ${n} and its answer`);
  }
});

test('a new WAL has its name on disk before the first answer', {
  skip: !mayTrace && 'strace is not installed, or may not trace',
}, async () => {
  await using folder = await createFolder();
  const file = join(folder.path, 'trace');
  const store = join(folder.path, 'errand.db');
  const which = ['-e', 'trace=openat,write,fsync,fdatasync', '-e', 'signal=none'];
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const args = ['-f', '-y', '-s', '1000', ...which, '-o', file, process.execPath, WRITER, store];
  const { status, stdout, stderr } = spawnSync(STRACE ?? '', args, { env, encoding: 'utf8' });
  equal(status, 0, stderr);
  match(stdout, /^answered \d+\n$/);
  const calls = callsOf(readFileSync(file, 'latin1'));
  const made = calls.find(({ text }) => /^openat\([^)]*errand\.db-wal", [^)]*O_CREAT/.test(text));
  ok(made, 'nobody was seen to make the WAL');
  const answered = calls.find(({ text }) => /^write\(1<[^>]*>, "answered/.test(text));
  ok(answered, 'the answer was not seen');
  const isBetween = ({ begun, ended }: Call): boolean => begun > made.begun && ended !== null && ended < answered.begun;
  const isOfFolder = ({ text }: Call): boolean => text.startsWith('fsync(') && text.includes(`<${folder.path}>`);
  ok(
    calls.some((call) => isOfFolder(call) && isBetween(call)),
    'the folder was not synced in between',
  );
  const isOfWal = ({ text }: Call): boolean => /^fdatasync\(\d+<[^>]*errand\.db-wal>/.test(text);
  ok(
    calls.some((call) => isOfWal(call) && isBetween(call)),
    'the WAL was not synced in between',
  );
});
