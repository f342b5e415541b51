// What an operation over errors would do, asked before it is made: the same that it does then.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emissionOfReplay, NO_ERROR, OF_HOOK } from '../../../src/domain/errors/replay.ts';
import type { ReplayPreview } from '../../../src/store/contract/operations.ts';
import { PREVIEW_BYTES } from '../../../src/store/log/replays/replay-preview.ts';
import { atOnce } from '../../../src/store/log/replays/replay-records.ts';
import { at, defined, type Harness, json, none } from '../fixtures.ts';
import { failing } from '../log/grouping.ts';
import { Stage } from '../stage.ts';
import { asked, carryOut, counts, failedOnes, LOST, selection, start, stepOn } from './replaying.ts';

const told = ({ count, isAtLeast, toReplay, passedOver }: ReplayPreview) => ({
  count: isAtLeast ? `at least ${count}` : count,
  toReplay: [...toReplay.values()],
  passedOver: Object.fromEntries(passedOver.map((one) => [one.reason, [one.outcome, one.count]])),
});

const FIXED = 'its event was run again, and succeeded';
const FAILED = 'its event was run again, and failed: the error of that run is listed itself';
const RUNNING = 'its event is being run again already';

export function dryRunsContract(harness: Harness): void {
  describe('a dry run of replays', () => {
    it('tells what would be replayed now, and why the others would not', async () => {
      await using stage = await failedOnes(harness, 7);
      const { store, owner, entries, groupId } = stage;
      deepEqual(told(await store.previewReplay(owner.id, asked({ groupId }))), {
        count: 7,
        toReplay: [7],
        passedOver: {},
      });
      await start(stage, { entries: entries.slice(0, 2) });
      await carryOut(stage);
      await start(stage, { entries: [at(entries, 2)] });
      await carryOut(stage, LOST);
      await start(stage, { entries: [at(entries, 3)] });
      await stepOn(stage);
      const edited = emissionOfReplay(defined(await store.getEmission(owner.id, at(entries, 4))), json({ n: 'other' }));
      await store.append(edited, none());
      const named = { entries: [1, ...entries] };
      const passedOver = {
        [NO_ERROR]: ['not_replayed', 1],
        [FIXED]: ['replayed_before', 2],
        [FAILED]: ['replayed_before', 1],
        [RUNNING]: ['under_way', 2],
      };
      deepEqual(told(await store.previewReplay(owner.id, asked(named))), { count: 8, toReplay: [2], passedOver });
      deepEqual(told(await store.previewReplay(owner.id, asked(named, true))), {
        count: 8,
        toReplay: [5],
        passedOver: { [NO_ERROR]: ['not_replayed', 1], [RUNNING]: ['under_way', 2] },
      });
      deepEqual(told(await store.previewReplay(owner.id, asked({ groupId, code: 'Other' }))), {
        count: 0,
        toReplay: [],
        passedOver: {},
      });
      const operation = await start(stage, named);
      await carryOut(stage);
      deepEqual(await counts(stage, operation), { fixed: 4, not_replayed: 1, replayed_before: 3 }, 'one is followed');
      // The one that its failed replay ended in is left; one came through with changes.
      deepEqual(told(await store.previewReplay(owner.id, asked({ groupId }))), {
        count: 8,
        toReplay: [1],
        passedOver: {
          [FIXED]: ['replayed_before', 5],
          [FAILED]: ['replayed_before', 1],
          'its event was run again with changes, and succeeded': ['replayed_before', 1],
        },
      });
    });

    it('knows another owner’s errors as little as errors that are gone', async () => {
      await using stage = await failedOnes(harness, 2);
      const neighbour = await stage.neighbour();
      const named = asked({ entries: stage.entries });
      deepEqual(told(await stage.store.previewReplay(neighbour.owner.id, named)), {
        count: 2,
        toReplay: [],
        passedOver: { [NO_ERROR]: ['not_replayed', 2] },
      });
      await start(stage, { groupId: stage.groupId });
      await carryOut(stage);
      equal((await stage.store.previewReplay(neighbour.owner.id, named)).passedOver[0]?.count, 2);
    });

    it('passes over an error of a hook', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const run = await stage.started(source, { name: '$deploy', body: json({ hooks: ['deploy'] }) });
      const ofHook = defined((await stage.end(run, LOST)).errorEntry);
      const plain = await stage.started(source, { body: json({ n: 1 }) });
      const ofRun = defined((await stage.end(plain, LOST)).errorEntry);
      const preview = await stage.store.previewReplay(stage.owner.id, asked({ entries: [ofHook, ofRun] }));
      deepEqual(told(preview), { count: 2, toReplay: [1], passedOver: { [OF_HOOK]: ['not_replayed', 1] } });
    });

    it('says so when it has not read of all events whether they can be replayed', async () => {
      await using stage = await Stage.open(harness);
      const flow = await stage.workflow({ settings: { notify: false } });
      const big = new Uint8Array(PREVIEW_BYTES / 8).fill(0x20);
      big[0] = 0x31;
      const entries: number[] = [];
      for (let n = 0; n < 9; n++) {
        const run = await stage.started(flow, { body: big });
        entries.push(defined((await stage.end(run, failing({ code: 'Lost' }))).errorEntry));
      }
      const preview = await stage.store.previewReplay(stage.owner.id, asked({ emitterId: flow.id }));
      deepEqual(told(preview), { count: 'at least 9', toReplay: [7], passedOver: {} });
      await start(stage, { entries: entries.slice(0, 3) });
      await carryOut(stage);
      deepEqual(told(await stage.store.previewReplay(stage.owner.id, asked({ emitterId: flow.id }))), {
        count: 9,
        toReplay: [6],
        passedOver: { [FIXED]: ['replayed_before', 3] },
      });
    });

    it('reads of large events no more than a bound to know their steps', async () => {
      await using stage = await Stage.open(harness);
      const flow = await stage.workflow({ settings: { notify: false } });
      const atATime = atOnce(selection({ step: 'charge' }));
      const big = new Uint8Array(Math.ceil(PREVIEW_BYTES / atATime)).fill(0x20);
      big[0] = 0x31;
      for (let n = 0; n <= atATime; n++) {
        const run = await stage.started(flow, { body: big });
        await stage.end(run, failing({ namespace: 'charge' }));
      }
      const preview = await stage.store.previewReplay(stage.owner.id, asked({ emitterId: flow.id, step: 'charge' }));
      deepEqual([preview.count, preview.isAtLeast], [atATime, true]);
    });
  });
}
