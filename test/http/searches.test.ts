// All errors and all runs in one place, over HTTP.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { createOwner, type OwnerOn, sharedErrand, withScopes } from '../support/owners.ts';
import { assertProblem } from '../support/problem.ts';
import { until } from '../support/wait.ts';
import { withoutIso } from '../support/wire/iso-times.ts';

const newOwner = sharedErrand();

const FAIL = `export default ({ steps }) => {
  const { code, msg } = steps.trigger.event.body;
  throw Object.assign(new Error(msg), { code });
}`;
const QUIET = { settings: { notify: false } };

type Search = Pick<OwnerOn, 'client'>;

const query = (params: Record<string, string>): string => new URLSearchParams(params).toString();
const errorsOf = async ({ client }: Search, params: Record<string, string> = {}): Promise<Json> =>
  client.get(`/v1/errors?${query(params)}`);
const runsOf = async ({ client }: Search, params: Record<string, string> = {}): Promise<Json> =>
  client.get(`/v1/runs?${query(params)}`);
const idsOf = ({ data }: Json): string[] => data.map(({ id }: Json) => id);

/** Makes a workflow fail, and returns the new error's id. */
async function fail(errand: OwnerOn, workflow: Json, body: Json): Promise<string> {
  const before = idsOf(await errorsOf(errand, { emitter_id: workflow.id }));
  await errand.send(workflow, body);
  return until('the error', async () => {
    const [newest] = idsOf(await errorsOf(errand, { emitter_id: workflow.id }));
    return newest !== undefined && !before.includes(newest) && newest;
  });
}

test('errors of all workflows are in one list', async () => {
  const errand = await newOwner();
  const [one, other] = [await errand.workflow(FAIL, { ...QUIET, name: 'one' }), await errand.workflow(FAIL, QUIET)];
  const ids = [
    await fail(errand, one, { code: 'A', msg: 'no total' }),
    await fail(errand, other, { code: 'B', msg: 'x'.repeat(600) }),
  ];
  const { page_info: info, data } = await errorsOf(errand);
  assert.deepEqual(idsOf({ data }), ids.toReversed());
  assert.deepEqual(withoutIso(info), {
    total_count: 2,
    count: 2,
    start_cursor: ids[1],
    end_cursor: ids[0],
    next_cursor: null,
    searched_until_ms: null,
    looked_at: 2,
  });
  const [long, short] = data;
  assert.deepEqual([long.error.msg.length, long.error.msg.at(-1)], [500, '…']);
  const [run] = await errand.runs(one.id, 1);
  assert.deepEqual(withoutIso(short), {
    id: ids[0],
    indexed_at_ms: short.indexed_at_ms,
    metadata: { ...short.metadata, emitter_id: one.id, name: '$errors' },
    error: { code: 'A', msg: 'no total', cellId: one.steps[0].id, ts: short.error.ts, namespace: 'step' },
    workflow_name: 'one',
    deployment_id: one.deployment_id,
    run_id: run.id,
    run_retained: true,
    delivery_id: null,
    told: 'withheld',
    replay: null,
  });
  assert.deepEqual(run.error, { code: 'A', msg: 'no total' });
  const [expanded] = (await errorsOf(errand, { expand: 'event', limit: '1' })).data;
  assert.equal(expanded.event.error.msg.length, 600);
  const listed = await errand.client.get(`/v1/workflows/${one.id}/$errors/event_summaries`);
  assert.deepEqual(Object.keys(listed.data[0]).toSorted(), ['id', 'indexed_at_ms', 'metadata'], 'as it always was');
});

