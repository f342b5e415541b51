// Groups of errors over HTTP: what they show, what can be said about them, and what rules would make of them.

import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type OwnerOn, sharedErrand } from '../support/owners.ts';
import { assertProblem } from '../support/problem.ts';
import { withoutIso } from '../support/wire/iso-times.ts';

const newOwner = sharedErrand();

const FAIL = `export default ({ steps }) => { throw new Error(steps.trigger.event.body.msg) }`;

/** A workflow with an error for each message, in their order. */
async function failed(errand: OwnerOn, ...messages: readonly string[]): Promise<Json> {
  const workflow = await errand.workflow(FAIL, { settings: { notify: false } });
  return more(errand, workflow, messages);
}

async function more(errand: OwnerOn, workflow: Json, messages: readonly string[], before = 0): Promise<Json> {
  for (const [i, msg] of messages.entries()) {
    await errand.send(workflow, { msg });
    await errand.errors(workflow.id, before + i + 1);
  }
  return workflow;
}

const listed = async (errand: OwnerOn, query = ''): Promise<Json> => errand.client.get(`/v1/error_groups${query}`);
const one = async (errand: OwnerOn, id: string): Promise<Json> =>
  (await errand.client.get(`/v1/error_groups/${id}`)).data;

test('a group shows its documented members', async () => {
  const errand = await newOwner();
  const workflow = await failed(errand, 'order 7 is lost', 'order 8 is lost');
  const { page_info: page, data } = await listed(errand);
  deepEqual([page.total_count, page.count, data.length], [1, 1, 1]);
  const [group] = data;
  match(group.id, /^eg_[0-9A-Za-z]{16}$/);
  deepEqual(
    [group.emitter_id, group.state, group.count, group.rule, group.reopened, group.note, group.assignee],
    [workflow.id, 'open', 2, null, null, null, null],
  );
  equal(group.fingerprint.template, 'order {n} is lost');
  match(group.why, /^same step `step`, same code `Error`, message template `order \{n\} is lost`, thrown from `.*step/);
  const { hours, deployments, samples } = await one(errand, group.id);
  equal(
    hours.reduce((sum: number, hour: Json) => sum + hour.count, 0),
    2,
  );
  deepEqual([deployments.length, deployments[0].id, deployments[0].count], [1, workflow.deployment_id, 2]);
  deepEqual(
    samples.map((sample: Json) => [sample.error.msg, sample.deployment_id, sample.receipts[0].kind]),
    ['order 8 is lost', 'order 7 is lost'].map((msg) => [msg, workflow.deployment_id, 'withheld']),
  );
});

test('one message with two causes makes two groups, found by their cause', async () => {
  const errand = await newOwner();
  const code = `export default ({ steps }) => {
    const { code, msg } = steps.trigger.event.body;
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(msg), { code }) });
  }`;
  const workflow = await errand.workflow(code, { settings: { notify: false } });
  const causes = [
    { code: 'ECONNREFUSED', msg: 'connect ECONNREFUSED 127.0.0.1:1' },
    { code: 'ECONNREFUSED', msg: 'connect ECONNREFUSED 127.0.0.1:2' },
    { code: 'ENOTFOUND', msg: 'getaddrinfo ENOTFOUND bank' },
  ];
  for (const [i, cause] of causes.entries()) {
    await errand.send(workflow, cause);
    await errand.errors(workflow.id, i + 1);
  }
  const { data } = await listed(errand);
  deepEqual(
    data.map(({ fingerprint, count }: Json) => [fingerprint.template, count]),
    [
      ['fetch failed [cause: ENOTFOUND]', 1],
      ['fetch failed [cause: ECONNREFUSED]', 2],
    ],
  );
  match(data[0].why, /message template `fetch failed \[cause: ENOTFOUND\]`/);
  deepEqual((await listed(errand, '?text=econnref')).data[0]?.id, data[1].id);
  const found = (await errand.client.get('/v1/errors?text=127.0.0.1:2')).data;
  deepEqual([found.length, found[0].metadata.group_id], [1, data[1].id]);
  const preview: Json[] = await errand.client.post(`/v1/workflows/${workflow.id}/error_groups/preview`, {
    grouping: [],
  });
  deepEqual(
    preview.map(({ count, group_ids }: Json) => [count, group_ids]),
    [
      [1, [data[0].id]],
      [2, [data[1].id]],
    ],
  );
});

test('an error names its group but in the list whose members are fixed', async () => {
  const errand = await newOwner();
  const workflow = await failed(errand, 'lost');
  const [group] = (await listed(errand)).data;
  const path = `/v1/workflows/${workflow.id}/$errors/event_summaries`;
  const [record] = (await errand.client.get(path)).data;
  deepEqual(Object.keys(record.metadata).toSorted(), ['emit_id', 'emitter_id', 'name']);
  equal((await errand.client.get('/v1/errors')).data[0].metadata.group_id, group.id);
  equal((await errand.client.get(`${path}/${record.id}`)).data.metadata.group_id, group.id);
  const grouped = { ...record.metadata, group_id: group.id };
  deepEqual((await one(errand, group.id)).samples[0].metadata, grouped);
  deepEqual((await errand.client.get(`/v1/errors?group_id=${group.id}`)).data[0].metadata, grouped);
  deepEqual([group.first_error_id, group.last_error_id], [record.id, record.id]);
});

test('a resolved group that recurs names the deployment', async () => {
  const errand = await newOwner();
  const workflow = await failed(errand, 'lost');
  const [{ id }] = (await listed(errand)).data;
  const resolved = await errand.client.put(`/v1/error_groups/${id}`, {
    state: 'resolved',
    resolved_in_next_deployment: true,
    note: 'fixed in main',
    assignee: 'ada@example.com',
  });
  deepEqual(
    [resolved.state, resolved.resolved_in_next_deployment, resolved.note, resolved.assignee],
    ['resolved', true, 'fixed in main', 'ada@example.com'],
  );
  await more(errand, workflow, ['lost'], 1);
  equal((await one(errand, id)).state, 'resolved');
  const code = `${FAIL} // again`;
  const next = await errand.client.put(`/v1/workflows/${workflow.id}`, { steps: [{ namespace: 'step', code }] });
  notEqual(next.deployment_id, workflow.deployment_id);
  await more(errand, workflow, ['lost'], 2);
  const { state, reopened, last_error_id: last, count } = await one(errand, id);
  deepEqual([state, count], ['open', 3]);
  const { at_ms: _atMs, ...rest } = withoutIso(reopened);
  deepEqual(rest, { from: 'resolved', by: 'deployment', error_id: last, deployment_id: next.deployment_id });
});

