// What a workflow may not be: each refusal says which member is wrong, and leaves nothing made.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { assertProblem } from '../../support/problem.ts';
import { shareErrand } from '../../support/shared-errand.ts';

const newErrand = shareErrand();

const CODE = 'export default () => 1';
const STEP = { namespace: 'step', code: CODE };

const withStep = (step: Json) => ({ name: 'x', steps: [step] });
const withTrigger = (trigger: Json) => ({ name: 'x', steps: [STEP], triggers: [trigger] });
const withSettings = (settings: Json) => ({ name: 'x', steps: [STEP], settings });

/** A body, and what the answer must name. */
const REFUSED: Record<string, [Json, string][]> = {
  'a body must have its members': [
    [{}, 'name'],
    [{ name: 'x' }, 'steps'],
    [{ name: 7, steps: [STEP] }, 'name'],
    [{ name: 'x', steps: 'code' }, 'steps'],
    [{ name: 'x', steps: [7] }, 'steps'],
    [withStep({ code: CODE }), 'namespace'],
    [withStep({ namespace: 'step' }), 'code'],
    [withStep({ namespace: 'step', code: 7 }), 'code'],
    [{ name: 'x', steps: [STEP], active: 'yes' }, 'active'],
  ],
  'an unknown member is named': [
    [{ name: 'x', steps: [STEP], smell: 1 }, 'smell'],
    [withStep({ ...STEP, smell: 1 }), 'smell'],
    [withTrigger({ type: 'http', smell: 1 }), 'smell'],
    [withTrigger({ type: 'http', auth: { type: 'bearer', token: 't', smell: 1 } }), 'smell'],
    [withSettings({ smell: 1 }), 'smell'],
  ],
  'a namespace must be a lower-case name': [
    ...['', 'A', 'aB', '1a', 'a-b', 'a b', 'a.b', 'é', 'a\n', 'a'.repeat(65)].map((namespace): [Json, string] => [
      withStep({ namespace, code: CODE }),
      'namespace',
    ]),
    [{ name: 'x', steps: [STEP, STEP] }, 'namespace'],
  ],
  'a trigger must be of a known kind': [
    [{ name: 'x', steps: [STEP], triggers: {} }, 'triggers'],
    [withTrigger({}), 'type'],
    [withTrigger({ type: 'smoke' }), 'type'],
    [withTrigger({ type: 'http', custom_response: 'yes' }), 'custom_response'],
    [withTrigger({ type: 'http', auth: { type: 'digest' } }), 'auth'],
    [withTrigger({ type: 'http', auth: { type: 'bearer' } }), 'token'],
    // No header `Authorization: Bearer` can carry them.
    ...['two words', 'line\n', ' x', 'é', ''].map((token): [Json, string] => [
      withTrigger({ type: 'http', auth: { type: 'bearer', token } }),
      'token must be 1 to 255',
    ]),
    [withTrigger({ type: 'source' }), 'source_id'],
    [withTrigger({ type: 'emitter' }), 'emitter_id'],
    [withTrigger({ type: 'emitter', emitter_id: 'x_1' }), 'emitter_id'],
  ],
  'a schedule must be one that comes': [
    [withTrigger({ type: 'schedule' }), 'cron'],
    [withTrigger({ type: 'schedule', interval_seconds: 0 }), 'interval_seconds'],
    [withTrigger({ type: 'schedule', interval_seconds: -5 }), 'interval_seconds'],
    [withTrigger({ type: 'schedule', interval_seconds: '60' }), 'interval_seconds'],
    [withTrigger({ type: 'schedule', cron: '* * * * *', interval_seconds: 60 }), 'interval_seconds'],
  ],
  'settings must be within their limits': [
    [withSettings({ timeout_ms: 0 }), 'timeout_ms'],
    [withSettings({ timeout_ms: 750_001 }), 'timeout_ms'],
    [withSettings({ timeout_ms: '5s' }), 'timeout_ms'],
    [withSettings({ memory_mb: 0 }), 'memory_mb'],
    [withSettings({ concurrency: 0 }), 'concurrency'],
    [withSettings({ concurrency: 1.5 }), 'concurrency'],
    [withSettings({ queue_limit: -1 }), 'queue_limit'],
    [withSettings({ notify: 'no' }), 'notify'],
    [withSettings({ env: { A: 1 } }), 'env'],
    [withSettings({ env: 'A=1' }), 'env'],
    [withSettings({ throttle: { limit: 0, interval_ms: 1000 } }), 'throttle'],
    [withSettings({ throttle: { limit: 1 } }), 'throttle'],
    [withSettings({ retry: { attempts: -1 } }), 'retry'],
    [withSettings({ error_retention: { days: 0 } }), 'error_retention'],
    [withSettings({ error_retention: { newest: 99 } }), 'error_retention'],
    [withSettings({ error_retention: { newest: 100_001 } }), 'error_retention'],
  ],
};