test('errors are picked by every filter', async () => {
  const errand = await newOwner();
  const [one, other] = [await errand.workflow(FAIL, QUIET), await errand.workflow(FAIL)];
  const first = await fail(errand, one, { code: 'A', msg: 'No 100% of "it"' });
  const since = new Date((await errorsOf(errand)).data[0].indexed_at_ms + 1).toISOString();
  await until('another millisecond', async () => Date.now() > Date.parse(since));
  const second = await fail(errand, other, { code: 'B', msg: 'über alles' });
  await until('the mail', async () => (await errorsOf(errand, { told: 'told' })).data.length === 1);
  const [{ id: group }] = (await errand.client.get(`/v1/error_groups?emitter_id=${one.id}`)).data;
  const cases: [Record<string, string>, string[]][] = [
    [{ group_id: group }, [first]],
    [{ group_id: group, emitter_id: one.id, code: 'A', text: '100%', until: since }, [first]],
    [{ group_id: group, emitter_id: other.id }, []],
    [{ group_id: group, since }, []],
    [{ group_id: 'eg_nobody' }, []],
    [{ group_id: group.toLowerCase() === group ? group.toUpperCase() : group.toLowerCase() }, []],
    [{ emitter_id: one.id }, [first]],
    [{ emitter_id: 'p_nobody' }, []],
    [{ code: 'B' }, [second]],
    [{ code: "' OR 1=1 --" }, []],
    [{ step: 'step' }, [second, first]],
    [{ step: 'other' }, []],
    [{ text: '100% OF "IT"' }, [first]],
    [{ text: '%' }, [first]],
    [{ text: 'ÜBER' }, [second]],
    [{ text: '\0' }, []],
    [{ text: "'" }, []],
    [{ deployment_id: other.deployment_id }, [second]],
    [{ since }, [second]],
    [{ until: since }, [first]],
    [{ since: '0', until: String(Date.now() + 60_000) }, [second, first]],
    [{ told: 'true' }, [second]],
    [{ told: 'false' }, [first]],
    [{ told: 'withheld' }, [first]],
    [{ replayed: 'false' }, [second, first]],
    [{ replayed: 'true' }, []],
    [
      { emitter_id: other.id, code: 'B', step: 'step', text: 'alles', told: 'told', replayed: 'false', since },
      [second],
    ],
  ];
  for (const [params, expected] of cases) {
    assert.deepEqual(idsOf(await errorsOf(errand, params)), expected, JSON.stringify(params));
  }
});

test('a replay and a retry show on the error and its run', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FAIL, QUIET);
  const id = await fail(errand, workflow, { code: 'A', msg: 'no' });
  const [failed] = await errand.runs(workflow.id, 1);
  assert.equal(failed.retried_by, null);
  await errand.client.put(`/v1/workflows/${workflow.id}`, {
    steps: [{ namespace: 'step', code: 'export default () => 1' }],
  });
  const path = `/v1/workflows/${workflow.id}/$errors/event_summaries/${id}`;
  const states = async (): Promise<Json[]> => {
    const { data } = await errand.client.get(path);
    return data.replays.every(({ state }: Json) => state === 'succeeded') && data.replays;
  };
  const { data: retry } = await errand.client.request('POST', `/v1/runs/${failed.id}/retry`).then(({ json }) => json);
  const once = await until('the retry', states);
  const ended = { state: 'succeeded', operation_id: null, error_id: null };
  const timesOf = async ({ run_id: runId }: Json) => {
    const { created_at_ms, ended_at_ms } = (await errand.client.get(`/v1/runs/${runId}`)).data;
    return { created_at_ms, ended_at_ms };
  };
  assert.deepEqual(once.map(withoutIso), [
    { kind: 'retry', run_id: retry.run_id, edited: false, ...ended, outcome: 'fixed', ...(await timesOf(retry)) },
  ]);
  const replay = await errand.client.post(`/v1/workflows/${workflow.id}/$errors/${id}/replay`, { event: { n: 2 } });
  const twice = await until('the replay', states);
  const edited = { kind: 'replay', run_id: replay.run_id, edited: true, ...ended, outcome: null };
  const newest = { ...edited, ...(await timesOf(replay)) };
  assert.deepEqual(twice.map(withoutIso), [newest, ...once.map(withoutIso)]);
  const [found] = (await errorsOf(errand, { replayed: 'true' })).data;
  assert.deepEqual([found.id, withoutIso(found.replay)], [id, newest]);
  assert.deepEqual((await errorsOf(errand, { replayed: 'false' })).data, []);
  const runs = (await runsOf(errand, { workflow_id: workflow.id })).data;
  const again = runs.find((run: Json) => run.id === failed.id);
  assert.deepEqual([again.state, again.retried_by], ['failed', replay.run_id]);
  const whole = await errand.client.get(`/v1/runs/${replay.run_id}`);
  assert.deepEqual(whole.data.caused_by.run_id, failed.id, 'the other way round, too');
});

