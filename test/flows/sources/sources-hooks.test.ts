// What hooks of a source do together, and what becomes of it when one of them fails.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, emissions, eventsOf, post, trySource } from '../../support/sources/sources.ts';

const newErrand = shareErrand();

/** Tells a receiver which hook runs, with the label that it is configured with; fails where the label says so. */
const TELLING = `export default {
  dedupe: 'unique',
  props: { http: '$.interface.http', db: '$.service.db', to: 'string', label: { type: 'string', default: 'a' } },
  methods: {
    async tell(hook) {
      const response = await fetch(this.to, { method: 'POST', body: hook + ' ' + this.label });
      if (response.status !== 200) throw new Error(hook + ' ' + this.label + ' was refused');
    },
    note(hook) { this.db.set('notes', [...(this.db.get('notes') ?? []), hook + ' ' + this.label]); },
  },
  hooks: {
    async deploy() { this.note('deploy'); this.$emit({ past: 1 }, { id: 'past', summary: 'past' }); await this.tell('deploy'); },
    async activate() { this.note('activate'); await this.tell('activate'); },
    async deactivate() { await this.tell('deactivate'); },
  },
  run(event) { this.$emit(this.db.get('notes'), { id: event.body?.id ?? 'x' }); },
};`;

test('both hooks commit as one run', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const source = await createSource(errand, TELLING, { configured_props: { to: receiver.url } });
  await post(source, { id: 'past' });
  await post(source, { id: 'new' });
  const events = eventsOf(await emissions(errand, source.id, 2));
  assert.deepEqual(events, [{ past: 1 }, ['deploy a', 'activate a']], 'dedupe remembers what the hook emitted');
});

for (const [index, hook] of ['deploy', 'activate'].entries()) {
  test(`the answer names ${hook} when it fails`, async () => {
    await using errand = await startErrand();
    await using receiver = await startReceiver();
    receiver.answer((n) => (n === index ? 500 : 200));
    const answer = await trySource(errand, TELLING, { configured_props: { to: receiver.url } });
    assert.equal(answer.status, 422, answer.text);
    assert.equal(answer.json.errors[0].parameter, `hooks.${hook}`, answer.text);
    assert.equal(receiver.received.length, index + 1);
  });
}

test('a failing activate goes back and activates again', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const source = await createSource(errand, TELLING, { configured_props: { to: receiver.url } });
  receiver.answer((n) => (n === 3 ? 500 : 200));
  const path = `/v1/sources/${source.id}`;
  const answer = await errand.client.request('PUT', path, { configured_props: { to: receiver.url, label: 'b' } });
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.json.detail, /activate b was refused/);
  assert.deepEqual(
    receiver.received.map(({ body }) => String(body)),
    ['deploy a', 'activate a', 'deactivate a', 'activate b', 'activate a'],
  );
  const kept = (await errand.client.get(path)).data;
  assert.deepEqual(
    [kept.active, kept.endpoint_url, kept.configured_props.label],
    [true, source.endpoint_url, undefined],
  );
  await post(source, { id: 'n' });
  const [{ event }] = await emissions(errand, source.id, 2);
  assert.deepEqual(event, ['deploy a', 'activate a', 'activate a'], 'nothing of the hook that failed');
});

test('a failing deactivate leaves an update undone', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const source = await createSource(errand, TELLING, { configured_props: { to: receiver.url } });
  receiver.answer(500);
  const path = `/v1/sources/${source.id}`;
  const answer = await errand.client.request('PUT', path, { name: 'other', active: false });
  assert.deepEqual([answer.status, answer.json.errors[0].parameter], [422, 'hooks.deactivate']);
  const kept = (await errand.client.get(path)).data;
  assert.deepEqual([kept.name, kept.active], ['test', true]);
});

test('changes at once happen one by one', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const source = await createSource(errand, TELLING, { configured_props: { to: receiver.url } });
  const path = `/v1/sources/${source.id}`;
  const labels = ['b', 'c', 'd'];
  const put = (label: string) => errand.client.put(path, { configured_props: { to: receiver.url, label } });
  const answers = await Promise.all(labels.map(put));
  assert.deepEqual(
    answers.map(({ configured_props }) => configured_props.label),
    labels,
  );
  const told = receiver.received.map(({ body }) => String(body)).slice(1);
  assert.deepEqual(
    told.filter((_, n) => n % 2 === 0).slice(0, -1),
    told.filter((hook) => hook.startsWith('deactivate')).map((hook) => hook.replace('deactivate', 'activate')),
    'each is switched off before the next is switched on',
  );
  assert.deepEqual([...told].sort().slice(0, 4), ['activate a', 'activate b', 'activate c', 'activate d']);
  const { data } = await errand.client.get(path);
  assert.equal(told.at(-1), `activate ${data.configured_props.label}`);
});

test('a change and a deletion at once do not mix', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const source = await createSource(errand, TELLING, { configured_props: { to: receiver.url } });
  const path = `/v1/sources/${source.id}`;
  const [deleted, changed] = await Promise.all([
    errand.client.request('DELETE', path),
    errand.client.request('PUT', path, { configured_props: { to: receiver.url, label: 'b' } }),
  ]);
  assert.deepEqual([deleted.status, (await errand.client.request('GET', path)).status], [200, 404]);
  const told = receiver.received.map(({ body }) => String(body)).slice(2);
  const expected = changed.status === 200 ? ['deactivate a', 'activate b', 'deactivate b'] : ['deactivate a'];
  assert.deepEqual(told, expected, `the change answered ${changed.status}`);
});

test('a source deleted while it runs leaves no db', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const source = await createSource(
    errand,
    `export default {
      dedupe: 'unique',
      props: { http: { type: '$.interface.http', customResponse: true }, db: '$.service.db', to: 'string' },
      async run() {
        this.db.set('left', 'over');
        this.$emit(1, { id: 1 });
        this.http.respond({ status: 202, immediate: true });
        while ((await fetch(this.to)).status !== 204);
      },
    };`,
    { configured_props: { to: receiver.url } },
  );
  const called = await fetch(source.endpoint_url, { method: 'POST', body: '{}' });
  assert.equal(called.status, 202);
  await errand.client.delete(`/v1/sources/${source.id}`);
  receiver.answer(204);
  const ledger = await errand.settled();
  assert.equal(ledger.runs.succeeded + ledger.runs.failed > 0, true);
  assert.equal((await errand.client.request('GET', `/v1/sources/${source.id}`)).status, 404);
});
