// The frame that all lists have: pages, cursors, limits and chosen fields.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import { type Harness, startServer } from './harness.ts';
import { idOf, webhook, workflow } from './records.ts';

const ERRORS_PATH = `/v1/workflows/${idOf('p_', 1)}/$errors/event_summaries`;

/** A hundred errors and 120 webhooks. */
async function started(t: Parameters<typeof startServer>[0]): Promise<Harness> {
  const harness = await startServer(t);
  const { seed, stage } = harness;
  await seed.workflows(workflow(1));
  await seed.webhooks(...Array.from({ length: 120 }, (_, i) => webhook(i + 1)));
  await Promise.all(Array.from({ length: 100 }, () => stage.append(idOf('p_', 1), { name: ERRORS })));
  return harness;
}

test('a wrong limit is refused everywhere', async (t) => {
  const { call } = await started(t);
  for (const path of ['/v1/webhooks', '/v1/workflows', '/v1/keys', '/v1/deliveries', ERRORS_PATH]) {
    for (const limit of ['0', '-1', 'ten', '1.5', '', '1e2', ' 5', '999999999999999999999']) {
      const { status, json } = await call('GET', `${path}?limit=${encodeURIComponent(limit)}`);
      assert.equal(status, 400, `${path} ${limit}`);
      assert.equal(json.errors[0].parameter, 'limit');
    }
  }
});

test('only listings of events clamp a large limit', async (t) => {
  const { call } = await started(t);
  assert.equal((await call('GET', '/v1/webhooks?limit=101')).status, 400);
  assert.equal((await call('GET', '/v1/webhooks?limit=100')).json.data.length, 100);
  for (const query of ['', '?limit=100', '?limit=101', '?limit=5000', '?limit=18446744073709551615']) {
    const { json } = await call('GET', `${ERRORS_PATH}${query}`);
    assert.equal(json.page_info.count, 100);
  }
});

test('without a limit lists give a hundred', async (t) => {
  const { call } = await started(t);
  assert.equal((await call('GET', '/v1/webhooks')).json.page_info.count, 100);
});

test('malformed cursors are refused', async (t) => {
  const { call } = await started(t);
  const cases = [
    ['/v1/webhooks', ['x', '', idOf('p_', 1), 'wh_short']],
    [ERRORS_PATH, ['x', '', '123', '1-2000', '1-2-3', '-1-0', idOf('p_', 1)]],
    ['/v1/deliveries', ['x', idOf('wh_', 1), 'r_g4w9zl7uo0']],
  ] as const;
  for (const [path, cursors] of cases) {
    for (const cursor of cursors) {
      for (const parameter of ['after', 'before']) {
        const { status, json } = await call('GET', `${path}?${parameter}=${cursor}`);
        assert.equal(status, 400, `${path} ${cursor}`);
        assert.equal(json.errors[0].parameter, parameter);
      }
    }
  }
});

test('fields are chosen by include and exclude', async (t) => {
  const { call } = await started(t);
  const included = await call('GET', '/v1/webhooks?limit=1&include=url,%20active');
  assert.deepEqual(included.json.data, [{ url: 'https://example.com/hook', active: true }]);
  assert.equal(included.json.page_info.start_cursor, idOf('wh_', 120));
  const [whole] = (await call('GET', '/v1/webhooks?limit=1')).json.data;
  const { id, health, ...rest } = whole;
  assert.ok(id && health);
  assert.deepEqual((await call('GET', '/v1/webhooks?limit=1&exclude=id,health')).json.data, [rest]);
  const times = await call('GET', '/v1/webhooks?limit=1&include=created_at,updated_at_iso');
  assert.deepEqual(Object.keys(times.json.data[0]), ['created_at', 'updated_at_iso']);
});

test('a field that the records do not have is refused', async (t) => {
  const { call } = await started(t);
  const wrong = ['include=urll', 'include=url,urll', 'include=', 'include=url,', 'exclude=urll', 'exclude=__proto__'];
  for (const query of wrong) {
    const { status, json } = await call('GET', `/v1/webhooks?${query}`);
    assert.equal(status, 400, query);
    assert.equal(json.errors[0].parameter, query.slice(0, 7), query);
  }
  const { json } = await call('GET', '/v1/webhooks?include=urll');
  assert.match(
    json.detail,
    /^include names "urll", which is no field of these records: did you mean url\? known are id, /,
  );
});
