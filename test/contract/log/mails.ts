// Mails: deliveries to the owner, and digests that count what would be the same mail again.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClaimedDelivery, MAIL } from '../../../src/domain/delivery/delivery.ts';
import { EMAIL, ERRORS } from '../../../src/domain/emission.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/limits.ts';
import { NOTICE_LIMITS } from '../../../src/domain/notices/limits.ts';
import { DEFAULT_SETTINGS, type Workflow } from '../../../src/domain/resource.ts';
import type { EmissionRecord } from '../../../src/store/contract/records.ts';
import {
  all,
  at,
  defined,
  failed,
  type Harness,
  mail,
  only,
  parsed,
  START_MS,
  sorted,
  succeeded,
  timesInTurn,
} from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { assertLedgerAddsUp } from './counting.ts';

/** A failure of that workflow, and the global error workflow's mail about it. Returns the error's entry. */
async function failAndMail(stage: Stage, workflow: Workflow, code = 'Boom'): Promise<number> {
  const entry = await stage.failure(workflow, code);
  const told = only(await stage.claim(1, stage.global.id));
  await stage.end(told, succeeded({ outgoing: [mail(`${code} in ${workflow.name}`)] }));
  return entry;
}

/** What the global error workflow mailed, newest first. */
async function mailsOf(stage: Stage): Promise<readonly EmissionRecord[]> {
  const channel = { ownerId: stage.owner.id, emitterId: stage.global.id, name: EMAIL };
  return (await stage.store.listEmissions(channel, { limit: 100 }, true)).items;
}

/** Closes the windows that are over; the mails that this made. */
async function closed(stage: Stage): Promise<readonly ClaimedDelivery[]> {
  for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
  const slots = all();
  const claims = await stage.store.closeDigests(slots);
  slots.assertAccountedFor(claims);
  equal(claims.deliveriesWaiting, false);
  return claims.deliveries;
}

const subjectOf = (delivery: ClaimedDelivery): string =>
  (parsed(delivery.emission.body) as { subject: string }).subject;

async function mailCount(stage: Stage): Promise<number> {
  return (await stage.store.listDeliveries({ ownerId: stage.owner.id, listenerId: MAIL }, { limit: 1 })).totalCount;
}

