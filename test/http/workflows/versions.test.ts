// Versions of a workflow, and what changed between two of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { shareErrand } from '../../support/shared-errand.ts';

const newErrand = shareErrand();

test('two versions are compared line by line', async () => {
  await using errand = await newErrand();
  const code = (rate: number): string => `const rate = ${rate};\nexport default () => rate;\n`;
  const steps = (rate: number): object[] => [
    { namespace: 'price', code: code(rate) },
    { namespace: 'same', code: 'export default () => 1;\n' },
  ];
  const { client } = errand;
  const first = await client.post('/v1/workflows', { name: 'Prices', steps: steps(1) });
  const second = await client.put(`/v1/workflows/${first.id}`, { steps: steps(2) });
  const third = await client.put(`/v1/workflows/${first.id}`, { steps: steps(3).slice(0, 1) });
  const path = `/v1/workflows/${first.id}/deployments`;
  const changes = async (id: string, from = ''): Promise<Json> =>
    (await client.get(`${path}/${id}/changes${from}`)).data;
  const lines = (was: number, is: number): string[] => [
    `-const rate = ${was};`,
    `+const rate = ${is};`,
    ' export default () => rate;',
    ' ',
  ];
  assert.deepEqual(await changes(second.deployment_id), {
    deployment_id: second.deployment_id,
    from_deployment_id: first.deployment_id,
    code: [{ namespace: 'price', lines: lines(1, 2) }],
    steps: [],
  });
  const back = await changes(first.deployment_id, `?from=${third.deployment_id}`);
  assert.deepEqual(
    back.code.map(({ namespace }: Json) => namespace),
    ['price', 'same'],
  );
  assert.deepEqual(back.code[0].lines, lines(3, 1));
  assert.deepEqual(back.steps, [{ change: 'added', namespace: 'same', was: null }]);
  const oldest = await changes(first.deployment_id);
  assert.equal(oldest.from_deployment_id, null);
  assert.equal(oldest.code.length, 2);
  const [, same] = steps(3) as [object, object];
  const renamed = { namespace: 'cost', code: code(3) };
  await client.put(`/v1/workflows/${first.id}`, { steps: [...steps(3), { namespace: 'last', code: code(4) }] });
  const fourth = await client.put(`/v1/workflows/${first.id}`, { steps: [same, renamed] });
  assert.deepEqual((await changes(fourth.deployment_id)).steps, [
    { change: 'renamed', namespace: 'cost', was: 'price' },
    { change: 'moved', namespace: 'cost', was: null },
    { change: 'removed', namespace: 'last', was: null },
  ]);
  // Versions of another workflow, and of another owner, are not there.
  const other = await client.post('/v1/workflows', { name: 'Prices', steps: steps(1) });
  for (const url of [
    `/v1/workflows/${other.id}/deployments/${first.deployment_id}/changes`,
    `${path}/${first.deployment_id}/changes?from=${other.deployment_id}`,
  ]) {
    assert.equal((await client.request('GET', url)).status, 404, url);
  }
  await using stranger = await newErrand();
  const refused = await stranger.client.request('GET', `${path}/${second.deployment_id}/changes`);
  assert.equal(refused.status, 404);
});
