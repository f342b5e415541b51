// A server that is killed in the middle of changes of its sources: each of them is finished after the restart, so that
// nothing is half made, here or at the vendor whose webhooks the sources register.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../../support/client.ts';
import { API_KEY } from '../../support/errand.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { type ErrandProcess, spawnErrand } from '../../support/process.ts';
import { REGISTERING, type Registry, startRegistry } from '../../support/sources/registry.ts';
import { until } from '../../support/wait.ts';

async function start(dataDir: string) {
  const env = { ERRAND_DATA_DIR: dataDir, ERRAND_API_KEY: API_KEY, ERRAND_ALLOW_TARGETS: '127.0.0.0/8' };
  const errand = await spawnErrand(env);
  const client = createClient(errand.url, API_KEY);
  return { errand, client, [Symbol.asyncDispose]: () => errand[Symbol.asyncDispose]() };
}

type Server = Awaited<ReturnType<typeof start>>;

/** A request whose answer nobody may live to see. */
function ask(server: Server, method: string, path: string, body?: unknown): void {
  server.client.request(method, path, body).catch(() => undefined);
}

const propsOf = (registry: Registry, label: string, version = 'a') => ({ to: registry.url, label, version });

function bodyOf(registry: Registry, label: string): Json {
  return { name: label, component_code: REGISTERING, configured_props: propsOf(registry, label) };
}

async function kill({ child, exited }: ErrandProcess): Promise<void> {
  child.kill('SIGKILL');
  await exited;
}

const emittedBy = async ({ client }: Server, id: string): Promise<Json> =>
  client.get(`/v1/sources/${id}/event_summaries?expand=event`);

/** Waits for ticks behind those that were emitted so far, and tells what they say. */
async function ticks(server: Server, id: string): Promise<string> {
  const [before] = (await emittedBy(server, id)).data;
  return until(`a tick of ${id}`, async () => {
    const [last] = (await emittedBy(server, id)).data;
    return last && last.id !== before?.id && last.event;
  });
}

const listed = async ({ client }: Server): Promise<string[]> =>
  (await client.get('/v1/sources')).data.map(({ name }: Json) => name).sort();

test('changes that a kill cut off are finished', async () => {
  await using folder = await createFolder();
  await using registry = await startRegistry();
  await using first = await start(folder.path);
  const made = new Map<string, Json>();
  for (const label of ['off', 'on', 'gone', 'broken', 'waits']) {
    made.set(label, await first.client.post('/v1/sources', bodyOf(registry, label)));
  }
  const pathOf = (label: string): string => `/v1/sources/${made.get(label).id}`;
  const put = (label: string) => ({ configured_props: propsOf(registry, label, 'b') });

  // Its hook has not begun: a run of the source itself is under way.
  registry.hold('waits tick');
  await registry.held('waits tick');
  ask(first, 'PUT', pathOf('waits'), put('waits'));
  const held = ['new deploy', 'newer activate', 'off deactivate', 'on activate', 'broken activate', 'gone deactivate'];
  for (const call of held) registry.hold(call);
  for (const label of ['new', 'newer']) ask(first, 'POST', '/v1/sources', bodyOf(registry, label));
  for (const label of ['off', 'on', 'broken']) ask(first, 'PUT', pathOf(label), put(label));
  ask(first, 'DELETE', pathOf('gone'));
  for (const call of held) await registry.held(call);
  await until('the hook is queued', async () => (await first.client.get('/v1/ledger')).data.runs.queued > 0);
  await kill(first.errand);
  const sofar = registry.answered.length;

  // What is to be finished holds up neither the start nor the others, and who wants to change such a source waits.
  registry.hold('off deactivate');
  registry.refuse('broken activate');
  await using second = await start(folder.path);
  await registry.held('off deactivate');
  await until('the others are finished', async () => (await listed(second)).join() === 'broken,off,on,waits');
  const renamed = second.client.put(pathOf('off'), { name: 'renamed' });
  assert.equal(await ticks(second, made.get('on').id), 'b');
  assert.equal(await ticks(second, made.get('waits').id), 'a', 'nothing had been done');
  registry.letGo('off deactivate');
  assert.equal((await renamed).active, true);
  assert.equal(await ticks(second, made.get('off').id), 'a', 'its change was not written');
  assert.deepEqual(await listed(second), ['broken', 'on', 'renamed', 'waits']);
  assert.deepEqual(registry.registered(), ['off', 'on', 'waits'], 'one webhook each, and none of those that are gone');

  const broken = await until('what cannot be switched on to be off', async () => {
    const { data } = await second.client.get(pathOf('broken'));
    return !data.active && data;
  });
  assert.equal(broken.configured_props.version, 'b');
  const { data: errors } = await second.client.get(`${pathOf('broken')}/$errors/event_summaries?expand=event`);
  assert.deepEqual(
    errors.map(({ event }: Json) => event.error.msg),
    ['activate was refused'],
  );

  const calls = (label: string) =>
    registry.answered.slice(sofar).filter((call) => call.startsWith(`${label} `) && !call.endsWith(' tick'));
  assert.deepEqual(
    ['new', 'newer', 'gone', 'on', 'broken', 'waits'].flatMap(calls),
    ['gone deactivate', 'on activate', 'broken activate'],
    'no hook is run again beside those',
  );
  const whole = ['off deactivate', 'off activate'];
  assert.deepEqual(calls('off'), [...whole, ...whole], 'the new change came after the old one');
});
