// Workflow files that cannot be deployed: their owner is told, once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { answering, createWorkflowFiles, named } from '../../support/folders/workflow-files.ts';
import { createOwner } from '../../support/owners.ts';
import { until } from '../../support/wait.ts';

const BROKEN = 'export default oops(;';

async function errorsOf(on: Pick<Errand, 'client'>): Promise<Json[]> {
  const { text } = await on.client.request('GET', '/v1/errors/export');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Json)
    .filter(({ end }) => end === undefined);
}

const told = (errand: Errand, count: number): Promise<Json[]> =>
  until(`${count} errors`, async () => {
    const errors = await errorsOf(errand);
    return errors.length >= count && errors;
  });

test('a file that cannot be deployed is told once', async () => {
  await using folder = await createWorkflowFiles({ 'broken.ts': BROKEN, 'good.ts': answering('Good', '1') });
  await using errand = await startErrand({ ERRAND_WORKFLOWS_DIR: folder.path });
  const [first] = await told(errand, 1);
  assert.equal(first?.error.code, 'StartFailed');
  assert.match(first?.error.msg, /^The file broken\.ts was not deployed\. broken\.ts:1:\d+: /);
  assert.match(first?.metadata.emitter_id, /^p_/);
  const event = JSON.parse(first?.original_event_text);
  assert.deepEqual([event.file, event.problems.length], ['broken.ts', 1]);
  const file = await until('a mail', async () => (await errand.outbox())[0]);
  const { subject = '', text = '' } = await PostalMime.parse(file);
  assert.match(subject, /broken\.ts: StartFailed/);
  assert.ok(!text.includes('/replay') && text.includes('deployed again when it is changed'), text);
  // Another file is deployed meanwhile: the folder was scanned again.
  await folder.write({ 'more.ts': answering('More', '2') });
  await until('the other file', async () => named(errand, 'More'));
  await errand.restart();
  await folder.write({ 'last.ts': answering('Last', '3') });
  await until('the last file', async () => named(errand, 'Last'));
  assert.equal((await errorsOf(errand)).length, 1);
  const { errors } = (await errand.client.get('/v1/ledger')).data;
  assert.equal(errors.captured, 1);
  const other = await createOwner(errand, 'Bea');
  assert.deepEqual(await errorsOf(other), []);
});

test('a file that was never deployed has its list of errors', async () => {
  await using folder = await createWorkflowFiles({ 'broken.ts': BROKEN });
  await using errand = await startErrand({ ERRAND_WORKFLOWS_DIR: folder.path });
  const [told1] = await told(errand, 1);
  const list = `/v1/workflows/${told1?.metadata.emitter_id}/$errors/event_summaries`;
  const { data, page_info: page } = await errand.client.get(`${list}?expand=event`);
  assert.deepEqual([data.length, page.total_count, data[0].event.error.code], [1, 1, 'StartFailed']);
  const one = await errand.client.get(`${list}/${data[0].id}`);
  // The mail of that run is one, too, as soon as it is sent.
  assert.equal(one.data.receipts.filter(({ kind }: Json) => kind === 'run').length, 1);
  const other = await createOwner(errand, 'Bea');
  for (const path of [list, `${list}/${data[0].id}`])
    assert.equal((await other.client.request('GET', path)).status, 404);
  for (const path of ['', '/runs', '/$errors']) {
    const { status } = await errand.client.request('GET', `${list.split('/$errors')[0]}${path}`);
    assert.equal(status, 404, path);
  }
  await folder.write({ 'broken.ts': answering('Mended', '1') });
  const { id } = await until('the workflow', async () => named(errand, 'Mended'));
  assert.equal(id, told1?.metadata.emitter_id);
  assert.equal((await errand.client.get(list)).data.length, 1);
});

test('a deployed file that breaks is an error of its workflow', async () => {
  await using folder = await createWorkflowFiles({ 'a.ts': answering('A', '1') });
  await using errand = await startErrand({ ERRAND_WORKFLOWS_DIR: folder.path });
  const workflow = await named(errand, 'A');
  await folder.write({ 'a.ts': `${answering('A', '2')}\nthrow new Error('at the start');` });
  const [record] = await errand.errors(workflow?.id, 1);
  assert.match(record.event.error.msg, /at the start/);
  assert.equal(record.event.original_context.workflow_id, workflow?.id);
  const replay = await errand.client.request('POST', `/v1/workflows/${workflow?.id}/$errors/${record.id}/replay`);
  assert.equal(replay.status, 422, replay.text);
  // Another content is another error; the good file needs nothing.
  await folder.write({ 'a.ts': `${answering('A', '3')}\nthrow new Error('again');` });
  await errand.errors(workflow?.id, 2);
  await folder.write({ 'a.ts': answering('A', '4'), 'b.ts': answering('B', '1') });
  await until('both files', async () => named(errand, 'B'));
  assert.equal((await errorsOf(errand)).length, 2);
});
