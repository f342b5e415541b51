import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import { recordId } from '../../../src/domain/ids.ts';
import { DEFAULT_SETTINGS } from '../../../src/domain/resource.ts';
import { appended, type Harness, KEY, type Overrides, startServer } from './harness.ts';
import { connect } from './raw-connection.ts';
import { idOf, OTHER_ID, subscription, webhook, workflow } from './records.ts';

const ODD =
  '{"n":12345678901234567890,"a":1,"a":2,"__proto__":3,"10":1,"9":2,"s":"\\ud800\\u0000","f":1e400, "z" : -0.0}';
const BODY = `{"original_event":${ODD},"original_context":{},"error":{"code":"E"}}`;
const P1 = idOf('p_', 1);

interface Started extends Harness {
  /** Entries: an error of the first workflow, another event of it, an error of the second, one of a webhook. */
  readonly entries: readonly number[];
}

async function started(t: Parameters<typeof startServer>[0], overrides: Overrides = {}): Promise<Started> {
  const harness = await startServer(t, overrides);
  const { seed, stage } = harness;
  await seed.workflows(workflow(1), workflow(2), workflow(3, { ownerId: OTHER_ID }));
  await seed.webhooks(webhook(1));
  const entries: number[] = [];
  for (const [emitterId, name, body] of [
    [P1, ERRORS, BODY],
    [P1, '', '[1]'],
    [idOf('p_', 2), ERRORS, '{}'],
    [idOf('wh_', 1), ERRORS, '{}'],
  ] as const) {
    entries.push((await stage.append(emitterId, { name, body: Buffer.from(body) })).entry);
  }
  return { ...harness, entries };
}

test('an expanded event is the stored bytes', async (t) => {
  const { port } = await started(t);
  for (const path of ['$errors', '%24errors']) {
    const raw = connect(t, port);
    raw.send(
      `GET /v1/workflows/${P1}/${path}/event_summaries?expand=event HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n\r\n`,
    );
    const { status, body, head } = await raw.answer();
    assert.equal(status, 200);
    assert.match(head, /content-type: application\/json; charset=utf-8/);
    assert.ok(body.includes(`"event":${BODY},"metadata":`), body);
  }
});

test('webhooks list their errors too', async (t) => {
  const { call, entries } = await started(t);
  const { json } = await call('GET', `/v1/webhooks/${idOf('wh_', 1)}/$errors/event_summaries`);
  assert.deepEqual(
    json.data.map(({ id }: { id: string }) => id),
    [recordId(entries[3] as number)],
  );
});

test('one error has its receipts', async (t) => {
  const { call, port, stage, seed } = await started(t);
  const silent = workflow(4, { settings: { ...DEFAULT_SETTINGS, notify: false } });
  await seed.workflows(silent);
  const ends = { emitterId: silent.id, eventName: ERRORS };
  await seed.subscriptions(
    subscription(1, { ...ends, listenerId: idOf('p_', 2) }),
    subscription(2, { ...ends, listenerId: idOf('wh_', 1) }),
  );
  const { entry } = await stage.append(silent.id, { name: ERRORS, body: Buffer.from(BODY) });
  const path = `/v1/workflows/${silent.id}/$errors/event_summaries/${recordId(entry)}`;
  const { json, text } = await call('GET', path);
  assert.equal(json.data.event, undefined);
  const [run, delivery, withheld, ...more] = json.data.receipts;
  assert.deepEqual(more, []);
  assert.match(`${run.kind} ${run.id}`, /^run r_/);
  assert.match(`${delivery.kind} ${delivery.id}`, /^delivery dl_/);
  assert.equal('reason' in run, false);
  assert.deepEqual([withheld.kind, withheld.id, withheld.via], ['withheld', null, 'global']);
  assert.match(withheld.reason, /notify is false/);
  assert.ok(!text.includes(BODY));
  const raw = connect(t, port);
  raw.send(`GET ${path}?expand=event HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n\r\n`);
  assert.ok((await raw.answer()).body.includes(`"event":${BODY}`));
});

test('a record of somewhere else answers 404', async (t) => {
  const { call, entries } = await started(t);
  for (const id of [...entries.slice(1).map(recordId), 'nonsense', '1-1', '1-9999']) {
    assert.equal((await call('GET', `/v1/workflows/${P1}/$errors/event_summaries/${id}`)).status, 404, id);
  }
});

test('an edited replay keeps its exact bytes', async (t) => {
  const { call, calls, entries } = await started(t, { actions: { replay: () => appended(5) } });
  const headers = { 'content-type': 'application/json' };
  const body = `{ "event": 1, "ev\\u0065nt" : ${ODD} }`;
  await call('POST', `/v1/workflows/${P1}/$errors/${recordId(entries[0] as number)}/replay`, { headers, body });
  const { edited } = (calls[0] as (typeof calls)[number]).args[3] as { edited: Uint8Array };
  assert.equal(Buffer.from(edited).toString(), ODD);
});
