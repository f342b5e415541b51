// What an owner does about errors while servers are killed: resolves groups, replays them, pauses and cancels that. In the end
// the code is repaired, and all errors are replayed until each group is resolved by itself.

import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Json } from '../support/client.ts';
import { settle } from './api-check.ts';
import { type Arrangement, REPAIRED_CODE } from './arrangement.ts';
import type { Findings } from './findings.ts';
import type { Dice } from './random.ts';

const ACTIONS = { replay: 5, pause: 2, resume: 3, cancel: 1, resolve: 2 } as const;
type Action = keyof typeof ACTIONS;

const PAUSE_MS = 150;
const MOST_OPEN = 3;
/** Errors of runs that were lost to a kill come anew while others are replayed. */
const ROUNDS = 5;

export interface Inbox {
  /** Groups that were resolved by request. */
  readonly resolved: ReadonlySet<string>;
  /** Those of which it is not known: the request had no answer, or 503. */
  readonly unanswered: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** Acts until it is stopped. `clientOf`: one that may be asked now; what it does not answer may have happened. */
export function workOnErrors(clientOf: () => Client | undefined, { a }: Pick<Arrangement, 'a'>, dice: Dice): Inbox {
  const resolved = new Set<string>();
  const unanswered = new Set<string>();
  let isStopped = false;
  const working = (async () => {
    while (!isStopped) {
      await pause(PAUSE_MS);
      const client = clientOf();
      if (client) await act(client).catch(() => {});
    }
  })();

  async function act(client: Client): Promise<void> {
    const { data: groups } = await client.get(`/v1/error_groups?emitter_id=${a}&limit=100`);
    const open = (await replayOperations(client)).filter(({ state }) => state === 'running' || state === 'paused');
    const action: Action = dice.pick(ACTIONS);
    const [group, operation] = [anyOf(groups), anyOf(open)];
    if (action === 'replay' && group && open.length < MOST_OPEN) {
      const order = { group_id: group.id, canary: dice.between(0, 1), ordered: dice.next() < 0.1 };
      await client.request('POST', '/v1/replays', order);
    } else if (action === 'resolve' && group) {
      unanswered.add(group.id);
      const { status } = await client.request('PUT', `/v1/error_groups/${group.id}`, { state: 'resolved' });
      if (status === 200) resolved.add(group.id);
      if (status < 500) unanswered.delete(group.id);
    } else if (action !== 'replay' && action !== 'resolve' && operation) {
      await client.request('POST', `/v1/operations/${operation.id}/${action}`);
    }
  }

  const anyOf = (list: Json[]): Json => list[dice.between(0, list.length - 1)];

  return {
    resolved,
    unanswered,
    stop: async () => {
      isStopped = true;
      await working;
    },
  };
}

/** Returns all operations that replay errors. */
async function replayOperations(client: Client): Promise<Json[]> {
  const all: Json[] = [];
  for (let after = ''; ; ) {
    const { data, page_info: page } = await client.get(`/v1/operations?kind=replay&limit=100${after}`);
    all.push(...data);
    if (data.length < 100) return all;
    after = `&after=${page.end_cursor}`;
  }
}

export interface Repair {
  readonly arrangement: Pick<Arrangement, 'a'>;
  readonly resolved: ReadonlySet<string>;
  readonly wrong: Findings;
  readonly deadlineMs: number;
  /** Called in the middle of the first round. */
  readonly disturb: () => Promise<void>;
}

/** Returns how many rounds of replays it took until every group of workflows was resolved. */
export async function repairAll(client: Client, repair: Repair): Promise<number> {
  const { arrangement, resolved, wrong, deadlineMs, disturb } = repair;
  for (const { id, state } of await replayOperations(client)) {
    if (state === 'paused') await client.post(`/v1/operations/${id}/resume`);
  }
  await settle(client, deadlineMs);
  for (const group of (await client.get('/v1/error_groups?limit=100&state=open')).data) {
    if (!resolved.has(group.id)) continue;
    const { from, by, error_id: error } = group.reopened ?? {};
    if (from !== 'resolved' || by !== 'error' || !error) {
      wrong.add('group that was opened again and does not say so', `${group.id}: ${JSON.stringify(group.reopened)}`);
    }
  }
  await client.put(`/v1/workflows/${arrangement.a}`, { steps: [{ namespace: 'step', code: REPAIRED_CODE }] });
  for (let round = 0; round < ROUNDS; round++) {
    const { data: groups } = await client.get('/v1/error_groups?limit=100&state=open');
    const left = groups.filter(({ emitter_id: of }: Json) => of.startsWith('p_'));
    if (left.length === 0) return round;
    // Also those that were resolved by hand: an error whose replay ended in one of them is not fixed before that one is.
    const every = (await client.get('/v1/error_groups?limit=100')).data;
    const ours = every.filter(({ emitter_id: of }: Json) => of.startsWith('p_'));
    for (const { id } of ours) await client.post('/v1/replays', { group_id: id, canary: 0 });
    if (round === 0) await disturb();
    for (let isPaused = true; isPaused; ) {
      await settle(client, deadlineMs);
      isPaused = false;
      for (const { id, state } of await replayOperations(client)) {
        if (state !== 'paused') continue;
        isPaused = true;
        await client.post(`/v1/operations/${id}/resume`);
      }
    }
  }
  const { data: groups } = await client.get('/v1/error_groups?limit=100&state=open');
  for (const { id, emitter_id: of, count } of groups) {
    if (of.startsWith('p_')) wrong.add('group that is open though all is repaired', `${id} with ${count} errors`);
  }
  return ROUNDS;
}
