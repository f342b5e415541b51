// All errors that are kept, as lines, each with its original event byte for byte.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { createOwner, type OwnerOn } from '../support/owners.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';

const newErrand = shareErrand();

const PATH = '/v1/errors/export';
const THROWS = `export default ({ steps }) => {
  throw Object.assign(new Error('no'), { code: steps.trigger.event.body?.code ?? 'None' });
};`;

interface Exported {
  readonly lines: Json[];
  readonly end: Json;
}

async function exported(on: Pick<Errand | OwnerOn, 'client'>, query = '', path = PATH): Promise<Exported> {
  const { status, text } = await on.client.request('GET', `${path}${query}`);
  assert.equal(status, 200, text);
  assert.ok(text.endsWith('\n'));
  const all = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Json);
  return { lines: all.slice(0, -1), end: all.at(-1).end };
}

const codesOf = (lines: Json[]): string[] => lines.map(({ error }) => error.code);

async function failing(errand: Errand, codes: readonly string[]): Promise<{ workflow: Json; records: Json[] }> {
  const workflow = await errand.workflow(THROWS);
  for (const [n, code] of codes.entries()) {
    await errand.send(workflow, { code });
    await errand.errors(workflow.id, n + 1);
  }
  const records = await errand.errors(workflow.id, codes.length);
  return { workflow, records: records.reverse() };
}

test('an export has every error, oldest first', async () => {
  await using errand = await newErrand();
  const a = await failing(errand, ['One', 'Two']);
  const b = await failing(errand, ['Three']);
  const { lines, end } = await exported(errand);
  assert.deepEqual(codesOf(lines), ['One', 'Two', 'Three']);
  assert.deepEqual([end.complete, end.count], [true, 3]);
  const [first] = a.records;
  const { event, ...rest } = first;
  const { original_event_text: original, error, original_context: context, ...line } = lines[0];
  const { group_id, ...metadata } = line.metadata;
  assert.deepEqual({ ...line, metadata }, rest);
  assert.match(group_id, /^eg_/);
  assert.deepEqual([error, context], [event.error, event.original_context]);
  assert.deepEqual(JSON.parse(original), event.original_event);
  const ofOne = await exported(errand, '', `/v1/workflows/${b.workflow.id}/$errors/export`);
  assert.deepEqual(codesOf(ofOne.lines), ['Three']);
});

test('an original event is exported byte for byte', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(THROWS);
  const body = '{ "b":12345678901234567890,\r\n\n  "a" : 1e400,"a":-0.0,\n "z":"\\u0000\\ud800é\u2028\\n" }';
  await errand.client.request('POST', new URL(workflow.triggers[0].endpoint_url).pathname, body, {
    'content-type': 'application/json',
  });
  await errand.errors(workflow.id, 1);
  const { lines } = await exported(errand);
  assert.equal(lines.length, 1);
  assert.ok(lines[0].original_event_text.includes(`"body":${body}`), lines[0].original_event_text);
});

test('an export of a group has its errors alone', async () => {
  await using errand = await newErrand();
  const { workflow, records } = await failing(errand, ['One', 'Two', 'One']);
  const other = await failing(errand, ['One']);
  const [{ metadata }] = (await errand.client.get(`/v1/errors?emitter_id=${workflow.id}&code=One`)).data;
  const { group_id: group } = metadata;
  const idsOf = ({ lines }: Exported): string[] => lines.map(({ id }) => id);
  const own = [records[0].id, records[2].id];
  assert.deepEqual(idsOf(await exported(errand, `?group_id=${group}`)), own);
  const path = (id: string): string => `/v1/workflows/${id}/$errors/export`;
  assert.deepEqual(idsOf(await exported(errand, `?group_id=${group}`, path(workflow.id))), own);
  assert.deepEqual(idsOf(await exported(errand, `?group_id=${group}`, path(other.workflow.id))), []);
  assert.deepEqual(idsOf(await exported(errand, '?group_id=eg_0000000000000000')), []);
});

