// What the code of a process does that belongs to no run in flight. Of its exceptions the first is logged with its text, the
// others as a number when the process ends; calls that have no effect are logged for each run. The first exception of a run that
// has ended is passed on, and so is what it lost.

import { LIMITS } from '../../domain/limits.ts';
import type { Deployment } from '../../domain/resource.ts';
import { type ReadLateFailure, readLateCalls, readLateFailure } from './inbound.ts';
import { text } from './inbound-values.ts';

interface StrayListener {
  readonly warn: (what: string, fields: object) => void;
  readonly onLate: (late: ReadLateFailure) => void;
}

export class StrayExceptions {
  count = 0;
  readonly #listener: StrayListener;
  /** The first exception's text, until it is logged. */
  #first: string | null = null;

  constructor(listener: StrayListener) {
    this.#listener = listener;
  }

  /** Receives an exception. `isUnused`: no run has come yet; code that was only loaded has disturbed none. */
  receive(message: Readonly<Record<string, unknown>>, deployment: Deployment, isUnused: boolean): void {
    const thrown = text(message.msg, LIMITS.messageBytes);
    this.count++;
    if (message.run !== undefined) this.#listener.onLate(readLateFailure(message, deployment));
    if (this.count > 1) return;
    this.#first = thrown;
    if (!isUnused) this.log();
  }

  /** Receives which calls of a run that has ended had no effect. */
  receiveCalls(message: Readonly<Record<string, unknown>>, deployment: Deployment): void {
    this.#listener.warn('runner.after_end', readLateCalls(message));
    if (message.fault !== undefined) this.#listener.onLate(readLateFailure(message, deployment));
  }

  log(): void {
    if (this.#first === null) return;
    this.#listener.warn('runner.stray_exception', { thrown: this.#first });
    this.#first = null;
  }
}
