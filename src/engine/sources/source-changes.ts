// Changes of sources, one at a time for each source: two at once would mix their hooks, and one would disable what the
// other has just enabled. Changes at this node run in the order of their requests; those of other nodes, and interrupted
// ones that are being finished (source-repairs.ts), are found by their mark in the store, and waited for.

import { setTimeout as pause } from 'node:timers/promises';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Wake } from '../../ports.ts';
import type { SourceChange } from '../../store/contract/source-changes.ts';
import type { Store } from '../../store/contract/store.ts';
import { OneAtATime } from '../keyed-mutex.ts';
import { noSource } from './source-writes.ts';

export interface SourceChangesDeps {
  readonly store: Pick<Store, 'beginSourceChange' | 'endSourceChange'>;
  readonly wake: Wake;
  /** How long a change waits for the previous one. */
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

  /** Returns the ids of the sources that this process is changing. */
  get underWay(): ReadonlySet<string> {
    return this.#underWay;
  }

  /**
   * Does `work` as this source's only change. A `Refusal` that `work` throws leaves no partial change, so the change is over.
   * A creation begins with the first write of `work`. Throws `Refusal` when the source is gone, or other changes take too
   * long.
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
      // Before the mark is written: otherwise it would be read as abandoned.
      this.#underWay.add(sourceId);
      if (kind === 'create') return;
      const begun = await this.#store.beginSourceChange(change);
      if (begun === 'begun') return;
      // The other change may be one that this process must finish.
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
    // Storage failed in the middle.
    if (!isOver) this.#wake.notify('sourceChanges');
  }
}
