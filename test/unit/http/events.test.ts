import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordId } from '../../../src/domain/ids.ts';
import { failed } from '../../contract/fixtures.ts';
import { OTHER_KEY, startServer } from './harness.ts';
import { idOf, source, subscription, webhook, workflow } from './records.ts';

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

test('one event tells who got it', async (t) => {
  const { stage, seed, call } = await startServer(t);
  await seed.source(source(1));
  await seed.source(source(2));
  await seed.webhooks(webhook(1));
  await seed.subscriptions(subscription(1, { emitterId: DC1, listenerId: idOf('wh_', 1), eventName: '' }));
  const { entry, emitId } = await stage.append(DC1, { itemId: 'evt_109', body: Buffer.from('{"n":1.0}') });
  const path = `/v1/sources/${DC1}/event_summaries`;
  const { json: list } = await call('GET', `${path}?item_id=evt_109`);
  assert.deepEqual([list.page_info.total_count, list.data[0].id], [1, recordId(entry)]);
  assert.equal((await call('GET', `${path}?item_id=evt_10`)).json.page_info.total_count, 0);
  assert.equal((await call('GET', `${path}?item_id=evt_109&event_name=$in`)).status, 400);
  for (const id of [recordId(entry), emitId]) {
    const { text, json } = await call('GET', `${path}/${id}?expand=event`);
    assert.match(text, /"event":\{"n":1\.0\}/);
    assert.equal(json.data.metadata.id, 'evt_109');
    const [receipt] = json.data.receipts;
    assert.deepEqual(
      [receipt.kind, receipt.listener_id, receipt.state, json.data.receipts.length],
      ['delivery', idOf('wh_', 1), 'pending', 1],
    );
  }
  const elsewhere = [`/v1/sources/${idOf('dc_', 2)}`, `/v1/workflows/${DC1}`, `/v1/sources/${idOf('dc_', 7)}`];
  for (const of of elsewhere) {
    assert.equal((await call('GET', `${of}/event_summaries/${emitId}`)).status, 404, of);
  }
  assert.equal((await call('GET', `${path}/${emitId}`, { key: OTHER_KEY })).status, 404);
  assert.equal((await call('GET', `${path}/yesterday`)).status, 404);
});

test('an error is an event, too', async (t) => {
  const { stage, seed, call } = await startServer(t);
  await seed.workflows(workflow(1));
  const run = await stage.started(workflow(1));
  await stage.end(run, failed());
  const base = `/v1/workflows/${idOf('p_', 1)}`;
  const { json } = await call('GET', `${base}/$errors/event_summaries`);
  const [{ id }] = json.data;
  assert.equal((await call('GET', `${base}/$errors/event_summaries/${id}`)).status, 200);
  assert.equal((await call('GET', `${base}/event_summaries/${id}`)).json.data.metadata.name, '$errors');
});
