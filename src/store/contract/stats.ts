import type { NotedHour } from '../../domain/ledger/hours.ts';
import type { Health } from '../../domain/run/health.ts';

export interface StatsStore {
  /**
   * Notes the ledger's figures of some owners for the current hour by the store's clock: of those whose figures have changed
   * since they were noted last. Deletes notes before `beforeMs`, but of each owner the last one of those, from which the next
   * is counted. Makes one bounded step: call again with `next` until it is null.
   */
  noteHours(after: string | null, beforeMs: number): Promise<{ readonly next: string | null }>;
  /**
   * Returns an owner's notes of the hours from `fromHour` to before `toHour`, ordered, and before them the last one before
   * `fromHour`.
   */
  notedHours(ownerId: string, hours: { fromHour: number; toHour: number }): Promise<readonly NotedHour[]>;
  /**
   * Returns what the newest runs tell of those of the workflows that the owner has. What is read is bounded for each of them,
   * whatever was cancelled, waits in its queue or is kept. At most one page of workflows.
   */
  runHealth(ownerId: string, workflowIds: readonly string[]): Promise<ReadonlyMap<string, Health>>;
}
