// Counts the calls by which code asks for something after its run has ended, when they have no effect any more: the code
// did not await what it began. They are reported once for each run.

import type { LateCall, LateCallsMessage } from './protocol.ts';

/** Runs whose late calls a process reports. */
const MAX_RUNS = 100;
/** Such calls often come in a row: they are counted for so long before they are reported. */
const COUNTED_MS = 500;

type Calls = { [call in LateCall]?: number };

interface LateCallsOptions {
  readonly post: (message: LateCallsMessage) => void;
  readonly later: (then: () => void, afterMs: number) => void;
}

export class LateCalls {
  readonly #options: LateCallsOptions;
  /** By run; also those that were reported. */
  readonly #runs = new Map<number, Calls>();

  constructor(options: LateCallsOptions) {
    this.#options = options;
  }

  add(run: number, call: LateCall): void {
    const known = this.#runs.get(run);
    if (known === undefined && this.#runs.size === MAX_RUNS) return;
    const calls = known ?? {};
    calls[call] = (calls[call] ?? 0) + 1;
    if (known !== undefined) return;
    this.#runs.set(run, calls);
    this.#options.later(() => this.#options.post({ t: 'late', run, calls }), COUNTED_MS);
  }
}
