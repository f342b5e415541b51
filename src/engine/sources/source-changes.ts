// Changes of sources, one at a time for each source: two at once would mix their hooks, and one would switch off what the
// other has just switched on. Those that are asked for here go in that order; those of other nodes, and those that were cut
// off and are being finished (source-repairs.ts), are seen by their mark in the store, and waited for.

import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../../domain/fault.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Wake } from '../../ports.ts';
import type { SourceChange } from '../../store/contract/source-changes.ts';
import type { Store } from '../../store/contract/store.ts';
import { OneAtATime } from '../keyed-mutex.ts';
import { noSource } from './source-writes.ts';

export interface SourceChangesDeps {
  readonly store: Pick<Store, 'beginSourceChange' | 'endSourceChange'>;
  readonly wake: Wake;
  /** How long a change waits for the one before it. */
  readonly waitMs?: number;
}

const POLL_MS = 100;

export class SourceChanges {
  readonly #store: SourceChangesDeps['store'];
  readonly #waitMs: number;
  readonly #queue = new OneAtATime();
  readonly #underWay = new Set<string>();
  readonly #wake: Wake;

  constructor({ store, wake, waitMs = LIMITS.sourceChangeMs }: SourceChangesDeps) {
    this.#store = store;
    this.#wake = wake;
    this.#waitMs = waitMs;
  }

  /** Ids of the sources that this process is changing. */
  get underWay(): ReadonlySet<string> {
    return this.#underWay;
  }

  /**
   * Does `work` as this source's only change. A `Refusal` that it throws leaves nothing half made, so the change is over.
   * That of a creation begins with the first write of `work`. Throws `Refusal` when the source is gone, or others are at it
   * for too long.
   */
  do<T>(change: SourceChange, work: () => Promise<T>): Promise<T> {
    return this.#queue.do(change.sourceId, async () => {
      try {
        await this.#begin(change);
        return await work();
      } catch (error) {
        await this.#giveUp(change, error);
        throw error;
      } finally {
        this.#underWay.delete(change.sourceId);
      }
    });
  }

  async #begin(change: SourceChange): Promise<void> {
    const { sourceId, kind } = change;
    for (let leftMs = this.#waitMs; ; leftMs -= POLL_MS) {
      // Before the mark is there: else it would be taken for an abandoned one.
      this.#underWay.add(sourceId);
      if (kind === 'create') return;
      const begun = await this.#store.beginSourceChange(change);
      if (begun === 'begun') return;
      // What is busy may be one that is to be finished here.
      this.#underWay.delete(sourceId);
      if (begun === undefined) throw noSource(sourceId);
      if (leftMs <= 0) throw new Refusal('conflict', `another change of ${sourceId} is under way: try again later`);
      await pause(POLL_MS);
    }
  }

  async #giveUp({ ownerId, sourceId }: SourceChange, error: unknown): Promise<void> {
    const isMarked = this.#underWay.delete(sourceId);
    if (!isMarked) return;
    const isWhole = error instanceof Refusal;
    const isOver =
      isWhole &&
      (await this.#store.endSourceChange(ownerId, sourceId).then(
        () => true,
        () => false,
      ));
    // Storage went away in the middle.
    if (!isOver) this.#wake.notify('sourceChanges');
  }
}
