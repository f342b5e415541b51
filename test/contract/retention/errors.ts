// Workflows that keep their errors longer than the server keeps everything: by days, by number, and none of the others.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import type { ErrorRetention } from '../../../src/domain/errors/retention.ts';
import { DAY_MS, LIMITS } from '../../../src/domain/limits.ts';
import type { Workflow } from '../../../src/domain/resource.ts';
import { NO_ERRORS_YET } from '../../../src/store/contract/retention.ts';
import { at, defined, type Harness, times } from '../fixtures.ts';
import { asked, carryOut, fail, shown, start } from '../replays/replaying.ts';
import { Stage } from '../stage.ts';

const KEPT = LIMITS.listedPerEmitterAndName;
const SERVER_DAYS = 30;

/** One round of retention, of a server that keeps everything for SERVER_DAYS. Returns the steps that errors took. */
async function sweep({ store, clock }: Stage): Promise<number> {
  const nowMs = clock.nowMs();
  const beforeMs = nowMs - SERVER_DAYS * DAY_MS;
  for (let from: number | null = 0; from !== null; ) from = (await store.prune(beforeMs, from)).next;
  let steps = 0;
  for (let from: typeof NO_ERRORS_YET | null = NO_ERRORS_YET; from !== null; steps++) {
    const { emissions, next } = await store.pruneErrors({ beforeMs, nowMs }, from);
    ok(emissions <= 500, 'a step is bounded');
    ok(steps < 100, 'it comes to an end');
    from = next;
  }
  return steps;
}

const keeping = (stage: Stage, errorRetention: ErrorRetention | null): Promise<Workflow> =>
  stage.workflow({ settings: { notify: false, errorRetention } });

/** Errors, oldest first; only the first one is of a run, so that many are there at once. */
async function errors(stage: Stage, workflow: Workflow, count: number): Promise<number[]> {
  const [first] = await fail(stage, workflow, 1);
  const { body, originalStart, originalLength } = defined(
    await stage.store.getEmission(stage.owner.id, defined(first)),
  );
  const copy = { name: ERRORS, body, originalStart, originalLength };
  const appended = await Promise.all(times(count - 1, () => stage.append(workflow.id, copy)));
  return [defined(first), ...appended.map(({ entry }) => entry).sort((a, b) => a - b)];
}

/** The errors that a search of everything finds, oldest first. */
async function found(stage: Stage, { id }: Pick<Workflow, 'id'>): Promise<number[]> {
  const search = { ownerId: stage.owner.id, emitterId: id };
  const entries: number[] = [];
  for (let after: number | null | undefined; after !== null; ) {
    const page: Awaited<ReturnType<typeof stage.store.searchErrors>> = await stage.store.searchErrors(
      search,
      { limit: 100, ...(after === undefined ? {} : { after }) },
      false,
    );
    entries.push(...page.items.map(({ emission }) => emission.entry));
    after = page.next;
  }
  return entries.reverse();
}

