// Counts the calls by which code asks for something after its run has ended, when they have no effect any more: the code
// did not await what it began. They are reported once for each run; and once more when something was lost only later.

import { type ChildFault, type LateCall, type LateCallsMessage, LOST_CALLS } from './protocol.ts';

/** How many reports a process makes. */
const MAX_REPORTS = 100;
/** Such calls often come in a row: they are counted for so long before they are reported. */
const COUNTED_MS = 500;

const isLoss: ReadonlySet<LateCall> = new Set(LOST_CALLS);

interface Counted {
  calls: { [call in LateCall]?: number };
  /** Where the first call was by which something was lost. */
  fault?: ChildFault;
  /** It will be reported with what comes until then. */
  isPending: boolean;
}

interface LateCallsOptions {
  /** Returns where the code is now. */
  readonly here: () => ChildFault;
  readonly post: (message: LateCallsMessage) => void;
  readonly later: (then: () => void, afterMs: number) => void;
}

export class LateCalls {
  readonly #options: LateCallsOptions;
  /** By run; also those that were reported. */
  readonly #runs = new Map<number, Counted>();
  #reports = 0;

  constructor(options: LateCallsOptions) {
    this.#options = options;
  }

  add(run: number, call: LateCall): void {
    const counted = this.#runs.get(run) ?? { calls: {}, isPending: false };
    const isFirstLoss = isLoss.has(call) && counted.fault === undefined;
    const isReported = this.#runs.has(run) && !counted.isPending;
    if ((isReported && !isFirstLoss) || (!counted.isPending && this.#reports === MAX_REPORTS)) return;
    counted.calls[call] = (counted.calls[call] ?? 0) + 1;
    if (isFirstLoss) counted.fault = this.#options.here();
    if (counted.isPending) return;
    this.#reports++;
    counted.isPending = true;
    this.#runs.set(run, counted);
    this.#options.later(() => this.#report(run, counted), COUNTED_MS);
  }

  #report(run: number, counted: Counted): void {
    const { calls, fault } = counted;
    counted.isPending = false;
    counted.calls = {};
    this.#options.post({ t: 'late', run, calls, ...(fault && { fault }) });
  }
}
