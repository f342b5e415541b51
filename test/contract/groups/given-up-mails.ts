// Mails about errors that were given up, and what was counted instead of being mailed.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClaimedDelivery, MAIL } from '../../../src/domain/delivery/delivery.ts';
import { MUTED_MAIL, RESOLVED_MAIL } from '../../../src/domain/delivery/digest.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/limits.ts';
import { NOTICE_LIMITS } from '../../../src/domain/notices/limits.ts';
import type { Workflow } from '../../../src/domain/resource.ts';
import type { Receipt } from '../../../src/store/contract/records.ts';
import { all, at, defined, type Harness, mail, only, parsed, succeeded, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { fail, groups, muted, order } from '../log/grouping.ts';
import { Stage } from '../stage.ts';

const OPEN = { state: 'open' } as const;
const RESOLVED = { state: 'resolved', inNextDeployment: false } as const;

/** An error of the workflow, and the global error workflow's mail about it. */
async function failAndMail(stage: Stage, workflow: Workflow, code = 'Boom'): Promise<number> {
  const entry = await fail(stage, workflow, { code });
  await stage.end(only(await stage.claim(1, stage.global.id)), succeeded({ outgoing: [mail(code)] }));
  return entry;
}

/** What is to be sent now, windows that are over included. */
async function sent(stage: Stage): Promise<readonly ClaimedDelivery[]> {
  return [...(await stage.store.closeDigests(all())).deliveries, ...(await stage.deliveries())];
}

const subjectOf = ({ emission }: ClaimedDelivery): string => (parsed(emission.body) as { subject: string }).subject;

const ofMail = async (stage: Stage, entry: number): Promise<Receipt> =>
  only((await stage.store.receipts(stage.owner.id, entry)).filter(({ listenerId }) => listenerId === MAIL));

const toldOf = async (stage: Stage, entry: number): Promise<string> => {
  const { told } = await stage.store.outcomeOfError(stage.owner.id, entry);
  const found = await stage.store.searchErrors({ ownerId: stage.owner.id, told }, { limit: 100 }, false);
  equal(found.items.filter(({ emission }) => emission.entry === entry).length, 1, 'the search says the same');
  return told;
};

export function givenUpMailsContract(harness: Harness): void {
  describe('a mail about errors that was given up', () => {
    it('is no notice that others repeat', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      await stage.exhausted(only(await stage.deliveries()));
      const entry = await failAndMail(stage, workflow);
      const again = only(await sent(stage));
      equal(subjectOf(again), 'Boom');
      equal((await ofMail(stage, entry)).number, again.delivery);
      await stage.delivered(again);
      await failAndMail(stage, workflow);
      deepEqual(await sent(stage), [], 'this one was sent');
      stage.clock.advance(DAY_MS);
      match(subjectOf(only(await sent(stage))), /^Boom \(\+1 more/);
      await assertLedgerAddsUp(stage);
    });

    it('leaves what it has counted to be mailed at once, also after a restart', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      const first = only(await stage.deliveries());
      await timesInTurn(3, () => failAndMail(stage, workflow));
      stage.clock.advance(HOUR_MS);
      await stage.exhausted(first);
      await stage.reopen();
      match(subjectOf(only(await sent(stage))), /^Boom \(\+3 more since 12:00 UTC\)$/);
      await failAndMail(stage, workflow);
      deepEqual(await sent(stage), []);
    });

    it('ends no window that another one has opened', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      const first = only(await stage.deliveries());
      stage.clock.advance(DAY_MS);
      deepEqual(await sent(stage), []);
      await failAndMail(stage, workflow);
      const second = only(await stage.deliveries());
      await stage.exhausted(first);
      await stage.delivered(second);
      await failAndMail(stage, workflow);
      deepEqual(await sent(stage), []);
    });

    it('is told of by nothing else when it is sent again by hand', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, neighbour] = [await stage.workflow(), await stage.neighbour()];
      const theirs = await neighbour.workflow();
      await failAndMail(neighbour, theirs);
      const entry = await failAndMail(stage, workflow);
      const first = defined((await stage.deliveries()).find(({ emission }) => emission.ownerId === stage.owner.id));
      await stage.exhausted(first);
      equal(await toldOf(stage, entry), 'failed');
      await stage.store.resendDelivery(stage.owner.id, first.delivery);
      await stage.delivered(only(await stage.deliveries()));
      equal(await toldOf(stage, entry), 'told');
      await failAndMail(neighbour, theirs);
      deepEqual(await sent(stage), [], 'of the other owner, a mail was not given up');
    });

    it('leaves room for other groups before the window is over', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      for (let n = 0; n < NOTICE_LIMITS.firstMails; n++) await failAndMail(stage, workflow, `E${n}`);
      const mails = await stage.deliveries();
      await failAndMail(stage, workflow, 'Counted');
      for (const one of mails) await stage.exhausted(one);
      await failAndMail(stage, workflow, 'E0');
      deepEqual(await sent(stage), [], 'as many mails as may be sent were given up');
      stage.clock.advance(NOTICE_LIMITS.givenUpPauseMs);
      match(subjectOf(only(await sent(stage))), /^E0 \(\+2 more of other kinds/);
      await failAndMail(stage, workflow, 'E1');
      equal(subjectOf(only(await sent(stage))), 'E1');
      await assertLedgerAddsUp(stage);
    });
  });

  describe('a digest that was given up', () => {
    /** A digest of as many errors, and the last of them. */
    async function digestOf(stage: Stage, workflow: Workflow, count: number) {
      await failAndMail(stage, workflow);
      await stage.delivered(only(await stage.deliveries()));
      const entries = await timesInTurn(count, () => failAndMail(stage, workflow));
      stage.clock.advance(DAY_MS);
      return { digest: only(await sent(stage)), entry: at(entries, count - 1) };
    }

    it('leaves its count to the next one, which the next error brings about', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { digest, entry } = await digestOf(stage, workflow, 3);
      stage.clock.advance(HOUR_MS);
      await stage.exhausted(digest);
      deepEqual(await sent(stage), [], 'nothing new has come');
      equal(await toldOf(stage, entry), 'failed');
      const later = await failAndMail(stage, workflow);
      const next = only(await sent(stage));
      const { subject, text } = parsed(next.emission.body) as { subject: string; text: string };
      equal(subject, 'Boom (+4 more since 12:00 UTC)');
      match(text, /^\+4 more since 12:00 UTC \([^)]*\)\. The newest of them:\n\nabout Boom$/);
      await stage.delivered(next);
      for (const one of [entry, later]) {
        deepEqual([(await ofMail(stage, one)).number, await toldOf(stage, one)], [next.delivery, 'told']);
      }
      await assertLedgerAddsUp(stage);
    });

    it('is in the next one without another error, too, and once', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { digest } = await digestOf(stage, workflow, 2);
      await stage.exhausted(digest);
      await stage.store.resendDelivery(stage.owner.id, digest.delivery);
      await stage.exhausted(only(await stage.deliveries()));
      stage.clock.advance(DAY_MS);
      const next = only(await sent(stage));
      const { subject, text } = parsed(next.emission.body) as { subject: string; text: string };
      equal(subject, 'Boom (+2 more since 12:00 UTC)');
      match(text, /^\+2 more[^+]*about Boom$/);
    });

    it('is in the next one when its own window is over', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { digest } = await digestOf(stage, workflow, 2);
      stage.clock.advance(DAY_MS);
      deepEqual(await sent(stage), []);
      await stage.exhausted(digest);
      stage.clock.advance(NOTICE_LIMITS.givenUpPauseMs);
      await failAndMail(stage, workflow);
      match(subjectOf(only(await sent(stage))), /^Boom \(\+3 more since/);
    });

    it('is not tried again with each error that comes', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { digest } = await digestOf(stage, workflow, 1);
      await stage.exhausted(digest);
      await timesInTurn(3, async () => {
        await failAndMail(stage, workflow);
        deepEqual(await sent(stage), []);
        stage.clock.advance(MINUTE_MS);
      });
      stage.clock.advance(NOTICE_LIMITS.givenUpPauseMs);
      match(subjectOf(only(await sent(stage))), /^Boom \(\+4 more since/);
    });

    it('of many groups leaves its count to the next one', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      for (let n = 0; n < NOTICE_LIMITS.firstMails + 3; n++) await failAndMail(stage, workflow, `E${n}`);
      for (const one of await stage.deliveries()) await stage.delivered(one);
      stage.clock.advance(DAY_MS);
      await stage.exhausted(only(await sent(stage)));
      stage.clock.advance(HOUR_MS);
      const entry = await failAndMail(stage, workflow, 'E30');
      const next = only(await sent(stage));
      match(subjectOf(next), /^E30 \(\+4 more of other kinds since 12:00 UTC\)$/);
      equal((await ofMail(stage, entry)).number, next.delivery);
      await assertLedgerAddsUp(stage);
    });
  });

  describe('an error that was counted', () => {
    it('has the digest as its receipt as soon as there is one', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, other] = [await stage.workflow(), await stage.workflow()];
      await failAndMail(stage, workflow);
      await failAndMail(stage, other);
      for (const one of await stage.deliveries()) await stage.delivered(one);
      const entry = await failAndMail(stage, workflow);
      deepEqual([(await ofMail(stage, entry)).kind, await toldOf(stage, entry)], ['withheld', 'counted']);
      stage.clock.advance(DAY_MS);
      const digest = only(await sent(stage));
      const receipt = await ofMail(stage, entry);
      deepEqual([receipt.kind, receipt.number, receipt.via], ['mail', digest.delivery, 'global']);
      equal(await toldOf(stage, entry), 'under_way');
      const later = await failAndMail(stage, workflow);
      await stage.delivered(digest);
      deepEqual([(await ofMail(stage, entry)).state, await toldOf(stage, entry)], ['delivered', 'told']);
      equal(await toldOf(stage, later), 'counted');
      const told = await stage.store.searchErrors({ ownerId: stage.owner.id, told: 'counted' }, { limit: 9 }, false);
      deepEqual(
        told.items.map(({ emission }) => emission.entry),
        [later],
      );
      const theirs = await stage.neighbour();
      deepEqual(await theirs.store.receipts(theirs.owner.id, entry), []);
    });

    it('beyond the first groups has the digest of the others', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const first = await failAndMail(stage, workflow, 'E0');
      for (let n = 1; n < NOTICE_LIMITS.firstMails; n++) await failAndMail(stage, workflow, `E${n}`);
      for (const one of await stage.deliveries()) await stage.delivered(one);
      const [repeat, beyond] = [await failAndMail(stage, workflow, 'E0'), await failAndMail(stage, workflow, 'More')];
      stage.clock.advance(DAY_MS);
      const digests = await sent(stage);
      const ofOthers = defined(digests.find((one) => subjectOf(one).startsWith('More')));
      const ofGroup = defined(digests.find((one) => subjectOf(one).startsWith('E0')));
      equal((await ofMail(stage, beyond)).number, ofOthers.delivery);
      equal((await ofMail(stage, repeat)).number, ofGroup.delivery);
      await stage.exhausted(ofOthers);
      await stage.delivered(ofGroup);
      deepEqual(await Promise.all([beyond, repeat, first].map((one) => toldOf(stage, one))), [
        'failed',
        'told',
        'told',
      ]);
      match(`${(await ofMail(stage, beyond)).reason}`, /^given up after 1 attempt/);
    });

    it('says that its group was muted when the window was over', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      await stage.delivered(only(await stage.deliveries()));
      const entry = await failAndMail(stage, workflow);
      const group = only(await groups(stage));
      await order(stage, group, muted({ untilMs: stage.clock.nowMs() + 2 * DAY_MS }));
      equal(await toldOf(stage, entry), 'counted');
      stage.clock.advance(DAY_MS);
      deepEqual(await sent(stage), []);
      deepEqual([(await ofMail(stage, entry)).reason, await toldOf(stage, entry)], [MUTED_MAIL, 'withheld']);
      await order(stage, group, OPEN);
      await failAndMail(stage, workflow);
      await stage.delivered(only(await sent(stage)));
      await failAndMail(stage, workflow);
      stage.clock.advance(DAY_MS);
      await stage.delivered(only(await sent(stage)));
      equal((await ofMail(stage, entry)).reason, MUTED_MAIL, 'the next window does not tell of it');
      await assertLedgerAddsUp(stage);
    });

    it('counts as told as soon as its group is resolved', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      await stage.delivered(only(await stage.deliveries()));
      const entry = await failAndMail(stage, workflow);
      const group = only(await groups(stage));
      await order(stage, group, RESOLVED);
      deepEqual([(await ofMail(stage, entry)).reason, await toldOf(stage, entry)], [RESOLVED_MAIL, 'told']);
      await order(stage, group, OPEN);
      equal(await toldOf(stage, entry), 'counted');
      await order(stage, group, RESOLVED);
      stage.clock.advance(DAY_MS);
      deepEqual(await sent(stage), []);
      await order(stage, group, OPEN);
      deepEqual([(await ofMail(stage, entry)).reason, await toldOf(stage, entry)], [RESOLVED_MAIL, 'told']);
    });
  });
}
