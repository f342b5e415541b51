// Exceptions of a process that belong to no run: the first is told with its text, the rest as a number when it ends.

export class StrayExceptions {
  count = 0;
  readonly #warn: (thrown: string) => void;
  /** The first one's text, until there is a run to tell of it with. */
  #first: string | null = null;

  constructor(warn: (thrown: string) => void) {
    this.#warn = warn;
  }

  /** `isUnused`: no run has come yet; code that was only loaded has disturbed none. */
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
