// Ten thousand errors replayed by one operation on a real server, with a restart in the middle. Some 40 s of both cores, so
// `npm run test:postgres:all` has it; the contract has a thousand.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../src/domain/limits.ts';
import { checkPostgres } from '../../src/store/postgres/maintenance/check.ts';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { until } from '../support/wait.ts';

const ERRORS = 10_000;
const SENDERS = 32;
const PAGE = 100;
const FAIL = 'export default () => { throw new Error("lost"); }';
const FIXED = 'export default ({ steps }) => steps.trigger.event.body.n';

/** Waits as long as it goes on, until there are so many. */
async function reaches(what: string, count: number, read: () => Promise<number>): Promise<void> {
  for (let seen = 0; seen < count; ) {
    const before = seen;
    seen = await until(`more than ${before} ${what}`, async () => {
      const now = await read();
      return now > before && now;
    });
  }
}

async function failed(errand: Errand): Promise<{ workflow: Json; groupId: string }> {
  const settings = { notify: false, concurrency: 64, queue_limit: 1_000_000 };
  const workflow = await errand.workflow(FAIL, { settings });
  let n = 0;
  const send = async (): Promise<void> => {
    while (n < ERRORS) await errand.send(workflow, { n: n++ });
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  const ledger = async () => (await errand.client.get('/v1/ledger')).data.errors.captured;
  await reaches('errors', ERRORS, ledger);
  const { data: groups } = await errand.client.get('/v1/error_groups');
  deepEqual(
    groups.map(({ count }: Json) => count),
    [ERRORS],
  );
  return { workflow, groupId: groups[0].id };
}

async function resultsOf({ client }: Errand, id: string): Promise<Json[]> {
  const all: Json[] = [];
  for (let after = ''; ; ) {
    const { data, page_info: page } = await client.get(`/v1/operations/${id}/results?limit=${PAGE}${after}`);
    all.push(...data);
    if (data.length < PAGE) return all;
    after = `&after=${page.end_cursor}`;
  }
}

test('ten thousand errors are replayed by one operation, each once, over a restart', async () => {
  await using errand = await startErrand();
  const { workflow, groupId } = await failed(errand);
  await errand.client.put(`/v1/workflows/${workflow.id}`, { steps: [{ namespace: 'step', code: FIXED }] });
  const { id } = await errand.client.post('/v1/replays', { group_id: groupId });
  const replay = async (): Promise<Json> => (await errand.client.get(`/v1/operations/${id}`)).data.replay;
  const fixed = async (): Promise<number> => {
    const { under_way: underWay, fixed: count } = await replay();
    ok(underWay <= LIMITS.replaysUnderWay, `${underWay} are under way`);
    return count;
  };
  await reaches('errors fixed', ERRORS / 4, fixed);
  await errand.restart();
  ok((await fixed()) < ERRORS, 'the restart came in the middle');
  await reaches('errors fixed', ERRORS, fixed);
  const operation = await until('the operation to be done', async () => {
    const { data } = await errand.client.get(`/v1/operations/${id}`);
    return data.state === 'done' && data;
  });
  deepEqual([operation.total, operation.replay.fixed, operation.replay.under_way], [ERRORS, ERRORS, 0]);
  const results = await resultsOf(errand, id);
  const distinct = (of: string) => new Set(results.map((result) => result[of])).size;
  deepEqual([results.length, distinct('id'), distinct('run_id'), distinct('outcome')], [ERRORS, ERRORS, ERRORS, 1]);
  const { runs, errors } = (await errand.client.get('/v1/ledger')).data;
  deepEqual([runs.failed, runs.succeeded, runs.total, errors.captured], [ERRORS, ERRORS, 2 * ERRORS, ERRORS]);
  const { data: group } = await errand.client.get(`/v1/error_groups/${groupId}`);
  deepEqual([group.state, group.count], ['resolved', ERRORS]);
  const again = await errand.client.post('/v1/replays', { group_id: groupId });
  const passed = async () => (await errand.client.get(`/v1/operations/${again.id}`)).data.replay.replayed_before;
  await reaches('errors passed', ERRORS, passed);
  equal((await errand.client.get('/v1/ledger')).data.runs.total, 2 * ERRORS, 'none runs twice');
  const { ERRAND_DATABASE_URL: url = '' } = errand.settings;
  await errand.stop();
  deepEqual((await checkPostgres(url)).findings, []);
});
