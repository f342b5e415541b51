// Servers that are killed while they tell: of a storm of errors of one group, and of a heartbeat that was missed. On Postgres two
// servers share the database, and one of them is killed; on SQLite the one is, and started again.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openShell } from '../../cli/command.ts';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { databaseFor } from '../../support/database.ts';
import { createErrandOn, type ErrandActions } from '../../support/flows.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { type ErrandProcess, spawnErrand } from '../../support/process.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';

const KEY = 'test-key-test-key-test-key';
const THROWS = `export default ({ steps }) => { throw new Error('no card ' + steps.trigger.event.body.n); };`;
/** Servers at a time. */
const NODES = process.env.TEST_STORE === 'postgres' ? 2 : 1;
const KILLS = 4;

interface Server extends ErrandActions {
  readonly client: Client;
  readonly process: ErrandProcess;
}

/** Servers on one store; the oldest is killed, and another one started. */
class Servers implements AsyncDisposable {
  readonly #env: Record<string, string>;
  readonly #all: Server[] = [];
  #starting: Promise<void> = Promise.resolve();

  constructor(dataDir: string) {
    this.#env = {
      ERRAND_DATA_DIR: dataDir,
      ERRAND_API_KEY: KEY,
      ERRAND_CODE_USER: 'server',
      ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
    };
  }

  get newest(): Server {
    const server = this.#all.at(-1);
    if (!server) throw new Error('none is started');
    return server;
  }

  /** Waits while there is none. */
  async started(): Promise<void> {
    if (this.#all.length === 0) await this.#starting;
  }

  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const process = await spawnErrand(this.#env);
    const client = createClient(process.url, KEY);
    this.#all.push({ client, process, ...createErrandOn(() => client) });
  }

  /** Kills the oldest at once; the next one is there when it resolves. */
  replace(): Promise<void> {
    const server = this.#all.shift();
    server?.process.child.kill('SIGKILL');
    this.#starting = (async () => {
      await server?.process.exited;
      await this.#start();
    })();
    return this.#starting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.#all) await process[Symbol.asyncDispose]();
  }
}

/** The workflow's address at the newest server. */
const at = ({ newest }: Servers, workflow: Json): Json => ({
  ...workflow,
  triggers: workflow.triggers.map((trigger: Json) => ({
    ...trigger,
    endpoint_url: newest.client.url + new URL(trigger.endpoint_url).pathname,
  })),
});

/** What was told, each notice once: an attempt whose server was killed is made again. */
const toldOf = ({ received }: Receiver, groupId: string): Json[] =>
  [...new Set(received.map(({ body }) => String(body)))]
    .map((body) => JSON.parse(body))
    .filter((notice) => notice.group_id === groupId);

const sum = (notices: Json[]): number => notices.reduce((all, { more }) => all + more, 0);

async function told(servers: Servers): Promise<Receiver> {
  const receiver = await startReceiver();
  const { client } = servers.newest;
  const channel = await client.post('/v1/channels', { kind: 'http', config: { url: receiver.url } });
  await client.put('/v1/users/me', { channels: [channel.id], digest_window_ms: 60_000 });
  return receiver;
}

async function verified(dataDir: string, settings: Readonly<Record<string, string>>): Promise<void> {
  await using shell = await openShell(null);
  const { code, stdout, stderr } = await shell.run(['verify', '--json'], {
    env: { ERRAND_DATA_DIR: dataDir, ...settings },
  });
  equal(code, 0, `${stdout}${stderr}`);
}

test('counts of a storm add up when servers are killed while they tell', { timeout: 600_000 }, async () => {
  await using folder = await createFolder();
  await using database = await databaseFor({}, folder.path);
  await using servers = new Servers(folder.path);
  for (let n = 0; n < NODES; n++) await servers.start();
  await using receiver = await told(servers);
  const workflow = await servers.newest.workflow(THROWS, { settings: { concurrency: 8 } });
  let sent = 0;
  let isOver = false;
  const storm = Array.from({ length: 2 }, async () => {
    // Of those that are under way when a server is killed nobody knows whether they were taken.
    while (!isOver) {
      await servers.started();
      const send = async (): Promise<string> => servers.newest.send(at(servers, workflow), { n: sent++ });
      await send().catch(() => undefined);
    }
  });
  for (let kills = 0; kills < KILLS; kills++) {
    const heard = receiver.received.length;
    // Of all moments, the one at which a notice has been sent and its server does not know it yet.
    const isHeard = (): boolean => receiver.received.length > heard;
    if (kills % 2 === 0) await until('a notice', isHeard);
    await servers.replace();
  }
  isOver = true;
  await Promise.all(storm);
  await servers.newest.settled();
  // A run whose server is killed again and again fails by that, which is another group.
  const groups: Json[] = (await servers.newest.client.get(`/v1/error_groups?emitter_id=${workflow.id}`)).data;
  const group = groups.find(({ fingerprint }) => fingerprint.template.startsWith('no card'));
  ok(group);
  ok(group.count > KILLS);
  await until('all errors to be told', () => sum(toldOf(receiver, group.id)) >= group.count);
  await servers.newest.settled();
  const notices = toldOf(receiver, group.id);
  deepEqual([sum(notices), notices.at(-1)?.count], [group.count, group.count]);
  deepEqual(
    notices.map(({ kind }) => kind),
    ['error', ...notices.slice(1).map(() => 'digest')],
  );
  await verified(folder.path, database.settings);
});

test('a heartbeat that is missed while servers are killed is told once', { timeout: 600_000 }, async () => {
  await using folder = await createFolder();
  await using database = await databaseFor({}, folder.path);
  await using servers = new Servers(folder.path);
  for (let n = 0; n < NODES; n++) await servers.start();
  await using receiver = await told(servers);
  const made = { name: 'Backup', interval_seconds: 10, grace_seconds: 30 };
  const heartbeat = await servers.newest.client.post('/v1/heartbeats', made);
  await fetch(heartbeat.ping_url.replace(/^.*\/h\//, `${servers.newest.client.url}/h/`));
  const path = `/v1/heartbeats/${heartbeat.id}/$errors/event_summaries?expand=event`;
  const errors = async (): Promise<Json[]> => (await servers.newest.client.get(path)).data;
  // A server needs a moment to see what is due.
  while ((await errors()).length === 0) {
    await pause(2000);
    await servers.replace();
  }
  await receiver.wait(1);
  await servers.replace();
  await servers.newest.settled();
  const [one, ...others] = await errors();
  deepEqual([one?.event.error.code, others], ['Silent', []]);
  equal(new Set(receiver.received.map(({ body }) => String(body))).size, 1);
  await verified(folder.path, database.settings);
});
