// What an owner may use: set by an admin, shown to both, and 429 with Retry-After when it is met.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { createOwner, runCommand } from '../support/owners.ts';
import { assertProblem } from '../support/problem.ts';
import { until } from '../support/wait.ts';
import { overRun, pass, stepped, waitingRun } from '../support/waits.ts';

const HOUR_MS = 3_600_000;

const NONE = { processes: null, cpu_seconds_per_minute: null, requests_per_second: null, stored_bytes: null };

function assertMet(answer: { status: number; headers: Headers }): void {
  assert.equal(answer.status, 429);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  assert.ok(Number(answer.headers.get('retry-after')) >= 1);
}

test('an admin sets quotas, and both see them', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const path = `/v1/owners/${b.id}/quotas`;
  assert.deepEqual((await errand.client.get(path)).data.limits, NONE);
  const limits = { processes: 8, cpu_seconds_per_minute: 90, requests_per_second: 100, stored_bytes: 10_000_000 };
  await errand.client.request('PUT', path, limits);
  const lifted = await errand.client.request('PUT', path, { cpu_seconds_per_minute: null });
  assert.deepEqual(lifted.json.data.limits, { ...limits, cpu_seconds_per_minute: null });
  const { data } = await b.client.get('/v1/users/me/quotas');
  assert.deepEqual([data.owner_id, data.limits], [b.id, lifted.json.data.limits]);
  assert.deepEqual((await errand.client.get('/v1/users/me/quotas')).data.limits, NONE, 'the first owner has none');
  // Whose quotas they are does not set them, nor look at those of others.
  assertProblem(await b.client.request('PUT', path, NONE), 403);
  assertProblem(await b.client.request('GET', path), 403);
  assertProblem(await errand.client.request('GET', '/v1/owners/u_1111111111111111/quotas'), 404);
  assertProblem(await errand.client.request('PUT', '/v1/owners/u_1111111111111111/quotas', limits), 404);
  for (const wrong of [
    { processes: 0 },
    { processes: 1.5 },
    { stored_bytes: -1 },
    { requests_per_second: 'many' },
    { cpus: 1 },
  ]) {
    assertProblem(await errand.client.request('PUT', path, wrong), 400);
  }
  await errand.restart();
  assert.deepEqual((await errand.client.get(path)).data.limits, data.limits);
});

test('requests beyond the quota are refused, events too', async () => {
  await using errand = await startErrand();
  const [a, b] = [await errand.workflow('export default () => 1'), await createOwner(errand)];
  const workflow = await b.workflow('export default () => 1');
  const endpoint = workflow.triggers[0].endpoint_url;
  await errand.client.request('PUT', `/v1/owners/${b.id}/quotas`, { requests_per_second: 1 });
  const answers = await Promise.all(Array.from({ length: 40 }, () => fetch(endpoint, { method: 'POST', body: 'x' })));
  const taken = answers.filter(({ status }) => status === 200).length;
  assert.ok(taken >= 1 && taken <= 15, `${taken} of 40`);
  for (const answer of answers.filter(({ status }) => status !== 200)) assertMet(answer);
  const refused: Answer[] = [];
  while (refused.length === 0) {
    const answer = await b.client.request('GET', '/v1/workflows');
    if (answer.status !== 200) refused.push(answer);
  }
  assertProblem(refused[0] as Answer, 429);
  assert.ok(refused[0]?.headers.get('retry-after'));
  // Nobody else is held up, and what was refused was not accepted.
  await Promise.all(Array.from({ length: 20 }, () => errand.send(a, {})));
  await errand.client.request('PUT', `/v1/owners/${b.id}/quotas`, { requests_per_second: null });
  const { data } = await b.client.get('/v1/ledger');
  assert.equal(data.emissions, taken);
});

