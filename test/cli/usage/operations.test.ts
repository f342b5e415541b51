// errand operations …

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { openShell } from '../command.ts';

const newErrand = shareErrand();
const THROWS = `export default ({ steps }) => {
  const { n } = steps.trigger.event.body;
  throw Object.assign(new Error('no card ' + n), { code: 'NoCard' });
};`;
const THROWS_ONCE_MORE = `export default ({ steps }) => {
  if (steps.trigger.event.body.n === 2) throw new RangeError('of another cause');
};`;

/** Returns the ids of three errors, newest first, and the workflow that one of them fails in again. */
async function failThrice(errand: Errand): Promise<{ readonly workflowId: string; readonly ids: readonly string[] }> {
  const { id: workflowId, ...failing } = await errand.workflow(THROWS, { name: 'Charge orders' });
  for (const n of [1, 2, 3]) await errand.send({ id: workflowId, ...failing }, { n });
  const ids = (await errand.errors(workflowId, 3)).map(({ id }: Json) => id);
  await errand.client.put(`/v1/workflows/${workflowId}`, {
    steps: [{ namespace: 'step', code: THROWS_ONCE_MORE }],
  });
  return { workflowId, ids };
}

test('results of a replay are listed by what became of each error', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const { workflowId, ids } = await failThrice(errand);
  const replayed = await shell.run(['errors', 'replay', '--of', workflowId, '--canary', '0', '--yes', ...named]);
  const [, id = ''] = /^operation +(op_\w+)$/m.exec(replayed.stdout) ?? [];
  assert.match(replayed.stderr, new RegExp(`^What became of each error: errand operations results ${id}$`, 'm'));
  const results = await shell.json('operations', 'results', id);
  assert.deepEqual(
    results.map((result: Json) => [result.id, result.outcome]),
    [
      [ids[0], 'fixed'],
      [ids[1], 'failed_differently'],
      [ids[2], 'fixed'],
    ],
  );
  const [failed, ...others] = await shell.json('operations', 'results', 'last', '--outcome', 'failed_differently');
  assert.deepEqual([failed.id, failed.error.code, others.length], [ids[1], 'RangeError', 0]);
  const table = (await shell.run(['operations', 'results', id, ...named])).stdout.split('\n');
  assert.match(table[0] ?? '', /^ERROR +OUTCOME +RUN +ENDED IN +WHY$/);
  assert.match(
    table[2] ?? '',
    new RegExp(`^${ids[1]} +failed_differently +r_\\w+ +${failed.error_id} +RangeError: of another cause$`),
  );
  const older = await shell.json('operations', 'results', id, '--after', ids[0] ?? '', '--limit', '1');
  assert.deepEqual(
    older.map((result: Json) => result.id),
    [ids[1]],
  );
  const part = await shell.run(['operations', 'results', id, '--limit', '1', ...named]);
  assert.match(part.stderr, /^There are more: --limit 0 shows all$/m);
  const none = await shell.run(['operations', 'results', id, '--outcome', 'cancelled', ...named]);
  assert.deepEqual([none.code, none.stdout, none.stderr], [0, '', 'no results\n']);
});

test('a resend has no results, and is listed by its kind and webhook', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.client.url];
  const { workflowId } = await failThrice(errand);
  const { client } = errand;
  const webhook = await client.post('/v1/webhooks', { url: 'https://example.com/', name: 'Chat' });
  await client.post('/v1/webhooks', { url: 'https://example.com/', name: 'Other' });
  const resend = await client.post(`/v1/webhooks/${webhook.id}/resend`, { since: '2026-01-31T12:00:00Z' });
  const replay = await client.post('/v1/replays', { workflow_id: workflowId });
  const listed = async (...options: string[]): Promise<string[]> =>
    (await shell.json('operations', 'list', ...options)).map(({ id }: Json) => id);
  assert.deepEqual(await listed('--kind', 'resend'), [resend.id]);
  assert.deepEqual(await listed('--kind', 'replay'), [replay.id]);
  assert.deepEqual(await listed('--webhook', 'Chat'), [resend.id]);
  assert.deepEqual(await listed('--webhook', 'Other'), []);
  const refused = await shell.run(['operations', 'results', resend.id, ...named]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, new RegExp(`^errand: ${resend.id} sends deliveries again: `));
  for (const wrong of [
    [replay.id, '--outcome', 'lost'],
    [replay.id, '--limit', '-1'],
  ])
    assert.equal((await shell.run(['operations', 'results', ...wrong, ...named])).code, 2, wrong.join(' '));
  for (const missing of [['op_0Vj3aBc9dEfGhIjK'], ['nothing'], [replay.id, '--after', 'nothing']])
    assert.equal((await shell.run(['operations', 'results', ...missing, ...named])).code, 3, missing.join(' '));
});
