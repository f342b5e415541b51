// The moves of the tests about operations: many deliveries that were exhausted, and steps until nothing is left.

import { equal } from 'node:assert/strict';
import type { NewOperation, Operation } from '../../../src/domain/operation.ts';
import type { Webhook } from '../../../src/domain/resource.ts';
import { defined, type Harness } from '../fixtures.ts';
import type { Stage } from '../stage.ts';
import { deliverAll, exhaustAll, type Heard, listed, numbersOf, pendingFor, withWebhooks } from './sending.ts';

/** A webhook with so many deliveries that were exhausted, in the order of their numbers. */
export async function exhaustedOnes(harness: Harness, count: number): Promise<Heard & { numbers: number[] }> {
  const stage = await withWebhooks(harness);
  return Object.assign(stage, { numbers: await exhaustedOf(stage, stage.main, count) });
}

export async function exhaustedOf(stage: Stage, webhook: Webhook, count: number): Promise<number[]> {
  await pendingFor(stage, webhook, count);
  await exhaustAll(stage);
  return numbersOf(await listed(stage, webhook, 'exhausted'));
}

export async function start(stage: Heard, changes: Partial<NewOperation> = {}): Promise<NewOperation> {
  const operation = stage.make.operation(stage.main.id, changes);
  equal(await stage.store.createOperation(operation), true);
  return operation;
}

export const shown = async (stage: Stage, { id }: { id: string }): Promise<Operation> =>
  defined(await stage.store.getOperation(stage.owner.id, id));

export const order = async (stage: Stage, { id }: { id: string }, word: 'pause' | 'resume' | 'cancel') =>
  defined(await stage.store.orderOperation(stage.owner.id, id, word));

/** Steps until there is nothing to do at once; whether anything was made due. */
export async function stepOn(stage: Stage): Promise<boolean> {
  let isAny = false;
  for (let steps = 0; steps < 500; steps++) {
    const { isResent, isMore } = await stage.store.stepOperation();
    isAny ||= isResent;
    if (!isMore) return isAny;
  }
  throw new Error('it steps for ever');
}

/** Until it is counted, and nothing yet is sent. */
export async function count(stage: Stage, operation: NewOperation): Promise<Operation> {
  for (let steps = 0; steps < 50; steps++) {
    const now = await shown(stage, operation);
    if (now.total !== null) return now;
    await stage.store.stepOperation();
  }
  throw new Error('it counts for ever');
}

/** Steps and delivers in turn until nothing is left; how many were delivered each time. */
export async function carryOut(stage: Stage): Promise<number[]> {
  const rounds: number[] = [];
  while (true) {
    await stepOn(stage);
    const delivered = await deliverAll(stage);
    if (delivered.length === 0) return rounds;
    rounds.push(delivered.length);
  }
}
