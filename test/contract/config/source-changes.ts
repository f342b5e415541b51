// Changes of a source: one at a time, held by the node that began it, and taken over when that is gone.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import { MINUTE_MS } from '../../../src/domain/limits.ts';
import type { Source } from '../../../src/domain/resource.ts';
import type { SourceWrite } from '../../../src/store/contract/resources.ts';
import type { SourceChangeKind } from '../../../src/store/contract/source-changes.ts';
import { all, defined, failed, type Harness, none, only, START_MS, sameMembers, times } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { Stage } from '../stage.ts';

const changeOf = ({ ownerId, id: sourceId }: Source, kind: SourceChangeKind = 'update') => ({
  ownerId,
  sourceId,
  kind,
});

const begin = (stage: Stage, source: Source, kind?: SourceChangeKind) =>
  stage.store.beginSourceChange(changeOf(source, kind));

const end = (stage: Stage, { ownerId, id }: Source) => stage.store.endSourceChange(ownerId, id);

function writeOf(stage: Stage, source: Source, more: Partial<SourceWrite> = {}): SourceWrite {
  return { source, deployment: stage.make.deployment(source), triggers: [], subscriptions: [], ...more };
}

async function making(stage: Stage): Promise<Source> {
  const source = stage.make.source();
  await stage.store.createSource(writeOf(stage, source, { goesOn: true }));
  stage.runnableIds.push(source.id);
  return source;
}

/** A run of one of its hooks; taken at once with `all()`. */
async function hook(stage: Stage, source: Source, name: string, slots = none()) {
  const emission = stage.make.emission(stage.owner.id, { name, onlyListenerId: source.id });
  const { firstRun, claims, entry } = await stage.store.append(emission, slots);
  stage.appended.add(entry);
  return { run: defined(firstRun), claims };
}

const runsOf = async (stage: Stage, source: Source) =>
  (await stage.store.hookRuns(source.ownerId, source.id))?.map(({ name, state, hasBegun }) => [name, state, hasBegun]);

