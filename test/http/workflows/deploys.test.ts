// Deploys: they warm a process for the first run, and each run that is in flight ends once, with the code that it began with.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createSource, post } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';

const DEPLOYS = 10;
const RUNS_EACH = 30;

/** Says which it is, after a moment in which the next one is deployed. */
const codeOf = (version: number): string => `export default async ({ steps }) => {
  await new Promise((resolve) => setTimeout(resolve, steps.trigger.event.body.n % 40));
  return ${version};
}`;

test('deploys lose none of the runs in flight', async () => {
  await using errand = await startErrand();
  const idsOf = async (workflowId: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let after = ''; ; after = `&after=${ids.at(-1)}`) {
      const { data } = await errand.client.get(`/v1/workflows/${workflowId}/runs?limit=100${after}`);
      if (data.length === 0) return ids;
      ids.push(...data.map(({ id }: { id: string }) => id));
    }
  };
  const made = await errand.workflow(codeOf(0), { settings: { concurrency: 100 } });
  const deployments = new Map<string, number>();
  const sent: Promise<unknown>[] = [];
  for (let version = 0; version < DEPLOYS; version++) {
    const { deployment_id } = (await errand.client.get(`/v1/workflows/${made.id}`)).data;
    deployments.set(deployment_id, version);
    const batch = Array.from({ length: RUNS_EACH }, (_, n) => errand.send(made, { n }));
    sent.push(...batch);
    await batch[0];
    // Also what replaces a process without new code.
    const changed = version % 3 === 2 ? { settings: { env: { VERSION: String(version) } } } : {};
    const steps = [{ namespace: 'step', code: codeOf(version + 1) }];
    await errand.client.put(`/v1/workflows/${made.id}`, { steps, ...changed });
  }
  const last = (await errand.client.get(`/v1/workflows/${made.id}`)).data;
  deployments.set(last.deployment_id, DEPLOYS);
  await Promise.all(sent);
  await errand.settled();
  for (const id of await idsOf(made.id)) {
    const { data: run } = await errand.client.get(`/v1/runs/${id}`);
    assert.equal(run.state, 'succeeded', JSON.stringify(run.error));
    assert.equal(run.steps[0].return_value, deployments.get(run.deployment_id), 'with the code that it began with');
  }
  const { data: ledger } = await errand.client.get('/v1/ledger');
  assert.deepEqual([ledger.runs.total, ledger.runs.failed, ledger.errors.captured], [DEPLOYS * RUNS_EACH, 0, 0]);
});

/** How many there are, and whether one has ended that was there. */
async function processes({ client, logged }: Errand): Promise<[number, number]> {
  const { text } = await client.request('GET', '/metrics');
  const ended = logged.filter(({ name }) => name.startsWith('runner.process_')).length;
  return [Number(/^errand_runner_processes (\d+)$/m.exec(text)?.[1]), ended];
}

test('a deploy warms a process for the first run', async () => {
  await using errand = await startErrand();
  assert.deepEqual(await processes(errand), [0, 0]);
  const made = await errand.workflow('export default () => 1');
  assert.deepEqual(await processes(errand), [1, 0]);
  await errand.send(made, {});
  await errand.runs(made.id, 1);
  assert.deepEqual(await processes(errand), [1, 0]);
  await errand.workflow('export default () => 1', { active: false });
  assert.deepEqual(await processes(errand), [1, 0]);
});

test('a change warms the process that takes its place', async () => {
  await using errand = await startErrand();
  const made = await errand.workflow('export default () => 1', { active: false });
  await errand.client.put(`/v1/workflows/${made.id}`, { active: true });
  assert.deepEqual(await processes(errand), [1, 0]);
  await errand.client.put(`/v1/workflows/${made.id}`, { settings: { env: { A: '1' } } });
  await until('the old one is gone', async () => {
    const [there, ended] = await processes(errand);
    return there === 1 && ended === 1;
  });
  await errand.send(made, {});
  await errand.runs(made.id, 1);
  assert.deepEqual(await processes(errand), [1, 1]);
});

test('a source without hooks is warmed, too', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, run() { this.$emit(process.pid) } }`,
  );
  assert.deepEqual(await processes(errand), [1, 0]);
  await post(source, {});
  await errand.settled();
  assert.deepEqual(await processes(errand), [1, 0]);
});

test('code that cannot be loaded is deployed in silence', async () => {
  await using errand = await startErrand();
  const made = await errand.workflow('throw new Error("at import"); export default () => 1');
  await until('it has been tried', async () => (await processes(errand))[0] === 0);
  assert.deepEqual(
    await errand.client.get(`/v1/workflows/${made.id}/$errors/event_summaries`).then(({ data }) => data),
    [],
  );
  assert.deepEqual(
    errand.logged.filter(({ level, name }) => level !== 'debug' && name.startsWith('runner.')),
    [],
  );
  await errand.send(made, {});
  const [{ event }] = await errand.errors(made.id, 1);
  assert.equal(event.error.msg, 'at import');
});

test('many deploys at once start few processes', async () => {
  await using errand = await startErrand();
  const one = await errand.workflow('export default () => 1');
  const others = Array.from({ length: 200 }, (_, n) => errand.workflow(`export default () => ${n}`));
  await errand.send(one, {});
  await errand.runs(one.id, 1);
  await Promise.all(others);
  const [there] = await processes(errand);
  assert.ok(there <= 9, `${there} processes`);
  const last = await others[199];
  await errand.send(last, {});
  const [run] = await errand.runs(last.id, 1);
  assert.equal(run.state, 'succeeded');
});
