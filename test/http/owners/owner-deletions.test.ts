// Owners that are deleted: refused at once, restored within the grace, and gone with all that they owned behind it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { beat } from '../../support/heartbeats.ts';
import { createOwner, type OwnerOn } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { until } from '../../support/wait.ts';

const DAY_MS = 86_400_000;
const SETTLED_MS = 600_000;
const REFUSED = 'The owner is being deleted';
const OK = 'export default () => 1';

const remove = (errand: Pick<Errand, 'client'>, { id }: { id: string }) =>
  errand.client.request('DELETE', `/v1/owners/${id}`);
const restore = (errand: Errand, { id }: { id: string }) => errand.client.request('POST', `/v1/owners/${id}/restore`);

async function ownerOf(errand: Errand, { id }: OwnerOn): Promise<Json> {
  return (await errand.client.get('/v1/owners')).data.find((owner: Json) => owner.id === id);
}

/** The purge is over: the time in which late requests may write has passed. */
async function purged(errand: Errand, owner: OwnerOn): Promise<void> {
  errand.forward(SETTLED_MS + 1000);
  await errand.restart();
  await until('the purge', async () => (await ownerOf(errand, owner)) === undefined);
}

test('a deleted owner is refused until it is restored', async () => {
  await using errand = await startErrand();
  const [other, third] = [await createOwner(errand), await createOwner(errand, 'third')];
  const workflow = await other.workflow(OK);
  const heartbeat = await beat(other);
  const url = workflow.triggers[0].endpoint_url;
  const before = Math.floor(Date.now() / 1000);
  const { status, text } = await remove(errand, other);
  assert.equal(status, 200);
  const { data } = JSON.parse(text);
  assert.equal(data.state, 'deleting');
  assert.ok(data.purge_at >= before + 7 * 86_400 && data.purge_at <= before + 7 * 86_400 + 60);
  assert.deepEqual(await ownerOf(errand, other), data);

  const refused = await other.client.request('GET', '/v1/users/me');
  assert.equal(assertProblem(refused, 403).title, REFUSED);
  for (const address of [url, heartbeat.ping_url]) {
    const answer = await fetch(address, { method: 'POST', body: '{}' });
    assert.equal(answer.status, 403, address);
    assert.equal(((await answer.json()) as Json).title, REFUSED);
  }
  assertProblem(await errand.client.request('POST', `/v1/owners/${other.id}/keys`, { label: 'late' }), 409);
  assert.equal((await third.client.get('/v1/users/me')).data.state, 'active');
  const again = await remove(errand, other);
  assert.deepEqual([again.status, JSON.parse(again.text).data.purge_at], [200, data.purge_at]);

  const restored = await restore(errand, other);
  assert.deepEqual([restored.status, JSON.parse(restored.text).data.state], [200, 'active']);
  await other.send(workflow, {});
  await other.runs(workflow.id, 1);
  assert.equal((await fetch(heartbeat.ping_url, { method: 'POST' })).status, 200);
});

test('who may not delete an owner is told why', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand);
  const first = (await errand.client.get('/v1/users/me')).data;
  assertProblem(await remove(errand, first), 409);
  assertProblem(await remove(errand, { id: 'u_0000000000009999' }), 404);
  assertProblem(await restore(errand, { id: 'u_0000000000009999' }), 404);
  assertProblem(await other.client.request('DELETE', `/v1/owners/${other.id}`), 403);
  assertProblem(await other.client.request('POST', `/v1/owners/${other.id}/restore`), 403);
  // An admin's key of another owner deletes others, and neither its own owner nor the first one.
  const scopes = ['read', 'admin'];
  const { api_key: key } = await errand.client.post(`/v1/owners/${other.id}/keys`, { label: 'admin', scopes });
  const admin = { client: createClient(errand.url, key) };
  const own = await remove(admin, other);
  assertProblem(own, 409);
  assert.match(JSON.parse(own.text).detail, /with a key of another one/);
  assertProblem(await remove(admin, first), 409);
  assert.equal((await ownerOf(errand, other)).state, 'active');
});

test('runs that wait are cancelled, and the one under way ends', async () => {
  await using errand = await startErrand();
  const [other, third] = [await createOwner(errand), await createOwner(errand, 'third')];
  await using gate = await startGate();
  const slow = `export default async () => { await fetch(process.env.GATE); return 1 }`;
  const workflow = await other.workflow(slow, { settings: { concurrency: 1, env: { GATE: gate.url } } });
  for (let n = 0; n < 10; n++) await Promise.all(Array.from({ length: 100 }, () => other.send(workflow, { n })));
  await gate.wait(1);
  const gone = remove(errand, other);
  const late = await Promise.allSettled(Array.from({ length: 20 }, () => other.send(workflow, {})));
  await gone;
  gate.open();
  const kept = await third.workflow(OK);
  await third.send(kept, {});
  await third.runs(kept.id, 1);
  await restore(errand, other);
  const ledger = await until('all is over', async () => {
    const { data } = await other.client.get('/v1/ledger');
    return data.runs.queued + data.runs.running === 0 && data;
  });
  const accepted = 1000 + late.filter(({ status }) => status === 'fulfilled').length;
  assert.equal(ledger.emissions, accepted, 'each that was answered with 200 is in the log');
  assert.ok(ledger.runs.cancelled > 900);
  assert.equal(ledger.runs.failed, 0);
});

test('a purge takes all, files and names too', async () => {
  await using errand = await startErrand({ ERRAND_OWNER_GRACE_DAYS: '0', ERRAND_MAIL_TO: '' });
  const [other, third] = [await createOwner(errand, 'shop'), await createOwner(errand, 'third')];
  for (const owner of [other, third]) {
    const workflow = await owner.workflow(`export default () => { throw new Error('of ${owner.id}') }`);
    await owner.send(workflow, { card: 4242 });
  }
  await until('two mails', async () => (await errand.outbox()).length === 2);
  assert.equal((await remove(errand, other)).status, 200);
  const namesake = await createOwner(errand, 'shop');
  await purged(errand, other);
  const as = (owner: OwnerOn) => createClient(errand.url, owner.data.api_key);
  assertProblem(await as(other).request('GET', '/v1/users/me'), 401);
  assertProblem(await restore(errand, other), 404);
  const mails = await errand.outbox();
  assert.equal(mails.length, 1);
  assert.match(mails[0] ?? '', new RegExp(third.id));
  assert.equal((await as(third).get('/v1/ledger')).data.errors.captured, 1);
  assert.equal((await as(namesake).get('/v1/users/me')).data.name, 'shop');
  const { data } = await errand.client.get(`/v1/audit?target=${other.id}`);
  assert.deepEqual(
    data.map(({ operation }: Json) => operation),
    ['restoreOwner', 'purgeOwner', 'deleteOwner', 'createOwner'],
  );
});

test('an owner is not purged before its grace is over', async () => {
  await using errand = await startErrand({ ERRAND_OWNER_GRACE_DAYS: '2' });
  const other = await createOwner(errand);
  const workflow = await other.workflow(OK);
  await remove(errand, other);
  errand.forward(2 * DAY_MS - 60_000);
  await errand.restart();
  assert.equal((await restore(errand, other)).status, 200);
  const client = createClient(errand.url, other.data.api_key);
  assert.equal((await client.get(`/v1/workflows/${workflow.id}`)).data.id, workflow.id);
});
