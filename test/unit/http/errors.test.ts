import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../../src/domain/fault.ts';
import { recordId } from '../../../src/domain/ids.ts';
import { emission, entryAt, idOf, OTHER_ID, webhook, workflow } from './fake-store.ts';
import { appended, connect, type Harness, KEY, type Overrides, startServer } from './harness.ts';

const ODD =
  '{"n":12345678901234567890,"a":1,"a":2,"__proto__":3,"10":1,"9":2,"s":"\\ud800\\u0000","f":1e400, "z" : -0.0}';
const BODY = `{"original_event":${ODD},"original_context":{},"error":{"code":"E"}}`;
const P1 = idOf('p_', 1);

async function started(t: Parameters<typeof startServer>[0], overrides: Overrides = {}): Promise<Harness> {
  const harness = await startServer(t, overrides);
  harness.data.workflows.push(workflow(1), workflow(2), workflow(3, { ownerId: OTHER_ID }));
  harness.data.webhooks.push(webhook(1));
  harness.data.emissions.push(
    emission(1, { name: '$errors', body: Buffer.from(BODY) }),
    emission(2, { name: '', body: Buffer.from('[1]') }),
    emission(3, { name: '$errors', emitterId: idOf('p_', 2) }),
    emission(4, { name: '$errors', emitterId: idOf('wh_', 1) }),
  );
  return harness;
}

test('a record without expand has no event', async (t) => {
  const { call } = await started(t);
  const { json } = await call('GET', `/v1/workflows/${P1}/$errors/event_summaries`);
  const metadata = { emitter_id: P1, emit_id: emission(1).emitId, name: '$errors' };
  assert.deepEqual(json.data, [{ id: recordId(entryAt(1)), indexed_at_ms: 1_782_000_000_001, metadata }]);
  assert.deepEqual(Object.keys(json.data[0]), ['id', 'indexed_at_ms', 'metadata']);
});

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

test('another expand is refused', async (t) => {
  const { call } = await started(t);
  for (const expand of ['error', '', 'event,x', 'Event']) {
    const { status, json } = await call('GET', `/v1/workflows/${P1}/$errors/event_summaries?expand=${expand}`);
    assert.equal(status, 400);
    assert.match(json.error, /expand must be "event"/);
  }
});

test('emitters that are not there answer 404', async (t) => {
  const { call } = await started(t);
  for (const id of [idOf('p_', 3), idOf('p_', 9), idOf('wh_', 1), 'x']) {
    assert.equal((await call('GET', `/v1/workflows/${id}/$errors/event_summaries`)).status, 404);
    assert.equal((await call('GET', `/v1/workflows/${id}/event_summaries`)).status, 404);
  }
});

test('webhooks list their errors too', async (t) => {
  const { call } = await started(t);
  const { json } = await call('GET', `/v1/webhooks/${idOf('wh_', 1)}/$errors/event_summaries`);
  assert.deepEqual(
    json.data.map(({ id }: { id: string }) => id),
    [recordId(entryAt(4))],
  );
});

test('one error has its receipts', async (t) => {
  const { call, data, port } = await started(t);
  const base = { subscriptionId: null, reason: null } as const;
  data.receipts.push(
    { ...base, kind: 'run', number: entryAt(9), listenerId: idOf('p_', 2), via: 'global', state: 'succeeded' },
    {
      ...base,
      kind: 'delivery',
      number: entryAt(9),
      listenerId: idOf('wh_', 1),
      via: 'subscription',
      state: 'retrying',
    },
    { ...base, kind: 'mail', number: entryAt(8), listenerId: 'mail', via: 'direct', state: 'delivered' },
    { ...base, kind: 'withheld', number: null, listenerId: P1, via: 'global', state: 'withheld', reason: 'loop' },
  );
  const path = `/v1/workflows/${P1}/$errors/event_summaries/${recordId(entryAt(1))}`;
  const { json } = await call('GET', path);
  assert.equal(json.data.event, undefined);
  const tail = entryAt(9).toString(36);
  assert.deepEqual(
    json.data.receipts.map(({ id }: { id: string }) => id),
    [`r_${tail}`, `dl_${tail}`, `dl_${entryAt(8).toString(36)}`, null],
  );
  assert.equal('reason' in json.data.receipts[0], false);
  assert.equal(json.data.receipts[3].reason, 'loop');
  const raw = connect(t, port);
  raw.send(`GET ${path}?expand=event HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n\r\n`);
  assert.ok((await raw.answer()).body.includes(`"event":${BODY}`));
});

test('a record of somewhere else answers 404', async (t) => {
  const { call } = await started(t);
  for (const id of [recordId(entryAt(2)), recordId(entryAt(3)), recordId(entryAt(99)), 'nonsense', '1-9999']) {
    assert.equal((await call('GET', `/v1/workflows/${P1}/$errors/event_summaries/${id}`)).status, 404, id);
  }
});

test('a replay runs the original event', async (t) => {
  const { call, calls } = await started(t, { actions: { replay: () => appended(5) } });
  const { status, json } = await call('POST', `/v1/workflows/${P1}/%24errors/${recordId(entryAt(1))}/replay`);
  assert.equal(status, 200);
  assert.equal(json.data.emit_id, 'tag425');
  assert.match(json.data.run_id, /^r_/);
  assert.deepEqual(calls[0]?.args.slice(1), [P1, entryAt(1), null]);
});

test('an edited replay keeps its exact bytes', async (t) => {
  const { call, calls } = await started(t, { actions: { replay: () => appended(5) } });
  const headers = { 'content-type': 'application/json' };
  const body = `{ "event": 1, "ev\\u0065nt" : ${ODD} }`;
  await call('POST', `/v1/workflows/${P1}/$errors/${recordId(entryAt(1))}/replay`, { headers, body });
  assert.equal(Buffer.from(calls[0]?.args[3] as Uint8Array).toString(), ODD);
});

test('a replay that cannot be says why', async (t) => {
  const replay = () => Promise.reject(new Refusal('not_found', 'no such error'));
  const { call } = await started(t, { actions: { replay } });
  assert.equal((await call('POST', `/v1/workflows/${P1}/$errors/1-1/replay`)).status, 404);
  assert.equal((await call('POST', `/v1/workflows/${P1}/$errors/nonsense/replay`)).status, 404);
});
