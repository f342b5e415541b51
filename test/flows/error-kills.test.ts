// Readers of errors whose server is killed while they read: an export, by lines, and a stream, by events. Both go on where they were.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { type Client, createClient, type Json } from '../support/client.ts';
import { databaseFor } from '../support/database.ts';
import { createErrandOn, type ErrandActions } from '../support/flows.ts';
import { createFolder } from '../support/folders/folder.ts';
import { type ErrandProcess, spawnErrand } from '../support/process.ts';
import { type Listener, listen } from '../support/stream.ts';

const KEY = 'test-key-test-key-test-key';
const THROWS = `export default ({ steps }) => {
  throw Object.assign(new Error('no'), { code: 'C' + (steps.trigger.event.body.n % 2) });
};`;
const QUIET = { settings: { notify: false, concurrency: 8 } };
/** More than the buffers between server and reader hold. */
const LARGE_ONES = 40;
const LARGE = 'x'.repeat(400_000);

interface Started extends AsyncDisposable, ErrandActions {
  readonly client: Client;
  kill(): Promise<void>;
}

async function start(folder: string): Promise<Started> {
  const server: ErrandProcess = await spawnErrand({
    ERRAND_DATA_DIR: folder,
    ERRAND_API_KEY: KEY,
    ERRAND_CODE_USER: 'server',
  });
  const client = createClient(server.url, KEY);
  const kill = async (): Promise<void> => {
    server.child.kill('SIGKILL');
    await server.exited;
  };
  return {
    client,
    kill,
    ...createErrandOn(() => client),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The workflow's address at this server: each start has a port of its own. */
const at = ({ client }: Started, workflow: Json): Json => ({
  ...workflow,
  triggers: workflow.triggers.map((trigger: Json) => ({
    ...trigger,
    endpoint_url: client.url + new URL(trigger.endpoint_url).pathname,
  })),
});

/** Begins to read, and takes nothing: what is sent from then on fills the buffers, and waits in the server. */
function begin({ client }: Started, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(`${client.url}${path}`, { headers: { authorization: `Bearer ${client.key}` } }, (response) => {
      response.once('readable', () => resolve(response));
    });
    request.once('error', reject);
  });
}

/** Returns the whole lines that came until the end, or until it was broken off. */
async function linesOf(response: IncomingMessage): Promise<Json[]> {
  const parts: Buffer[] = [];
  try {
    for await (const part of response) parts.push(part);
  } catch {
    // broken off
  }
  return Buffer.concat(parts)
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** What a reader of a stream has heard, over its connections. */
interface Follower {
  readonly path: string;
  readonly ids: string[];
}

async function follow(server: Started, { path, ids }: Follower): Promise<Listener> {
  return listen(server, path, { 'last-event-id': ids.at(-1) ?? '1-0' });
}

test('exports and streams go on where they were when their server was killed', { timeout: 300_000 }, async () => {
  await using folder = await createFolder();
  // Kept from one process to the next.
  await using _database = await databaseFor({}, folder.path);
  const followers: Follower[] = ['/v1/errors/stream', '/v1/errors/stream?code=C0'].map((path) => ({ path, ids: [] }));
  const exported: Json[][] = [];
  let [large, small]: Json[] = [];
  let exports: string[] = [];
  let sent = 0;
  for (let kills = 0; kills < 2; kills++) {
    await using server = await start(folder.path);
    if (kills === 0) {
      [large, small] = [await server.workflow(THROWS, QUIET), await server.workflow(THROWS, QUIET)];
      exports = ['/v1/errors/export', `/v1/workflows/${large.id}/$errors/export`];
      for (let n = 0; n < LARGE_ONES; n++) await server.send(large, { n, large: LARGE });
      await server.errors(large.id, LARGE_ONES);
    }
    const here = at(server, small);
    // Nobody listens yet.
    for (let n = 0; n < 2; n++) await server.send(here, { n: sent++ });
    const listeners = await Promise.all(followers.map((follower) => follow(server, follower)));
    const reading = kills > 0 ? [] : await Promise.all(exports.map((path) => begin(server, path)));
    // Events go on coming while it is killed: of the last ones nobody knows whether they were taken.
    let isOver = false;
    const sending = Array.from({ length: 2 }, async () => {
      while (!isOver) await server.send(here, { n: sent++ }).catch(() => undefined);
    });
    await Promise.all(listeners.map((listener) => listener.count(20)));
    await server.kill();
    isOver = true;
    await Promise.all([...sending, ...listeners.map(({ ended }) => ended)]);
    for (const response of reading) exported.push(await linesOf(response));
    for (const [n, { heard }] of listeners.entries()) followers[n]?.ids.push(...heard.flatMap(({ id }) => id ?? []));
  }
  await using server = await start(folder.path);
  await server.settled();
  const wholes: Json[][] = [];
  for (const [n, path] of exports.entries()) {
    const lines = exported[n] as Json[];
    ok(lines.length > 0 && lines.length < LARGE_ONES, `${lines.length} lines before the kill`);
    const rest = await linesOf(await begin(server, `${path}?after=${lines.at(-1).id}`));
    const whole = await linesOf(await begin(server, path));
    const { end } = rest.pop();
    deepEqual([end.complete, end.count, whole.pop().end.complete], [true, rest.length, true]);
    deepEqual(
      [...lines, ...rest].map(({ id }) => id),
      whole.map(({ id }) => id),
    );
    wholes.push(whole);
  }
  const [all = [], ofLarge = []] = wholes;
  equal(ofLarge.length, LARGE_ONES);
  for (const follower of followers) {
    await using listener = await follow(server, follower);
    const wanted = all.filter(({ error }) => !follower.path.includes('C0') || error.code === 'C0').map(({ id }) => id);
    await listener.count(wanted.length - follower.ids.length);
    // One more shows that nothing else came.
    await server.send(at(server, small), { n: 0 });
    const ids = (await listener.count(wanted.length - follower.ids.length + 1)).map(({ id }) => id);
    deepEqual([...follower.ids, ...ids.slice(0, -1)], wanted);
    wanted.push(ids.at(-1));
    all.push({ id: ids.at(-1), error: { code: 'C0' } });
  }
  ok(followers.every(({ ids }) => ids.length >= 40));
});
