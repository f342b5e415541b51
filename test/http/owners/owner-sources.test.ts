// Sources of an owner that is deleted: what their `activate` has registered at other services is taken back, once it is too late to
// restore the owner.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { startGate } from '../../support/gate.ts';
import { createOwner, type OwnerOn } from '../../support/owners.ts';
import { spawnErrand } from '../../support/process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';

const DAY_MS = 86_400_000;
const KEY = 'a-key-that-only-this-test-knows';

/** Registers its address at a vendor, and remembers the registration. */
const REGISTERED = `export default {
  props: { http: '$.interface.http', db: '$.service.db', vendor: 'string', token: { type: 'string', secret: true } },
  methods: { async tell(about) {
    const headers = { authorization: this.token };
    await fetch(this.vendor, { method: 'POST', headers, body: JSON.stringify({ ...about, at: this.http.endpoint }) });
  } },
  hooks: {
    async activate() { this.db.set('registration', 'r1'); await this.tell({ on: 'r1' }); },
    async deactivate() { this.$emit({}); await this.tell({ off: this.db.get('registration') }); },
  },
  run() {},
};`;

const deploy = ({ client }: OwnerOn, code: string, more: Json = {}): Promise<Json> =>
  client.post('/v1/sources', { component_code: code, ...more });

test('what a source has registered is taken back by the purge', async () => {
  await using errand = await startErrand({ ERRAND_OWNER_GRACE_DAYS: '2', ERRAND_PUBLIC_URL: 'https://errand.example' });
  await using vendor = await startReceiver();
  const [other, third] = [await createOwner(errand), await createOwner(errand, 'third')];
  const props = { configured_props: { vendor: vendor.url, token: 'vendor-token' } };
  const source = await deploy(other, REGISTERED, { ...props, name: 'orders' });
  const off = await deploy(other, REGISTERED, props);
  await other.client.put(`/v1/sources/${off.id}`, { active: false });
  const failing = await deploy(
    other,
    `export default {
    props: { http: '$.interface.http' },
    hooks: { deactivate() { throw new TypeError('the vendor is away') } },
  };`,
  );
  await deploy(third, REGISTERED, props);
  await vendor.wait(4);
  await errand.client.delete(`/v1/owners/${other.id}`);
  errand.forward(DAY_MS);
  await errand.restart();
  assert.equal((await errand.client.post(`/v1/owners/${other.id}/restore`, {})).state, 'active');
  const client = createClient(errand.url, other.data.api_key);
  assert.equal((await client.get(`/v1/sources/${source.id}`)).data.active, true);
  await errand.client.delete(`/v1/owners/${other.id}`);
  errand.forward(2 * DAY_MS);
  await errand.restart();
  const told = await vendor.wait(5);
  assert.deepEqual(
    told.slice(4).map(({ headers, body }) => [headers.authorization, JSON.parse(String(body))]),
    [['vendor-token', { off: 'r1', at: source.endpoint_url }]],
  );
  const records: Json[] = await until('both hooks', async () => {
    const { data } = await errand.client.get('/v1/audit?operation=deactivateSource');
    return data.length === 2 && data;
  });
  assert.deepEqual(
    records.map(({ target_id: id, status, path }) => [id, status, path]).toSorted(),
    [
      [source.id, 200, 'second: orders'],
      [failing.id, 500, `second: ${failing.name}`],
    ].toSorted(),
  );
  const [warned] = errand.logged.filter(({ name }) => /hook deactivate/.test(name));
  assert.deepEqual(warned?.fields, {
    ...{ owner: other.id, source: failing.id, name: failing.name },
    ...{ code: 'TypeError', thrown: 'the vendor is away' },
  });
  errand.forward(DAY_MS);
  await errand.restart();
  await until('the purge', async () =>
    (await errand.client.get('/v1/owners')).data.every(({ id }: Json) => id !== other.id),
  );
  assert.equal(vendor.received.length, 5, `the one that was off (${off.id}), and the other owner's, are not called`);
});

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`a hook that ${signal} has cut off runs again`, () => cutOff(signal));

async function cutOff(signal: NodeJS.Signals): Promise<void> {
  await using folder = await createFolder();
  await using gate = await startGate();
  const env = { ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: KEY, ERRAND_OWNER_GRACE_DAYS: '0' };
  await using first = await spawnErrand({ ...env, ERRAND_ALLOW_TARGETS: '127.0.0.0/8' });
  const client = createClient(first.url, KEY);
  const data = await client.post('/v1/owners', { name: 'second', email: 'two@example.com' });
  const theirs = createClient(first.url, data.api_key);
  await theirs.post('/v1/sources', {
    component_code: `export default {
      props: { http: '$.interface.http', to: 'string' },
      hooks: { async deactivate() { await (await fetch(this.to + '/off')).text(); } },
    };`,
    configured_props: { to: gate.url },
  });
  await client.delete(`/v1/owners/${data.id}`);
  await gate.wait(1);
  first.child.kill(signal);
  await first.exited;
  await using second = await spawnErrand({ ...env, ERRAND_ALLOW_TARGETS: '127.0.0.0/8' });
  await gate.wait(2);
  gate.open();
  const again = createClient(second.url, KEY);
  await until('the record', async () => (await again.get('/v1/audit?operation=deactivateSource')).data.length === 1);
}