test('runs are picked by every filter', async () => {
  const errand = await newOwner();
  const one = await errand.workflow(
    `export default ({ steps, $ }) => { $.export('$summary', 'Charged 100%'); return 1; }`,
    QUIET,
  );
  const other = await errand.workflow(FAIL, QUIET);
  await errand.send(one, '{"name":"Müller", "big":12345678901234567890}');
  const [done] = await errand.runs(one.id, 1);
  await fail(errand, other, { code: 'B', msg: 'no' });
  const [failed] = await errand.runs(other.id, 1);
  const cases: [Record<string, string>, string[]][] = [
    [{}, [failed.id, done.id]],
    [{ workflow_id: one.id }, [done.id]],
    [{ workflow_id: 'p_nobody' }, []],
    [{ workflow_id: 'dc_nobody' }, []],
    [{ source_id: one.id }, []],
    [{ state: 'failed' }, [failed.id]],
    [{ state: 'succeeded' }, [done.id]],
    [{ state: 'queued' }, []],
    [{ error_code: 'B' }, [failed.id]],
    [{ error_code: 'B', state: 'succeeded' }, []],
    [{ text: 'charged 100%' }, [done.id]],
    [{ text: 'MÜLLER' }, [done.id]],
    [{ text: '12345678901234567890' }, [done.id]],
    [{ text: '1234567890123456789_' }, []],
    [{ text: '"code":"B"', state: 'failed' }, [failed.id]],
    [{ since: '2000-01-01', until: '2000-01-02' }, []],
    [{ since: '2000-01-01' }, [failed.id, done.id]],
  ];
  for (const [params, expected] of cases) {
    assert.deepEqual(idsOf(await runsOf(errand, params)), expected, JSON.stringify(params));
  }
});

test('pages follow each other by their cursors', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FAIL, QUIET);
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.unshift(await fail(errand, workflow, { code: `C${n % 2}`, msg: `text ${n}` }));
  const pages: string[][] = [];
  let after: string | null = '';
  while (after !== null) {
    const more: Record<string, string> = after === '' ? {} : { after };
    const { page_info: info, data } = await errorsOf(errand, { text: 'TEXT', limit: '2', ...more });
    assert.equal(info.searched_until_ms === null, info.next_cursor === null);
    pages.push(idsOf({ data }));
    after = info.next_cursor;
  }
  assert.deepEqual(pages, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  const before = await errorsOf(errand, { limit: '1', before: ids[3] ?? '' });
  assert.deepEqual([idsOf(before), before.page_info.next_cursor], [[ids[2]], ids[2]]);
  const { page_info: info, data: runs } = await runsOf(errand, { limit: '2', include: 'id,state' });
  assert.deepEqual([info.total_count, Object.keys(runs[0])], [5, ['id', 'state']]);
  const rest = await runsOf(errand, { after: info.next_cursor });
  assert.equal(new Set([...idsOf({ data: runs }), ...idsOf(rest)]).size, 5);
});