for (const [claim, cases] of Object.entries(REFUSED)) {
  test(claim, async () => {
    await using errand = await startErrand();
    const wrong: string[] = [];
    for (const [body, named] of cases) {
      const answer = await errand.client.request('POST', '/v1/workflows', body);
      const checked = await errand.client.request('POST', '/v1/workflows/check', body);
      try {
        assertProblem(answer, [400, 422], named);
        assert.deepEqual([checked.status, checked.json.errors], [answer.status, answer.json.errors]);
      } catch (error) {
        wrong.push(`${JSON.stringify(body)}: ${(error as Error).message}`);
      }
    }
    assert.deepEqual(wrong, []);
    const right = await errand.client.post('/v1/workflows/check', { name: 'x', steps: [STEP] });
    assert.deepEqual(right, { valid: true });
    const { data } = await errand.client.get('/v1/workflows?name=x');
    assert.deepEqual(data, []);
    const made = await errand.client.post('/v1/workflows', { name: 'x', steps: [STEP] });
    assert.match(made.id, /^p_/);
  });
}

test('an impossible schedule is 422', async () => {
  await using errand = await newErrand();
  const cases: [Json, string, string][] = [
    [{ type: 'schedule', cron: 'every day' }, 'every day', 'cron'],
    [{ type: 'schedule', cron: '61 * * * *' }, '61 * * * *', 'cron'],
    [{ type: 'schedule', cron: '0 0 31 2 *' }, '0 0 31 2 *', 'cron'],
    [{ type: 'schedule', cron: '0 9 * * *', timezone: 'Mars/Olympus' }, 'Mars/Olympus', 'timezone'],
  ];
  for (const [trigger, named, parameter] of cases) {
    const body = { ...withTrigger(trigger), triggers: [{ type: 'http' }, trigger] };
    const problem = assertProblem(await errand.client.request('POST', '/v1/workflows', body), 422, named);
    assert.deepEqual(
      problem.errors.map((error: Json) => error.parameter),
      [`triggers[1].${parameter}`],
    );
  }
});

test('an unknown emitter is not triggered by', async () => {
  await using errand = await newErrand();
  const cases: [Json, string, string][] = [
    [{ type: 'source', source_id: 'dc_nobody1' }, 'dc_nobody1', 'source_id'],
    [{ type: 'source', source_id: 'dc_no_body' }, 'dc_no_body', 'source_id'],
    [{ type: 'emitter', emitter_id: 'p_nobody1' }, 'p_nobody1', 'emitter_id'],
    [{ type: 'emitter', emitter_id: 'p_nobody1', event_name: '$error' }, '$error', 'event_name'],
  ];
  for (const [trigger, named, parameter] of cases) {
    const answer = await errand.client.request('POST', '/v1/workflows', withTrigger(trigger));
    const [error] = assertProblem(answer, [404, 422], named).errors;
    assert.equal(error.parameter, `triggers[0].${parameter}`);
  }
  const { data } = await errand.client.get('/v1/workflows?name=x');
  assert.deepEqual(data, []);
});

