// The search of all errors of an owner: what it finds, how far it looks, and whose they are.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REPLAY } from '../../../src/domain/emission.ts';
import { replayOf, retryOf } from '../../../src/domain/errors/replay.ts';
import { HOUR_MS, LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import { type Notice, noticeEmission } from '../../../src/domain/notices/notice.ts';
import type { PageQuery } from '../../../src/store/contract/records.ts';
import type { ErrorSearch } from '../../../src/store/contract/search.ts';
import {
  aFault,
  all,
  at,
  defined,
  failed,
  type Harness,
  mail,
  none,
  only,
  START_MS,
  succeeded,
  timesInTurn,
} from '../fixtures.ts';
import { STUBBORN, Stage } from '../stage.ts';
import { ALL, type Asked, copyRow, errorsOf, followed, runsOf } from './searching.ts';

export function searchesContract(harness: Harness): void {
  describe('the search of all errors', () => {
    it('shows those of everything, newest first', async () => {
      await using stage = await Stage.open(harness);
      const [one, other] = [await stage.workflow({ name: 'one' }), await stage.workflow()];
      const entries = [await stage.failure(one, 'A'), await stage.failure(other, 'B'), await stage.failure(one, 'C')];
      deepEqual(await errorsOf(stage), entries.toReversed());
      const { items, totalCount, lookedAt } = await stage.store.searchErrors(
        { ownerId: stage.owner.id },
        { limit: 2 },
        true,
      );
      deepEqual([totalCount, lookedAt], [3, 2]);
      const [newest] = items;
      const run = defined(newest?.causeRun);
      equal((await stage.store.getRun(stage.owner.id, run))?.errorEntry, at(entries, 2));
      const whole = await stage.store.getEmission(stage.owner.id, at(entries, 2));
      deepEqual(
        { ...newest, emission: { ...newest?.emission, body: null } },
        {
          emission: {
            entry: at(entries, 2),
            emitId: whole?.emitId,
            emitterId: one.id,
            name: '$errors',
            summary: null,
            itemId: null,
            itemTs: null,
            code: 'C',
            groupId: newest?.emission.groupId ?? null,
            ledBy: [one.id],
            body: null,
          },
          causeRun: run,
          causeDelivery: null,
          error: {
            msg: 'it went wrong: C',
            cellId: 'c_0000000000000009',
            namespace: 'code',
            ts: new Date(START_MS).toISOString(),
          },
          workflowName: 'one',
          deploymentId: one.deploymentId,
          told: 'under_way',
          replay: null,
          isRunRetained: true,
        },
      );
      deepEqual(newest?.emission.body, whole?.body);
    });

    it('shows an owner no other owner’s', async () => {
      await using stage = await Stage.open(harness);
      const neighbour = await stage.neighbour();
      const workflow = await stage.workflow();
      const entry = await stage.failure(workflow);
      const own = await neighbour.failure(await neighbour.workflow());
      deepEqual(await errorsOf(neighbour), [own]);
      deepEqual(await errorsOf(neighbour, { emitterId: workflow.id }), []);
      deepEqual(await errorsOf(neighbour, { text: 'went', deploymentId: workflow.deploymentId }), []);
      deepEqual(await errorsOf(stage), [entry]);
      const nothing = { replays: [], told: 'no_listener', causeRun: null, causeDelivery: null, isRunRetained: false };
      deepEqual(await neighbour.store.outcomeOfError(neighbour.owner.id, entry), nothing);
      deepEqual(await runsOf(neighbour, { runnableId: workflow.id }), []);
      equal((await runsOf(neighbour)).length, 2, 'its own, and that of its global error workflow');
    });

    it('shows errors of what was deleted since, and after a restart', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const entry = await stage.failure(workflow);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      deepEqual(await errorsOf(stage), [entry]);
      await stage.reopen();
      deepEqual(await errorsOf(stage), [entry]);
      deepEqual(await errorsOf(stage, { emitterId: workflow.id, text: 'WRONG' }), [entry]);
      equal((await runsOf(stage, { runnableId: workflow.id })).length, 1);
    });

    it('picks by emitter, code, step, deployment, text and time', async () => {
      await using stage = await Stage.open(harness);
      const [one, other] = [await stage.workflow(), await stage.workflow()];
      const end = async (workflow: typeof one, fault: Partial<ReturnType<typeof aFault>>): Promise<number> => {
        stage.clock.advance(SECOND_MS);
        const run = await stage.started(workflow, { body: STUBBORN });
        const outcome = { ...failed(), end: { kind: 'failed', fault: { ...aFault(), ...fault } } } as const;
        return defined((await stage.end(run, outcome)).errorEntry);
      };
      const first = await end(one, { code: 'A', namespace: 'charge', msg: 'No % of "it" \\ here' });
      const second = await end(other, { code: 'A', namespace: 'mail', msg: 'é und ß, 🦊\0\n\ud800' });
      const third = await end(one, { code: 'b', namespace: 'charge', msg: '' });
      const cases: [Asked<ErrorSearch>, number[]][] = [
        [{ emitterId: one.id }, [third, first]],
        [{ emitterId: one.id, code: 'A' }, [first]],
        [{ emitterId: 'p_nobody' }, []],
        [{ code: 'A' }, [second, first]],
        [{ code: 'a' }, []],
        [{ step: 'charge' }, [third, first]],
        [{ step: 'char' }, []],
        [{ deploymentId: other.deploymentId }, [second]],
        [{ text: 'no % OF' }, [first]],
        [{ text: '"it" \\' }, [first]],
        [{ text: '%' }, [first]],
        [{ text: '_' }, []],
        [{ text: 'É UND' }, [second]],
        [{ text: '🦊\0\n' }, [second]],
        [{ text: 'original_event' }, []],
        [{ sinceMs: START_MS + 2 * SECOND_MS }, [third, second]],
        [{ untilMs: START_MS + 2 * SECOND_MS }, [first]],
        [{ sinceMs: START_MS + 2 * SECOND_MS, untilMs: START_MS + 3 * SECOND_MS }, [second]],
        [{ sinceMs: START_MS + MINUTE_MS }, []],
        [{ emitterId: one.id, sinceMs: START_MS + 2 * SECOND_MS, text: '' }, [third]],
      ];
      for (const [search, expected] of cases)
        deepEqual(await errorsOf(stage, search), expected, JSON.stringify(search));
    });

    it('tells who was told, and picks by it', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const told = async (entry: number) => (await stage.store.outcomeOfError(stage.owner.id, entry)).told;
      const claimGlobal = async () => only(await stage.claim(1, stage.global.id));
      const mailed = await stage.failure(workflow, 'A');
      equal(await told(mailed), 'under_way', 'its run waits');
      const { claims } = await stage.end(await claimGlobal(), succeeded({ outgoing: [mail('A')] }), all());
      equal(await told(mailed), 'under_way', 'its mail is being sent');
      await stage.delivered(only(claims.deliveries));
      equal(await told(mailed), 'told');
      const counted = await stage.failure(workflow, 'A');
      await stage.end(await claimGlobal(), succeeded({ outgoing: [mail('A')] }), all());
      equal(await told(counted), 'counted');
      const failing = await stage.failure(workflow, 'B');
      await stage.end(await claimGlobal(), failed('Oops'));
      equal(await told(failing), 'failed');
      const heard = await stage.failure(workflow, 'C');
      await stage.end(await claimGlobal());
      equal(await told(heard), 'told', 'by code that sent nothing of ours');
      const silent = await stage.failure(await stage.workflow({ settings: { notify: false } }), 'D');
      equal(await told(silent), 'withheld');
      const ofWorkflow = (search: Asked<ErrorSearch>) => errorsOf(stage, { emitterId: workflow.id, ...search });
      deepEqual(await ofWorkflow({ told: true }), [heard, mailed]);
      deepEqual(await ofWorkflow({ told: false }), [failing, counted]);
      deepEqual(await ofWorkflow({ told: 'failed' }), [failing]);
      deepEqual(await errorsOf(stage, { told: 'counted' }), [counted]);
    });

    it('counts notices to channels among what told of it', async () => {
      await using stage = await Stage.open(harness);
      const { owner, store } = stage;
      const made = { kind: 'slack', name: 'chat', active: true, config: {}, createdAtMs: 1, updatedAtMs: 1 } as const;
      await store.createChannel({ id: 'ch_0000000000000001', ownerId: owner.id, ...made }, 9);
      const workflow = await stage.workflow({ settings: { notify: false, channels: ['ch_0000000000000001'] } });
      const told = async (entry: number) => (await store.outcomeOfError(owner.id, entry)).told;
      const first = await stage.failure(workflow, 'A');
      equal(await told(first), 'withheld', 'no notice is made yet');
      const notice = only(await store.takeNotices(9));
      const { id: groupId, lastEntry } = notice.group;
      const to = { ownerId: owner.id, channelId: 'ch_0000000000000001', groupId, sequence: 1, lastEntry, folded: null };
      const { claims } = await store.append(noticeEmission({ kind: 'error', group_id: groupId } as Notice, to), all());
      equal(await told(first), 'under_way', 'its notice is being sent');
      await store.endNotice(notice, HOUR_MS);
      const counted = await stage.failure(workflow, 'A');
      equal(await told(counted), 'counted');
      await stage.delivered(only(claims.deliveries));
      equal(await told(first), 'told');
      equal(await told(counted), 'counted', 'the next notice tells of it');
      const other = await stage.failure(workflow, 'B');
      deepEqual(await errorsOf(stage, { told: true }), [first]);
      deepEqual(await errorsOf(stage, { told: 'counted' }), [counted]);
      deepEqual(await errorsOf(stage, { told: 'withheld' }), [other]);
    });

    it('tells its replays, and picks by them', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const [once, never] = [await stage.failure(workflow), await stage.failure(workflow)];
      const { causeRun } = defined(await stage.store.getEmission(stage.owner.id, once));
      const run = defined(causeRun);
      const again = { name: REPLAY, causeRun: run };
      const retried = await stage.started(workflow, { ...again, summary: retryOf(run) });
      const outcome = async () => (await stage.store.outcomeOfError(stage.owner.id, once)).replays;
      const retry = { kind: 'retry', isEdited: false, run: retried.run, operationId: null };
      const open = { state: 'running', outcome: 'under_way', endedAtMs: null, errorEntry: null };
      deepEqual(await outcome(), [{ ...retry, ...open }]);
      stage.clock.advance(SECOND_MS);
      await stage.end(retried);
      const fixed = { ...retry, ...open, state: 'succeeded', outcome: 'fixed', endedAtMs: stage.clock.nowMs() };
      const replayed = await stage.started(workflow, { ...again, summary: replayOf(once, true) });
      const { errorEntry } = await stage.end(replayed, failed());
      await stage.started(workflow, { ...again, summary: replayOf(never, false) });
      await stage.started(workflow, { ...again, name: 'else', summary: replayOf(once, false) });
      deepEqual(await outcome(), [
        {
          ...{ kind: 'replay', isEdited: true, run: replayed.run, state: 'failed', operationId: null },
          ...{ outcome: null, endedAtMs: stage.clock.nowMs(), errorEntry },
        },
        fixed,
      ]);
      await stage.reopen();
      deepEqual((await outcome())[1], fixed);
      const found = async (replayed: boolean) => (await errorsOf(stage, { replayed })).filter((e) => e <= never);
      deepEqual([await found(true), await found(false)], [[once], [never]]);
      const { items } = await stage.store.listRuns({ ownerId: stage.owner.id, runnableId: workflow.id }, ALL);
      const listed = defined(items.find((item) => item.run === run));
      ok(defined(listed.retriedBy) >= replayed.run);
      equal(listed.errorMessage, 'it went wrong: TypeError');
      equal(items.find((item) => item.run === retried.run)?.retriedBy, null);
    });

    it('tells the replays of what could not be delivered', async () => {
      await using stage = await Stage.open(harness);
      const webhook = await stage.webhook();
      const source = await stage.source();
      await stage.subscribe(source.id, webhook.id);
      const workflow = await stage.workflow();
      const lost: { entry: number; delivery: number }[] = [];
      for (const _ of [1, 2]) {
        await stage.append(source.id);
        const delivery = defined((await stage.deliveries()).at(-1));
        const { errorEntry } = await stage.exhausted(delivery);
        lost.push({ entry: defined(errorEntry), delivery: delivery.delivery });
      }
      const [once, never] = [at(lost, 0), at(lost, 1)];
      const again = { name: REPLAY, causeDelivery: once.delivery, summary: replayOf(once.entry, false) };
      const replayed = await stage.started(workflow, again);
      const replaysOf = async ({ entry }: { entry: number }) =>
        (await stage.store.outcomeOfError(stage.owner.id, entry)).replays.map(({ run }) => run);
      deepEqual([await replaysOf(once), await replaysOf(never)], [[replayed.run], []]);
      const found = async (replayed: boolean) =>
        (await errorsOf(stage, { replayed })).filter((entry) => lost.some((error) => error.entry === entry));
      deepEqual([await found(true), await found(false)], [[once.entry], [never.entry]]);
    });

    it('looks at a bounded number, and goes on', async () => {
      await using stage = await Stage.open(harness);
      const rare = await stage.failure(await stage.workflow(), 'Rare');
      stage.clock.advance(MINUTE_MS);
      const row = await stage.failure(await stage.workflow(), 'Common');
      const count = LIMITS.searchedRecords + 2000;
      await copyRow(stage, 'emissions', { row, count });
      for (const search of [{ code: 'Rare' }, { text: 'RARE' }]) {
        const pages = await followed(
          (page) => stage.store.searchErrors({ ownerId: stage.owner.id, ...search }, page, false),
          10,
        );
        deepEqual(
          pages.flatMap(({ items }) => items.map(({ emission }) => emission.entry)),
          [rare],
        );
        ok(pages.every(({ lookedAt }) => lookedAt <= LIMITS.searchedRecords));
        ok(pages.length > 1);
        equal(
          pages.reduce((sum, { lookedAt }) => sum + lookedAt, 0),
          count + 2,
        );
      }
      const { totalCount, lookedAt } = await stage.store.searchErrors({ ownerId: stage.owner.id }, ALL, false);
      deepEqual([totalCount, lookedAt], [LIMITS.countedRecords, 100]);
    });
  });

  describe('both searches', () => {
    it('walk both ways by cursors', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ settings: { notify: false } });
      const entries = await timesInTurn(7, (n) => stage.failure(workflow, n % 2 === 0 ? 'Even' : 'Odd', none()));
      const runs = await runsOf(stage);
      const errorsAt = async (search: Asked<ErrorSearch>, page: PageQuery<number>) => {
        const { items, next } = await stage.store.searchErrors({ ownerId: stage.owner.id, ...search }, page, false);
        return [
          items.map(({ emission }) => entries.indexOf(emission.entry)),
          next === null ? null : entries.indexOf(next),
        ];
      };
      deepEqual(await errorsAt({}, { limit: 3 }), [[6, 5, 4], 4]);
      deepEqual(await errorsAt({}, { limit: 3, after: at(entries, 4) }), [[3, 2, 1], 1]);
      deepEqual(await errorsAt({}, { limit: 3, after: at(entries, 1) }), [[0], null]);
      deepEqual(await errorsAt({}, { limit: 2, before: at(entries, 2) }), [[4, 3], 4]);
      deepEqual(await errorsAt({}, { limit: 9, after: at(entries, 5), before: at(entries, 1) }), [[4, 3, 2], null]);
      deepEqual(await errorsAt({ code: 'Even' }, { limit: 2 }), [[6, 4], 4]);
      deepEqual(await errorsAt({ text: 'EVEN' }, { limit: 2, after: at(entries, 4) }), [[2, 0], 0]);
      deepEqual(await errorsAt({ text: 'even' }, { limit: 2, after: at(entries, 0) }), [[], null]);
      deepEqual(await errorsAt({ step: 'code', code: 'Odd' }, { limit: 1, before: at(entries, 1) }), [[3], 3]);
      const { items } = await stage.store.searchRuns(
        { ownerId: stage.owner.id, errorCode: 'Odd' },
        { limit: 2, before: at(runs, 6) },
      );
      deepEqual(
        items.map(({ run }) => runs.indexOf(run)),
        [3, 5],
      );
    });
  });
}
