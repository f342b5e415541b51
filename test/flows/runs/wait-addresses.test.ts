// The addresses that end a wait: who may use them, how, and what everybody else is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { overRun, pass, stepped, urlsOf, waitingRun } from '../../support/waits.ts';

const newErrand = shareErrand();

const ASK = { ask: `$.export('urls', $.flow.suspend());`, done: `return steps.ask.$resume_data;` };
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

async function asked(errand: Errand, steps: Record<string, string> = ASK): Promise<Json> {
  const workflow = await stepped(errand, steps);
  await errand.send(workflow, {});
  const run = await waitingRun(errand, workflow);
  return { workflow, run, ...urlsOf(run) };
}

const stateOf = async (errand: Errand, run: Json): Promise<string> =>
  (await errand.client.get(`/v1/runs/${run.id}`)).data.state;

test('whoever follows the link sees a page', async () => {
  await using errand = await newErrand();
  const { run, resume_url, cancel_url } = await asked(errand);
  const first = await fetch(resume_url, { headers: BROWSER });
  const page = await first.text();
  assert.deepEqual([first.status, first.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  assert.match(page, /The workflow goes on\./);
  assert.match(first.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.deepEqual(
    [first.headers.get('cache-control'), first.headers.get('referrer-policy')],
    ['no-store', 'no-referrer'],
  );
  await overRun(errand, run.id);
  for (const url of [resume_url, cancel_url]) {
    const again = await fetch(url, { headers: BROWSER });
    assert.deepEqual([again.status, again.headers.get('content-type')], [409, 'text/html; charset=utf-8']);
    assert.match(await again.text(), /it went on, and has succeeded/);
  }
  const json = await fetch(resume_url, { headers: { accept: 'application/json, text/html;q=0.5' } });
  assert.deepEqual([json.status, json.headers.get('content-type')], [409, 'application/problem+json; charset=utf-8']);
});

test('a cancelled run is told of on a page', async () => {
  await using errand = await newErrand();
  const { cancel_url } = await asked(errand);
  const answer = await fetch(cancel_url, { headers: BROWSER });
  assert.match(await answer.text(), /The workflow has been cancelled\./);
});

test('programs that look at links change nothing', async () => {
  await using errand = await newErrand();
  const { run, resume_url, cancel_url } = await asked(errand);
  for (const url of [resume_url, cancel_url]) {
    for (const [method, status] of [
      ['HEAD', 200],
      ['OPTIONS', 204],
    ] as const) {
      const answer = await fetch(url, { method });
      assert.deepEqual([answer.status, await answer.text()], [status, '']);
      assert.match(answer.headers.get('allow') ?? '', /GET, POST/);
    }
  }
  assert.equal(await stateOf(errand, run), 'waiting');
  assert.equal((await fetch(resume_url, { method: 'DELETE' })).status, 200);
  assert.equal((await overRun(errand, run.id)).state, 'succeeded');
});

test('a wrong address is the same 404 everywhere', async () => {
  await using errand = await newErrand();
  const { run, resume_url } = await asked(errand);
  const other = await asked(errand);
  const token = /\.([^/]+)\/resume/.exec(resume_url)?.[1] as string;
  const otherToken = /\.([^/]+)\/resume/.exec(other.resume_url)?.[1] as string;
  const flipped = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
  const wrong = [
    `/r/${run.id}/1.${flipped}/resume`,
    `/r/${run.id}/1.${otherToken}/resume`,
    `/r/${run.id}/1.${token}x/resume`,
    `/r/${run.id}/2.${token}/resume`,
    `/r/${run.id}/0.${token}/resume`,
    `/r/${run.id}/01.${token}/resume`,
    `/r/${run.id}/1.${token}/resumed`,
    `/r/${run.id}/1.${token}/resume/more`,
    `/r/${run.id}/1.${token}`,
    `/r/${run.id}/${token}/resume`,
    `/r/r_zzzzzzzzzz/1.${token}/resume`,
    `/r/nothing/1.${token}/resume`,
    '/r/',
  ];
  const details = new Set<string>();
  for (const path of wrong) {
    const answer = await errand.client.request('POST', path);
    assert.equal(answer.status, 404, path);
    details.add(answer.json.detail);
  }
  assert.equal(details.size, 1);
  assert.match(await (await fetch(`${errand.url}/r/x`, { headers: BROWSER })).text(), /Nothing waits here/);
  assert.deepEqual([await stateOf(errand, run), await stateOf(errand, other.run)], ['waiting', 'waiting']);
});

test('a body that is too large resumes nothing', async () => {
  await using errand = await startErrand({ ERRAND_MAX_BODY_BYTES: '1000' });
  const { run, resume_url } = await asked(errand);
  const large = await fetch(resume_url, { method: 'POST', body: 'x'.repeat(1001) });
  assert.deepEqual([large.status, await stateOf(errand, run)], [413, 'waiting']);
  const fits = await fetch(resume_url, { method: 'POST', body: 'x'.repeat(1000) });
  assert.equal(fits.status, 200);
  assert.equal((await overRun(errand, run.id)).steps[1].return_value.length, 1000);
});

test('a body beyond what a run may keep is refused', async () => {
  await using errand = await startErrand({ ERRAND_MAX_BODY_BYTES: String(2 ** 20) });
  const steps = {
    before: `return 'x'.repeat(5.5 * 2 ** 20);`,
    ask: `$.export('urls', $.flow.suspend());`,
    again: `if ($.context.run.runs === 1) { $.export('urls', $.flow.rerun(3600_000)); }`,
    late: `return 'y'.repeat(300_000);`,
  };
  const { workflow, run, resume_url } = await asked(errand, steps);
  const post = (url: string, bytes: number) => fetch(url, { method: 'POST', body: 'b'.repeat(bytes) });
  const refused = await post(resume_url, 2 ** 20);
  assert.equal(refused.status, 413);
  assert.match(
    ((await refused.json()) as Json).detail,
    /has kept 57\d{5} bytes of results; with this body of 1048578 bytes/,
  );
  assert.equal(await stateOf(errand, run), 'waiting');
  assert.equal((await post(resume_url, 2 ** 18)).status, 200);
  // What has been brought counts from now on.
  const rerun = await waitingRun(errand, workflow, 'rerun');
  const { resume_url: second } = urlsOf(rerun, 'again');
  assert.equal((await post(second, 2 ** 18)).status, 413);
  assert.equal((await post(second, 100_000)).status, 200);
  const over = await overRun(errand, run.id);
  assert.equal(over.state, 'failed');
  assert.deepEqual([over.error.code, over.error.namespace], ['PayloadTooLarge', 'late']);
});

test('each wait has addresses of its own', async () => {
  await using errand = await newErrand();
  const ask = `$.export('urls', $.flow.suspend());`;
  const { run, workflow, resume_url } = await asked(errand, {
    ask,
    more: ask,
    done: `return [steps.ask.$resume_data, steps.more.$resume_data];`,
  });
  await fetch(resume_url, { method: 'POST', body: 'one' });
  const second = await until('the second wait', async () => {
    const waiting = await waitingRun(errand, workflow);
    return waiting.steps.length === 2 && waiting;
  });
  const stale = await fetch(resume_url, { method: 'POST', body: 'again' });
  assert.equal(stale.status, 409);
  assert.match(((await stale.json()) as Json).detail, /waits for something else/);
  await fetch(urlsOf(second, 'more').resume_url, { method: 'POST', body: 'two' });
  assert.deepEqual((await overRun(errand, run.id)).steps[2].return_value, ['one', 'two']);
});

test('a request ends a delay and a rerun early', async () => {
  await using errand = await newErrand();
  const wait = await asked(errand, {
    ask: `$.export('urls', $.flow.delay(3_600_000));`,
    done: `return steps.ask.$resume_data;`,
  });
  await fetch(wait.resume_url, { method: 'POST', body: 'now' });
  assert.equal((await overRun(errand, wait.run.id)).steps[1].return_value, 'now');
  const poll = `const { runs, callback_request } = $.context.run; if (runs === 1) $.export('urls', $.flow.rerun(3_600_000)); return callback_request?.body;`;
  const rerun = await asked(errand, { ask: poll, done: `return [steps.ask.$return_value, steps.ask.$resume_data];` });
  await fetch(rerun.resume_url, { method: 'POST', body: 'now' });
  assert.deepEqual((await overRun(errand, rerun.run.id)).steps[1].return_value, ['now', 'now']);
});

test('another owner sees nothing of a wait', async () => {
  await using errand = await startErrand();
  const { run, workflow } = await asked(errand);
  const second = await createOwner(errand);
  for (const [method, path] of [
    ['GET', `/v1/runs/${run.id}`],
    ['POST', `/v1/runs/${run.id}/cancel`],
    ['POST', `/v1/runs/${run.id}/retry`],
    ['GET', `/v1/workflows/${workflow.id}/runs?state=waiting`],
  ] as const) {
    assert.equal((await second.client.request(method, path)).status, 404, path);
  }
  assert.deepEqual((await second.client.get('/v1/ledger')).data.runs.waiting, 0);
  assert.equal(await stateOf(errand, run), 'waiting');
});

test('an address holds after a restart', async () => {
  await using errand = await startErrand();
  const { run, resume_url } = await asked(errand);
  await pass(errand, 3_600_000);
  await errand.restart();
  const answer = await fetch(errand.url + new URL(resume_url).pathname, { method: 'PATCH' });
  assert.equal(answer.status, 200);
  assert.equal((await overRun(errand, run.id)).state, 'succeeded');
});
