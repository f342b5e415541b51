// Watches of workflows: silence is one error, ended by the next run, and time without a server is no silence.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RECOVERED } from '../../../src/domain/emission.ts';
import { HOUR_MS, LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { WatchSettings, Workflow } from '../../../src/domain/resource.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { all, at, defined, failed, type Harness, none, only, START_MS, times, waits } from '../fixtures.ts';
import { assertCountersAreRight, assertLedgerAddsUp } from '../log/counting.ts';
import { groups, order } from '../log/grouping.ts';
import { Stage } from '../stage.ts';
import { codesOf, errorsOf, hear, judgeOf, look, NOTHING, recoveriesOf, watchFor } from './watching.ts';

const SILENT = { ...NOTHING, silentAfterMs: 10 * MINUTE_MS };
const SUCCEEDS = { ...NOTHING, succeededWithinMs: 10 * MINUTE_MS };
const RATIO = { ...NOTHING, errorRatio: { over: 0.5, ofAtLeast: 4, windowMs: HOUR_MS } };

async function watched(stage: Stage, watch: WatchSettings): Promise<Workflow> {
  stage.names.add(RECOVERED);
  return stage.workflow({ settings: { watch, notify: false } });
}

const run = async (stage: Stage, workflow: Workflow, outcome?: Parameters<Stage['end']>[1]): Promise<unknown> =>
  stage.end(await stage.started(workflow), outcome);

const update = (stage: Stage, workflow: Workflow): Promise<boolean> =>
  stage.store.updateWorkflow({ workflow, deployment: null, triggers: [], subscriptions: [] });

const groupsOf = async (stage: Stage, { id }: Workflow): Promise<string[]> =>
  (await groups(stage, { emitterId: id })).map(({ state }) => state);

/** A judge before whose decisions a run of the workflow fails. */
function whileRunsEnd(stage: Stage, workflow: Workflow): ReturnType<typeof judgeOf> {
  const store: Store = {
    ...stage.store,
    decideWatch: async (decision, admission) => {
      await run(stage, workflow, failed());
      return stage.store.decideWatch(decision, admission);
    },
  };
  return judgeOf({ store, clock: stage.clock });
}

export function watchesContract(harness: Harness): void {
  describe('a watch', () => {
    it('tells once of a workflow that does not run', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, SILENT);
      const other = await watched(stage, NOTHING);
      await watchFor(stage, 10 * MINUTE_MS - SECOND_MS);
      deepEqual(await codesOf(stage, workflow.id), []);
      stage.clock.advance(SECOND_MS);
      await Promise.all(times(3, () => judgeOf(stage).tickWatches()));
      const [error] = await errorsOf(stage, workflow.id);
      equal(error?.code, 'Silent');
      match(defined(error).msg, /has not run for 10 min \(never yet\)/);
      await watchFor(stage, HOUR_MS);
      await stage.reopen();
      await watchFor(stage, HOUR_MS);
      deepEqual([await codesOf(stage, workflow.id), await codesOf(stage, other.id)], [['Silent'], []]);
      await assertLedgerAddsUp(stage);
      await assertCountersAreRight(stage);
    });

    it('ends with the next run, and resolves its group', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, SILENT);
      await watchFor(stage, 20 * MINUTE_MS);
      deepEqual(await groupsOf(stage, workflow), ['open']);
      await run(stage, workflow, failed());
      await hear(stage);
      deepEqual(await recoveriesOf(stage, workflow.id), [
        {
          emitter_id: workflow.id,
          name: workflow.name,
          code: 'Silent',
          watch: 'silence',
          since_ms: START_MS + 10 * MINUTE_MS,
          recovered_at_ms: stage.clock.ms,
          lasted_ms: 10 * MINUTE_MS + LIMITS.watchPauseMs,
        },
      ]);
      deepEqual((await groupsOf(stage, workflow)).toSorted(), ['open', 'resolved']);
      await watchFor(stage, 9 * MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), ['Silent', 'TypeError']);
      await watchFor(stage, MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), ['Silent', 'TypeError', 'Silent']);
      deepEqual(await groupsOf(stage, workflow), ['open', 'open'], 'the same group, open again');
      await assertLedgerAddsUp(stage);
    });

    it('is put off by runs, also those that wait', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, SILENT);
      await watchFor(stage, 6 * MINUTE_MS);
      await run(stage, workflow);
      await watchFor(stage, 9 * MINUTE_MS);
      await run(stage, workflow, waits());
      await watchFor(stage, 9 * MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), []);
      await watchFor(stage, MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), ['Silent']);
      deepEqual(await recoveriesOf(stage, workflow.id), []);
    });

    it('for success is not put off by failures', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, SUCCEEDS);
      await watchFor(stage, 6 * MINUTE_MS);
      await run(stage, workflow, failed());
      await watchFor(stage, 4 * MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), ['TypeError', 'Silent']);
      match(defined((await errorsOf(stage, workflow.id)).at(-1)).msg, /has not succeeded for 10 min/);
      await run(stage, workflow, failed());
      await hear(stage);
      deepEqual(await recoveriesOf(stage, workflow.id), []);
      await run(stage, workflow);
      await hear(stage);
      equal((await recoveriesOf(stage, workflow.id)).length, 1);
    });

    it('leaves a muted group muted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, SILENT);
      await watchFor(stage, 10 * MINUTE_MS);
      const group = only(await groups(stage));
      const untilMs = stage.clock.ms + 100 * HOUR_MS;
      await order(stage, group, { state: 'muted', untilMs, afterCount: null, untilNextDeployment: false });
      await run(stage, workflow);
      await hear(stage);
      deepEqual(await groupsOf(stage, workflow), ['muted']);
    });

    it('tells of too many failures, and of their end', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, RATIO);
      await run(stage, workflow);
      for (const _ of times(2, () => 0)) await run(stage, workflow, failed());
      await hear(stage);
      deepEqual(await codesOf(stage, workflow.id), ['TypeError', 'TypeError'], 'three runs say nothing');
      await run(stage, workflow, failed());
      await hear(stage);
      await look(stage);
      const errors = await errorsOf(stage, workflow.id);
      match(defined(errors.at(-1)).msg, /3 of 4 runs failed within 1 h, more than 50 %/);
      deepEqual(errors.map(({ code }) => code).filter((code) => code === 'Unhealthy').length, 1);
      await run(stage, workflow, failed());
      await run(stage, workflow);
      await hear(stage);
      deepEqual([(await recoveriesOf(stage, workflow.id)).length, errors.length], [0, 4], '4 of 6');
      await run(stage, workflow);
      await run(stage, workflow);
      await hear(stage);
      equal((await recoveriesOf(stage, workflow.id)).length, 1, '4 of 8');
      await assertLedgerAddsUp(stage);
    });

    it('keeps what it has counted while its own rule stays', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, RATIO);
      for (const _ of times(3, () => 0)) await run(stage, workflow, failed());
      await update(stage, { ...workflow, name: 'other', settings: { ...workflow.settings, watch: { ...RATIO } } });
      await run(stage, workflow, failed());
      await hear(stage);
      equal((await codesOf(stage, workflow.id)).at(-1), 'Unhealthy', '4 of 4');
    });

    it('forgets failures that have left the window', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, RATIO);
      for (const _ of times(3, () => 0)) await run(stage, workflow, failed());
      await watchFor(stage, HOUR_MS + MINUTE_MS);
      await run(stage, workflow, failed());
      await hear(stage);
      equal((await codesOf(stage, workflow.id)).includes('Unhealthy'), false);
      for (const _ of times(3, () => 0)) await run(stage, workflow, failed());
      await hear(stage);
      equal((await codesOf(stage, workflow.id)).includes('Unhealthy'), true);
      await watchFor(stage, 2 * HOUR_MS);
      equal((await recoveriesOf(stage, workflow.id)).length, 0, 'nothing has succeeded since');
      await run(stage, workflow);
      await watchFor(stage, 2 * MINUTE_MS);
      equal((await recoveriesOf(stage, workflow.id)).length, 1);
    });

    it('ends with its setting, and with its workflow', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, { ...SILENT, succeededWithinMs: HOUR_MS });
      const kinds = async () => (await stage.store.listWatches(stage.owner.id, workflow.id)).map(({ kind }) => kind);
      deepEqual(await kinds(), ['silence', 'success']);
      await update(stage, { ...workflow, active: false });
      deepEqual(await kinds(), []);
      await watchFor(stage, HOUR_MS);
      deepEqual(await codesOf(stage, workflow.id), []);
      await update(stage, { ...workflow, updatedAtMs: stage.clock.ms });
      await watchFor(stage, 9 * MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), [], 'it counts from when it was active again');
      await update(stage, {
        ...workflow,
        settings: { ...workflow.settings, watch: { ...SILENT, silentAfterMs: HOUR_MS } },
      });
      deepEqual(await kinds(), ['silence']);
      await watchFor(stage, 50 * MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), []);
      await watchFor(stage, MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), ['Silent']);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      await watchFor(stage, 3 * HOUR_MS);
      equal(await stage.store.nextDueAtMs(), null);
    });

    it('that is given up resolves its group', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, { ...SILENT, succeededWithinMs: 10 * MINUTE_MS });
      await watchFor(stage, 10 * MINUTE_MS);
      deepEqual(await groupsOf(stage, workflow), ['open', 'open']);
      await update(stage, { ...workflow, settings: { ...workflow.settings, watch: SUCCEEDS } });
      deepEqual((await groupsOf(stage, workflow)).toSorted(), ['open', 'resolved']);
      await update(stage, { ...workflow, active: false });
      deepEqual(await groupsOf(stage, workflow), ['resolved', 'resolved']);
      deepEqual(await recoveriesOf(stage, workflow.id), []);
      await assertLedgerAddsUp(stage);
    });

    it('does not count the time without a server', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, SILENT);
      await watchFor(stage, 6 * MINUTE_MS);
      stage.clock.advance(HOUR_MS);
      await stage.reopen();
      await watchFor(stage, 4 * MINUTE_MS - SECOND_MS);
      deepEqual(await codesOf(stage, workflow.id), []);
      const late = await watched(stage, SILENT);
      await watchFor(stage, SECOND_MS);
      deepEqual(await codesOf(stage, workflow.id), ['Silent'], 'six minutes before, four after');
      await watchFor(stage, 9 * MINUTE_MS);
      deepEqual(await codesOf(stage, late.id), []);
      stage.clock.advance(15 * SECOND_MS);
      await stage.reopen();
      await watchFor(stage, 43 * SECOND_MS);
      deepEqual(await codesOf(stage, late.id), []);
      await watchFor(stage, SECOND_MS);
      deepEqual(await codesOf(stage, late.id), ['Silent'], 'a short restart counts');
    });

    it('does not count that time when its limit changes', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, SILENT);
      await watchFor(stage, 6 * MINUTE_MS);
      stage.clock.advance(HOUR_MS);
      await stage.reopen();
      await look(stage);
      const watch = { ...SILENT, silentAfterMs: 20 * MINUTE_MS };
      await update(stage, { ...workflow, settings: { ...workflow.settings, watch } });
      await watchFor(stage, 13 * MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), []);
      await watchFor(stage, MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), ['Silent'], 'six minutes before, fourteen after');
    });

    it('tells of failures while runs end without pause', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, RATIO);
      for (const _ of times(4, () => 0)) await run(stage, workflow, failed());
      stage.clock.advance(LIMITS.watchPauseMs);
      await whileRunsEnd(stage, workflow).tickWatches();
      equal((await codesOf(stage, workflow.id)).filter((code) => code === 'Unhealthy').length, 1);
      const [watch] = await stage.store.listWatches(stage.owner.id, workflow.id);
      equal(watch?.dueAtMs, stage.clock.ms + LIMITS.watchPauseMs, 'it is not looked at all the time');
    });

    it('is not silent when a run ends meanwhile', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, SILENT);
      await watchFor(stage, 10 * MINUTE_MS - SECOND_MS);
      stage.clock.advance(SECOND_MS);
      await whileRunsEnd(stage, workflow).tickWatches();
      await look(stage);
      deepEqual(await codesOf(stage, workflow.id), ['TypeError']);
      await watchFor(stage, 10 * MINUTE_MS);
      deepEqual(await codesOf(stage, workflow.id), ['TypeError', 'Silent']);
      await run(stage, workflow);
      stage.clock.advance(LIMITS.watchPauseMs);
      await whileRunsEnd(stage, workflow).tickWatches();
      equal((await recoveriesOf(stage, workflow.id)).length, 1);
    });

    it('is another owner’s alone', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, SILENT);
      const neighbour = await stage.neighbour();
      deepEqual(await neighbour.store.listWatches(neighbour.owner.id, workflow.id), []);
      await watchFor(stage, 10 * MINUTE_MS);
      deepEqual(await codesOf(neighbour, workflow.id), []);
      deepEqual(await codesOf(stage, workflow.id), ['Silent']);
    });

    it('reaches whoever hears the workflow’s errors', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await watched(stage, SILENT);
      const listener = await stage.workflow();
      await stage.subscribe(workflow.id, listener.id, '$errors');
      await stage.subscribe(workflow.id, listener.id, RECOVERED);
      await watchFor(stage, 10 * MINUTE_MS);
      const heard = only(await stage.claim(10, listener.id));
      equal(heard.emission.code, 'Silent');
      await stage.end(heard);
      await run(stage, workflow);
      await hear(stage);
      equal(only(await stage.claim(10, listener.id)).emission.name, RECOVERED);
    });

    it('counts runs that their queue refused as failures', async () => {
      await using stage = await Stage.open(harness);
      const watch = { ...SILENT, errorRatio: { over: 0.5, ofAtLeast: 2, windowMs: HOUR_MS } };
      const workflow = await stage.workflow({ settings: { watch, notify: false, queueLimit: 1 } });
      await look(stage);
      for (const _ of times(4, () => 0)) await stage.appendFor(workflow.id, {}, none());
      await watchFor(stage, 10 * MINUTE_MS);
      deepEqual((await codesOf(stage, workflow.id)).toSorted(), [
        'QueueFull',
        'QueueFull',
        'QueueFull',
        'Silent',
        'Unhealthy',
      ]);
      const claimed = at((await stage.store.claimRuns(1, all())).runs, 0);
      await stage.end(claimed);
    });
  });
}