export function mailsContract(harness: Harness): void {
  describe('mails', () => {
    it('become mail deliveries of the owner', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      const slots = all();
      const { claims } = await stage.end(run, succeeded({ outgoing: [mail('hello')] }), slots);
      slots.assertAccountedFor(claims);
      const delivery = only(claims.deliveries);
      deepEqual([delivery.kind, delivery.mailTo, delivery.webhook], ['mail', 'ada@example.org', null]);
      deepEqual(parsed(delivery.emission.body), { subject: 'hello', text: 'about hello' });
      equal(delivery.emission.name, EMAIL);
      const { record } = defined(await stage.store.getDelivery(stage.owner.id, delivery.delivery));
      deepEqual([record.kind, record.listenerId, record.state], ['mail', MAIL, 'sending']);
      await assertLedgerAddsUp(stage);
    });

    it('go nowhere without an address, yet go', async () => {
      await using stage = await Stage.open(harness);
      await stage.store.updateOwner({ ...stage.owner, email: null });
      const run = await stage.started(await stage.workflow());
      await stage.end(run, succeeded({ outgoing: [mail('hello')] }));
      const delivery = only(await stage.deliveries());
      deepEqual([delivery.kind, delivery.mailTo], ['mail', null]);
      equal((await stage.delivered(delivery)).held, true);
    });

    it('are sent also by a run that fails', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      await stage.end(run, failed('Boom', { outgoing: [mail('before')] }));
      deepEqual(parsed(only(await stage.deliveries()).emission.body), { subject: 'before', text: 'about before' });
    });

    it('are no repeats outside the global workflow', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      for (const subject of ['same', 'same']) {
        await stage.end(await stage.started(workflow), succeeded({ outgoing: [mail(subject)] }));
      }
      equal((await stage.deliveries()).length, 2);
    });

    it('make an error when they are exhausted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await stage.end(await stage.started(workflow), succeeded({ outgoing: [mail('lost')] }));
      const delivery = only(await stage.deliveries());
      const { errorEntry } = await stage.exhausted(delivery);
      const error = defined(await stage.store.getEmission(stage.owner.id, defined(errorEntry)));
      deepEqual([error.name, error.emitterId, error.causeDelivery], [ERRORS, workflow.id, delivery.delivery]);
      equal(only(await stage.claim()).runnable.id, stage.global.id);
      await assertLedgerAddsUp(stage);
    });

    it('stand on the receipts of their error', async () => {
      await using stage = await Stage.open(harness);
      const entry = await failAndMail(stage, await stage.workflow());
      const receipts = await stage.store.receipts(stage.owner.id, entry);
      const sent = only(receipts.filter((r) => r.kind === 'mail'));
      deepEqual([sent.listenerId, sent.state], [MAIL, 'pending']);
      equal(sent.number, only(await stage.deliveries()).delivery);
    });

    it('are told in the order in which they were sent', async () => {
      await using stage = await Stage.open(harness);
      const emitter = await stage.source();
      for (const { id } of await timesInTurn(2, () => stage.workflow())) await stage.subscribe(emitter.id, id);
      const { entry, claims } = await stage.append(emitter.id, {}, all());
      for (const run of claims.runs.toReversed()) await stage.end(run, succeeded({ outgoing: [mail('sent')] }));
      const receipts = await stage.store.receipts(stage.owner.id, entry);
      const numbers = receipts.filter(({ kind }) => kind === 'mail').map(({ number }) => defined(number));
      equal(numbers.length, 2);
      deepEqual(numbers, sorted(numbers));
    });
  });

  describe('digests', () => {
    it('send the first and count repeats', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await timesInTurn(4, () => failAndMail(stage, workflow));
      equal((await stage.deliveries()).length, 1);
      equal(await mailCount(stage), 1);
      equal((await mailsOf(stage)).length, 4);
      await assertLedgerAddsUp(stage);
    });

    it('say on a receipt what was counted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const errors = await timesInTurn(2, () => failAndMail(stage, workflow));
      const [repeat, first] = await mailsOf(stage);
      equal(only(await stage.store.receipts(stage.owner.id, defined(first).entry)).kind, 'mail');
      const counted = only(await stage.store.receipts(stage.owner.id, defined(repeat).entry));
      deepEqual([counted.kind, counted.listenerId, counted.number], ['withheld', MAIL, null]);
      match(`${counted.reason}`, /^repeat number 1 of a notice already sent: counted,/);
      const ofError = await stage.store.receipts(stage.owner.id, at(errors, 1));
      deepEqual(ofError.find((r) => r.listenerId === MAIL)?.kind, 'withheld');
    });

    it('keep workflows and codes apart', async () => {
      await using stage = await Stage.open(harness);
      const [a, b] = [await stage.workflow(), await stage.workflow()];
      await failAndMail(stage, a, 'X');
      await failAndMail(stage, a, 'Y');
      await failAndMail(stage, b, 'X');
      equal(await mailCount(stage), 3);
      await failAndMail(stage, b, 'X');
      equal(await mailCount(stage), 3);
    });

    it('mail the first groups of a workflow, and count all others', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, other] = [await stage.workflow(), await stage.workflow()];
      for (let n = 0; n < NOTICE_LIMITS.firstMails + 3; n++) await failAndMail(stage, workflow, `E${n}`);
      equal(await mailCount(stage), NOTICE_LIMITS.firstMails);
      const beyond = only(await stage.store.receipts(stage.owner.id, at(await mailsOf(stage), 0).entry));
      match(`${beyond.reason}`, /^20 groups of errors of the same emitter were mailed in this window: counted,/);
      await failAndMail(stage, workflow, 'E0');
      await failAndMail(stage, other, 'E0');
      equal(await mailCount(stage), NOTICE_LIMITS.firstMails + 1, 'another workflow has its own');
      stage.clock.advance(DAY_MS);
      const digests = (await closed(stage)).map(subjectOf).sort();
      equal(digests.length, 2);
      match(`${digests[0]}`, /^E0 in .*\(\+1 more since/);
      match(`${digests[1]}`, /^E22 in .*\(\+3 more of other kinds since/);
      await failAndMail(stage, workflow, 'E30');
      equal(await mailCount(stage), NOTICE_LIMITS.firstMails + 4, 'the next window begins');
      await assertLedgerAddsUp(stage);
    });

    it('are of one group whatever the code', async () => {
      await using stage = await Stage.open(harness);
      const grouping = [{ group: 'All of them', message: '*' }];
      const workflow = await stage.workflow({ settings: { ...DEFAULT_SETTINGS, grouping } });
      await failAndMail(stage, workflow, 'X');
      await failAndMail(stage, workflow, 'Y');
      equal(await mailCount(stage), 1);
    });

    it('tell apart several mails of one run', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      for (const round of [1, 2]) {
        await stage.failure(workflow, 'Boom');
        const told = only(await stage.claim(1, stage.global.id));
        await stage.end(told, succeeded({ outgoing: [mail(`a${round}`), mail(`b${round}`)] }));
      }
      const subjects = (await stage.deliveries()).map(subjectOf);
      deepEqual(subjects.sort(), ['a1', 'b1']);
    });

    it('close with one mail for all repeats', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await timesInTurn(5, async () => {
        await failAndMail(stage, workflow);
        stage.clock.advance(MINUTE_MS);
      });
      stage.clock.ms = START_MS + DAY_MS;
      const digest = only(await closed(stage));
      deepEqual([digest.kind, digest.mailTo], ['mail', 'ada@example.org']);
      const { text } = parsed(digest.emission.body) as { text: string };
      match(subjectOf(digest), /^Boom in orders \(\+4 more since 12:00 UTC\)$/);
      match(text, /\+4 more since[\s\S]*about Boom in orders$/);
      await assertLedgerAddsUp(stage);
    });

    it('stay open until their window is over', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await timesInTurn(2, () => failAndMail(stage, workflow));
      stage.clock.ms = START_MS + DAY_MS - 1;
      deepEqual(await closed(stage), []);
      equal(await mailCount(stage), 1);
      stage.clock.advance(1);
      equal((await closed(stage)).length, 1);
    });

    it('count on in the next window', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await timesInTurn(2, () => failAndMail(stage, workflow));
      stage.clock.advance(DAY_MS);
      equal((await closed(stage)).length, 1);
      equal(await mailCount(stage), 2);
      await timesInTurn(3, () => failAndMail(stage, workflow));
      equal(await mailCount(stage), 2);
      stage.clock.advance(DAY_MS);
      match(subjectOf(only(await closed(stage))), /\+3 more/);
    });

    it('are forgotten when nothing was repeated', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await failAndMail(stage, workflow);
      stage.clock.advance(DAY_MS);
      deepEqual(await closed(stage), []);
      equal(await stage.store.nextDueAtMs(), null);
      await failAndMail(stage, workflow);
      equal(await mailCount(stage), 2);
    });

    it('close once, though two nodes try', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await timesInTurn(2, () => failAndMail(stage, workflow));
      stage.clock.advance(DAY_MS);
      for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
      const both = await Promise.all([stage.store.closeDigests(all()), stage.store.closeDigests(all())]);
      equal(both.flatMap((c) => c.deliveries).length, 1);
    });

    it('lose no repeat that comes while their window closes', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await timesInTurn(2, () => failAndMail(stage, workflow));
      await stage.failure(workflow, 'Boom');
      const told = only(await stage.claim(1, stage.global.id));
      for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
      stage.clock.advance(DAY_MS);
      const [, closing] = await Promise.all([
        stage.end(told, succeeded({ outgoing: [mail('Boom again')] })),
        stage.store.closeDigests(all()),
      ]);
      const mails = [...closing.deliveries, ...(await closed(stage))];
      match(subjectOf(only(mails)), /^Boom again \(\+2 more/);
      await assertLedgerAddsUp(stage);
    });

    it('count nothing for an owner who wants none', async () => {
      await using stage = await Stage.open(harness);
      await stage.store.updateOwner({ ...stage.owner, digestWindowMs: 0 });
      const workflow = await stage.workflow();
      await timesInTurn(2, () => stage.failure(workflow, 'Boom'));
      const told = await stage.claim(2, stage.global.id);
      await Promise.all(told.map((run) => stage.end(run, succeeded({ outgoing: [mail('Boom')] }))));
      equal(await mailCount(stage), 2);
    });

    it('last as long as the owner says', async () => {
      await using stage = await Stage.open(harness);
      await stage.store.updateOwner({ ...stage.owner, digestWindowMs: HOUR_MS });
      const workflow = await stage.workflow();
      await timesInTurn(2, () => failAndMail(stage, workflow));
      equal(await stage.store.nextDueAtMs(), START_MS + HOUR_MS);
      stage.clock.advance(HOUR_MS);
      equal((await closed(stage)).length, 1);
    });

    it('are not opened by an owner whose window is 0', async () => {
      await using stage = await Stage.open(harness);
      await stage.store.updateOwner({ ...stage.owner, digestWindowMs: 0 });
      const workflow = await stage.workflow();
      await timesInTurn(3, () => failAndMail(stage, workflow));
      equal(await mailCount(stage), 3);
      equal(await stage.store.nextDueAtMs(), null);
    });

    it('keep what they counted from retention', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await timesInTurn(3, () => failAndMail(stage, workflow));
      for (const delivery of await stage.deliveries()) await stage.delivered(delivery);
      // What is listed is kept for that alone: retention shall find no other reason.
      const unlisted = ['UPDATE emissions SET flags = flags & 7', 'UPDATE emissions SET listed = false'] as const;
      await stage.execute(unlisted[0]).catch(() => stage.execute(unlisted[1]));
      stage.clock.advance(DAY_MS);
      for (let from: number | null = 0; from !== null; ) {
        const step: { next: number | null } = await stage.store.prune(stage.clock.nowMs(), from);
        from = step.next;
      }
      deepEqual(await mailsOf(stage), [], 'nothing is listed');
      match(subjectOf(only(await closed(stage))), /\+2 more/);
    });

    it('survive that the store is reopened', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await timesInTurn(3, () => failAndMail(stage, workflow));
      await stage.reopen();
      await failAndMail(stage, workflow);
      equal(await mailCount(stage), 1);
      stage.clock.advance(DAY_MS);
      match(subjectOf(only(await closed(stage))), /\+3 more/);
    });
  });
}