export function sourceChangesContract(harness: Harness): void {
  describe('changes of a source', () => {
    it('are one at a time, whoever asks', async () => {
      await using stage = await Stage.open(harness);
      const [source, other] = [await stage.source(), await stage.source()];
      const began = await Promise.all(times(5, () => begin(stage, source)));
      sameMembers(began.map(String), ['begun', 'busy', 'busy', 'busy', 'busy']);
      equal(await begin(stage, other), 'begun');
      equal(await end(stage, source), true);
      equal(await end(stage, source), false);
      equal(await begin(stage, source, 'delete'), 'begun');
    });

    it('begin only with a source of the owner', async () => {
      await using stage = await Stage.open(harness);
      const theirs = await stage.neighbour();
      const source = await stage.source();
      const workflow = await stage.workflow();
      const stranger = { ...source, ownerId: theirs.owner.id };
      equal(await begin(stage, stranger), undefined);
      equal(await begin(stage, { ...source, id: workflow.id }), undefined);
      equal(await begin(stage, { ...source, id: 'dc_none' }), undefined);
      equal(await begin(stage, source), 'begun');
      equal(await end(stage, stranger), false);
      equal(await stage.store.hookRuns(stranger.ownerId, source.id), undefined);
      equal(await stage.store.deleteSource(stranger.ownerId, source.id), false);
      equal(await stage.store.updateSource(writeOf(stage, stranger, { deployment: null })), false);
      equal(await begin(stage, source), 'busy');
    });

    it('go on until the write that is the last', async () => {
      await using stage = await Stage.open(harness);
      const source = await making(stage);
      equal(await begin(stage, source), 'busy', 'it is being created');
      const write = writeOf(stage, { ...source, name: 'b' }, { deployment: null, goesOn: true });
      equal(await stage.store.updateSource(write), true);
      equal(await begin(stage, source), 'busy');
      equal(await stage.store.updateSource({ ...write, goesOn: false }), true);
      equal((await stage.store.getSource(stage.owner.id, source.id))?.name, 'b');
      equal(await begin(stage, source), 'begun');
      equal(await stage.store.deleteSource(stage.owner.id, source.id), true);
      equal(await begin(stage, source), undefined);
    });

    it('leave triggers as they are by then, where they are to', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const timer = stage.make.timer(source.id, START_MS);
      const subscription = stage.make.subscription({ from: timer.id, to: source.id }, { via: 'trigger' });
      const write = writeOf(stage, source, { deployment: null, triggers: [timer], subscriptions: [subscription] });
      equal(await begin(stage, source), 'begun');
      equal(await stage.store.updateSource({ ...write, goesOn: true }), true);
      const nextAtMs = START_MS + MINUTE_MS;
      const tick = { triggerId: timer.id, schedule: defined(timer.schedule), expectedAtMs: START_MS, nextAtMs };
      const fired = await stage.store.fireTrigger(tick, stage.make.emission(timer.id), none());
      stage.appended.add(defined(fired).entry);
      for (const goesOn of [true, false]) {
        const marked = { ...write, source: { ...source, name: `b ${goesOn}` }, keepsTriggers: true, goesOn };
        equal(await stage.store.updateSource(marked), true);
        equal(await stage.store.updateSource({ ...marked, triggers: [], subscriptions: [] }), goesOn);
        equal((await stage.store.getSource(stage.owner.id, source.id))?.name, `b ${goesOn}`);
        equal(await stage.store.nextDueAtMs(), nextAtMs, 'what has fired is not due again');
      }
      stage.clock.advance(MINUTE_MS);
      equal(only(await stage.store.dueTriggers(10)).id, timer.id);
    });

    it('are written only by who has begun them', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      for (const goesOn of [false, true]) {
        const write = writeOf(stage, { ...source, name: 'b' }, { deployment: null, goesOn });
        equal(await stage.store.updateSource(write), false);
      }
      equal(await stage.store.deleteSource(stage.owner.id, source.id), false);
      deepEqual(await stage.store.getSource(stage.owner.id, source.id), source);
    });

    it('outlive their node, and are taken over', async () => {
      await using stage = await Stage.open(harness);
      const [made, changed, idle] = [await making(stage), await stage.source(), await stage.source()];
      equal(await begin(stage, changed), 'begun');
      equal(await begin(stage, idle), 'begun');
      equal(await end(stage, idle), true);
      deepEqual(await stage.store.takeSourceChanges([made.id, changed.id]), [], 'they are under way');
      await stage.reopen();
      equal(await begin(stage, changed), 'busy');
      equal(await end(stage, changed), false);
      equal(await stage.store.updateSource(writeOf(stage, changed, { deployment: null })), false);
      equal(await stage.store.deleteSource(stage.owner.id, made.id), false);
      equal(await stage.store.hookRuns(stage.owner.id, changed.id), undefined);
      const taken = await stage.store.takeSourceChanges([]);
      const byId = [...taken].sort((a, b) => (a.sourceId < b.sourceId ? -1 : 1));
      deepEqual(byId, [changeOf(made, 'create'), changeOf(changed)]);
      deepEqual(await runsOf(stage, changed), []);
      equal(await end(stage, changed), true);
      equal(await stage.store.deleteSource(stage.owner.id, made.id), true);
      deepEqual(await stage.store.takeSourceChanges([]), []);
    });

    it('that nobody here goes on with are found', async () => {
      await using stage = await Stage.open(harness);
      const [a, b] = [await stage.source(), await stage.source()];
      for (const source of [a, b]) equal(await begin(stage, source), 'begun');
      deepEqual(await stage.store.takeSourceChanges([a.id]), [changeOf(b)]);
    });
  });

  describe('hooks of a source', () => {
    it('are known from the beginning of its change', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const before = await hook(stage, source, '$activate', all());
      await stage.end(only(before.claims.runs));
      stage.clock.advance(1);
      equal(await begin(stage, source), 'begun');
      deepEqual(await runsOf(stage, source), []);
      const first = await hook(stage, source, '$deactivate', all());
      await stage.end(only(first.claims.runs));
      await stage.appendFor(source.id);
      stage.clock.advance(1);
      await hook(stage, source, '$activate');
      deepEqual(await runsOf(stage, source), [
        ['$activate', 'queued', false],
        ['$deactivate', 'succeeded', true],
      ]);
      stage.clock.advance(1);
      equal(await stage.store.updateSource(writeOf(stage, source, { deployment: null, goesOn: true })), true);
      deepEqual(await runsOf(stage, source), []);
    });

    it('that were given back have begun', async () => {
      await using stage = await Stage.open(harness);
      const source = await making(stage);
      const { claims, run } = await hook(stage, source, '$deploy', all());
      deepEqual(await runsOf(stage, source), [['$deploy', 'running', true]]);
      await stage.giveBack(...claims.runs);
      deepEqual(await runsOf(stage, source), [['$deploy', 'queued', true]]);
      equal(await stage.store.cancelRun(stage.owner.id, run), 'cancelled');
      equal((await runsOf(stage, source))?.[0]?.[1], 'cancelled');
    });

    it('lost with a change are not run again', async () => {
      await using stage = await Stage.open(harness);
      const [source, other] = [await making(stage), await stage.source()];
      await hook(stage, source, '$deploy', all());
      const plain = await stage.started(other);
      await stage.reopen();
      equal((await stage.store.rescue(none())).runs, 2);
      equal(only(await stage.store.takeSourceChanges([])).sourceId, source.id);
      deepEqual(await runsOf(stage, source), [['$deploy', 'cancelled', true]]);
      equal((await stage.store.getRun(stage.owner.id, plain.run))?.state, 'queued');
      await assertLedgerAddsUp(stage);
    });

    it('lost beside a change that goes on are run again', async () => {
      await using stage = await Stage.open(harness);
      const source = await making(stage);
      const { run } = await hook(stage, source, '$deploy', all());
      await stage.reopen();
      equal(only(await stage.store.takeSourceChanges([])).sourceId, source.id);
      equal((await stage.store.rescue(none())).runs, 1);
      equal(only(await stage.claim()).run, run);
      deepEqual(await runsOf(stage, source), [['$deploy', 'running', true]]);
    });

    it('that fail tell of it as every run', async () => {
      await using stage = await Stage.open(harness);
      const source = await making(stage);
      const { claims } = await hook(stage, source, '$activate', all());
      const { errorEntry } = await stage.end(only(claims.runs), failed());
      equal((await stage.store.getEmission(stage.owner.id, defined(errorEntry)))?.name, ERRORS);
      deepEqual(await runsOf(stage, source), [['$activate', 'failed', true]]);
    });
  });
}
