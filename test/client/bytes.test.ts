// Answers and bodies as text: what JavaScript would round, reorder or drop.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Errand, textOf } from '../../src/client/client.ts';
import { shareErrand } from '../support/shared-errand.ts';

const newErrand = shareErrand();

/** A number that is rounded, members out of their order, and one that comes twice. */
const EVENT = '{"z":1,"order":12345678901234567890,"10":2,"z":3,"huge":1e400}';

test('an event is sent and read as it is written', async () => {
  await using errand = await newErrand();
  const { url, key } = errand.client;
  const client = new Errand({ url, key });
  const { data: workflow } = await client.createWorkflow({
    name: 'bytes',
    steps: [{ namespace: 'step', code: 'export default () => 1;' }],
  });
  const input = { id: workflow.id, event: null };
  const { data: started } = await client.runWorkflow(input, { bodyText: `{"event":${EVENT}}` });
  const run = await client.getRun({ id: String(started.run_id) });
  assert.ok(textOf(run).includes(`"event":${EVENT}`), textOf(run));
  assert.equal((run.data.event as { order: number }).order, 12345678901234567000);
  const list = await client.listRuns({ id: workflow.id });
  assert.deepEqual(JSON.parse(textOf(list)), list);
});

test('an event of a stream is read as it was written', async () => {
  await using errand = await newErrand();
  const { url, key } = errand.client;
  const client = new Errand({ url, key });
  const workflow = await errand.workflow('export default () => { throw new Error("no"); };');
  await client.runWorkflow({ id: workflow.id, event: null }, { bodyText: `{"event":${EVENT}}` });
  await errand.errors(workflow.id, 1);
  for await (const one of client.streamErrors({}, { lastEventId: '1000000000000-0' })) {
    assert.ok(one.kind === 'event');
    assert.ok(textOf(one.data).includes(`"original_event":${EVENT}`), textOf(one.data));
    assert.deepEqual(JSON.parse(textOf(one.data)), one.data);
    break;
  }
});

test('a body that is no JSON, or that nothing takes, is not sent', async () => {
  const client = new Errand({ url: 'http://127.0.0.1:9', key: 'k', fetch: () => assert.fail('it was sent') });
  const input = { id: 'p_1', event: null };
  for (const bodyText of ['', '{"event":', '{"event":1}}']) {
    await assert.rejects(client.runWorkflow(input, { bodyText }), {
      name: 'TypeError',
      message: /bodyText: it is no JSON/,
    });
  }
  await assert.rejects(client.getRun({ id: 'r_1' }, { bodyText: '{}' }), { message: /takes no body/ });
  assert.throws(() => textOf({}), /no answer of a method/);
});

/** What does not call the interface for the dashboard's pages, or not as they do. */
const OTHERS: Readonly<Record<string, string>> = {
  'api/errand.ts': 'gives the client its `fetch`',
  'app/later.tsx': 'asks whether the server is there when a script of the page did not come',
  'errors/error.tsx': 'has a link that downloads a fixture',
  'webhooks/mail.tsx': 'shows a mail in a sandboxed frame, by its address',
  'overview/examples.ts': 'sends an event to the endpoint of a workflow, whose answer is its own',
  'docs/request.ts': 'sends what a reader of the reference has typed, valid or not',
  'docs/search.ts': 'reads the index of the documents',
  'docs/try-it.ts': 'reads the OpenAPI document, and whether there is a session: the pages of documents load no client',
};

test('the dashboard talks to the server by this client alone', async () => {
  const root = join(import.meta.dirname, '../../dashboard/src');
  const files = (await readdir(root, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  const found: string[] = [];
  for (const file of files) {
    const text = await readFile(join(root, file), 'utf8');
    if (/(?<![.\w])fetch\(|XMLHttpRequest|sendBeacon|['"`]\/v1\//.test(text)) found.push(file);
  }
  assert.deepEqual(found.sort(), Object.keys(OTHERS).sort());
});
