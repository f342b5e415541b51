// Which trigger keeps its address when the list of triggers is replaced.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { shareErrand } from '../../support/shared-errand.ts';

const newErrand = shareErrand();

const CODE = 'export default () => 1';
const TOKEN = 'token-of-the-callers';
const AUTH = { type: 'bearer', token: TOKEN };

async function status({ endpoint_url }: Json, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(endpoint_url, { method: 'POST', headers });
  await answer.body?.cancel();
  return answer.status;
}

test('a trigger that is sent back keeps its address', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(CODE, { triggers: [{ type: 'http' }, { type: 'http' }, { type: 'http' }] });
  const [first, second, third] = workflow.triggers;
  const changed = await errand.client.put(`/v1/workflows/${workflow.id}`, { triggers: [third, second] });
  assert.deepEqual(changed.triggers, [third, second]);
  assert.deepEqual(await Promise.all([status(first), status(second), status(third)]), [404, 200, 200]);
});

test('an address stays open or protected as it was', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(CODE, { triggers: [{ type: 'http', auth: AUTH }, { type: 'http' }] });
  const [secured, open] = workflow.triggers;
  const address = `/v1/workflows/${workflow.id}`;
  const reversed = await errand.client.put(address, { triggers: [open, { ...secured, auth: AUTH }] });
  assert.deepEqual(reversed.triggers, [open, secured]);
  assert.deepEqual([await status(open), await status(secured), await status(secured, TOKEN)], [200, 401, 200]);
  const alone = await errand.client.put(address, { triggers: [open] });
  assert.deepEqual(alone.triggers, [open]);
  assert.deepEqual([await status(open), await status(secured)], [200, 404]);
});

test('a trigger that is sent back as it is shown keeps its token', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(CODE, {
    triggers: [
      { type: 'http', auth: AUTH },
      { type: 'errors', auth: AUTH },
    ],
  });
  const address = `/v1/workflows/${workflow.id}`;
  const [http, errors] = workflow.triggers;
  const { auth: _, ...withoutAuth } = http;
  const custom = { ...http, custom_response: true };
  for (const sent of [
    [http, errors],
    [withoutAuth, errors],
    [errors, custom],
    [custom, errors, { type: 'http' }],
  ]) {
    const { triggers } = await errand.client.put(address, { triggers: sent });
    assert.deepEqual(
      triggers.map(({ auth }: Json) => auth.type),
      sent.map((one) => ('id' in one ? 'bearer' : 'none')),
    );
    assert.deepEqual([await status(http), await status(errors)], [401, 401]);
  }
  await errand.client.put(address, { triggers: [http, errors] });
  assert.equal(await status(http, TOKEN), 200);
  const other = { type: 'bearer', token: 'another-one' };
  await errand.client.put(address, { triggers: [{ ...http, auth: other }, errors] });
  assert.deepEqual([await status(http, TOKEN), await status(http, other.token)], [401, 200]);
  const opened = await errand.client.put(address, { triggers: [{ ...http, auth: { type: 'none' } }, errors] });
  assert.deepEqual([opened.triggers[0].auth.type, await status(http), await status(errors)], ['none', 200, 401]);
});

test('a trigger without a token of its own needs one', async () => {
  await using errand = await newErrand();
  const [secured, open] = [
    await errand.workflow(CODE, { triggers: [{ type: 'http', auth: AUTH }] }),
    await errand.workflow(CODE),
  ];
  const [theirs] = secured.triggers;
  const [own] = open.triggers;
  const bearer = { type: 'http', auth: { type: 'bearer' } };
  for (const trigger of [bearer, { ...bearer, id: own.id }, { ...bearer, id: theirs.id }, { ...bearer, id: 'hi_1' }]) {
    const refused = await errand.client.request('PUT', `/v1/workflows/${open.id}`, { triggers: [trigger] });
    assert.equal(refused.status, 400, refused.text);
    assert.deepEqual(refused.json.errors, [
      { parameter: 'triggers[0].auth.token', message: 'is missing; bearer needs it' },
    ]);
    const made = { steps: [{ namespace: 'step', code: CODE }], triggers: [trigger] };
    assert.equal((await errand.client.request('POST', '/v1/workflows', made)).status, 400);
  }
  assert.deepEqual([await status(own), await status(theirs)], [200, 401]);
});

test('without ids, settings tell triggers apart', async () => {
  await using errand = await newErrand();
  const given = [{ type: 'http' }, { type: 'http', custom_response: true }, { type: 'http', auth: AUTH }];
  const workflow = await errand.workflow(CODE, { triggers: given });
  const [, asked, secured] = workflow.triggers;
  const changed = await errand.client.put(`/v1/workflows/${workflow.id}`, { triggers: given.toReversed().slice(0, 2) });
  assert.deepEqual(changed.triggers, [secured, asked]);
  const other = await errand.client.put(`/v1/workflows/${workflow.id}`, { triggers: [given[1], { type: 'http' }] });
  assert.deepEqual(
    other.triggers.map(({ id, auth }: Json) => [id, auth.type]),
    [
      [asked.id, 'none'],
      [secured.id, 'none'],
    ],
    'one whose settings were changed',
  );
});

