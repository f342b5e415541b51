// Listeners that are named with a new source: they miss nothing that it emits while it is created.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, ECHO_SOURCE, emissions, post, trySource } from '../../support/sources/sources.ts';

const newErrand = shareErrand();

/** Emits what was there before it, in the hook that runs before the answer. */
const PAST = `export default {
  props: { http: '$.interface.http' },
  hooks: { async deploy() {
    for (const n of [1, 2]) this.$emit({ n });
    this.$emit({ n: 3 }, { name: 'paid' });
  } },
  run({ body }) { this.$emit(body); },
};`;

test('what is emitted at the creation reaches who is named', async () => {
  const errand = await newErrand();
  await using receiver = await startReceiver();
  const workflow = await errand.workflow('export default () => {}', { triggers: [] });
  const late = await errand.workflow('export default () => {}', { triggers: [] });
  const webhook = await errand.client.post('/v1/webhooks', { url: receiver.url });
  const filter = { n: [{ numeric: ['>', 1] }] };
  const listeners = [
    workflow.id,
    { listener_id: workflow.id, event_name: 'paid' },
    { listener_id: webhook.id, filter },
  ];
  const source = await createSource(errand, PAST, { listeners });
  await errand.subscribe(source.id, late.id);
  await post(source, { n: 4 });
  await emissions(errand, source.id, 3);
  await errand.settled();
  assert.equal((await errand.runs(workflow.id, 4)).length, 4);
  const bodies = (await receiver.wait(2)).map(({ body }) => JSON.parse(String(body)).n);
  assert.deepEqual(bodies.sort(), [2, 4]);
  assert.equal((await errand.runs(late.id, 1)).length, 1);
  const { data } = await errand.client.get(`/v1/subscriptions?emitter_id=${source.id}`);
  const shown = data.map(({ listener_id, event_name }: Json) => [listener_id, event_name]);
  assert.deepEqual(shown.reverse().slice(0, 3), [
    [workflow.id, ''],
    [workflow.id, 'paid'],
    [webhook.id, ''],
  ]);
});

test('a source with a listener that cannot be is not made', async () => {
  const errand = await newErrand();
  const stranger = await newErrand();
  const own = await errand.workflow('export default () => {}', { triggers: [] });
  const theirs = await stranger.workflow('export default () => {}', { triggers: [] });
  const refused = async (listeners: unknown, status: number, parameter: string): Promise<void> => {
    const answer = await trySource(errand, PAST, { listeners });
    assertProblem(answer, status, parameter);
  };
  await refused([own.id, theirs.id], 404, 'listeners[1]');
  await refused(['wh_0000000000000000'], 404, 'listeners[0]');
  await refused([own.id, { listener_id: own.id }], 400, 'listeners[1]');
  await refused(['*'], 400, 'listeners[0]');
  await refused(own.id, 400, 'listeners');
  await refused([{ listener_id: own.id, event_nam: 'x' }], 400, 'event_nam');
  await refused([{ listener_id: own.id, event_name: '$x' }], 422, 'event_name');
  await refused([{ listener_id: own.id, filter: { n: 1 } }], 400, 'filter.n');
  await refused(
    Array.from({ length: 101 }, () => own.id),
    400,
    'listeners',
  );
  const kept = await Promise.all(['sources', 'subscriptions'].map((noun) => errand.client.get(`/v1/${noun}`)));
  assert.deepEqual(
    kept.map(({ page_info }) => page_info.total_count),
    [0, 0],
  );
});

test('of a source that its hook refused nothing is left', async () => {
  const errand = await newErrand();
  const own = await errand.workflow('export default () => {}', { triggers: [] });
  const code = `export default { hooks: { deploy() { this.$emit(1); throw new Error('no'); } }, run() {} };`;
  assertProblem(await trySource(errand, code, { listeners: [own.id] }), 422, 'hooks.deploy');
  assert.equal((await errand.client.get('/v1/subscriptions')).page_info.total_count, 0);
});

test('named listeners hear after a restart, and not what another owner emits', async () => {
  await using errand = await startErrand();
  const own = await errand.workflow('export default () => {}', { triggers: [] });
  const { id } = await createSource(errand, ECHO_SOURCE, { listeners: [own.id] });
  await errand.restart();
  const second = await createOwner(errand);
  const theirs = await second.client.post('/v1/sources', { component_code: ECHO_SOURCE });
  await post(theirs, { n: 1 });
  const { data: source } = await errand.client.get(`/v1/sources/${id}`);
  await post(source, { n: 2 });
  await errand.settled();
  const [run, ...others] = await errand.runs(own.id, 1);
  assert.deepEqual([others.length, run.emitter_id], [0, id]);
});
