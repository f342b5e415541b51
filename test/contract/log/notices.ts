// Notices of groups of errors: when one is due, that it is taken once, and what becomes of it when its process is gone.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR_MS } from '../../../src/domain/limits.ts';
import { NOTICE_LIMITS } from '../../../src/domain/notices/limits.ts';
import { type Notice, noticeEmission } from '../../../src/domain/notices/notice.ts';
import { DEFAULT_SETTINGS, type Workflow } from '../../../src/domain/resource.ts';
import type { TakenNotice } from '../../../src/store/contract/channels.ts';
import { defined, type Harness, mail, none, only, succeeded, times } from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { change, fail, groups, order, resolved } from './grouping.ts';

const TOLD = { settings: { ...DEFAULT_SETTINGS, channels: ['ch_0000000000000001'] } };
const OPEN = { state: 'open' } as const;
const MUTED = { state: 'muted', untilMs: null, afterCount: 3, untilNextDeployment: false } as const;

const noticeOf = ({ group, kind, more }: TakenNotice): Notice => ({
  ...{ kind, group_id: group.id, emitter_id: group.emitterId, name: 'a', code: 'E', message: 'm', step: '', line: '' },
  ...{ count: group.count, more, groups: 1, reopened: null, replayed: null, closed: null, replayable: false },
  ...{ first_seen: '', last_seen: '', event: '', link: '' },
});

const shown = ({ kind, sequence, more, wasTold }: TakenNotice) => ({ kind, sequence, more, wasTold });

async function taken(stage: Stage): Promise<TakenNotice[]> {
  return [...(await stage.store.takeNotices(9))];
}

/** Takes the notice that is due and ends it. */
async function told(stage: Stage): Promise<TakenNotice> {
  const notice = only(await taken(stage));
  await stage.store.endNotice(notice, HOUR_MS);
  return notice;
}

async function failing(stage: Stage): Promise<Workflow> {
  const workflow = await stage.workflow(TOLD);
  await fail(stage, workflow);
  return workflow;
}

