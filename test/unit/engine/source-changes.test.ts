// Changes of sources in one process: how long they wait, what they leave when they fail, and what is made of a mark that
// stands for a change that was cut off.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { Refusal } from '../../../src/domain/refusal.ts';
import { SourceChanges } from '../../../src/engine/sources/source-changes.ts';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { REGISTERING, startRegistry } from '../../support/sources/registry.ts';
import { until } from '../../support/wait.ts';

const CHANGE = { ownerId: 'u_1', sourceId: 'dc_1', kind: 'update' } as const;

function changes(begun: 'begun' | 'busy' | undefined) {
  const told: string[] = [];
  const end = async (): Promise<boolean> => told.push('ended') > 0;
  const store = { beginSourceChange: async () => begun, endSourceChange: end };
  const made = new SourceChanges({ store, wake: { notify: (topic) => void told.push(topic) }, waitMs: 0 });
  return { made, told };
}

test('a change waits for others only so long', async () => {
  const { made, told } = changes('busy');
  const done = made.do(CHANGE, async () => assert.fail('it is not its turn'));
  await assert.rejects(done, { code: 'conflict', message: /another change of dc_1 is under way/ });
  assert.deepEqual([told, made.underWay.size], [[], 0]);
});

test('a change of what is gone is refused', async () => {
  const { made, told } = changes(undefined);
  await assert.rejects(
    made.do(CHANGE, async () => assert.fail('there is nothing to change')),
    { code: 'not_found' },
  );
  assert.deepEqual([told, made.underWay.size], [[], 0]);
});

for (const [what, error, expected] of [
  ['is refused is over', new Refusal('impossible', 'no'), ['ended']],
  ['lost its store is left to be finished', new StoreUnavailable('away'), ['sourceChanges']],
] as const) {
  test(`a change that ${what}`, async () => {
    const { made, told } = changes('begun');
    const done = made.do(CHANGE, async () => {
      assert.deepEqual([...made.underWay], ['dc_1']);
      throw error;
    });
    await assert.rejects(done, error);
    assert.deepEqual([told, made.underWay.size], [expected, 0]);
  });
}

/** Starts again behind a process that has left that mark: all hooks of this source ran since that change began. */
async function restartCutOff(errand: Errand, sourceId: string, kind: string): Promise<void> {
  await errand.stop();
  const db = new DatabaseSync(join(errand.dataDir, 'errand.db'));
  const mark = 'INSERT INTO source_changes (source_id, owner_id, kind, boot, since_ms) SELECT id, owner_id, ?, 0, 0';
  db.prepare(`${mark} FROM runnables WHERE id = ?`).run(kind, sourceId);
  db.close();
  await errand.restart();
}

const finished = (errand: Errand) =>
  until('the change is finished', () => errand.logged.find(({ name }) => /finished a change/.test(name)));

for (const [kind, repaired, more] of [
  ['create', 'deleted', ['one deactivate']],
  ['delete', 'deleted', ['one deactivate']],
  ['update', 'unchanged', []],
] as const) {
  test(`a cut off ${kind} behind all hooks ends as ${repaired}`, async () => {
    await using registry = await startRegistry();
    await using errand = await startErrand();
    const props = { to: registry.url, label: 'one' };
    const made = { name: 'one', component_code: REGISTERING, configured_props: props };
    const { id } = await errand.client.post('/v1/sources', made);
    await restartCutOff(errand, id, kind);
    const { level, fields } = await finished(errand);
    const { source, change, repaired: told } = fields as Record<string, unknown>;
    assert.deepEqual([level, source, change, told], ['warn', id, kind, repaired]);
    assert.equal((await errand.client.request('GET', `/v1/sources/${id}`)).status, kind === 'update' ? 200 : 404);
    const hooks = registry.answered.filter((call) => !call.endsWith(' tick'));
    assert.deepEqual(hooks, ['one deploy', 'one activate', ...more]);
    assert.deepEqual(registry.registered(), kind === 'update' ? ['one'] : []);
  });
}
