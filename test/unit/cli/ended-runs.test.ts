// Runs as they end, over answers that are made up: what begins, what is gone, and what outlasts an outage.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endedRuns } from '../../../src/cli/shell/ended-runs.ts';
import { outlasting } from '../../../src/cli/shell/outlast.ts';
import { Errand } from '../../../src/client/client.ts';

const LOOK_MS = 1;

interface FakeRun {
  readonly id: string;
  state: string;
}

/** A server with these runs, oldest first. */
function serverOf(runs: FakeRun[]) {
  const server = { isAway: false, asked: [] as string[] };
  const answer = async (asked: unknown): Promise<Response> => {
    const { pathname, searchParams } = new URL(String(asked));
    server.asked.push(pathname);
    if (server.isAway) throw new TypeError('fetch failed');
    const id = /\/v1\/runs\/(\w+)$/.exec(pathname)?.[1];
    if (id !== undefined) {
      const data = runs.find((run) => run.id === id);
      return data ? Response.json({ data }) : Response.json({ status: 404 }, { status: 404 });
    }
    const data = runs.slice(runs.findIndex((run) => run.id === searchParams.get('before')) + 1).reverse();
    return Response.json({ page_info: { count: data.length, total_count: data.length, next_cursor: null }, data });
  };
  const errand = new Errand({ url: 'http://errand.example.com', retries: 0, fetch: answer as typeof fetch });
  return { server, errand };
}

test('no run is missed that is made once it has begun', async () => {
  const runs: FakeRun[] = [{ id: 'r_1', state: 'succeeded' }];
  const { errand } = serverOf(runs);
  const onBegin = (): void => void runs.push({ id: 'r_2', state: 'failed' });
  for await (const { id } of endedRuns(errand, { query: {}, lookMs: LOOK_MS, onBegin })) {
    assert.equal(id, 'r_2');
    break;
  }
});

test('a run that is retained no more ends nothing', async () => {
  const runs: FakeRun[] = [{ id: 'r_1', state: 'succeeded' }];
  const { errand, server } = serverOf(runs);
  const onBegin = (): void => void runs.push({ id: 'r_2', state: 'waiting' }, { id: 'r_3', state: 'failed' });
  const seen: string[] = [];
  for await (const { id } of endedRuns(errand, { query: {}, lookMs: LOOK_MS, onBegin })) {
    seen.push(id);
    if (id === 'r_5') break;
    if (id === 'r_3') runs.splice(1, 1);
    runs.push({ id: id === 'r_3' ? 'r_4' : 'r_5', state: 'succeeded' });
  }
  assert.deepEqual(seen, ['r_3', 'r_4', 'r_5']);
  assert.ok(server.asked.includes('/v1/runs/r_2'), 'it was asked for');
});

test('an outage is told once, and what ended meanwhile comes behind it', async () => {
  const runs: FakeRun[] = [{ id: 'r_1', state: 'succeeded' }];
  const { errand, server } = serverOf(runs);
  const notes: string[] = [];
  const again = outlasting({
    note: (text) => {
      notes.push(text);
      runs.push({ id: 'r_2', state: 'succeeded' });
      server.isAway = false;
    },
  });
  const onBegin = (): void => {
    server.isAway = true;
  };
  for await (const { id } of endedRuns(errand, { query: {}, lookMs: LOOK_MS, again, onBegin })) {
    assert.equal(id, 'r_2');
    break;
  }
  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? '', /^errand: connecting again: .*cannot be reached/);
});