test('a workflow is no source', async () => {
  await using errand = await newErrand();
  const { id } = await errand.workflow(CODE);
  const answer = await errand.client.request('POST', '/v1/workflows', withTrigger({ type: 'source', source_id: id }));
  assertProblem(answer, [400, 404, 422], id);
});

test('code that does not parse is located', async () => {
  await using errand = await newErrand();
  const steps = [STEP, { namespace: 'broken', code: 'const a = 1;\nexport default () => {\n  return a +* 2;\n};\n' }];
  const problem = assertProblem(
    await errand.client.request('POST', '/v1/workflows', { name: 'x', steps }),
    422,
    'broken',
  );
  assert.equal(problem.errors.length, 1);
  const [{ file, line, column }] = problem.errors;
  assert.match(file, /broken/);
  assert.deepEqual([line, column], [3, 13]);
});

test('an address is no code', async () => {
  await using errand = await newErrand();
  const code = 'https://github.com/acme/components/blob/main/sources/new-order.mjs\n';
  const asked: [string, Json, string][] = [
    ['workflows', withStep({ namespace: 'linked', code }), 'steps.linked.code'],
    ['sources', { component_code: code }, 'component_code'],
  ];
  for (const [path, body, parameter] of asked) {
    const problem = assertProblem(await errand.client.request('POST', `/v1/${path}`, body), 422, 'component_path');
    assert.equal(problem.errors[0].parameter, parameter);
    assert.match(problem.detail, /address, where the code itself is expected/);
  }
});

test('an import that does not exist is located', async () => {
  await using errand = await newErrand();
  const code = `import fs from 'node:fs';\nimport nothing from 'a-package-that-nobody-installed';\nexport default () => nothing(fs);\n`;
  const answer = await errand.client.request('POST', '/v1/workflows', withStep({ namespace: 'importer', code }));
  const problem = assertProblem(answer, 422, 'a-package-that-nobody-installed');
  const [{ file, line, column }] = problem.errors;
  assert.match(file, /importer/);
  assert.equal(line, 2);
  assert.ok(column >= 1);
});

test('every broken step is reported at once', async () => {
  await using errand = await newErrand();
  const steps = ['one', 'two'].map((namespace) => ({ namespace, code: `export default (${namespace} =>;` }));
  const problem = assertProblem(await errand.client.request('POST', '/v1/workflows', { name: 'x', steps }), 422);
  assert.deepEqual(
    problem.errors.map((error: Json) => /one|two/.exec(error.file)?.[0]),
    ['one', 'two'],
  );
});

test('a body that is no JSON is 400', async () => {
  await using errand = await newErrand();
  for (const body of ['{"name":', '[]', '"text"', 'null', '7', '{"name":"x","name":"y"']) {
    assertProblem(await errand.client.request('POST', '/v1/workflows', body), 400);
  }
  const workflow = await errand.client.post('/v1/workflows', { name: 'x', steps: [STEP] });
  assertProblem(await errand.client.request('PUT', `/v1/workflows/${workflow.id}`, '[]'), 400);
});

test('an unknown workflow is 404 everywhere', async () => {
  await using errand = await newErrand();
  const calls: [string, string, Json?][] = [
    ['GET', '/v1/workflows/p_nobody1'],
    ['PUT', '/v1/workflows/p_nobody1', { name: 'x' }],
    ['DELETE', '/v1/workflows/p_nobody1'],
    ['GET', '/v1/workflows/p_nobody1/deployments'],
    ['POST', '/v1/workflows/p_nobody1/deployments/d_1/activate'],
    ['GET', '/v1/workflows/p_nobody1/runs'],
    ['POST', '/v1/workflows/p_nobody1/runs', { event: {} }],
    ['GET', '/v1/runs/r_nobody1'],
    ['POST', '/v1/runs/r_nobody1/cancel'],
  ];
  for (const [method, path, body] of calls) {
    assertProblem(await errand.client.request(method, path, body), 404, 'nobody1');
  }
  assertProblem(await errand.client.request('GET', '/v1/nothing'), 404);
  assertProblem(await errand.client.request('PATCH', '/v1/workflows'), 405);
});