test('what is not understood is refused', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FAIL, QUIET);
  await fail(errand, workflow, { code: 'A', msg: 'no' });
  const both = [
    ['after', 'x'],
    ['after', '12'],
    ['before', '-1-0'],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', 'ten'],
    ['text', ''],
    ['text', 'a'.repeat(10_000)],
    ['since', 'yesterday'],
    ['since', '-1'],
    ['until', '2026-02-30'],
    ['$text', 'a'],
  ];
  const own: Record<string, string[][]> = {
    errors: [
      ['code', 'a\0b'],
      ['code', ''],
      ['code', 'a'.repeat(129)],
      ['step', '\n'],
      ['emitter_id', 'p_\u007f'],
      ['group_id', ''],
      ['group_id', 'eg_\0'],
      ['group_id', 'a'.repeat(256)],
      ['deployment_id', 'a'.repeat(256)],
      ['told', 'perhaps'],
      ['replayed', 'yes'],
      ['cod', 'A'],
      ['expand', 'all'],
      ['state', 'failed'],
    ],
    runs: [
      ['state', 'told'],
      ['workflow_id', '\0'],
      ['error_code', '\u0001'],
      ['emitter_id', workflow.id],
      ['sate', 'failed'],
    ],
  };
  for (const [list, more] of Object.entries(own)) {
    for (const [name = '', value = ''] of [...both, ...more]) {
      const answer = await errand.client.request('GET', `/v1/${list}?${query({ [name]: value })}`);
      assertProblem(answer, 400, name);
    }
    const empty = `since=${Date.now()}&until=${Date.now() - 1}`;
    assertProblem(await errand.client.request('GET', `/v1/${list}?${empty}`), 400, 'until');
    assertProblem(await errand.client.request('GET', `/v1/${list}?text=a&text=b`), 400, 'text');
  }
  assertProblem(await errand.client.request('GET', '/v1/runs?workflow_id=p_1&source_id=dc_1'), 400, 'exclude');
});

test('another owner sees nothing, and reading is enough', async () => {
  const [errand, other] = [await newOwner(), await newOwner()];
  const workflow = await errand.workflow(FAIL, QUIET);
  await fail(errand, workflow, { code: 'A', msg: 'no' });
  const group_id = (await errorsOf(errand)).data[0].metadata.group_id;
  const emitter_id = workflow.id;
  const ofErrors: Record<string, string>[] = [{}, { emitter_id }, { group_id }, { text: 'no' }, { step: 'step' }];
  for (const params of ofErrors) {
    const { page_info: info, data } = await errorsOf(other, params);
    assert.deepEqual([data, info.looked_at], [[], 0]);
  }
  const ofRuns: Record<string, string>[] = [{}, { workflow_id: workflow.id }, { error_code: 'A' }];
  for (const params of ofRuns) {
    const { page_info: info, data } = await runsOf(other, params);
    assert.deepEqual([info.total_count, info.looked_at, data], [0, 0, []]);
  }
  const reader = await withScopes(errand.client, ['read']);
  assert.deepEqual([(await errorsOf(reader)).data.length, (await runsOf(reader)).data.length], [1, 1]);
  const writer = await withScopes(errand.client, ['write']);
  for (const list of ['errors', 'runs']) {
    assertProblem(await writer.client.request('GET', `/v1/${list}`), 403);
    const bare = await fetch(`${errand.client.url}/v1/${list}`);
    assert.equal(bare.status, 401);
    await bare.body?.cancel();
  }
});

test('everything is found again after a restart', async () => {
  await using errand = await startErrand();
  const owner = await createOwner(errand);
  const workflow = await owner.workflow(FAIL);
  const id = await fail(owner, workflow, { code: 'A', msg: 'no total' });
  await owner.client.request('DELETE', `/v1/workflows/${workflow.id}`);
  await until('the mail', async () => (await errorsOf(owner, { told: 'told' })).data.length === 1);
  const { group_id } = (await errorsOf(owner)).data[0].metadata;
  const read = async () => {
    const client = { client: Object.assign(Object.create(owner.client), { url: errand.url }) };
    const asked: Record<string, string>[] = [{}, { text: 'TOTAL' }, { told: 'told', code: 'A' }, { group_id }];
    return [...(await Promise.all(asked.map((params) => errorsOf(client, params)))), await runsOf(client)];
  };
  const before = await read();
  assert.deepEqual(before.slice(0, 4).map(idsOf), [[id], [id], [id], [id]]);
  await errand.restart({ ERRAND_PORT: new URL(errand.url).port });
  assert.deepEqual(await read(), before);
});
