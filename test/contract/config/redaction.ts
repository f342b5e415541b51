// What owners want to be hidden.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Harness } from '../fixtures.ts';
import { Stage } from '../stage.ts';

export function redactionContract(harness: Harness): void {
  describe('rules of redaction', () => {
    it('are those of one owner and its workflows, and outlive the workflow', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const { store, owner } = stage;
      const workflow = await stage.workflow();
      const own = { keys: ['password', 'a"b\'c\\'], patterns: ['\\d+', 'é'], beforeStoring: false };
      const of = { keys: [], patterns: [], beforeStoring: true };
      deepEqual(await store.redactionsOf(owner.id), new Map());
      deepEqual(await store.ownersWithRules(), new Set());
      equal(await store.setRedaction(owner.id, owner.id, () => of), true);
      equal(await store.setRedaction(owner.id, owner.id, () => own), true);
      equal(await store.setRedaction(owner.id, workflow.id, () => of), true);
      equal(await store.setRedaction(other.owner.id, workflow.id, () => own), false);
      equal(await store.setRedaction(owner.id, other.owner.id, () => own), false);
      equal(await store.setRedaction('u_0000000000009999', 'u_0000000000009999', () => own), false);
      deepEqual(await store.ownersWithRules(), new Set([owner.id]));
      await store.deleteWorkflow(owner.id, workflow.id);
      await stage.reopen();
      const kept = new Map([
        [owner.id, own],
        [workflow.id, of],
      ]);
      deepEqual(new Map([...(await stage.store.redactionsOf(owner.id))].toSorted()), new Map([...kept].toSorted()));
      deepEqual(await stage.store.redactionsOf(other.owner.id), new Map());
    });
  });
}
