import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS, type Source } from '../../../src/domain/resource.ts';
import { emission, idOf, OWNER_ID, T0_MS, workflow } from './fake-store.ts';
import { startServer } from './harness.ts';

const DC1 = idOf('dc_', 1);
const SOURCE: Source = {
  id: DC1,
  ownerId: OWNER_ID,
  name: 'Clock',
  active: true,
  deploymentId: idOf('d_', 1),
  settings: DEFAULT_SETTINGS,
  componentCode: 'export default {}',
  configuredProps: {},
  additionalProps: {},
  secretProps: [],
  dedupe: null,
  createdAtMs: T0_MS,
  updatedAtMs: T0_MS,
};

test('events show what the source gave', async (t) => {
  const { data, call } = await startServer(t);
  data.sources.push(SOURCE);
  const given = { emitterId: DC1, itemId: '7', summary: 'Seven', itemTs: 1234, body: Buffer.from('{"a":7}') };
  data.emissions.push(emission(1, given), emission(2, { emitterId: DC1, name: 'other' }));
  const { json } = await call('GET', `/v1/sources/${DC1}/event_summaries?expand=event`);
  assert.equal(json.data.length, 1);
  const { emit_id: emitId, ...metadata } = json.data[0].metadata;
  assert.equal(emitId, emission(1).emitId);
  assert.deepEqual(metadata, { emitter_id: DC1, name: '', id: '7', summary: 'Seven', ts: 1234 });
  assert.deepEqual(json.data[0].event, { a: 7 });
});

test('a channel is chosen by its name', async (t) => {
  const { data, call } = await startServer(t);
  data.sources.push(SOURCE);
  data.workflows.push(workflow(1));
  data.emissions.push(emission(1, { emitterId: DC1, name: 'other' }), emission(2, { name: 'other' }));
  const ofSource = await call('GET', `/v1/sources/${DC1}/event_summaries?event_name=other`);
  assert.equal(ofSource.json.data[0].metadata.name, 'other');
  const ofWorkflow = await call('GET', `/v1/workflows/${idOf('p_', 1)}/event_summaries?event_name=other`);
  assert.equal(ofWorkflow.json.data.length, 1);
  assert.equal('summary' in ofWorkflow.json.data[0].metadata, false);
});