test('a mute has an end and says which', async () => {
  const errand = await newOwner();
  const workflow = await failed(errand, 'lost');
  const [{ id }] = (await listed(errand)).data;
  const muted = await errand.client.put(`/v1/error_groups/${id}`, { state: 'muted', muted_errors: 2 });
  deepEqual([muted.state, muted.muted_errors_left, muted.muted_until_ms], ['muted', 2, null]);
  await more(errand, workflow, ['lost'], 1);
  equal((await one(errand, id)).muted_errors_left, 1);
  await more(errand, workflow, ['lost'], 2);
  deepEqual([(await one(errand, id)).state, (await one(errand, id)).reopened.by], ['open', 'count']);
});

test('bad changes are refused by name', async () => {
  const errand = await newOwner();
  await failed(errand, 'lost');
  const [{ id }] = (await listed(errand)).data;
  for (const [body, told] of [
    [{ state: 'muted' }, /needs an end/],
    [{ state: 'muted', muted_until: Date.now() - 1000 }, /future/],
    [{ state: 'muted', muted_until: '2999-01-01' }, /366 days/],
    [{ state: 'muted', muted_errors: 0 }, /muted_errors/],
    [{ muted_errors: 5 }, /needs the state "muted"/],
    [{ state: 'open', resolved_in_next_deployment: true }, /needs the state "resolved"/],
    [{ state: 'closed' }, /state/],
    [{ assignee: 'nobody' }, /mail address/],
    [{ assignee: 'a\u0000@example.com' }, /mail address/],
    [{ note: 'x\u0000' }, /note/],
    [{ note: 'x'.repeat(5000) }, /note/],
    [{ color: 'red' }, /color/],
  ] as const) {
    const answer = await errand.client.request('PUT', `/v1/error_groups/${id}`, body);
    equal(answer.status, 400, JSON.stringify(body));
    match(answer.json.detail, told);
  }
  equal((await one(errand, id)).state, 'open');
});

