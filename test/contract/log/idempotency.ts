// The same key on the same trigger: one emission, one answer.

import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { utf8 } from '../../../src/domain/bytes.ts';
import { LIMITS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { HttpAnswer } from '../../../src/domain/run/run.ts';
import type { Appended, Idempotency } from '../../../src/store/contract/store.ts';
import { all, defined, failed, type Harness, only, succeeded, times } from '../fixtures.ts';
import { numbered, Stage } from '../stage.ts';

const ANSWER: HttpAnswer = {
  status: 201,
  headers: { 'content-type': 'text/plain', 'x-a': 'ä' },
  body: utf8('{"a":\n1e400}'),
};

function send(stage: Stage, triggerId: string, key: string, slots = all()): Promise<Appended> {
  return sendOther(stage, { triggerId, key, requestHash: 'hash' }, slots);
}

function sendOther(stage: Stage, idempotency: Idempotency, slots = all()): Promise<Appended> {
  return stage.store.append(stage.make.emission(idempotency.triggerId), slots, { idempotency });
}

export function idempotencyContract(harness: Harness): void {
  describe('idempotency', () => {
    it('accepts a key once and then repeats', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const first = await send(stage, trigger.id, 'k');
      equal(first.repeated, null);
      const slots = all();
      const again = await send(stage, trigger.id, 'k', slots);
      deepEqual(again.repeated, { answer: null, isSameRequest: true });
      deepEqual([again.entry, again.emitId, again.firstRun], [first.entry, first.emitId, first.firstRun]);
      deepEqual([again.claims.runs, again.claims.deliveries], [[], []]);
      slots.assertAccountedFor(again.claims);
      const { emissions, runs } = await stage.store.ledger(stage.owner.id);
      deepEqual([emissions, runs.running], [1, 1]);
    });

    it('lets one of many at once win', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const slots = all();
      const answers = await Promise.all(times(20, () => send(stage, trigger.id, 'k', slots)));
      const winner = only(answers.filter((a) => a.repeated === null));
      equal(only(winner.claims.runs).run, winner.firstRun);
      equal(new Set(answers.map((a) => a.entry)).size, 1);
      slots.assertAccountedFor(...answers.map((a) => a.claims));
      equal((await stage.store.ledger(stage.owner.id)).emissions, 1);
    });

    it('tells another request with the same key', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const first = await send(stage, trigger.id, 'k');
      const other = { triggerId: trigger.id, key: 'k', requestHash: 'another' };
      const slots = all();
      const refused = await sendOther(stage, other, slots);
      deepEqual(refused.repeated, { answer: null, isSameRequest: false });
      slots.assertAccountedFor(refused.claims);
      await stage.end(only(first.claims.runs), succeeded({ answer: ANSWER }));
      await stage.reopen();
      equal((await sendOther(stage, other)).repeated?.isSameRequest, false);
      equal((await send(stage, trigger.id, 'k')).repeated?.isSameRequest, true);
      equal((await stage.store.ledger(stage.owner.id)).emissions, 1);
      stage.clock.advance(LIMITS.idempotencyMs + SECOND_MS);
      equal((await sendOther(stage, other)).repeated, null);
      equal((await send(stage, trigger.id, 'k')).repeated?.isSameRequest, false);
    });

    it('lets one of several requests at once win', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const of = (n: number) => ({ triggerId: trigger.id, key: 'k', requestHash: `hash ${n % 2}` });
      const answers = await Promise.all(times(20, (n) => sendOther(stage, of(n))));
      const winner = answers.findIndex((a) => a.repeated === null);
      for (const [n, { repeated }] of answers.entries()) {
        if (repeated) equal(repeated.isSameRequest, n % 2 === winner % 2, `request ${n}`);
      }
      equal((await stage.store.ledger(stage.owner.id)).emissions, 1);
    });

    it('keeps keys of other triggers apart', async () => {
      await using stage = await Stage.open(harness);
      const [a, b] = [await stage.hooked(), await stage.hooked()];
      const first = await send(stage, a.trigger.id, 'k');
      const second = await send(stage, b.trigger.id, 'k');
      const third = await send(stage, a.trigger.id, 'K');
      deepEqual([first.repeated, second.repeated, third.repeated], [null, null, null]);
      equal(new Set([first.entry, second.entry, third.entry]).size, 3);
    });

    it('forgets a key after a day', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const first = await send(stage, trigger.id, 'k');
      stage.clock.advance(LIMITS.idempotencyMs - SECOND_MS);
      equal((await send(stage, trigger.id, 'k')).entry, first.entry);
      stage.clock.advance(2 * SECOND_MS);
      const second = await send(stage, trigger.id, 'k');
      equal(second.repeated, null);
      notEqual(second.entry, first.entry);
      equal((await send(stage, trigger.id, 'k')).entry, second.entry);
    });

    it('repeats the answer that the run gave', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const { claims } = await send(stage, trigger.id, 'k');
      await stage.end(only(claims.runs), succeeded({ answer: ANSWER }));
      const { answer } = defined((await send(stage, trigger.id, 'k')).repeated);
      deepEqual({ ...defined(answer), body: new Uint8Array(defined(answer).body) }, ANSWER);
    });

    it('repeats an answer given before a failure', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const { claims } = await send(stage, trigger.id, 'k');
      await stage.end(only(claims.runs), failed('Late', { answer: ANSWER }));
      equal((await send(stage, trigger.id, 'k')).repeated?.answer?.status, 201);
    });

    it('remembers keys and answers across reopening', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const first = await send(stage, trigger.id, 'k');
      await stage.end(only(first.claims.runs), succeeded({ answer: ANSWER }));
      await stage.reopen();
      const again = await send(stage, trigger.id, 'k');
      equal(again.entry, first.entry);
      equal(again.repeated?.answer?.status, 201);
    });

    it('leaves emissions without a key alone', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      await send(stage, trigger.id, 'k');
      const plain = await stage.append(trigger.id, { body: numbered(1) });
      equal(plain.repeated, null);
      equal((await stage.store.ledger(stage.owner.id)).emissions, 2);
    });
  });
}
