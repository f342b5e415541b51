// The exceptions of a process that belong to no run in flight: the first is logged with its text, the others as a number when the
// process ends. Of a run that has ended, the first one is passed on.

import { LIMITS } from '../../domain/limits.ts';
import type { Deployment } from '../../domain/resource.ts';
import { readLateFailure } from './inbound.ts';
import { text } from './inbound-values.ts';

interface StrayListener {
  readonly warn: (thrown: string) => void;
  readonly onLate: (late: ReturnType<typeof readLateFailure>) => void;
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

  log(): void {
    if (this.#first === null) return;
    this.#listener.warn(this.#first);
    this.#first = null;
  }
}
