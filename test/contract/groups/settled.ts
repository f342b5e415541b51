// Mails and notices of errors that somebody has resolved, or muted, before they are sent.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClaimedDelivery, MAIL } from '../../../src/domain/delivery/delivery.ts';
import { MUTED_MAIL, RESOLVED_MAIL } from '../../../src/domain/delivery/digest.ts';
import type { ErrorGroup } from '../../../src/domain/errors/group.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/limits.ts';
import { NOTICE_LIMITS } from '../../../src/domain/notices/limits.ts';
import { channelListener } from '../../../src/domain/notices/listener.ts';
import { noticeEmission, readNotice } from '../../../src/domain/notices/notice.ts';
import { DEFAULT_SETTINGS, type Workflow } from '../../../src/domain/resource.ts';
import type { TakenNotice } from '../../../src/store/contract/channels.ts';
import { all, anAttempt, at, defined, type Harness, json, mail, only, parsed, succeeded } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { fail, groups, muted, order, resolved } from '../log/grouping.ts';
import { Stage } from '../stage.ts';

const OPEN = { state: 'open' } as const;
const RESOLVED = { state: 'resolved', inNextDeployment: false } as const;
const CHANNEL = 'ch_0000000000000001';
const TOLD = { settings: { ...DEFAULT_SETTINGS, channels: [CHANNEL] } };
const WITHHELD = anAttempt({ outcome: 'withheld', status: null, detail: 'withheld: resolved' });

/** An error of the workflow, and the global error workflow's mail about it. */
async function failAndMail(stage: Stage, workflow: Workflow, code = 'Boom'): Promise<number> {
  const entry = await fail(stage, workflow, { code });
  await mailNow(stage, code);
  return entry;
}

async function mailNow(stage: Stage, subject: string): Promise<void> {
  await stage.end(only(await stage.claim(1, stage.global.id)), succeeded({ outgoing: [mail(subject)] }));
}

const mailsOf = async (stage: Stage): Promise<number> =>
  (await stage.store.listDeliveries({ ownerId: stage.owner.id, listenerId: MAIL }, { limit: 1 })).totalCount;

const ofMail = async (stage: Stage, entry: number) =>
  (await stage.store.receipts(stage.owner.id, entry)).find(({ listenerId }) => listenerId === MAIL);

const toldOf = async (stage: Stage, entry: number): Promise<string> =>
  (await stage.store.outcomeOfError(stage.owner.id, entry)).told;

const settled = (stage: Stage, ...of: readonly Pick<ErrorGroup, 'id'>[]): Promise<boolean> =>
  stage.store.areSettled(
    stage.owner.id,
    of.map(({ id }) => id),
  );

/** Sends the notice that was taken to the channel, as the engine does. */
async function notify(stage: Stage, { group, sequence, folded }: TakenNotice): Promise<ClaimedDelivery> {
  const notice = {
    ...readNotice(json({ kind: 'error', group_id: group.id })),
    kind: folded ? 'summary' : 'error',
  } as const;
  const to = { ownerId: stage.owner.id, channelId: CHANNEL, groupId: group.id, sequence, lastEntry: group.lastEntry };
  const many = folded && { emitterId: group.emitterId, ids: folded.ids };
  const { claims } = await stage.store.append(noticeEmission(notice, { ...to, folded: many }), all());
  return only(claims.deliveries);
}

