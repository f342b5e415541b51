// Owners that are deleted: what stops at once, and what can be restored. The purge: owner-purges.ts.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/limits.ts';
import { excused } from '../../../src/domain/watch/heartbeat.ts';
import { firstTickMs } from '../../../src/engine/schedule/cron.ts';
import type { PurgeRecord } from '../../../src/store/contract/owner-deletions.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { all, defined, emit, failed, type Harness, mail, none, only, succeeded, times } from '../fixtures.ts';
import { numbered, Stage } from '../stage.ts';
import { codesOf, errorsOf, heartbeat, look, NOTHING, ping, watchFor } from '../watches/watching.ts';
import { auditRecordOn } from './audit.ts';

export const recordOn =
  (stage: Stage): PurgeRecord =>
  (purged, logOwnerId) =>
    auditRecordOn(stage, { ownerId: logOwnerId, operation: 'purgeOwner', targetId: purged.id, path: purged.name });

/** Makes steps until there is nothing to do. Returns how many. */
export async function sweepAll(stage: Stage, store: Store = stage.store): Promise<number> {
  for (let steps = 1; ; steps++) {
    if (!(await store.sweepOwners(recordOn(stage))).isMore) return steps;
    ok(steps < 5000, 'it comes to an end');
  }
}

export const NO_SETTLE = ({ watch }: Parameters<Parameters<Store['keepWatch']>[0]>[0]) => watch;
export const restore = ({ store, owner }: Stage) => store.restoreOwner(owner.id, NO_SETTLE);

/** Deletes an owner that is not the store's first. */
export async function deleted(stage: Stage, graceMs: number): Promise<Stage> {
  const other = await stage.neighbour();
  await deleteOf(other, graceMs);
  return other;
}

export async function deleteOf({ store, owner, clock }: Stage, graceMs: number): Promise<void> {
  const askedAtMs = clock.nowMs();
  const made = await store.deleteOwner(owner.id, { askedAtMs, purgeAtMs: askedAtMs + graceMs });
  deepEqual(made, { ...owner, deletion: { askedAtMs, purgeAtMs: askedAtMs + graceMs, hasBegun: false } });
}

