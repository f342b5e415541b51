// Webhooks as a resource: made, listed, changed and deleted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createWebhook, EMIT_BODY, emitterWithWebhook } from '../../support/webhooks.ts';

const newErrand = shareErrand();

const URL_OK = 'https://example.com/hooks/one';

test('a webhook is made by query alone', async () => {
  await using errand = await newErrand();
  const me = (await errand.client.get('/v1/users/me')).data;
  const query = new URLSearchParams({ url: URL_OK, name: 'Eins', description: 'Ä longer one' });
  const data = await errand.client.post(`/v1/webhooks?${query}`);
  assert.match(data.id, /^wh_/);
  assert.deepEqual([data.owner_id, data.user_id], [me.id, me.id]);
  assert.equal(data.url, URL_OK);
  assert.equal(data.name, 'Eins');
  assert.equal(data.description, 'Ä longer one');
  assert.equal(data.active, true);
  assert.ok(Number.isInteger(data.created_at) && data.created_at < 1e11, 'epoch seconds');
  assert.equal(data.updated_at, data.created_at);
  assert.match(data.secret, /^whsec_/);
  assert.equal(Buffer.from(data.secret.slice('whsec_'.length), 'base64').length, 32);
});

test('a webhook is made by body alone', async () => {
  await using errand = await newErrand();
  const data = await errand.client.post('/v1/webhooks', { url: URL_OK });
  assert.equal(data.url, URL_OK);
  assert.equal(data.name, null);
  assert.equal(data.description, null);
});

test('the query wins over the body', async () => {
  await using errand = await newErrand();
  const data = await errand.client.post('/v1/webhooks?name=query', { url: URL_OK, name: 'body' });
  assert.equal(data.name, 'query');
});

test('the secret shows on creation only', async () => {
  await using errand = await newErrand();
  const made = await errand.client.post('/v1/webhooks', { url: URL_OK });
  const changed = await errand.client.request('PUT', `/v1/webhooks/${made.id}`, { name: 'new' });
  for (const path of [`/v1/webhooks/${made.id}`, '/v1/webhooks', '/v1/users/me/webhooks']) {
    const answer = await errand.client.request('GET', path);
    assert.equal(answer.status, 200);
    assert.ok(answer.text.includes(made.id) && !answer.text.includes('whsec_'), path);
  }
  assert.ok(!changed.text.includes('whsec_'));
  const deleted = await errand.client.request('DELETE', `/v1/webhooks/${made.id}`);
  assert.ok(!deleted.text.includes('whsec_'));
});

test('each webhook has a secret of its own', async () => {
  await using errand = await newErrand();
  const [a, b] = [
    await errand.client.post('/v1/webhooks', { url: URL_OK }),
    await errand.client.post('/v1/webhooks', { url: URL_OK }),
  ];
  assert.notEqual(a.id, b.id);
  assert.notEqual(a.secret, b.secret);
});

test('webhooks are listed newest first', async () => {
  await using errand = await newErrand();
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) ids.unshift((await errand.client.post('/v1/webhooks', { url: URL_OK, name })).id);
  for (const path of ['/v1/webhooks', '/v1/users/me/webhooks']) {
    const page = await errand.client.get(path);
    assert.deepEqual(
      page.data.map((w: { id: string }) => w.id),
      ids,
    );
    assert.deepEqual(page.page_info, { total_count: 3, count: 3, start_cursor: ids[0], end_cursor: ids[2] });
    const rest = await errand.client.get(`${path}?limit=2&after=${ids[0]}`);
    assert.deepEqual(
      rest.data.map((w: { id: string }) => w.id),
      ids.slice(1),
    );
    assert.equal((await errand.client.request('GET', `${path}?after=nonsense`)).status, 400);
  }
});