test('ids of other triggers choose nothing', async () => {
  await using errand = await newErrand();
  const [workflow, other] = [await errand.workflow(CODE), await errand.workflow(CODE)];
  const [own] = workflow.triggers;
  const changed = await errand.client.put(`/v1/workflows/${workflow.id}`, { triggers: other.triggers });
  assert.deepEqual(changed.triggers, [own]);
  const schedule = { type: 'schedule', interval_seconds: 3600, timezone: 'UTC' };
  const [timed] = (await errand.client.put(`/v1/workflows/${workflow.id}`, { triggers: [{ ...schedule, id: own.id }] }))
    .triggers;
  assert.match(timed.id, /^ti_/);
  assert.equal(await status(own), 404);
});

test('a schedule that is sent back keeps its id, whatever was changed of it', async () => {
  await using errand = await newErrand();
  const daily = { type: 'schedule', cron: '0 3 * * *', timezone: 'Europe/Berlin' };
  const hourly = { type: 'schedule', interval_seconds: 3600 };
  const workflow = await errand.workflow(CODE, { triggers: [daily, hourly, { type: 'http' }] });
  const [cron, interval, http] = workflow.triggers;
  const put = async (triggers: Json[]): Promise<Json[]> =>
    (await errand.client.put(`/v1/workflows/${workflow.id}`, { triggers })).triggers;
  const beforeMs = Date.now();
  const changed = await put([{ ...cron, cron: '30 4 * * *' }, http, { ...interval, interval_seconds: 60 }]);
  assert.deepEqual(
    changed.map(({ id }) => id),
    [cron.id, http.id, interval.id],
  );
  assert.equal(new Date(changed[0]?.next_at_ms).getUTCMinutes(), 30);
  assert.ok(changed[2]?.next_at_ms >= beforeMs + 60_000 && changed[2]?.next_at_ms <= Date.now() + 60_000);
  assert.deepEqual(
    (await put(changed)).map(({ next_at_ms: at }) => at),
    changed.map(({ next_at_ms: at }) => at),
  );
  // Each is what its id says: also where it gets what another one had.
  const { cron: _, ...timed } = cron;
  const swapped = await put([
    { ...timed, interval_seconds: 60 },
    { id: interval.id, ...daily },
  ]);
  assert.deepEqual(
    swapped.map(({ id, cron: at = null }) => [id, at]),
    [
      [cron.id, null],
      [interval.id, daily.cron],
    ],
  );
  // Without an id, it is the one with these times; with other times, it is a new one.
  const [same, other] = await put([daily, hourly]);
  assert.equal(same?.id, interval.id);
  assert.ok(![cron.id, interval.id].includes(other?.id));
});

test('ids of schedules of others choose nothing', async () => {
  await using errand = await newErrand();
  await using stranger = await newErrand();
  const schedule = { type: 'schedule', interval_seconds: 3600 };
  const triggers = [schedule];
  const [own, second, foreign] = [
    await errand.workflow(CODE, { triggers }),
    await errand.workflow(CODE, { triggers }),
    await stranger.workflow(CODE, { triggers }),
  ];
  const ids = [own, second, foreign].map((workflow) => workflow.triggers[0].id);
  for (const id of [second.triggers[0].id, foreign.triggers[0].id, 'ti_1', own.id]) {
    const sent = [own.triggers[0], { ...schedule, id, interval_seconds: 7200 }];
    const changed = await errand.client.put(`/v1/workflows/${own.id}`, { triggers: sent });
    assert.equal(changed.triggers[0].id, own.triggers[0].id);
    assert.match(changed.triggers[1].id, /^ti_/);
    assert.ok(!ids.includes(changed.triggers[1].id));
  }
  const [timer] = own.triggers;
  const [http] = (await errand.client.put(`/v1/workflows/${own.id}`, { triggers: [{ type: 'http', id: timer.id }] }))
    .triggers;
  assert.match(http.id, /^hi_/);
  for (const [client, workflow] of [
    [errand.client, second],
    [stranger.client, foreign],
  ] as const) {
    assert.deepEqual((await client.get(`/v1/workflows/${workflow.id}`)).data.triggers, workflow.triggers);
  }
});

test('an http prop of a source keeps its address', async () => {
  await using errand = await newErrand();
  const code = (...props: string[]): string =>
    `export default { props: { ${props.map((prop) => `${prop}: "$.interface.http"`).join(', ')} }, run() {} };`;
  const made = await errand.client.post('/v1/sources', { component_code: code('orders', 'refunds') });
  const { orders, refunds } = made.configured_props;
  const address = `/v1/sources/${made.id}`;
  const changed = await errand.client.put(address, { component_code: code('refunds') });
  assert.deepEqual(changed.configured_props, { refunds });
  assert.deepEqual([await status(orders), await status(refunds)], [404, 200]);
  const again = await errand.client.put(address, { component_code: code('returns', 'refunds') });
  assert.deepEqual(again.configured_props.refunds, refunds);
  assert.equal(await status(again.configured_props.returns), 200);
});