test('an owner that has stored all it may stores no more', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const workflow = await b.workflow('export default () => 1');
  const endpoint = workflow.triggers[0].endpoint_url;
  const send = () => fetch(endpoint, { method: 'POST', body: 'x'.repeat(100_000) });
  const path = `/v1/owners/${b.id}/quotas`;
  await errand.client.request('PUT', path, { stored_bytes: 250_000 });
  const statuses: number[] = [];
  while (statuses.length < 10) statuses.push((await send()).status);
  assert.ok(statuses.filter((status) => status === 200).length <= 3, statuses.join());
  assertMet(await send());
  assertMet(await b.client.request('POST', '/v1/data_stores', { name: 'more' }));
  // It may look, and delete.
  await b.client.get('/v1/workflows');
  assert.equal((await b.client.request('DELETE', `/v1/workflows/${workflow.id}`)).status, 200);
  assert.equal((await errand.client.request('POST', '/v1/data_stores', { name: 'of another' })).status, 200);
  await errand.client.request('PUT', path, { stored_bytes: null });
  assert.equal((await b.client.request('POST', '/v1/data_stores', { name: 'more' })).status, 200);
});

test('runs of an owner that is over its quota wait', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const path = `/v1/owners/${b.id}/quotas`;
  await errand.client.request('PUT', path, { stored_bytes: 1_000_000 });
  const delayed = (hours: number) => ({ wait: `return $.flow.delay(${hours * HOUR_MS});`, done: 'return 1;' });
  const [earlier, later] = [await stepped(b, delayed(1)), await stepped(errand, delayed(2))];
  const big = await fetch(earlier.triggers[0].endpoint_url, { method: 'POST', body: 'x'.repeat(400_000) });
  assert.equal(big.status, 200);
  await errand.send(later, {});
  const [waits, goesOn] = [await waitingRun(b, earlier), await waitingRun(errand, later)];
  await errand.client.request('PUT', path, { stored_bytes: 1 });
  assertMet(await b.client.request('POST', `/v1/workflows/${earlier.id}/runs`, { event: {} }));
  // What comes by itself waits until there is room: here a run whose delay is over, before that of another owner is.
  const own = await errand.workflow('export default () => 1');
  await pass(errand, HOUR_MS);
  await until('the end of the delay', async () => {
    return (await b.client.get(`/v1/runs/${waits.id}`)).data.state !== 'waiting';
  });
  await pass(errand, HOUR_MS);
  assert.equal((await overRun(errand, goesOn.id)).state, 'succeeded');
  await errand.send(own, {});
  await errand.runs(own.id, 1);
  const { data } = await b.client.get(`/v1/runs/${waits.id}`);
  assert.match(data.state, /^(running|queued)$/);
  assert.equal(data.steps.length, 1);
  await errand.client.request('PUT', path, { stored_bytes: null });
  assert.equal((await overRun(b, waits.id)).state, 'succeeded');
});

test('the command line shows and sets quotas', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const quota = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(errand, ['owners', 'quota', b.id, ...args, '--json']);
    return { code, stderr, limits: code === 0 ? JSON.parse(stdout).limits : null };
  };
  const set = await quota('--processes', '4', '--cpu', '60', '--requests', '50', '--bytes', '1000000');
  const limits = { processes: 4, cpu_seconds_per_minute: 60, requests_per_second: 50, stored_bytes: 1_000_000 };
  assert.deepEqual(set.limits, limits, set.stderr);
  for (const wrong of ['0', '257']) {
    const { code, stderr } = await quota('--processes', wrong);
    assert.notEqual(code, 0, wrong);
    assert.match(stderr, /--processes/);
  }
  await errand.stop();
  assert.deepEqual((await quota()).limits, limits);
  assert.deepEqual((await quota('--cpu', 'none')).limits, { ...limits, cpu_seconds_per_minute: null });
  const unknown = await runCommand(errand, ['owners', 'quota', 'u_1111111111111111']);
  assert.match(unknown.stderr, /there is no owner u_1111111111111111/);
});
