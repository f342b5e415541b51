// errand owners delete and restore: over a server, and on its data dir.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { createOwner } from '../support/owners.ts';
import { openShell } from './command.ts';

test('an owner is deleted and restored by its name', async () => {
  await using errand = await startErrand();
  await createOwner(errand, 'Shop');
  await using shell = await openShell(errand.client);
  const unsure = await shell.run(['owners', 'delete', 'Shop', '--url', errand.url]);
  assert.deepEqual([unsure.code, unsure.stdout], [2, '']);
  assert.match(unsure.stderr, /deletes the owner Shop \(u_\w{16}\) with all that it owns\..*--yes/);
  assert.equal((await shell.json('owners', 'list'))[0].state, 'active');

  const deleted = await shell.run(['owners', 'delete', 'sho', '--yes', '--url', errand.url]);
  assert.equal(deleted.code, 0, deleted.stderr);
  assert.match(deleted.stdout, /^owner +u_\w{16}\nname +Shop\nstate +deleting\npurged from +\S+Z$/m);
  assert.match((await shell.run(['owners', 'list', '--url', errand.url])).stdout, /^u_\w{16} +\S+Z +deleting /m);
  const { state, purge_at: purgeAt } = await shell.json('owners', 'restore', 'Shop');
  assert.deepEqual([state, purgeAt], ['active', null]);

  const first = (await shell.json('owners', 'list')).at(-1);
  const refused = await shell.run(['owners', 'delete', first.id, '--yes', '--url', errand.url]);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /could not restore it/);
  assert.match((await shell.run(['owners', 'delete', 'nobody', '--yes', '--url', errand.url])).stderr, /nobody/);
});

test('an export is the same with and without a server', async () => {
  await using errand = await startErrand({ ERRAND_PUBLIC_URL: 'https://errand.example' });
  const other = await createOwner(errand, 'Shop');
  const workflow = await other.client.post('/v1/workflows', {
    name: 'test',
    steps: [{ namespace: 'step', code: 'export default () => 1' }],
    triggers: [{ type: 'http' }],
  });
  await other.client.post(`/v1/workflows/${workflow.id}/runs`, { event: { order: 1 } });
  await other.runs(workflow.id, 1);
  await using shell = await openShell(null);
  const exported = async (): Promise<Json[]> => {
    const { code, stdout, stderr } = await shell.run(['owners', 'export', 'Shop'], { env: { ...errand.settings } });
    assert.equal(code, 0, stderr);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    // When a key was used last is noted a moment later, and an export is in the log that it exports.
    return lines.filter(({ type, record }) => type !== 'key' && record.operation !== 'exportOwner');
  };
  const running = await exported();
  assert.ok(running.some(({ type, record }) => type === 'event' && /"order":\s*1/.test(record.event_text)));
  await errand.stop();
  assert.deepEqual(await exported(), running);
  const audit = await shell.run(['audit', 'list', '--json'], { env: { ...errand.settings } });
  assert.deepEqual(
    JSON.parse(audit.stdout)
      .filter(({ operation }: Json) => operation === 'exportOwner')
      .map(({ method, target_id: target, status }: Json) => [method, target, status]),
    [
      ['COMMAND', other.id, 200],
      ['GET', other.id, 200],
    ],
  );
});

test('a store without a server is told, too', async () => {
  await using errand = await startErrand({ ERRAND_OWNER_GRACE_DAYS: '3' });
  const other = await createOwner(errand, 'Shop');
  const first = (await errand.client.get('/v1/users/me')).data.id;
  await using shell = await openShell(null);
  await errand.stop();
  const run = (...args: string[]) => shell.run([...args, '--json'], { env: { ...errand.settings } });
  const nowS = Date.now() / 1000;
  const { code, stdout, stderr } = await run('owners', 'delete', 'Shop', '--yes');
  assert.equal(code, 0, stderr);
  const owner: Json = JSON.parse(stdout);
  assert.deepEqual([owner.id, owner.state], [other.id, 'deleting']);
  assert.ok(Math.abs(owner.purge_at - nowS - 3 * 86_400) < 120);
  const refused = await run('owners', 'delete', first, '--yes');
  assert.match(refused.stderr, /is the first owner of this installation/);
  assert.equal(JSON.parse((await run('owners', 'restore', 'Shop')).stdout).state, 'active');
  const audit: Json[] = JSON.parse((await run('audit', 'list')).stdout);
  assert.deepEqual(
    audit.slice(0, 3).map(({ operation, status, target_id: target }) => [operation, status, target]),
    [
      ['restoreOwner', 200, other.id],
      ['deleteOwner', null, first],
      ['deleteOwner', 200, other.id],
    ],
  );
});
