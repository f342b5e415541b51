// What waits for the next commit. Lanes take turns (a trigger's events, a workflow's ends): a workflow that ends a thousand
// runs at once holds nobody up for longer than a commit. Within a lane nobody overtakes.
//
// Large writes have a batch each, and others come first: five events of a megabyte, in one batch with whatever came in the
// same turn, keep all of that waiting for the 20 to 40 ms that they take. Behind each large one the others have a batch again.

/** A lane with so many verbs or fewer is a guest, when another one is a crowd. */
const GUEST_HAS = 2;
/** How many batches stay small behind a guest's: its run has begun, and will be heard of. */
const BATCHES_BEHIND = 8;

/** A verb that writes more has a batch to itself. */
const LARGE_BYTES = 256 * 1024;
/** What a batch writes, about: beyond it, the next verb is the next batch's. */
const BATCH_BYTES = 1024 * 1024;

interface Queued<T> {
  readonly item: T;
  readonly bytes: number;
}

type Lanes<T> = Map<string, Queued<T>[]>;

export class FairQueue<T> {
  readonly #besideGuests: number;
  /** By lane; first is whose turn it is. */
  readonly #lanes: Lanes<T> = new Map();
  /** The lanes whose next verb is a large one. */
  readonly #largeNext: Lanes<T> = new Map();
  #size = 0;
  /** The last batch had no large verb, although one waited. */
  #isLargesTurn = false;
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

  /** `lane`: empty for what the service does for itself. `bytes`: what it writes, when that may be much. */
  push(item: T, lane: string, bytes = 0): void {
    const queued = { item, bytes };
    const queue = this.#lanes.get(lane) ?? this.#largeNext.get(lane);
    if (queue === undefined) this.#line(lane, [queued]);
    else queue.push(queued);
    this.#size++;
  }

  /** The next batch, of `most` or fewer. What is not asked for stays. */
  *next(most: number): Generator<T, void> {
    if (this.#largeNext.size > 0 && (this.#isLargesTurn || this.#lanes.size === 0)) {
      this.#isLargesTurn = false;
      yield this.#take(this.#largeNext).item;
      return;
    }
    this.#isLargesTurn = this.#largeNext.size > 0;
    if (this.#hasGuest()) this.#small = BATCHES_BEHIND;
    else if (this.#small > 0) this.#small--;
    const bound = this.#small > 0 ? Math.min(most, this.#besideGuests) : most;
    let bytes = 0;
    for (let count = 0; this.#lanes.size > 0 && count < bound && bytes < BATCH_BYTES; count++) {
      const taken = this.#take(this.#lanes);
      bytes += taken.bytes;
      yield taken.item;
    }
  }

  /** Whether one lane has more than half of what waits, and another one next to nothing. */
  #hasGuest(): boolean {
    if (this.#size <= this.#besideGuests) return false;
    let [hasCrowd, hasGuest] = [false, false];
    for (const lanes of [this.#lanes, this.#largeNext]) {
      for (const [lane, { length }] of lanes) {
        if (length > this.#size / 2) hasCrowd = true;
        else if (length <= GUEST_HAS && lane !== '') hasGuest = true;
      }
    }
    return hasCrowd && hasGuest;
  }

  #take(lanes: Lanes<T>): Queued<T> {
    const [[lane, queue]] = lanes as unknown as [[string, Queued<T>[]]];
    const first = queue.shift() as Queued<T>;
    lanes.delete(lane);
    if (queue.length > 0) this.#line(lane, queue);
    this.#size--;
    return first;
  }

  /** Its turn comes behind all others'. */
  #line(lane: string, queue: Queued<T>[]): void {
    const [{ bytes } = { bytes: 0 }] = queue;
    (bytes > LARGE_BYTES ? this.#largeNext : this.#lanes).set(lane, queue);
  }
}
