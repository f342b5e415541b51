// The server under load, in a process of its own on a data dir of its own, and what /proc says of it.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, type Json } from '../../test/support/client.ts';
import { type ErrandProcess, spawnErrand } from '../../test/support/process.ts';

export const API_KEY = 'bench-key-bench-key-bench-key';
/** Seals nothing worth keeping. Of the form that a server makes itself: one that a person chose costs each start 0.1 s more. */
export const SECRET_KEY = `esk_${'bench-secret-key-'.repeat(3).slice(0, 43)}`;

export interface Bench extends AsyncDisposable {
  readonly client: Client;
  readonly process: ErrandProcess;
  readonly dataDir: string;
  /** From the spawn to the first answer of `/readyz`. */
  readonly readyMs: number;
  /** A workflow of one step with an HTTP trigger, which may have settings of its own. */
  workflow(
    code: string,
    settings?: Json,
    trigger?: Json,
  ): Promise<{ readonly id: string; readonly endpoint: string; readonly hi: string }>;
  webhook(url: string): Promise<string>;
  subscribe(emitterId: string, listenerId: string, eventName?: string): Promise<void>;
  ledger(): Promise<Json>;
  /** Waits until nothing is open; returns the ledger. */
  settled(): Promise<Json>;
}

/** More settings for the server; none: SQLite. */
export type Env = Readonly<Record<string, string>>;

/** A limit for what floods put into the queue. */
export const MANY = 1_000_000;

const SETTLE_MS = 120_000;
const POLL_MS = 10;

/** As the package has it. */
const PACKED = ['dist/errand.js', 'start'];

/** `dataDir`: one that is there already, and stays. `env`: more settings. `isPacked`: what `buildServer` has built. */
export async function startBench(dataDir?: string, env: Env = {}, isPacked = false): Promise<Bench> {
  const dir = dataDir ?? (await mkdtemp(join(tmpdir(), 'errand-bench-')));
  const before = performance.now();
  const settings = {
    ERRAND_DATA_DIR: dir,
    ERRAND_API_KEY: API_KEY,
    ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
    ERRAND_OWNERS_WITHOUT_JAIL: '1000',
    ERRAND_LOG_LEVEL: 'warn',
    ERRAND_SECRET_KEY: SECRET_KEY,
    ...env,
  };
  // Who installs the package has no cache of compiled code.
  const server = isPacked
    ? await spawnErrand({ ...settings, NODE_DISABLE_COMPILE_CACHE: '1' }, undefined, PACKED)
    : await spawnErrand(settings);
  await fetch(`${server.url}/readyz`).then((answer) => answer.arrayBuffer());
  const readyMs = performance.now() - before;
  const client = createClient(server.url, API_KEY);
  const ledger = async (): Promise<Json> => (await client.get('/v1/ledger')).data;
  return {
    client,
    process: server,
    dataDir: dir,
    readyMs,
    workflow: async (code, settings = {}, http = {}) => {
      const made = await client.post('/v1/workflows', {
        name: 'bench',
        steps: [{ namespace: 'step', code }],
        triggers: [{ type: 'http', ...http }],
        settings: { queue_limit: MANY, ...settings },
      });
      const [trigger] = made.triggers;
      return { id: made.id, endpoint: trigger.endpoint_url, hi: trigger.id };
    },
    webhook: async (url) => (await client.post('/v1/webhooks', { url })).id,
    subscribe: async (emitterId, listenerId, eventName) => {
      await client.post('/v1/subscriptions', { emitter_id: emitterId, listener_id: listenerId, event_name: eventName });
    },
    ledger,
    settled: async () => {
      const deadline = Date.now() + SETTLE_MS;
      for (;;) {
        const { runs, deliveries, ...rest } = await ledger();
        const open = runs.queued + runs.running + deliveries.pending + deliveries.sending;
        if (open === 0) return { runs, deliveries, ...rest };
        if (Date.now() > deadline) throw new Error(`still busy: ${JSON.stringify({ runs, deliveries })}`);
        await pause(POLL_MS);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await stop(server);
      if (dataDir === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
}

async function stop(server: ErrandProcess): Promise<void> {
  server.child.kill('SIGTERM');
  await server.exited;
  const complaints = server
    .stderr()
    .split('\n')
    .filter((line) => line !== '' && !/webhooks may reach|ERRAND_PUBLIC_URL/.test(line));
  if (complaints.length > 0) process.stderr.write(`${complaints.length} complaints, e.g. ${complaints[0]}\n`);
}

/** Resident memory in MB: all of it, and what is not shared with other processes. */
export async function memoryOf(pid: number): Promise<{ rssMb: number; ownMb: number }> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1] ?? 0);
  return { rssMb: kib('Rss') / 1024, ownMb: (kib('Private_Clean') + kib('Private_Dirty')) / 1024 };
}

/** Lets `peakMemoryMb` begin anew. */
export function startPeak(pid: number): Promise<void> {
  return writeFile(`/proc/${pid}/clear_refs`, '5');
}

/** The most that was resident since `startPeak`. */
export async function peakMemoryMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
}

/** The processes that run user code; the bundler is a child too. */
export async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(threads.map((tid) => readFile(`/proc/${pid}/task/${tid}/children`, 'utf8')));
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  const commands = await Promise.all(
    children.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')),
  );
  return children.filter((_, index) => commands[index]?.includes('child.mjs'));
}

const TICKS_PER_SECOND = 100;

/** CPU time that a process has used so far, in seconds. What other processes of the machine do does not change it much. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** CPU time of a process and all its children, with those that have ended, in seconds. */
export async function familyCpuSecondsOf(pid: number): Promise<number> {
  let ticks = 0;
  for (const entry of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Of itself, and of the children that it has waited for.
    const counted = Number(entry) === pid ? 4 : Number(fields[1]) === pid ? 2 : 0;
    for (const field of fields.slice(11, 11 + counted)) ticks += Number(field);
  }
  return ticks / TICKS_PER_SECOND;
}

/** CPU time in seconds by the name of a process's threads: the main thread's is `main`, libuv's pool syncs the store's files. */
export async function cpuByThread(pid: number): Promise<ReadonlyMap<string, number>> {
  const seconds = new Map<string, number>();
  for (const tid of await readdir(`/proc/${pid}/task`)) {
    const files = ['comm', 'schedstat'].map((name) => readFile(`/proc/${pid}/task/${tid}/${name}`, 'utf8'));
    // Threads end meanwhile.
    const [comm, schedstat] = await Promise.all(files).catch(() => [undefined, undefined]);
    if (comm === undefined || schedstat === undefined) continue;
    const name = Number(tid) === pid ? 'main' : comm.trim();
    seconds.set(name, (seconds.get(name) ?? 0) + Number(schedstat.split(' ')[0]) / 1e9);
  }
  return seconds;
}
