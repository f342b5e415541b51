// Replays of many errors of every kind whose server is killed in the middle: what became of each error is exact, and each ran once.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { databaseFor } from '../../support/database.ts';
import { createErrandOn, type ErrandActions } from '../../support/flows.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { startGate } from '../../support/gate.ts';
import { spawnErrand } from '../../support/process.ts';
import { until } from '../../support/wait.ts';

const KEY = 'test-key-test-key-test-key';
const COUNT = 40;
/** Replays of one operation at most in a second. */
const RATE = 20;
/** A third each comes through, fails as before, and fails in another way. */
const OUTCOMES = ['fixed', 'failed_same', 'failed_differently'] as const;
const BROKEN = `export default () => { throw new Error('lost') }`;
const REPAIRED = `export default async ({ steps }) => {
  const { n, gate } = steps.trigger.event.body;
  if (gate) await (await fetch(gate + '/' + n)).text();
  if (n % 3 === 1) throw new Error('lost');
  if (n % 3 === 2) throw new TypeError('something else');
}`;

interface Replayed {
  readonly workflow: Json;
  /** Errors, oldest first. */
  readonly ids: string[];
  readonly operation: string;
}

class Shop {
  readonly client: Client;
  readonly #errand: ErrandActions;

  constructor(url: string) {
    this.client = createClient(url, KEY);
    this.#errand = createErrandOn(() => this.client);
  }

