import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from './harness.ts';
import { idOf, source, workflow } from './records.ts';

const DC1 = idOf('dc_', 1);

test('events show what the source gave', async (t) => {
  const { stage, seed, call } = await startServer(t);
  await seed.source(source(1));
  const given = { itemId: '7', summary: 'Seven', itemTs: 1234, body: Buffer.from('{"a":7}') };
  const { emitId } = await stage.append(DC1, given);
  await stage.append(DC1, { name: 'other' });
  const { json } = await call('GET', `/v1/sources/${DC1}/event_summaries?expand=event`);
  assert.equal(json.data.length, 1);
  assert.deepEqual(json.data[0].metadata, {
    emitter_id: DC1,
    emit_id: emitId,
    name: '',
    id: '7',
    summary: 'Seven',
    ts: 1234,
  });
  assert.deepEqual(json.data[0].event, { a: 7 });
});

test('a channel is chosen by its name', async (t) => {
  const { stage, seed, call } = await startServer(t);
  await seed.source(source(1));
  await seed.workflows(workflow(1));
  await stage.append(DC1, { name: 'other' });
  await stage.append(idOf('p_', 1), { name: 'other' });
  const ofSource = await call('GET', `/v1/sources/${DC1}/event_summaries?event_name=other`);
  assert.equal(ofSource.json.data[0].metadata.name, 'other');
  const ofWorkflow = await call('GET', `/v1/workflows/${idOf('p_', 1)}/event_summaries?event_name=other`);
  assert.equal(ofWorkflow.json.data.length, 1);
  assert.equal('summary' in ofWorkflow.json.data[0].metadata, false);
});
