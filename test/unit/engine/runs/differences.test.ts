// Where the last good run before a group of errors is looked for, over a store that is made up.

import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { utf8 } from '../../../../src/domain/bytes.ts';
import { COMPARED } from '../../../../src/domain/errors/compared.ts';
import { createDifferences, type DifferenceDeps } from '../../../../src/engine/runs/differences.ts';
import type { RunSearch } from '../../../../src/store/contract/search.ts';

const FIRST_ENTRY = 1024;
const PAGES = COMPARED.runs / 100;

/** A workflow whose successful runs before its first error are on pages; one with `none` only says where to go on. */
function lastGoodOn(pages: readonly ('replays' | 'none' | 'good')[]) {
  const read: (number | undefined)[] = [];
  const group = { ownerId: 'u_1', id: 'eg_1', emitterId: 'p_1', firstEntry: FIRST_ENTRY, lastEntry: 9 * FIRST_ENTRY };
  const shown = {
    getErrorGroup: async () => ({ group }),
    searchErrors: async () => ({ items: [], next: null }),
    searchRuns: async ({ untilMs }: RunSearch, { after }: { after?: number }) => {
      if (untilMs !== 2) return { items: [], next: null };
      read.push(after);
      const at = after ?? 0;
      const run = { run: at + 1, entry: at, deploymentId: 'd_1', replay: pages[at] === 'replays' };
      return { items: pages[at] === 'none' ? [] : [run], next: at + 1 < pages.length ? at + 1 : null };
    },
    getEmission: async (_owner: string, entry: number) => (entry === FIRST_ENTRY ? undefined : { body: utf8('{}') }),
  };
  const { differences } = createDifferences({ shown: shown as unknown as DifferenceDeps['shown'] });
  return { read, lastGood: differences('u_1', 'eg_1').then(({ lastGood }) => lastGood?.run ?? null) };
}

test('the last good run is looked for behind replays and pages without one', async () => {
  const { lastGood, read } = lastGoodOn(['replays', 'none', 'good', 'good']);
  deepEqual([await lastGood, read], [3, [undefined, 1, 2]]);
});

test('a workflow that has failed and was replayed for ever has no last good run', async () => {
  const { lastGood, read } = lastGoodOn(Array.from({ length: 2 * PAGES }, () => 'replays' as const));
  deepEqual([await lastGood, read.length], [null, PAGES]);
});
