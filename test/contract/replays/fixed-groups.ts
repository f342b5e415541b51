// Groups that are over after operations that were not about a whole group.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ErrorSelection } from '../../../src/domain/errors/replaying.ts';
import { DAY_MS } from '../../../src/domain/limits.ts';
import { at, defined, type Harness, shareOf, times } from '../fixtures.ts';
import { failing, order, whole } from '../log/grouping.ts';
import { carryOut, counts, type Failed, fail, failedOnes, groupState, LOST, results, start } from './replaying.ts';

const OTHER = failing({ code: 'Other', msg: 'something else' });

/** Selections other than the group itself that all of its errors are in. */
function parts({ flow, groupId, entries, clock }: Failed): Record<string, Partial<ErrorSelection>> {
  const untilMs = clock.nowMs() + DAY_MS;
  return {
    named: { entries },
    workflow: { emitterId: flow.id },
    'code of a workflow': { emitterId: flow.id, code: 'Lost' },
    'code of a group': { groupId, code: 'Lost' },
    'time of a group': { groupId, sinceMs: 0, untilMs },
  };
}

async function stateOf(stage: Failed, entry: number): Promise<string> {
  const { groupId } = defined(await stage.store.getEmission(stage.owner.id, entry));
  return (await whole(stage, { id: defined(groupId) })).group.state;
}

export function fixedGroupsContract(harness: Harness): void {
  describe('an operation that is not about a whole group', () => {
    it('resolves each group of which it fixed all errors', async () => {
      await using stage = await failedOnes(harness, 3);
      for (const [name, part] of Object.entries(parts(stage))) {
        await order(stage, { id: stage.groupId }, { state: 'open' });
        const operation = await start(stage, part, { isAgain: true });
        await carryOut(stage);
        deepEqual(await counts(stage, operation), { fixed: 3 }, name);
        equal(await groupState(stage), 'resolved', name);
      }
    });

    it('resolves many groups at once, and only those', async () => {
      await using stage = await failedOnes(harness, 1);
      const many = shareOf(harness, 30);
      const codes = times(many, (n) => `Code${n}`);
      const entries: number[] = [];
      for (const code of codes) entries.push(...(await fail(stage, stage.flow, 2, code)));
      const left = at(entries, 3);
      await start(stage, { entries: entries.filter((entry) => entry !== left) });
      await carryOut(stage);
      const states = new Set<string>();
      for (const entry of entries.slice(4)) states.add(await stateOf(stage, entry));
      deepEqual([...states], ['resolved']);
      equal(await stateOf(stage, left), 'open', 'one of its errors was not named');
      equal(await groupState(stage), 'open', 'none of its errors was named');
    });

    it('leaves a group open when an error was not fixed', async () => {
      await using stage = await failedOnes(harness, 2);
      for (const [name, part] of Object.entries(parts(stage))) {
        await start(stage, part, { isAgain: true });
        await carryOut(stage, OTHER);
        equal(await groupState(stage), 'open', name);
      }
    });

    it('leaves a group open when it was about a part of it', async () => {
      await using stage = await failedOnes(harness, 2);
      const { groupId, clock, flow } = stage;
      clock.advance(DAY_MS);
      const sinceMs = clock.nowMs();
      await fail(stage, flow, 1);
      for (const part of [
        { emitterId: flow.id, sinceMs },
        { groupId, sinceMs },
        { groupId, untilMs: sinceMs },
      ]) {
        await start(stage, part);
        await carryOut(stage, part.untilMs === undefined ? undefined : OTHER);
        equal(await groupState(stage), 'open', JSON.stringify(part));
      }
    });

    it('leaves a group open when an error came since', async () => {
      await using stage = await failedOnes(harness, 2);
      for (const [name, part] of Object.entries(parts(stage))) {
        await start(stage, part, { isAgain: true });
        await fail(stage, stage.flow, 1);
        await carryOut(stage);
        equal(await groupState(stage), 'open', name);
      }
    });

    it('counts the newest replays of the errors that it was not about', async () => {
      await using stage = await failedOnes(harness, 4);
      const [first = 0, second = 0, ...rest] = stage.entries;
      await start(stage, { entries: [first] });
      await carryOut(stage);
      await start(stage, { entries: [second] });
      await carryOut(stage, OTHER);
      const last = await start(stage, { entries: rest });
      await carryOut(stage);
      deepEqual(await counts(stage, last), { fixed: 2 });
      equal(await groupState(stage), 'open', 'one has failed differently');
      const again = await start(stage, { entries: [second] }, { isAgain: true });
      await carryOut(stage);
      deepEqual(await counts(stage, again), { fixed: 1 });
      equal(await groupState(stage), 'resolved');
    });

    it('counts what failed the same way by its new error', async () => {
      await using stage = await failedOnes(harness, 2);
      const first = await start(stage, { entries: stage.entries });
      await carryOut(stage, LOST);
      const failures = (await results(stage, first)).map(({ errorEntry }) => defined(errorEntry));
      await start(stage, { entries: failures.slice(1) });
      await carryOut(stage);
      equal(await groupState(stage), 'open');
      await start(stage, { entries: failures });
      await carryOut(stage);
      equal(await groupState(stage), 'resolved');
    });

    it('leaves a group muted', async () => {
      await using stage = await failedOnes(harness, 2);
      const mute = { state: 'muted', untilMs: null, afterCount: 9, untilNextDeployment: false } as const;
      await order(stage, { id: stage.groupId }, mute);
      await start(stage, { entries: stage.entries });
      await carryOut(stage);
      equal(await groupState(stage), 'muted');
    });

    for (const name of ['named', 'whole']) {
      it(`resolves a group whose mute is over (${name})`, async () => {
        await using stage = await failedOnes(harness, 2);
        const untilMs = stage.clock.nowMs() + DAY_MS;
        const mute = { state: 'muted', untilMs, afterCount: null, untilNextDeployment: false } as const;
        await order(stage, { id: stage.groupId }, mute);
        stage.clock.advance(DAY_MS);
        equal(await groupState(stage), 'open');
        await start(stage, name === 'whole' ? { groupId: stage.groupId } : { entries: stage.entries });
        await carryOut(stage);
        equal(await groupState(stage), 'resolved');
      });
    }

    it('leaves groups of another owner as they are', async () => {
      await using stage = await failedOnes(harness, 2);
      const neighbour = await stage.neighbour();
      await start(neighbour, { entries: stage.entries });
      await carryOut(neighbour);
      equal(await groupState(stage), 'open');
    });
  });
}
