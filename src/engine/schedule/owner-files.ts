// Deletes the files of owners that are being purged at a node that executes no runs, where no janitor makes the steps of the purge: the
// letters in its outbox, since such a node may send mails.

import { MINUTE_MS } from '../../domain/limits.ts';
import { DELETION } from '../../domain/owners/deletion.ts';
import type { Clock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import type { WakeUps } from '../wake-ups.ts';

interface OwnerFilesDeps extends LoopPorts {
  readonly store: Pick<Store, 'listOwners'>;
  readonly clock: Clock;
  readonly wake: WakeUps;
  /** Deletes the files that this node keeps of an owner. */
  readonly removeFiles: (ownerId: string) => Promise<void>;
}

/** Several times while a purge is under way: a mail that was being sent when it began is in the outbox a minute later. */
const POLL_MS = 2 * MINUTE_MS;

export class OwnerFiles {
  readonly #deps: OwnerFilesDeps;
  readonly #loop: Loop;

  constructor(deps: OwnerFilesDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'owner.files', tick: () => this.tick(), maxWaitMs: POLL_MS }, deps);
    deps.wake.subscribe('deletions', () => this.#loop.wake());
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async tick(): Promise<number> {
    const { store, clock, removeFiles } = this.#deps;
    let inMs = Number.POSITIVE_INFINITY;
    for (const { id, deletion } of await store.listOwners()) {
      if (deletion?.hasBegun) await removeFiles(id);
      // The purge begins at another node, which may be late.
      else if (deletion) inMs = Math.min(inMs, Math.max(deletion.purgeAtMs - clock.nowMs(), DELETION.elsewhereMs));
    }
    return inMs;
  }
}
