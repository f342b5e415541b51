// Decides when printed lines are written to the server ahead of their step's end, so that they stand should the process
// die: at once while few are printed, otherwise in batches. Code that never yields leaves no later moment, and what it
// printed within the last REFILL_MS of a burst may be missing.

/** Writes in a row; after those, one for each REFILL_MS. */
const BURST = 32;
const REFILL_MS = 10;
/** Lines of so many bytes are written at once. A run's log has a bound, and so have such writes. */
const BATCH_BYTES = 16 * 1024;

/** A run with lines that the server does not have. */
export interface PrintingRun {
  readonly ended: boolean;
  readonly unreportedBytes: number;
  reportLog(): void;
}

interface LogReportsOptions {
  /** Writes out what the runs have reported. */
  readonly flush: () => void;
  /** Of a monotonic clock. */
  readonly nowMs: () => number;
  readonly later: (then: () => void, afterMs: number) => void;
}

export class LogReports {
  readonly #options: LogReportsOptions;
  readonly #waiting = new Set<PrintingRun>();
  #writes = BURST;
  #refilledAtMs: number;

  constructor(options: LogReportsOptions) {
    this.#options = options;
    this.#refilledAtMs = options.nowMs();
  }

  /** Called with each line that a run has added to its log. */
  printed(run: PrintingRun): void {
    if (run.unreportedBytes >= BATCH_BYTES || this.#mayWrite()) {
      run.reportLog();
      this.#options.flush();
    } else {
      if (this.#waiting.size === 0) this.#options.later(() => this.#reportAll(), REFILL_MS);
      this.#waiting.add(run);
    }
  }

  #mayWrite(): boolean {
    const nowMs = this.#options.nowMs();
    const refilled = Math.floor((nowMs - this.#refilledAtMs) / REFILL_MS);
    this.#writes = Math.min(BURST, this.#writes + refilled);
    this.#refilledAtMs = this.#writes === BURST ? nowMs : this.#refilledAtMs + refilled * REFILL_MS;
    if (this.#writes === 0) return false;
    this.#writes--;
    return true;
  }

  /** Reports the lines of all runs in one write. */
  #reportAll(): void {
    for (const run of this.#waiting) if (!run.ended) run.reportLog();
    this.#waiting.clear();
    this.#options.flush();
  }
}
