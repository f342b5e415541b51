// The search of all runs of an owner: what it finds, and how far it looks.

import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import { Redactor } from '../../../src/domain/privacy/redactor.ts';
import type { RunSearch } from '../../../src/store/contract/search.ts';
import { at, failed, type Harness, json, START_MS, succeeded, timesInTurn } from '../fixtures.ts';
import { STUBBORN, Stage } from '../stage.ts';
import { ALL, type Asked, copyRow, followed, runsOf } from './searching.ts';

export function runSearchesContract(harness: Harness): void {
  describe('the search of all runs', () => {
    it('picks by workflow, state, code, text and time', async () => {
      await using stage = await Stage.open(harness);
      const [one, other] = [await stage.workflow(), await stage.workflow()];
      const start = async (workflow: typeof one, body: Uint8Array) => {
        stage.clock.advance(SECOND_MS);
        return stage.started(workflow, { body });
      };
      const first = await start(one, json({ order: 12345, name: 'Müller 100%' }));
      await stage.end(first, succeeded({ summary: 'Charged_A' }));
      const second = await start(other, STUBBORN);
      await stage.end(second, failed('Gone'));
      const third = await start(one, json({}));
      const globals = await runsOf(stage, { runnableId: stage.global.id });
      const own = [third.run, second.run, first.run];
      deepEqual(
        (await runsOf(stage)).filter((run) => !globals.includes(run)),
        own,
      );
      const cases: [Asked<RunSearch>, number[]][] = [
        [{ runnableId: one.id }, [third.run, first.run]],
        [{ runnableId: 'p_nobody' }, []],
        [{ state: 'succeeded' }, [first.run]],
        [{ state: 'failed' }, [second.run]],
        [{ state: 'running' }, [third.run]],
        [{ state: 'queued' }, globals],
        [{ state: 'failed', runnableId: one.id }, []],
        [{ state: 'running', runnableId: one.id }, [third.run]],
        [{ errorCode: 'Gone' }, [second.run]],
        [{ errorCode: 'gone' }, []],
        [{ errorCode: 'Gone', state: 'succeeded' }, []],
        [{ text: '"ORDER":12345' }, [first.run]],
        [{ text: 'müller 100%' }, [first.run]],
        [{ text: 'order_' }, []],
        [{ text: '12345678901234567890' }, [...globals, second.run]],
        [{ text: '12345678901234567890', runnableId: other.id }, [second.run]],
        [{ untilMs: START_MS + 2 * SECOND_MS }, [first.run]],
        [{ sinceMs: START_MS + 3 * SECOND_MS }, [third.run]],
      ];
      for (const [search, expected] of cases) deepEqual(await runsOf(stage, search), expected, JSON.stringify(search));
    });

    it('finds a part of the summary', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      await stage.end(run, succeeded({ summary: 'Charged 100_A' }));
      deepEqual(await runsOf(stage, { text: 'charged 100_a' }), [run.run]);
      deepEqual(await runsOf(stage, { text: 'charged%' }), []);
    });

    it('does not find what is hidden', async () => {
      await using stage = await Stage.open(harness);
      const shown = new Redactor({ keys: ['pin'], patterns: [] }, null);
      const run = await stage.started(await stage.workflow(), { body: json({ pin: '4711' }) });
      await stage.end(run, succeeded({ summary: 'charged with pin=0815' }));
      deepEqual(await runsOf(stage, { text: '4711' }), [run.run]);
      for (const text of ['4711', '0815']) deepEqual(await runsOf(stage, { text, shown }), [], text);
      for (const text of ['"pin"', 'charged']) deepEqual(await runsOf(stage, { text, shown }), [run.run], text);
    });

    it('tells nothing of another owner’s workflow', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await stage.end(await stage.started(workflow));
      const { owner } = await stage.neighbour();
      const search = { ownerId: owner.id, runnableId: workflow.id };
      deepEqual(await stage.store.searchRuns(search, ALL), { items: [], next: null, lookedAt: 0, totalCount: 0 });
    });

    it('looks at a bounded number, and goes on', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const rare = await stage.started(workflow, { body: json('a needle') });
      await stage.end(rare);
      stage.clock.advance(MINUTE_MS);
      const common = await stage.started(workflow);
      await stage.end(common);
      const count = LIMITS.searchedRecords + 100;
      await copyRow(stage, 'runs', { row: common.run, count });
      const pages = await followed(
        (page) => stage.store.searchRuns({ ownerId: stage.owner.id, text: 'a needle' }, page),
        10,
      );
      deepEqual(
        pages.map(({ items, lookedAt, totalCount }) => [items.map(({ run }) => run), lookedAt, totalCount]),
        [
          [[], LIMITS.searchedRecords, null],
          [[rare.run], count + 2 - LIMITS.searchedRecords, null],
        ],
      );
      const cancelled = await stage.store.searchRuns({ ownerId: stage.owner.id, state: 'cancelled' }, ALL);
      deepEqual([cancelled.items, cancelled.totalCount, cancelled.lookedAt], [[], 0, LIMITS.searchedRecords]);
    });

    it('stops when it has read enough bytes', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const body = json('x'.repeat(2 * 1024 * 1024));
      const runs = await timesInTurn(6, async () => {
        const run = await stage.started(workflow, { body });
        await stage.end(run);
        return run.run;
      });
      const pages = await followed(
        (page) => stage.store.searchRuns({ ownerId: stage.owner.id, text: 'needle' }, page),
        10,
      );
      deepEqual(
        pages.map(({ lookedAt, next }) => [lookedAt, next]),
        [
          [4, at(runs, 2)],
          [2, null],
        ],
      );
    });
  });
}
