// Lists of whole events that their callers do not read, and comparisons: one owner's hold up neither memory nor the others.

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { TURNS } from '../../../src/http/answers/turns.ts';
import type { Errand } from '../../support/errand.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';

const newErrand = shareErrand();
/** Together more than the kernel holds of an answer. */
const [EVENTS, CHARS] = [40, 400_000];
const FAILS = 'export default () => { throw new Error("no card"); };';

/** Asks, and reads nothing of the answer. */
function unread({ url, client }: Errand, path: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  // Fills what a socket holds, and no more.
  socket.on('readable', () => undefined);
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${client.key}\r\n\r\n`);
  return socket;
}

test('of one owner few large answers are under way, and others are answered meanwhile', async () => {
  await using errand = await newErrand();
  await using other = await newErrand();
  const workflow = await errand.workflow(FAILS);
  const ofOther = await other.workflow(FAILS);
  await other.send(ofOther, { n: 1 });
  await other.errors(ofOther.id, 1);
  const text = 'x'.repeat(CHARS);
  for (let n = 0; n < EVENTS; n++) await errand.send(workflow, { n, text });
  await errand.errors(workflow.id, EVENTS);
  const path = `/v1/workflows/${workflow.id}/$errors/event_summaries`;
  const sockets = Array.from({ length: TURNS.atOnce }, () => unread(errand, `${path}?expand=event&limit=100`));
  await until('the answers to begin', () => sockets.every(({ readableLength }) => readableLength > 0));
  // What has no events is not held up, nor another owner.
  assert.equal((await errand.client.get(`${path}?limit=100`)).data.length, EVENTS);
  const theirs = await other.client.get(`/v1/workflows/${ofOther.id}/$errors/event_summaries?expand=event`);
  assert.equal(theirs.data.length, 1);
  let [isList, isComparison] = [false, false];
  const list = errand.client.get(`${path}?expand=event&limit=100`).then((answer) => {
    isList = true;
    return answer;
  });
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  const comparison = errand.client.get(`/v1/error_groups/${group.id}/differences`).then((answer) => {
    isComparison = true;
    return answer;
  });
  for (let n = 0; n < 5; n++) await errand.client.get(`${path}?limit=1`);
  assert.deepEqual([isList, isComparison], [false, false], 'they wait for those that are not read');
  for (const socket of sockets) socket.destroy();
  assert.equal((await list).data.length, EVENTS);
  assert.ok((await comparison).data.looked_at.failures.count > 0);
});