test('put changes what it names alone', async () => {
  await using errand = await newErrand();
  const made = await errand.client.post('/v1/webhooks', { url: URL_OK, name: 'n', description: 'd' });
  const path = `/v1/webhooks/${made.id}`;
  const changed = await errand.client.put(path, { url: 'https://example.org/two', active: false });
  assert.equal(changed.url, 'https://example.org/two');
  assert.equal(changed.active, false);
  assert.equal(changed.name, 'n');
  assert.equal(changed.description, 'd');
  assert.deepEqual((await errand.client.get(path)).data, changed);
  const cleared = await errand.client.put(path, { name: null, description: null });
  assert.deepEqual([cleared.name, cleared.description], [null, null]);
  assert.equal(cleared.url, 'https://example.org/two');
});

test('a changed address gets the next event', async () => {
  await using errand = await newErrand();
  await using before = await startReceiver();
  await using after = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, before);
  await errand.send(emitter, { n: 1 });
  await before.wait(1);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { url: after.url });
  await errand.send(emitter, { n: 2 });
  const [got] = await after.wait(1);
  assert.equal(String(got?.body), '{"n":2}');
  assert.equal(before.received.length, 1);
});

test('deleting takes its subscriptions along', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  await using other = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  const kept = await createWebhook(errand, other);
  await errand.subscribe(emitter.id, kept.id);
  const deleted = await errand.client.delete(`/v1/webhooks/${webhook.id}`);
  assert.equal(deleted.id, webhook.id);
  const { data } = await errand.client.get('/v1/subscriptions');
  assert.deepEqual(data.filter((s: { listener_id: string }) => s.listener_id.startsWith('wh_')).length, 1);
  assert.equal((await errand.client.request('GET', `/v1/webhooks/${webhook.id}`)).status, 404);
  assert.equal((await errand.client.request('DELETE', `/v1/webhooks/${webhook.id}`)).status, 404);
  assert.equal((await errand.client.request('PUT', `/v1/webhooks/${webhook.id}`, { name: 'x' })).status, 404);
  await errand.send(emitter, { n: 1 });
  await other.wait(1);
  await errand.settled();
  assert.equal(receiver.received.length, 0);
});

test('names and descriptions have their limits', async () => {
  await using errand = await newErrand();
  const tries: [object, number][] = [
    [{ name: 'n'.repeat(255) }, 200],
    [{ name: 'n'.repeat(256) }, 400],
    [{ description: 'd'.repeat(4096) }, 200],
    [{ description: 'd'.repeat(4097) }, 400],
    [{ name: 5 }, 400],
    [{ active: 'perhaps' }, 400],
  ];
  for (const [more, status] of tries) {
    const answer = await errand.client.request('POST', '/v1/webhooks', { url: URL_OK, ...more });
    assert.equal(
      Math.floor(answer.status / 100),
      Math.floor(status / 100),
      `${JSON.stringify(more).slice(0, 40)}: ${answer.text}`,
    );
    if (status !== 200) assert.match(answer.text, new RegExp(String(Object.keys(more)[0])));
  }
});

test('unknown webhooks are 404 everywhere', async () => {
  await using errand = await newErrand();
  const { id } = await errand.client.post('/v1/webhooks', { url: URL_OK });
  await errand.client.delete(`/v1/webhooks/${id}`);
  const paths = [id, `${id}/deliveries`, `${id}/$errors/event_summaries`, `${id}/%24errors/event_summaries`];
  for (const path of paths) {
    const answer = await errand.client.request('GET', `/v1/webhooks/${path}`);
    assert.equal(answer.status, 404, path);
    assert.match(answer.json.error, new RegExp(id));
  }
});

test('the same subscription twice is one record', async () => {
  await using errand = await newErrand();
  const webhook = await errand.client.post('/v1/webhooks', { url: URL_OK });
  const emitter = await errand.workflow(EMIT_BODY);
  const [first] = await errand.subscribe(emitter.id, webhook.id);
  const [again] = await errand.subscribe(emitter.id, webhook.id);
  assert.deepEqual(again, first, 'the same triple answers with the existing record');
  const [errors] = await errand.subscribe(emitter.id, webhook.id, '$errors');
  assert.notEqual(errors.id, first.id);
  const { data } = await errand.client.get(`/v1/subscriptions?listener_id=${webhook.id}`);
  assert.equal(data.length, 2);
});
