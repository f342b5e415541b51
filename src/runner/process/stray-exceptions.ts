// The exceptions of a process that belong to no run: the first is logged with its text, the others as a number when the
// process ends.

export class StrayExceptions {
  count = 0;
  readonly #warn: (thrown: string) => void;
  /** The first exception's text, until it is logged. */
  #first: string | null = null;

  constructor(warn: (thrown: string) => void) {
    this.#warn = warn;
  }

  /** Adds an exception. `isUnused`: no run has come yet; code that was only loaded has disturbed none. */
  add(thrown: string, isUnused: boolean): void {
    this.count++;
    if (this.count > 1) return;
    this.#first = thrown;
    if (!isUnused) this.log();
  }

  log(): void {
    if (this.#first === null) return;
    this.#warn(this.#first);
    this.#first = null;
  }
}