test('an export goes on behind a line, and behind its end', async () => {
  await using errand = await newErrand();
  const { workflow } = await failing(errand, ['One', 'Two', 'Three']);
  const { lines, end } = await exported(errand);
  const rest = await exported(errand, `?after=${lines[0].id}`);
  assert.deepEqual(codesOf(rest.lines), ['Two', 'Three']);
  const nothing = await exported(errand, `?after=${end.cursor}`);
  assert.deepEqual([nothing.lines.length, nothing.end.complete], [0, true]);
  await errand.send(workflow, { code: 'Four' });
  await errand.errors(workflow.id, 4);
  assert.deepEqual(codesOf((await exported(errand, `?after=${nothing.end.cursor}`)).lines), ['Four']);
});

test('an export goes on behind no error that is still to come', async () => {
  await using errand = await newErrand();
  const { workflow } = await failing(errand, ['One']);
  const refused = await errand.client.request('GET', `${PATH}?after=8796093022207-0`);
  assert.equal(refused.status, 400);
  assert.match(refused.json.detail, /^after must be the id of a line that was exported/);
  const { end } = await exported(errand, '?since=2248-01-01');
  await errand.send(workflow, { code: 'Two' });
  await errand.errors(workflow.id, 2);
  assert.deepEqual(
    codesOf((await exported(errand, `?after=${end.cursor}`)).lines),
    ['Two'],
    'its end is that of the log',
  );
});

test('filters and times choose what is exported', async () => {
  await using errand = await newErrand();
  const { workflow, records } = await failing(errand, ['One', 'Two', 'Three']);
  const other = await failing(errand, ['Two']);
  const codes = async (query: string) => codesOf((await exported(errand, query)).lines);
  assert.deepEqual(await codes('?code=Two'), ['Two', 'Two']);
  assert.deepEqual(await codes(`?code=Two&emitter_id=${other.workflow.id}`), ['Two']);
  assert.deepEqual(await codes('?step=elsewhere'), []);
  const [first, second] = records.map(({ indexed_at_ms: at }) => at);
  assert.ok((await codes(`?since=${second}&emitter_id=${workflow.id}`)).includes('Two'));
  if (first < second) assert.deepEqual(await codes(`?until=${second}&emitter_id=${workflow.id}`), ['One']);
  assert.deepEqual(await codes('?until=1000'), []);
  for (const query of ['?since=9&until=3', '?since=later', '?after=x', '?kode=One', '?limit=3']) {
    assert.equal((await errand.client.request('GET', PATH + query)).status, 400, query);
  }
});

test('an export has errors of deleted workflows, and after a restart', async () => {
  await using errand = await startErrand();
  const { workflow } = await failing(errand, ['One']);
  await errand.client.delete(`/v1/workflows/${workflow.id}`);
  await errand.restart();
  assert.deepEqual(codesOf((await exported(errand)).lines), ['One']);
  const gone = await errand.client.request('GET', `/v1/workflows/${workflow.id}/$errors/export`);
  assert.equal(gone.status, 404);
});

test('an export is its owner’s alone', async () => {
  await using errand = await startErrand();
  const { workflow } = await failing(errand, ['One']);
  const other = await createOwner(errand, 'Bea');
  assert.deepEqual((await exported(other)).lines, []);
  assert.deepEqual((await exported(other, `?emitter_id=${workflow.id}`)).lines, []);
  const foreign = await other.client.request('GET', `/v1/workflows/${workflow.id}/$errors/export`);
  assert.equal(foreign.status, 404);
});

test('readers that do not read wait alone, and leave nothing behind', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(THROWS);
  const large = 'x'.repeat(400_000);
  for (let n = 0; n < 30; n++) await errand.send(workflow, { code: `C${n}`, large });
  await errand.errors(workflow.id, 30);
  const { hostname, port } = new URL(errand.client.url);
  const sockets = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const socket = connect({ host: hostname, port: Number(port) });
      await once(socket, 'connect');
      socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${errand.client.key}\r\n\r\n`);
      await once(socket, 'data');
      socket.pause();
      return socket;
    }),
  );
  const refused = await errand.client.request('GET', PATH);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  // Other requests are answered meanwhile.
  assert.equal((await errand.errors(workflow.id, 30)).length, 30);
  for (const socket of sockets) socket.destroy();
  const whole = await until('an export', async () => {
    const answer = await errand.client.request('GET', PATH);
    return answer.status === 200 && answer.text;
  });
  assert.equal(whole.trimEnd().split('\n').length, 31);
});