export function noticesContract(harness: Harness): void {
  describe('a notice of a group', () => {
    it('is due with the first error of a group', async () => {
      await using stage = await Stage.open(harness);
      deepEqual(await taken(stage), []);
      await failing(stage);
      equal(await stage.store.nextDueAtMs(), stage.clock.nowMs());
      const notice = only(await taken(stage));
      deepEqual(shown(notice), { kind: 'error', sequence: 1, more: 1, wasTold: false });
      equal(notice.group.count, 1);
    });

    it('is not due without a channel', async () => {
      await using stage = await Stage.open(harness);
      await fail(stage, await stage.workflow());
      await fail(stage, await stage.workflow({ settings: { ...DEFAULT_SETTINGS, channels: [] } }));
      deepEqual(await taken(stage), []);
    });

    it('is taken by one of several callers', async () => {
      await using stage = await Stage.open(harness);
      await failing(stage);
      equal((await Promise.all(times(4, () => taken(stage)))).flat().length, 1);
    });

    it('is taken again when it was not sent in time', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      const first = only(await taken(stage));
      await fail(stage, workflow);
      deepEqual(await taken(stage), []);
      stage.clock.advance(NOTICE_LIMITS.noticeLeaseMs);
      await stage.reopen();
      const again = only(await taken(stage));
      deepEqual([again.sequence, again.kind, again.more], [1, 'error', 2]);
      await stage.store.endNotice(again, HOUR_MS);
      // The first process is back: what it ends was ended.
      await stage.store.endNotice(first, 1);
      stage.clock.advance(NOTICE_LIMITS.noticeLeaseMs);
      deepEqual(await taken(stage), []);
    });

    it('that was emitted is taken again as it was, and the next one tells of the rest', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      const counts: number[] = [];
      for (let n = 1; n <= 3; n++) {
        const lost = only(await taken(stage));
        const emission = noticeEmission(noticeOf(lost), {
          ...{ ownerId: stage.owner.id, channelId: 'ch_0000000000000001', groupId: lost.group.id },
          ...{ sequence: lost.sequence, lastEntry: lost.group.lastEntry, folded: null },
        });
        await stage.store.append(emission, none());
        // Its process is gone; errors go on.
        for (let more = 0; more < n; more++) await fail(stage, workflow);
        stage.clock.advance(NOTICE_LIMITS.noticeLeaseMs);
        await stage.reopen();
        const again = only(await taken(stage));
        deepEqual([shown(again), again.group.count], [shown(lost), lost.group.count]);
        equal(again.group.lastEntry, lost.group.lastEntry);
        counts.push(again.more);
        await stage.store.endNotice(again, HOUR_MS);
        deepEqual(await taken(stage), []);
        stage.clock.advance(HOUR_MS);
      }
      const last = only(await taken(stage));
      deepEqual([...counts, last.more], [1, 1, 2, 3]);
      equal(last.group.count, 7);
    });

    it('of a recovery comes behind one that was lost when it was emitted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      await told(stage);
      await fail(stage, workflow);
      stage.clock.advance(HOUR_MS);
      const lost = only(await taken(stage));
      const emission = noticeEmission(noticeOf(lost), {
        ...{ ownerId: stage.owner.id, channelId: 'ch_0000000000000001', groupId: lost.group.id },
        ...{ sequence: lost.sequence, lastEntry: lost.group.lastEntry, folded: null },
      });
      await stage.store.append(emission, none());
      await resolved(stage, lost.group);
      deepEqual(shown(await told(stage)), { kind: 'digest', sequence: 2, more: 1, wasTold: true });
      deepEqual(shown(await told(stage)), { kind: 'recovered', sequence: 3, more: 0, wasTold: true });
      deepEqual(await taken(stage), []);
    });

    for (const how of ['resolved by its owner', 'over with its workflow'] as const) {
      it(`of an error that was lost when it was emitted has its end, ${how}`, async () => {
        await using stage = await Stage.open(harness);
        const workflow = await failing(stage);
        const lost = only(await taken(stage));
        const emission = noticeEmission(noticeOf(lost), {
          ...{ ownerId: stage.owner.id, channelId: 'ch_0000000000000001', groupId: lost.group.id },
          ...{ sequence: lost.sequence, lastEntry: lost.group.lastEntry, folded: null },
        });
        await stage.store.append(emission, none());
        if (how === 'resolved by its owner') await resolved(stage, lost.group);
        else await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
        await stage.reopen();
        deepEqual(shown(await told(stage)), { kind: 'error', sequence: 1, more: 1, wasTold: false });
        const end = await told(stage);
        deepEqual(shown(end), { kind: 'recovered', sequence: 2, more: 0, wasTold: true });
        equal(end.told.length, 1);
        deepEqual(await taken(stage), []);
      });
    }

    it('counts the errors of its window', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      await told(stage);
      await fail(stage, workflow);
      await fail(stage, workflow);
      stage.clock.advance(HOUR_MS - 1);
      deepEqual(await taken(stage), []);
      stage.clock.advance(1);
      deepEqual(shown(await told(stage)), { kind: 'digest', sequence: 2, more: 2, wasTold: true });
      stage.clock.advance(2 * HOUR_MS);
      deepEqual(await taken(stage), []);
      await fail(stage, workflow);
      deepEqual(shown(await told(stage)), { kind: 'digest', sequence: 3, more: 1, wasTold: true });
    });

    it('counts errors that come while it is sent', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      const notice = only(await taken(stage));
      await fail(stage, workflow);
      await stage.store.endNotice(notice, HOUR_MS);
      deepEqual(await taken(stage), []);
      stage.clock.advance(HOUR_MS);
      deepEqual(shown(only(await taken(stage))), { kind: 'digest', sequence: 2, more: 1, wasTold: true });
    });

    it('tells that a group recovered, and again of its next error', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      const { group } = await told(stage);
      await resolved(stage, group);
      deepEqual(shown(await told(stage)), { kind: 'recovered', sequence: 2, more: 0, wasTold: true });
      deepEqual(await taken(stage), []);
      await fail(stage, workflow);
      deepEqual(shown(await told(stage)), { kind: 'error', sequence: 3, more: 1, wasTold: false });
    });

    it('tells of a recovery that comes while the error is sent', async () => {
      await using stage = await Stage.open(harness);
      await failing(stage);
      const notice = only(await taken(stage));
      await resolved(stage, notice.group);
      await stage.store.endNotice(notice, HOUR_MS);
      equal((await told(stage)).kind, 'recovered');
    });

    it('is not due while the group is muted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      const { group } = await told(stage);
      await order(stage, group, MUTED);
      await fail(stage, workflow);
      await fail(stage, workflow);
      stage.clock.advance(2 * HOUR_MS);
      deepEqual(await taken(stage), []);
      await fail(stage, workflow);
      deepEqual(shown(await told(stage)), { kind: 'error', sequence: 2, more: 3, wasTold: false });
    });

    for (const to of [{ note: 'seen' }, { status: OPEN }]) {
      it(`is due at once when the time of a mute is over, also behind ${JSON.stringify(to)}`, async () => {
        await using stage = await Stage.open(harness);
        const workflow = await failing(stage);
        const { group } = await told(stage);
        const untilMs = stage.clock.nowMs() + HOUR_MS / 4;
        await order(stage, group, { ...MUTED, untilMs });
        stage.clock.advance(HOUR_MS / 2);
        await change(stage, group, to);
        await fail(stage, workflow);
        deepEqual(shown(await told(stage)), { kind: 'error', sequence: 2, more: 1, wasTold: false });
        deepEqual(only(await groups(stage)).reopened?.by, 'time');
      });
    }

    it('is dropped when its group is muted or opened', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      const { group } = await told(stage);
      await fail(stage, workflow);
      await order(stage, group, MUTED);
      await order(stage, group, OPEN);
      stage.clock.advance(2 * HOUR_MS);
      deepEqual(await taken(stage), []);
    });

    it('tells of some groups one by one, and of all others in one', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, other] = [await stage.workflow(TOLD), await stage.workflow(TOLD)];
      const count = NOTICE_LIMITS.noticesAtOnce + 4;
      for (let n = 0; n < count; n++) await fail(stage, workflow, { code: `E${n}` });
      await fail(stage, other);
      const first = await stage.store.takeNotices(100);
      deepEqual(
        Object.groupBy(first, ({ group }) => group.emitterId)[workflow.id]?.length,
        NOTICE_LIMITS.noticesAtOnce,
      );
      equal(first.length, NOTICE_LIMITS.noticesAtOnce + 1, 'another workflow has its own');
      for (const one of first) await stage.store.endNotice(one, HOUR_MS);
      deepEqual(await taken(stage), []);
      await fail(stage, workflow, { code: 'E1000' });
      await fail(stage, workflow, { code: `E${count - 1}` });
      stage.clock.advance(NOTICE_LIMITS.foldMs - 1);
      deepEqual(await taken(stage), []);
      stage.clock.advance(1);
      const summary = only(await taken(stage));
      deepEqual([summary.folded?.ids.length, summary.folded?.errors], [5, 6]);
      equal(summary.group.fingerprint.code, `E${count - 1}`, 'it shows the newest');
      await stage.store.endNotice(summary, HOUR_MS);
      deepEqual(await taken(stage), []);
      await fail(stage, workflow, { code: 'E1000' });
      stage.clock.advance(HOUR_MS);
      deepEqual(shown(only(await taken(stage))), { kind: 'digest', sequence: 2, more: 1, wasTold: true });
    });

    it('is taken again with all that it tells of', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(TOLD);
      for (let n = 0; n < NOTICE_LIMITS.noticesAtOnce + 3; n++) await fail(stage, workflow, { code: `E${n}` });
      for (const one of await stage.store.takeNotices(100)) await stage.store.endNotice(one, HOUR_MS);
      stage.clock.advance(NOTICE_LIMITS.foldMs);
      const lost = only(await taken(stage));
      deepEqual(await taken(stage), []);
      stage.clock.advance(NOTICE_LIMITS.noticeLeaseMs);
      await stage.reopen();
      const again = only(await taken(stage));
      deepEqual([again.folded?.ids.length, again.group.id], [3, lost.group.id]);
      await stage.store.endNotice(again, HOUR_MS);
      await stage.store.endNotice(lost, HOUR_MS);
      stage.clock.advance(HOUR_MS);
      deepEqual(await taken(stage), []);
    });

    it('ends no group that was folded while it was sent', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(TOLD);
      for (let n = 0; n < NOTICE_LIMITS.noticesAtOnce + 3; n++) await fail(stage, workflow, { code: `E${n}` });
      for (const one of await stage.store.takeNotices(100)) await stage.store.endNotice(one, HOUR_MS);
      stage.clock.advance(NOTICE_LIMITS.foldMs - 1);
      // As many again, so that what comes next is folded, too.
      for (let n = 0; n < NOTICE_LIMITS.noticesAtOnce; n++) await fail(stage, workflow, { code: `F${n}` });
      stage.clock.advance(1);
      const all = await stage.store.takeNotices(100);
      const summary = defined(all.find(({ folded }) => folded !== null));
      for (const one of all) if (one !== summary) await stage.store.endNotice(one, HOUR_MS);
      await fail(stage, workflow, { code: 'LATE' });
      deepEqual(await taken(stage), [], 'another process folds it');
      await stage.store.endNotice(summary, HOUR_MS);
      stage.clock.advance(NOTICE_LIMITS.noticeLeaseMs);
      equal(only(await taken(stage)).group.fingerprint.code, 'LATE');
    });

    it('leaves out groups that are muted or resolved before it is sent', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(TOLD);
      for (let n = 0; n < NOTICE_LIMITS.noticesAtOnce + 3; n++) await fail(stage, workflow, { code: `E${n}` });
      for (const one of await stage.store.takeNotices(100)) await stage.store.endNotice(one, HOUR_MS);
      const newest = await groups(stage);
      await order(stage, defined(newest[0]), MUTED);
      await resolved(stage, defined(newest[1]));
      deepEqual(shown(await told(stage)), { kind: 'recovered', sequence: 1, more: 1, wasTold: false });
      stage.clock.advance(NOTICE_LIMITS.foldMs);
      const { group, folded } = only(await taken(stage));
      deepEqual([group.fingerprint.code, folded], [newest[2]?.fingerprint.code, null], 'one alone is no summary');
    });

    it('says of a recovery whether an error was mailed', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await fail(stage, workflow);
      const group = only(await groups(stage));
      await resolved(stage, group);
      deepEqual([(await told(stage)).wasMailed], [false], 'its run has not ended yet');
      await fail(stage, workflow);
      for (const run of await stage.claim(2, stage.global.id)) {
        await stage.end(run, succeeded({ outgoing: [mail('failed')] }));
      }
      for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
      await resolved(stage, group);
      const { kind, wasMailed } = await told(stage);
      deepEqual([kind, wasMailed], ['recovered', true]);
    });

    it('tells that the group of a deleted workflow is over', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await failing(stage);
      await told(stage);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      equal((await told(stage)).kind, 'recovered');
    });
  });
}
