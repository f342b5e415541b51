// What waits for the next commit. Lanes take turns (a trigger's events, a workflow's ends): a workflow that ends a thousand
// runs at once holds nobody up for longer than a commit. Within a lane nobody overtakes.

/** A lane with so many verbs or fewer is a guest, when another one is a crowd. */
const GUEST_HAS = 2;
/** How many batches stay small behind a guest's: its run has begun, and will be heard of. */
const BATCHES_BEHIND = 8;

export class FairQueue<T> {
  readonly #besideGuests: number;
  /** By lane; first is whose turn it is. */
  readonly #lanes = new Map<string, T[]>();
  #size = 0;
  /** Batches that are still to be small. */
  #small = 0;

  /**
   * `besideGuests`: how large a batch is at most as long as a crowd shares the store with a guest. The guest waits for the
   * batch before its own, for its own, and for one with each message of its run. Always so small, batches would cost more.
   */
  constructor(besideGuests: number) {
    this.#besideGuests = besideGuests;
  }

  get size(): number {
    return this.#size;
  }

  /** `lane`: empty for what the service does for itself. */
  push(item: T, lane: string): void {
    const queue = this.#lanes.get(lane);
    if (queue === undefined) this.#lanes.set(lane, [item]);
    else queue.push(item);
    this.#size++;
  }

  /** The next batch, of `most` or fewer. What is not asked for stays. */
  *next(most: number): Generator<T, void> {
    if (this.#hasGuest()) this.#small = BATCHES_BEHIND;
    else if (this.#small > 0) this.#small--;
    const bound = this.#small > 0 ? Math.min(most, this.#besideGuests) : most;
    for (let count = 0; this.#size > 0 && count < bound; count++) yield this.#take();
  }

  /** Whether one lane has more than half of what waits, and another one next to nothing. */
  #hasGuest(): boolean {
    if (this.#size <= this.#besideGuests) return false;
    let [hasCrowd, hasGuest] = [false, false];
    for (const [lane, { length }] of this.#lanes) {
      if (length > this.#size / 2) hasCrowd = true;
      else if (length <= GUEST_HAS && lane !== '') hasGuest = true;
    }
    return hasCrowd && hasGuest;
  }

  #take(): T {
    const [[lane, queue]] = this.#lanes as unknown as [[string, T[]]];
    const first = queue.shift() as T;
    this.#lanes.delete(lane);
    if (queue.length > 0) this.#lanes.set(lane, queue);
    this.#size--;
    return first;
  }
}