export function settledContract(harness: Harness): void {
  describe('a mail of a group that was resolved before', () => {
    it('is withheld, and its error counts as told', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const entry = await fail(stage, workflow);
      await order(stage, only(await groups(stage)), RESOLVED);
      await mailNow(stage, 'late');
      const receipt = await ofMail(stage, entry);
      deepEqual([receipt?.kind, receipt?.reason, await toldOf(stage, entry)], ['withheld', RESOLVED_MAIL, 'told']);
      equal(await mailsOf(stage), 0);
      stage.clock.advance(MINUTE_MS);
      await failAndMail(stage, workflow, 'late again');
      equal(await mailsOf(stage), 1, 'no window was opened');
      await assertLedgerAddsUp(stage);
    });

    it('is sent when what failed is deleted, or a watch found that it is over', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, watched] = [await stage.workflow(), await stage.workflow()];
      await fail(stage, workflow);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      await mailNow(stage, 'deleted');
      equal(await mailsOf(stage), 1);
      await fail(stage, watched, { code: 'Silent' });
      await order(stage, defined((await groups(stage)).find(({ state }) => state === 'open')), RESOLVED);
      await mailNow(stage, 'silent');
      equal(await mailsOf(stage), 2);
    });

    it('is sent at once when the group is open again, with what was counted still counted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      await failAndMail(stage, workflow);
      equal(await mailsOf(stage), 1);
      stage.clock.advance(MINUTE_MS);
      await order(stage, only(await groups(stage)), RESOLVED);
      stage.clock.advance(MINUTE_MS);
      const again = await failAndMail(stage, workflow);
      equal(await mailsOf(stage), 2);
      equal((await ofMail(stage, again))?.kind, 'mail');
      await failAndMail(stage, workflow);
      equal(await mailsOf(stage), 2, 'its repeats are counted');
      for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
      stage.clock.advance(DAY_MS);
      const digest = only((await stage.store.closeDigests(all())).deliveries);
      match((parsed(digest.emission.body) as { subject: string }).subject, /\+2 more/);
    });

    it('is no digest, either', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      await failAndMail(stage, workflow);
      for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
      await order(stage, only(await groups(stage)), RESOLVED);
      stage.clock.advance(DAY_MS);
      deepEqual((await stage.store.closeDigests(all())).deliveries, []);
    });

    it('is known for a digest that waits, which opens no window of its own', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      await failAndMail(stage, workflow);
      for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
      stage.clock.advance(DAY_MS);
      const digest = only((await stage.store.closeDigests(all())).deliveries);
      equal(digest.emission.digestKey?.split(' ')[1], only(await groups(stage)).id);
      await stage.delivered(digest);
      stage.clock.advance(DAY_MS);
      deepEqual((await stage.store.closeDigests(all())).deliveries, []);
      equal(await stage.store.nextDueAtMs(), null);
    });

    it('ends without an attempt that counts when it waited', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const entry = await failAndMail(stage, workflow);
      await stage.retrying(only(await stage.deliveries()), HOUR_MS, { detail: 'no answer' });
      await order(stage, only(await groups(stage)), RESOLVED);
      stage.clock.advance(HOUR_MS);
      const again = only(await stage.deliveries());
      const { held, errorEntry } = await stage.attempt({ delivery: again, state: 'cancelled', made: WITHHELD });
      deepEqual([held, errorEntry], [true, null]);
      const { record, attempts } = defined(await stage.store.getDelivery(stage.owner.id, again.delivery));
      deepEqual([record.state, record.attemptsMade, attempts.length], ['cancelled', 1, 2]);
      const receipt = await ofMail(stage, entry);
      deepEqual([receipt?.state, receipt?.reason, await toldOf(stage, entry)], ['cancelled', WITHHELD.detail, 'told']);
      await assertLedgerAddsUp(stage);
      // By hand it is sent all the same.
      await stage.store.resendDelivery(stage.owner.id, again.delivery);
      const resent = only(await stage.deliveries());
      deepEqual([resent.trigger, resent.delivery], ['resend', again.delivery]);
      await stage.delivered(resent);
      await assertLedgerAddsUp(stage);
    });
  });

  describe('groups', () => {
    it('are settled when somebody has resolved all of them', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await fail(stage, workflow, { code: 'A' });
      await fail(stage, workflow, { code: 'B' });
      const [one, other] = (await groups(stage)) as [ErrorGroup, ErrorGroup];
      equal(await settled(stage, one), false);
      await order(stage, one, RESOLVED);
      deepEqual([await settled(stage, one), await settled(stage, one, other)], [true, false]);
      equal(await stage.store.areSettled('u_another', [one.id]), false);
      await order(stage, other, muted({ afterCount: 1 }));
      equal(await settled(stage, other), false);
      await order(stage, other, RESOLVED);
      equal(await settled(stage, one, other), true);
      await fail(stage, workflow, { code: one.fingerprint.code });
      equal(await settled(stage, one), false, 'it is open again');
      await order(stage, one, RESOLVED);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      equal(await settled(stage, one, other), false);
    });

    it('that are muted mail nothing for an owner without a window', async () => {
      await using stage = await Stage.open(harness);
      await stage.store.updateOwner({ ...stage.owner, digestWindowMs: 0 });
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      const group = only(await groups(stage));
      await order(stage, group, muted({ untilMs: stage.clock.nowMs() + HOUR_MS }));
      const entry = await failAndMail(stage, workflow);
      equal((await ofMail(stage, entry))?.reason, MUTED_MAIL);
      await order(stage, group, RESOLVED);
      await order(stage, group, OPEN);
      await failAndMail(stage, workflow);
      equal(await mailsOf(stage), 2);
      equal(await stage.store.nextDueAtMs(), null);
    });
  });

  describe('a muted group that a person opens', () => {
    it('is told of with its next error, also before its windows are over', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(TOLD);
      await failAndMail(stage, workflow);
      await stage.store.endNotice(only(await stage.store.takeNotices(9)), DAY_MS);
      const group = only(await groups(stage));
      await order(stage, group, muted({ untilMs: stage.clock.nowMs() + DAY_MS }));
      await failAndMail(stage, workflow);
      stage.clock.advance(MINUTE_MS);
      await order(stage, group, OPEN);
      deepEqual(await stage.store.takeNotices(9), [], 'nothing before its next error');
      const reopened = only(await groups(stage)).reopened;
      deepEqual([reopened?.from, reopened?.by, reopened?.entry], ['muted', 'person', null]);
      await failAndMail(stage, workflow);
      equal(await mailsOf(stage), 2);
      const taken = only(await stage.store.takeNotices(9));
      deepEqual([taken.kind, taken.more, taken.wasTold], ['digest', 2, true]);
      await stage.store.endNotice(taken, DAY_MS);
      await failAndMail(stage, workflow);
      deepEqual([await mailsOf(stage), await stage.store.takeNotices(9)], [2, []], 'its repeats are counted');
    });
  });

  describe('a recovery', () => {
    it('is not told of a group that is open again soon, whose next error is', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(TOLD);
      await fail(stage, workflow);
      const [first] = await stage.store.takeNotices(9);
      await stage.store.endNotice(defined(first), HOUR_MS);
      const group = only(await groups(stage));
      await order(stage, group, RESOLVED);
      stage.clock.advance(NOTICE_LIMITS.recoveryGraceMs - 1);
      deepEqual(await stage.store.takeNotices(9), []);
      await order(stage, group, OPEN);
      stage.clock.advance(NOTICE_LIMITS.recoveryGraceMs);
      deepEqual(await stage.store.takeNotices(9), []);
      await fail(stage, workflow);
      equal(only(await stage.store.takeNotices(9)).more, 1);
    });

    it('was mailed about only when a mail went out', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      const group = only(await groups(stage));
      await stage.retrying(only(await stage.deliveries()), HOUR_MS);
      const recovered = async (): Promise<boolean> => {
        await resolved(stage, group);
        const taken = only(await stage.store.takeNotices(9));
        await stage.store.endNotice(taken, HOUR_MS);
        return taken.wasMailed;
      };
      equal(await recovered(), false, 'it is withheld now');
      await order(stage, group, OPEN);
      stage.clock.advance(HOUR_MS);
      await stage.delivered(only(await stage.deliveries()));
      equal(await recovered(), true);
    });

    it('is for listeners whose notice went out, and says of each', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(TOLD);
      await fail(stage, workflow);
      const first = only(await stage.store.takeNotices(9));
      const delivery = await notify(stage, first);
      await stage.store.endNotice(first, HOUR_MS);
      await stage.retrying(delivery, HOUR_MS);
      await resolved(stage, first.group);
      const listenerId = channelListener(stage.owner.id, CHANNEL);
      deepEqual(only(await stage.store.takeNotices(9)).told, [{ listenerId, heard: false }]);
      stage.clock.advance(NOTICE_LIMITS.noticeLeaseMs);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      const [over] = await stage.store.takeNotices(9);
      deepEqual(over?.told, [{ listenerId, heard: true }], 'nobody has settled it: the first notice goes out');
    });

    it('waits for attempts under way, which may be withheld', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(TOLD);
      await failAndMail(stage, workflow);
      const first = only(await stage.store.takeNotices(9));
      const notice = await notify(stage, first);
      await stage.store.endNotice(first, HOUR_MS);
      const sent = only(await stage.deliveries());
      await resolved(stage, first.group);
      await stage.delivered(notice);
      deepEqual(await stage.store.takeNotices(9), [], 'the mail is under way');
      await stage.attempt({ delivery: sent, state: 'cancelled', made: WITHHELD });
      equal(await stage.store.nextDueAtMs(), stage.clock.nowMs() + NOTICE_LIMITS.undecidedMs);
      stage.clock.advance(NOTICE_LIMITS.undecidedMs);
      const { wasMailed, told } = only(await stage.store.takeNotices(9));
      deepEqual([wasMailed, told.map(({ heard }) => heard)], [false, [true]]);
    });

    it('of the last group of a summary closes that', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(TOLD);
      for (let n = 0; n < NOTICE_LIMITS.noticesAtOnce + 2; n++) await fail(stage, workflow, { code: `E${n}` });
      for (const one of await stage.store.takeNotices(100)) await stage.store.endNotice(one, HOUR_MS);
      stage.clock.advance(NOTICE_LIMITS.foldMs);
      const summary = only(await stage.store.takeNotices(9));
      const delivery = await notify(stage, summary);
      await stage.delivered(delivery);
      await stage.store.endNotice(summary, HOUR_MS);
      const ids = defined(summary.folded).ids;
      const over: TakenNotice['summaries'][] = [];
      for (const id of ids) {
        await resolved(stage, { id });
        const taken = only(await stage.store.takeNotices(9));
        await stage.store.endNotice(taken, HOUR_MS);
        over.push(taken.summaries);
      }
      const listenerIds = [channelListener(stage.owner.id, CHANNEL)];
      deepEqual(
        over,
        [null, { listenerIds, newest: delivery.emission.entry }],
        'others of the workflow are open still',
      );
      const other = defined((await groups(stage, { state: 'open' }))[0]);
      await resolved(stage, other);
      equal(only(await stage.store.takeNotices(9)).summaries, null, 'no summary told of it');
    });
  });

  describe('a summary', () => {
    it('leaves errors that come while it is sent to the next notices', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow(TOLD);
      const codes = Array.from({ length: NOTICE_LIMITS.noticesAtOnce + 3 }, (_, n) => `E${n}`);
      for (const code of codes) await fail(stage, workflow, { code });
      for (const one of await stage.store.takeNotices(100)) await stage.store.endNotice(one, HOUR_MS);
      stage.clock.advance(NOTICE_LIMITS.foldMs);
      const summary = only(await stage.store.takeNotices(9));
      deepEqual([summary.folded?.errors, summary.folded?.counts], [3, [1, 1, 1]]);
      for (const code of [codes.at(-1), codes.at(-1), codes.at(-2)]) await fail(stage, workflow, { code: `${code}` });
      await stage.store.endNotice(summary, HOUR_MS);
      deepEqual(await stage.store.takeNotices(9), []);
      stage.clock.advance(HOUR_MS);
      const next = await stage.store.takeNotices(9);
      const shown = next.map(({ group, kind, more }) => [group.fingerprint.code, kind, more]);
      deepEqual(shown.sort(), [
        [at(codes, -2), 'digest', 1],
        [at(codes, -1), 'digest', 2],
      ]);
    });
  });
}
