// Whether several owners use the server now, told by the keys and triggers that their requests look up: each turn of the event loop
// is kept short then, since the requests of one owner wait for the end of a turn that works for another.

/** How long two owners count as active together, from the last time that one came behind the other. */
const TOGETHER_MS = 250;

export class ActiveOwners {
  readonly #nowMs: () => number;
  #latest: string | null = null;
  #changedAtMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Notes the owner of a request. */
  seen(ownerId: string): void {
    if (ownerId === this.#latest) return;
    if (this.#latest !== null) this.#changedAtMs = this.#nowMs();
    this.#latest = ownerId;
  }

  /** Returns whether requests of several owners came lately. */
  get areSeveral(): boolean {
    return this.#nowMs() - this.#changedAtMs < TOGETHER_MS;
  }
}