  /** A workflow whose errors are replayed with code that is partly repaired. `gate`: what each replay waits for. */
  async replayed(order: Json, gate = ''): Promise<Replayed> {
    const { client } = this;
    const settings = { notify: false, concurrency: 8 };
    const workflow = await this.#errand.workflow(BROKEN, { settings });
    for (let n = 0; n < COUNT; n++) await this.#errand.send(workflow, { n, gate });
    const errors = (await this.#errand.errors(workflow.id, COUNT)).reverse();
    // Events of a workflow may fail in another order than they came.
    errors.sort((a, b) => a.event.original_event.body.n - b.event.original_event.body.n);
    await client.put(`/v1/workflows/${workflow.id}`, { steps: [{ namespace: 'step', code: REPAIRED }] });
    const { id } = await client.post('/v1/replays', { workflow_id: workflow.id, canary: 0, ...order });
    return { workflow, ids: errors.map((error) => error.id), operation: id };
  }

  async shown({ operation }: Replayed): Promise<Json> {
    return (await this.client.get(`/v1/operations/${operation}`)).data;
  }

  order({ operation }: Replayed, word: string): Promise<Json> {
    return this.client.post(`/v1/operations/${operation}/${word}`);
  }

  async results({ operation }: Replayed): Promise<Json[]> {
    return (await this.client.get(`/v1/operations/${operation}/results?limit=100`)).data;
  }

  /** Waits until so many are replayed, or more. */
  replayedAtLeast(of: Replayed, count: number): Promise<unknown> {
    return until(`${count} replays`, async () => (await this.shown(of)).replay.replayed >= count);
  }

  inState(of: Replayed, state: string): Promise<Json> {
    return until(`${state}`, async () => {
      const operation = await this.shown(of);
      return operation.state === state && operation.replay.under_way === 0 && operation;
    });
  }

  /** All is as it must be, whatever was killed. */
  async isExact(of: Replayed): Promise<Json[]> {
    const { replay, total } = await this.inState(of, 'done');
    const expected = of.ids.map((_, n) => OUTCOMES[n % 3]);
    const counts = OUTCOMES.map((outcome) => expected.filter((one) => one === outcome).length);
    deepEqual([total, ...OUTCOMES.map((outcome) => replay[outcome])], [COUNT, ...counts]);
    const byId = new Map((await this.results(of)).map((one) => [one.id, one]));
    deepEqual(
      of.ids.map((id) => byId.get(id)?.outcome),
      expected,
    );
    const runs: Json[] = [];
    for (const id of of.ids) runs.push((await this.client.get(`/v1/runs/${byId.get(id)?.run_id}`)).data);
    deepEqual(
      runs.map(({ event }) => event.body.n),
      of.ids.map((_, n) => n),
    );
    const { page_info: page } = await this.client.get(`/v1/workflows/${of.workflow.id}/runs?limit=1`);
    equal(page.total_count, 2 * COUNT, 'each error ran once, and was replayed once');
    // In the order of the errors.
    const order = [...byId.values()].reverse().map((one) => one.run_id);
    return runs.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  }
}

test('replays of every kind outlive kills of their server', { timeout: 300_000 }, async () => {
  await using folder = await createFolder();
  // Kept from one process to the next.
  await using _database = await databaseFor({}, folder.path);
  await using gate = await startGate();
  await using gateOfPaused = await startGate();
  const env = {
    ERRAND_DATA_DIR: folder.path,
    ERRAND_API_KEY: KEY,
    ERRAND_CODE_USER: 'server',
    ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
  };
  const kinds: Record<string, Replayed> = {};
  {
    await using server = await spawnErrand(env);
    const shop = new Shop(server.url);
    kinds.canary = await shop.replayed({ canary: 2 }, gate.url);
    await gate.wait(2);
    kinds.paused = await shop.replayed({ ordered: true }, gateOfPaused.url);
    for (let asked = 1; asked < 4; asked++) {
      await gateOfPaused.wait(asked);
      if (asked < 3) gateOfPaused.letOne();
    }
    // While the third one is under way.
    await shop.order(kinds.paused, 'pause');
    kinds.ordered = await shop.replayed({ ordered: true });
    kinds.rated = await shop.replayed({ rate: RATE });
    await Promise.all([shop.replayedAtLeast(kinds.ordered, 3), shop.replayedAtLeast(kinds.rated, 3)]);
    server.child.kill('SIGKILL');
    await server.exited;
  }
  const { canary, paused, ordered, rated } = kinds as Record<'canary' | 'paused' | 'ordered' | 'rated', Replayed>;
  {
    await using server = await spawnErrand(env);
    const shop = new Shop(server.url);
    await gateOfPaused.wait(4);
    gateOfPaused.open();
    equal((await shop.inState(paused, 'paused')).replay.replayed, 3);
    // The canaries run again, and no others beside them.
    await gate.wait(4);
    await Promise.all([shop.replayedAtLeast(ordered, 12), shop.replayedAtLeast(rated, 12)]);
    const held = await shop.shown(canary);
    deepEqual([held.replay.replayed, held.replay.under_way, held.replay.canary_over], [2, 2, false]);
    gate.open();
    // One of the first two fails as before.
    const stopped = await shop.inState(canary, 'paused');
    deepEqual([stopped.replay.fixed, stopped.replay.failed_same], [1, 1]);
    ok(stopped.reason.includes('1 did not end well'), stopped.reason);
    server.child.kill('SIGKILL');
    await server.exited;
  }
  await using server = await spawnErrand(env);
  const shop = new Shop(server.url);
  for (const one of [canary, paused]) {
    const { state, replay } = await shop.inState(one, 'paused');
    deepEqual([state, replay.replayed], ['paused', one === canary ? 2 : 3]);
    await shop.order(one, 'resume');
  }
  for (const one of [canary, paused]) await shop.isExact(one);
  const inOrder = await shop.isExact(ordered);
  for (const [n, run] of inOrder.entries()) {
    if (n > 0) ok(run.created_at_ms >= inOrder[n - 1].ended_at_ms, `replay ${n} waited for the one before`);
  }
  const times = (await shop.isExact(rated)).map((run) => run.created_at_ms);
  for (const from of times) {
    const within = times.filter((ms) => ms >= from && ms < from + 1000).length;
    ok(within <= Math.ceil(RATE * 1.1) + 1, `${within} in a second`);
  }
});