test('groups are found by their assignee', async () => {
  const errand = await newOwner();
  await failed(errand, 'lost');
  await failed(errand, 'late');
  const [{ id }, other] = (await listed(errand)).data;
  const idsOf = async (query: string) => {
    const { data } = await errand.client.get(`/v1/error_groups?${query}`);
    return data.map((group: { id: string }) => group.id);
  };
  deepEqual((await errand.client.get('/v1/error_groups/assignees')).data, []);
  deepEqual(await idsOf('assignee=none&text=lost').then((ids) => ids.length), 1);
  await errand.client.put(`/v1/error_groups/${id}`, { assignee: 'Ada+shop@example.com' });
  deepEqual(await idsOf(`assignee=${encodeURIComponent('ada+SHOP@example.com')}`), [id]);
  deepEqual(await idsOf('assignee=none'), [other.id]);
  deepEqual(await idsOf('assignee=eve@example.com'), []);
  deepEqual((await errand.client.get('/v1/error_groups/assignees')).data, [
    { assignee: 'Ada+shop@example.com', groups: 1, open: 1 },
  ]);
  equal((await errand.client.request('GET', '/v1/error_groups?assignee=')).status, 400);
  equal((await errand.client.request('GET', `/v1/error_groups?assignee=${'a'.repeat(300)}`)).status, 400);
  const stranger = await newOwner();
  deepEqual((await stranger.client.get('/v1/error_groups/assignees')).data, []);
});

test('lists are filtered, sorted and paged', async () => {
  const errand = await newOwner();
  const workflow = await failed(errand, 'a', 'b', 'b', 'c');
  await failed(errand, 'of another');
  const templates = async (query: string): Promise<string[]> =>
    (await listed(errand, query)).data.map((group: Json) => group.fingerprint.template);
  deepEqual(await templates(''), ['of another', 'c', 'b', 'a']);
  deepEqual(await templates(`?emitter_id=${workflow.id}`), ['c', 'b', 'a']);
  deepEqual(await templates('?text=OTHER'), ['of another']);
  deepEqual(await templates('?text=%25'), []);
  deepEqual(await templates('?text=%00'), []);
  deepEqual(await templates('?state=muted'), []);
  deepEqual(await templates('?code=error'), []);
  deepEqual((await templates('?code=Error&state=open')).length, 4);
  deepEqual(await templates('?since=2999-01-01'), []);
  equal((await templates('?sort=count'))[0], 'b');
  for (const sort of ['last_seen', 'count']) {
    const all = await templates(`?sort=${sort}`);
    const walked: string[] = [];
    for (let after = ''; ; ) {
      const { page_info: page, data } = await listed(errand, `?sort=${sort}&limit=1${after}`);
      if (data.length === 0) break;
      walked.push(data[0].fingerprint.template);
      after = `&after=${page.end_cursor}`;
    }
    deepEqual(walked, all);
  }
  const { page_info: searched } = await listed(errand, '?text=OTHER&limit=1');
  deepEqual([searched.total_count, searched.looked_at, searched.next_cursor], [null, 1, searched.end_cursor]);
  const rest = await listed(errand, `?text=OTHER&limit=1&after=${searched.next_cursor}`);
  deepEqual([rest.data, rest.page_info.looked_at, rest.page_info.next_cursor], [[], 3, null]);
  for (const query of ['?after=nothing', '?after=1-eg_', '?state=all', '?sort=age', '?since=soon']) {
    equal((await errand.client.request('GET', `/v1/error_groups${query}`)).status, 400, query);
  }
  const { json: refused } = await errand.client.request('GET', '/v1/error_groups?after=nothing');
  match(refused.detail, /^after must be a place in this list, as page_info has it/);
});