export function errorRetentionContract(harness: Harness): void {
  describe('errors that a workflow keeps longer', () => {
    it('stay for the days of its setting', async () => {
      await using stage = await Stage.open(harness);
      const [long, plain] = [await keeping(stage, { days: 365, newest: null }), await keeping(stage, null)];
      const [ofLong, ofPlain] = [await fail(stage, long, KEPT + 5), await fail(stage, plain, KEPT + 5)];
      stage.clock.advance(31 * DAY_MS);
      await sweep(stage);
      deepEqual(await found(stage, long), ofLong);
      deepEqual(await found(stage, plain), ofPlain.slice(5), 'another workflow keeps what everything keeps');
      stage.clock.advance(333 * DAY_MS);
      await sweep(stage);
      deepEqual(await found(stage, long), ofLong);
      stage.clock.advance(2 * DAY_MS);
      await sweep(stage);
      deepEqual(await found(stage, long), ofLong.slice(5), 'the newest hundred stay in any case');
    });

    it('stay as many as its setting says', async () => {
      await using stage = await Stage.open(harness);
      const many = await keeping(stage, { days: null, newest: KEPT + 3 });
      const entries = await errors(stage, many, KEPT + 10);
      stage.clock.advance(31 * DAY_MS);
      await sweep(stage);
      deepEqual(await found(stage, many), entries.slice(7));
      const [newer] = await errors(stage, many, 1);
      await sweep(stage);
      deepEqual(await found(stage, many), [...entries.slice(8), defined(newer)]);
    });

    it('stay as long as either half says so', async () => {
      await using stage = await Stage.open(harness);
      const both = await keeping(stage, { days: 60, newest: KEPT + 2 });
      const entries = await errors(stage, both, KEPT + 4);
      stage.clock.advance(59 * DAY_MS);
      await sweep(stage);
      deepEqual(await found(stage, both), entries);
      stage.clock.advance(2 * DAY_MS);
      await sweep(stage);
      deepEqual(await found(stage, both), entries.slice(2));
    });

    it('are never fewer than the server keeps', async () => {
      await using stage = await Stage.open(harness);
      const short = await keeping(stage, { days: 1, newest: null });
      const entries = await errors(stage, short, KEPT + 4);
      stage.clock.advance(29 * DAY_MS);
      await sweep(stage);
      deepEqual(await found(stage, short), entries);
    });

    it('are the only ones of it that stay', async () => {
      await using stage = await Stage.open(harness);
      const long = await keeping(stage, { days: 365, newest: null });
      const others = await Promise.all(times(KEPT + 3, () => stage.append(long.id)));
      await errors(stage, long, 3);
      stage.clock.advance(31 * DAY_MS);
      await sweep(stage);
      const there = await Promise.all(others.map(({ entry }) => stage.store.getEmission(stage.owner.id, entry)));
      equal(there.filter((one) => one !== undefined).length, KEPT);
      equal((await found(stage, long)).length, 3);
    });

    it('are listed, grouped, previewed and replayed', async () => {
      await using stage = await Stage.open(harness);
      const flow = await keeping(stage, { days: 365, newest: null });
      const entries = await fail(stage, flow, KEPT + 5);
      const first = defined(await stage.store.getEmission(stage.owner.id, at(entries, 0)));
      stage.clock.advance(100 * DAY_MS);
      await sweep(stage);
      const groupId = defined(first.groupId);
      const group = defined(await stage.store.getErrorGroup(stage.owner.id, groupId));
      equal(group.group.count, KEPT + 5);
      const outcomeOf = (entry: number) => stage.store.outcomeOfError(stage.owner.id, entry);
      const { causeRun, isRunRetained } = await outcomeOf(at(entries, 0));
      deepEqual([causeRun, isRunRetained], [first.causeRun, false], 'the record of the run has gone');
      deepEqual([await stage.store.getRun(stage.owner.id, defined(causeRun))], [undefined]);
      equal((await outcomeOf(at(entries, KEPT + 4))).isRunRetained, false);
      const [fresh] = await fail(stage, flow, 1, 'Fresh');
      equal((await outcomeOf(defined(fresh))).isRunRetained, true);
      const { items } = await stage.store.searchErrors({ ownerId: stage.owner.id }, { limit: 100 }, false);
      const of = new Map(items.map((item) => [item.emission.entry, item.isRunRetained]));
      deepEqual([of.get(defined(fresh)), of.get(at(entries, KEPT + 4))], [true, false]);
      const preview = await stage.store.previewReplay(stage.owner.id, asked({ groupId }));
      equal(preview.count, KEPT + 5);
      const operation = await start(stage, { groupId });
      deepEqual(await carryOut(stage), [KEPT + 5]);
      const { state, replaying } = await shown(stage, operation);
      deepEqual([state, replaying?.counts.fixed], ['done', KEPT + 5]);
      stage.clock.advance(300 * DAY_MS);
      await sweep(stage);
      equal((await found(stage, flow)).length, KEPT);
      const after = defined(await stage.store.getErrorGroup(stage.owner.id, groupId));
      equal(after.group.count, KEPT + 5, 'the group has counted them');
    });

    it('go with the rest when the setting goes', async () => {
      await using stage = await Stage.open(harness);
      const [flow, gone] = [
        await keeping(stage, { days: 365, newest: null }),
        await keeping(stage, { days: 365, newest: null }),
      ];
      const [entries, ofGone] = [await errors(stage, flow, KEPT + 5), await errors(stage, gone, KEPT + 5)];
      stage.clock.advance(31 * DAY_MS);
      await stage.reopen();
      await sweep(stage);
      deepEqual([await found(stage, flow), await found(stage, gone)], [entries, ofGone], 'a restart changes nothing');
      const plain = { ...flow, settings: { ...flow.settings, errorRetention: null } };
      await stage.store.updateWorkflow({ workflow: plain, deployment: null, triggers: [], subscriptions: [] });
      await stage.store.deleteWorkflow(stage.owner.id, gone.id);
      await sweep(stage);
      deepEqual([await found(stage, flow), await found(stage, gone)], [entries.slice(5), ofGone.slice(5)]);
    });

    it('stay while work of them is open', async () => {
      await using stage = await Stage.open(harness);
      const [flow, listener] = [await keeping(stage, { days: 40, newest: null }), await stage.workflow()];
      const { id } = await stage.subscribe(flow.id, listener.id, ERRORS);
      const [open] = await errors(stage, flow, 1);
      await stage.store.deleteSubscription(stage.owner.id, id);
      await errors(stage, flow, KEPT + 2);
      stage.clock.advance(41 * DAY_MS);
      await sweep(stage);
      equal((await found(stage, flow)).length, KEPT + 1);
      ok(await stage.store.getEmission(stage.owner.id, defined(open)));
      for (const run of await stage.claim()) await stage.end(run);
      await sweep(stage);
      equal((await found(stage, flow)).length, KEPT);
    });

    it('go in bounded steps, past what stays', async () => {
      await using stage = await Stage.open(harness);
      const [flow, listener] = [await keeping(stage, { days: 40, newest: null }), await stage.workflow()];
      const { id } = await stage.subscribe(flow.id, listener.id, ERRORS);
      const stuck = await errors(stage, flow, 510);
      await stage.store.deleteSubscription(stage.owner.id, id);
      await errors(stage, flow, KEPT + 20);
      stage.clock.advance(41 * DAY_MS);
      ok((await sweep(stage)) >= 3);
      const left = await found(stage, flow);
      equal(left.length, stuck.length + KEPT);
      deepEqual(left.slice(0, stuck.length), stuck);
    });

    it('are kept of each owner by itself', async () => {
      await using stage = await Stage.open(harness);
      const neighbour = await stage.neighbour();
      const [mine, theirs] = [await keeping(stage, { days: 365, newest: null }), await keeping(neighbour, null)];
      await errors(stage, mine, KEPT + 4);
      await errors(neighbour, theirs, KEPT + 4);
      stage.clock.advance(31 * DAY_MS);
      await sweep(stage);
      deepEqual([(await found(stage, mine)).length, (await found(neighbour, theirs)).length], [KEPT + 4, KEPT]);
    });
  });
}
