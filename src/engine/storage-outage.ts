// Tells of an outage of storage: once when it begins, rarely while it lasts, and once when it is over.
//
// On a full disk some writes still fit and others do not, so a success of one part says nothing of the others. An outage is over
// once nothing has failed for a while and the store says that it takes writes.

import type { Log } from '../ports.ts';
import { StoreUnavailable } from '../store/contract/unavailable.ts';

interface OutagePorts {
  readonly log: Log;
  /** Returns whether the store takes writes. */
  readonly isBack: () => Promise<boolean>;
  /** For tests: a clock that never jumps, in milliseconds. */
  readonly nowMs?: () => number;
}

interface Outage {
  readonly beganMs: number;
  lastMs: number;
  remindedMs: number;
  failures: number;
  readonly parts: Set<string>;
}

const LOOK_MS = 1000;
/** Longer than every loop waits after a tick that failed, and than most wait after one that succeeded. */
const QUIET_MS = 10_000;
const REMIND_MS = 10 * 60_000;

export class StorageOutage {
  readonly #ports: OutagePorts;
  readonly #nowMs: () => number;
  #outage: Outage | null = null;
  #looks: NodeJS.Timeout | undefined;
  #isStopped = false;
  #isDamageTold = false;

  constructor(ports: OutagePorts) {
    this.#ports = ports;
    this.#nowMs = ports.nowMs ?? (() => performance.now());
  }

  /** Notes that storage failed. `part`: whose work must wait, for people. */
  failed(error: unknown, part: string): void {
    const nowMs = this.#nowMs();
    if (error instanceof StoreUnavailable && error.isDamaged && !this.#isDamageTold) {
      this.#isDamageTold = true;
      this.#ports.log.error({ err: error, part }, 'the store is damaged: see "errand store check"');
    }
    if (this.#outage) {
      this.#outage.lastMs = nowMs;
      this.#outage.failures++;
      this.#outage.parts.add(part);
      return;
    }
    this.#outage = { beganMs: nowMs, lastMs: nowMs, remindedMs: nowMs, failures: 1, parts: new Set([part]) };
    this.#ports.log.warn({ err: error, part }, 'storage is unavailable; trying again');
    if (!this.#isStopped) this.#looks = setTimeout(() => void this.#look(), LOOK_MS).unref();
  }

  /** Looks whether the outage is over, and tells of it. It is called by a timer. */
  async look(): Promise<void> {
    const outage = this.#outage;
    if (!outage) return;
    const isBack = this.#isQuiet(outage) && (await this.#ports.isBack().catch(() => false));
    if (this.#isStopped) return;
    const { log } = this.#ports;
    const { beganMs, lastMs, failures, parts } = outage;
    const fields = { failures, parts: [...parts].sort() };
    // It may have failed again meanwhile.
    if (isBack && this.#isQuiet(outage)) {
      this.#outage = null;
      log.warn({ ...fields, lasted_ms: Math.round(lastMs - beganMs) }, 'storage is available again');
    } else if (this.#nowMs() - outage.remindedMs >= REMIND_MS) {
      outage.remindedMs = this.#nowMs();
      log.warn({ ...fields, lasts_ms: Math.round(this.#nowMs() - beganMs) }, 'storage is still unavailable');
    }
  }

  /** Tells no more of an outage's end. The store may be closed then. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#looks);
  }

  async #look(): Promise<void> {
    await this.look();
    if (this.#outage && !this.#isStopped) this.#looks = setTimeout(() => void this.#look(), LOOK_MS).unref();
  }

  #isQuiet({ lastMs }: Outage): boolean {
    return this.#nowMs() - lastMs >= QUIET_MS;
  }
}