test('rules are previewed, and make groups of what comes later', async () => {
  const errand = await newOwner();
  const workflow = await failed(errand, 'card x declined', 'card yz declined', 'else');
  const grouping = [{ group: 'cards', message: 'card * declined' }];
  const shown = await errand.client.post(`/v1/workflows/${workflow.id}/error_groups/preview`, { grouping });
  deepEqual(
    shown.map((group: Json) => [group.rule, group.count, group.group_ids.length]),
    [
      [null, 1, 1],
      ['cards', 2, 2],
    ],
  );
  equal((await listed(errand)).data.length, 3, 'nothing was changed');
  const { settings } = await errand.client.put(`/v1/workflows/${workflow.id}`, { settings: { grouping } });
  deepEqual(settings.grouping, grouping);
  await more(errand, workflow, ['card q declined'], 3);
  const [newest] = (await listed(errand)).data;
  deepEqual([newest.rule, newest.count], ['cards', 1]);
  match(newest.why, /rule for the group `cards`/);
  for (const rule of [{ group: 'x' }, { group: '', code: 'x' }, { code: 'x' }, { group: 'x', code: 'y', extra: 1 }]) {
    const path = `/v1/workflows/${workflow.id}/error_groups/preview`;
    equal((await errand.client.request('POST', path, { grouping: [rule] })).status, 400, JSON.stringify(rule));
  }
  const { json } = await errand.client.request('PUT', `/v1/workflows/${workflow.id}`, {
    settings: { grouping: [...grouping, { group: 'x' }] },
  });
  match(json.detail, /^settings\.grouping\[1\] needs a code, a message or a step/);
});

test('a rule matches the message that an undelivered request shows', async () => {
  const errand = await newOwner();
  const code = 'export default ({ $ }) => $.send.http({ method: "POST", url: "http://10.0.0.1/" })';
  const grouping = [{ group: 'refused', message: 'Request POST * not delivered after 1 attempt: *' }];
  const workflow = await errand.workflow(code, { settings: { notify: false, grouping } });
  await errand.send(workflow, {});
  await errand.errors(workflow.id, 1);
  const [preview] = await errand.client.post(`/v1/workflows/${workflow.id}/error_groups/preview`, { grouping });
  const [group] = (await listed(errand)).data;
  deepEqual([preview.rule, group.rule, preview.group_ids], ['refused', 'refused', [group.id]]);
});

test('a preview shows the template that the group of an undelivered request has', async () => {
  const errand = await newOwner();
  const code = 'export default ({ $ }) => $.send.http({ method: "POST", url: "http://10.0.0.1/" })';
  const grouping = [{ group: 'all', message: '*' }];
  for (const settings of [{ notify: false }, { notify: false, grouping }]) {
    const workflow = await errand.workflow(code, { settings });
    await errand.send(workflow, {});
    await errand.errors(workflow.id, 1);
    const path = `/v1/workflows/${workflow.id}/error_groups/preview`;
    const [preview] = await errand.client.post(path, { grouping: [] });
    const [group] = (await listed(errand, `?emitter_id=${workflow.id}`)).data;
    deepEqual([preview.fingerprint, preview.group_ids], [group.fingerprint, [group.id]]);
    match(group.fingerprint.template, /^Request POST \S+ not delivered: /);
  }
});

test('no other owner sees or changes a group', async () => {
  const [errand, stranger] = [await newOwner(), await newOwner()];
  const workflow = await failed(errand, 'lost');
  const [{ id }] = (await listed(errand)).data;
  deepEqual((await listed(stranger)).data, []);
  deepEqual((await listed(stranger, `?emitter_id=${workflow.id}`)).data, []);
  for (const [method, path, body] of [
    ['GET', `/v1/error_groups/${id}`, undefined],
    ['PUT', `/v1/error_groups/${id}`, { note: 'theirs' }],
    ['POST', `/v1/workflows/${workflow.id}/error_groups/preview`, { grouping: [] }],
  ] as const) {
    assertProblem(await stranger.client.request(method, path, body), 404);
  }
  equal((await one(errand, id)).note, null);
});

test('a change is in the audit log', async () => {
  const errand = await newOwner();
  await failed(errand, 'lost');
  const [{ id }] = (await listed(errand)).data;
  await errand.client.put(`/v1/error_groups/${id}`, { note: 'seen' });
  const [record] = (await errand.client.get('/v1/audit?operation=updateErrorGroup')).data;
  deepEqual([record.target_id, record.status], [id, 200]);
});