export function ownerDeletionsContract(harness: Harness): void {
  describe('a deleted owner', () => {
    it('is never the first one', async () => {
      await using stage = await Stage.open(harness);
      const times = { askedAtMs: 1, purgeAtMs: 2 };
      equal(await stage.store.deleteOwner(stage.owner.id, times), 'first');
      await stage.neighbour();
      equal(await stage.store.deleteOwner(stage.owner.id, times), 'first');
      equal(await stage.store.deleteOwner('u_0000000000009999', times), undefined);
      deepEqual(await stage.store.getOwner(stage.owner.id), stage.owner);
      equal(await stage.store.restoreOwner('u_0000000000009999', NO_SETTLE), undefined);
    });

    it('is told where its keys and addresses are found', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const { trigger } = await other.hooked();
      const found = () =>
        Promise.all([
          stage.store.keyByHash(other.keyHash),
          stage.store.triggerByKey(defined(trigger.key)),
          stage.store.getOwner(other.owner.id),
        ]);
      const before = await found();
      await deleteOf(other, DAY_MS);
      const ownerPurgeAtMs = stage.clock.nowMs() + DAY_MS;
      const [key, address] = await found();
      deepEqual(
        [key, address],
        [
          { ...other.key, ownerPurgeAtMs },
          { ...trigger, ownerPurgeAtMs },
        ],
      );
      deepEqual(await stage.store.keyByHash(stage.keyHash), stage.key);
      await stage.reopen();
      deepEqual(await stage.store.keyByHash(other.keyHash), key);
      stage.clock.advance(HOUR_MS);
      const again = await stage.store.deleteOwner(other.owner.id, { askedAtMs: 5, purgeAtMs: 6 });
      equal(typeof again === 'object' && again.deletion?.purgeAtMs, ownerPurgeAtMs, 'its times stay');
      deepEqual(await restore(other), other.owner);
      deepEqual(await found(), before);
      deepEqual(await restore(other), other.owner, 'twice does no harm');
    });

    it('keeps emissions, and nothing begins for them', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const [emitter, listener, webhook] = [await other.workflow(), await other.workflow(), await other.webhook()];
      for (const { id } of [listener, webhook]) await other.subscribe(emitter.id, id);
      const { trigger, workflow } = await other.hooked();
      const run = await other.started(emitter);
      await deleteOf(other, DAY_MS);
      const late = await other.append(trigger.id, {}, all());
      deepEqual([late.firstRun, late.claims.runs], [null, []]);
      const reason = 'the owner is being deleted';
      const withheld = async (entry: number) =>
        (await stage.store.receipts(other.owner.id, entry)).flatMap((receipt) =>
          receipt.kind === 'withheld' ? [[receipt.listenerId, receipt.reason]] : [],
        );
      deepEqual(await withheld(late.entry), [[workflow.id, reason]]);
      const { claims } = await other.end(run, succeeded({ outgoing: [emit(''), mail('late')] }), all());
      deepEqual([claims.runs, claims.deliveries], [[], []]);
      const { items } = await stage.store.listEmissions(
        { ownerId: other.owner.id, emitterId: emitter.id, name: '' },
        { limit: 9 },
        false,
      );
      deepEqual(
        (await withheld(only(items).entry)).map(([, why]) => why),
        [reason, reason],
      );
      await restore(other);
      equal((await other.append(trigger.id, {}, all())).claims.runs.length, 1);
    });

    it('has its waiting work cancelled, a part in each step', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const [busy, idle, ours] = [await other.workflow(), await other.workflow(), await stage.workflow()];
      const running = await other.started(busy);
      const waiting = await other.waiting(idle);
      for (let n = 0; n < 10; n++)
        await Promise.all(times(120, (i) => other.appendFor(busy.id, { body: numbered(i) })));
      await stage.appendFor(ours.id);
      await deleteOf(other, DAY_MS);
      const steps = await sweepAll(stage);
      ok(steps > 1);
      const ledger = await stage.store.ledger(other.owner.id);
      equal(ledger.runs.cancelled, 1201);
      deepEqual([ledger.runs.queued, ledger.runs.waiting, ledger.runs.running], [0, 0, 1]);
      equal((await stage.store.getRun(other.owner.id, waiting.run))?.state, 'cancelled');
      equal(only(await stage.claim()).runnable.id, ours.id);
      await other.end(running, failed(), none());
      equal((await stage.store.ledger(other.owner.id)).runs.failed, 1);
    });

    it('has its deliveries cancelled, and its mails, but none of another owner', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      for (const each of [stage, other]) {
        const [emitter, webhook, asleep] = [await each.workflow(), await each.webhook(), await each.webhook()];
        for (const { id } of [webhook, asleep]) await each.subscribe(emitter.id, id);
        await each.store.updateWebhook(each.owner.id, asleep.id, (before) => ({ ...before, active: false }));
        await each.append(emitter.id);
        await each.append(emitter.id);
        await each.end(await each.started(emitter), succeeded({ outgoing: [mail('hello')] }));
        equal(await each.store.createOperation(each.make.operation(webhook.id)), true);
      }
      await deleteOf(other, DAY_MS);
      await sweepAll(stage);
      for (const [{ owner }, state] of [
        [stage, 'running'],
        [other, 'cancelled'],
      ] as const) {
        const { items } = await stage.store.listOperations({ ownerId: owner.id }, { limit: 9 });
        equal(only(items).state, state);
      }
      const { deliveries } = await stage.store.ledger(other.owner.id);
      deepEqual([deliveries.cancelled, deliveries.pending, deliveries.held], [5, 0, 0]);
      const claimed = await stage.deliveries();
      deepEqual([...new Set(claimed.map(({ emission }) => emission.ownerId))], [stage.owner.id]);
      deepEqual(claimed.map(({ kind }) => kind).toSorted(), ['mail', 'webhook', 'webhook']);
      equal((await stage.store.ledger(stage.owner.id)).deliveries.held, 2);
    });

    it('has no ticks and no later emissions until it is restored', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const timed = other.make.workflow();
      const dueAtMs = stage.clock.nowMs() + MINUTE_MS;
      await other.write({ workflow: timed, triggers: [other.make.timer(timed.id, dueAtMs)] });
      const source = await other.source();
      const outgoing = [emit('', {}, { deliverAtMs: dueAtMs })];
      await other.end(await other.started(source), succeeded({ outgoing }));
      await deleteOf(other, DAY_MS);
      stage.clock.advance(HOUR_MS);
      const released = async () => {
        await stage.store.releaseLater(none());
        const channel = { ownerId: other.owner.id, emitterId: source.id, name: '' };
        return (await stage.store.listEmissions(channel, { limit: 9 }, false)).items.length;
      };
      deepEqual(await stage.store.dueTriggers(9), []);
      equal(await released(), 0);
      equal(await stage.store.nextDueAtMs(), null);
      await restore(other);
      equal((await stage.store.dueTriggers(9)).length, 1);
      equal(await stage.store.nextDueAtMs(), dueAtMs);
      equal(await released(), 1);
    });

    it('is not told that it was silent meanwhile', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const watched = await other.workflow({ settings: { watch: { ...NOTHING, silentAfterMs: HOUR_MS } } });
      await other.end(await other.started(watched));
      await look(other);
      await deleteOf(other, DAY_MS);
      await watchFor(other, 2 * HOUR_MS);
      deepEqual(await errorsOf(other, watched.id), []);
      await restore(other);
      await watchFor(other, HOUR_MS / 2);
      deepEqual(await errorsOf(other, watched.id), []);
      await watchFor(other, HOUR_MS);
      deepEqual(
        (await errorsOf(other, watched.id)).map(({ code }) => code),
        ['Silent'],
        'liveness',
      );
    });

    it('takes no time off what others watch', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const watched = await stage.workflow({ settings: { watch: { ...NOTHING, silentAfterMs: 3 * HOUR_MS } } });
      const beat = await heartbeat(stage);
      await deleteOf(other, DAY_MS);
      await watchFor(stage, 2 * HOUR_MS);
      await ping(stage, beat);
      await watchFor(stage, 11 * MINUTE_MS);
      await stage.store.restoreOwner(other.owner.id, (of, { isBack, nowMs }) =>
        excused(of, { isBack }, { nowMs, nextTick: firstTickMs }),
      );
      await watchFor(stage, MINUTE_MS);
      deepEqual(await codesOf(stage, beat.heartbeat.id), ['Silent']);
      await watchFor(stage, HOUR_MS - 12 * MINUTE_MS);
      deepEqual(await codesOf(stage, watched.id), ['Silent']);
    });

    it('is restored, or its purge begins', async () => {
      await using stage = await Stage.open(harness);
      for (let n = 0; n < 6; n++) {
        const other = await deleted(stage, n % 2);
        stage.clock.advance(1);
        const step = () => stage.store.sweepOwners(recordOn(stage));
        const [answer] = await Promise.all(
          n < 3 ? [restore(other), step()] : [step().then(() => restore(other)), step()],
        );
        const owner = await stage.store.getOwner(other.owner.id);
        if (answer === 'purging') equal(owner?.deletion?.hasBegun, true);
        else deepEqual([answer, owner], [other.owner, other.owner]);
        await sweepAll(stage);
        equal((await stage.store.keyByHash(other.keyHash)) === undefined, answer === 'purging');
      }
    });
  });
}
