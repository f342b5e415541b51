// What waits for the next commit: a fair queue of flows (a trigger's events, a workflow's ends), served in turn. A workflow
// that ends a thousand runs at once delays other flows by a commit at most. Within a flow, order is kept.
//
// A large write has a batch of its own, and others come first: five events of a megabyte, in one batch with all that came in
// the same turn, would delay it by the 20 to 40 ms that they take. Behind each large write the others have a batch again.

/** A flow with so many verbs or fewer is small, when another one dominates. */
const SMALL_FLOW_VERBS = 2;
/** How many batches stay small behind that of a small flow: its run has begun, and more verbs will follow from it. */
const BATCHES_BEHIND = 8;

/** A verb that writes more has a batch to itself. */
const LARGE_BYTES = 256 * 1024;
/** What a batch writes, about: beyond it, the next verb is the next batch's. */
const BATCH_BYTES = 1024 * 1024;

interface Queued<T> {
  readonly item: T;
  readonly bytes: number;
}

type Flows<T> = Map<string, Queued<T>[]>;

export class FairQueue<T> {
  readonly #besideSmallFlows: number;
  /** By flow; the first one is next. */
  readonly #flows: Flows<T> = new Map();
  /** The flows whose next verb is a large one. */
  readonly #largeNext: Flows<T> = new Map();
  #size = 0;
  /** The last batch had no large verb, although one waited. */
  #isLargesTurn = false;
  /** Batches that are still to be small. */
  #small = 0;

  /**
   * `besideSmallFlows`: how large a batch is at most while one flow dominates and another is small. The small flow waits for
   * the batch before its own, for its own, and for one with each message of its run. Always so small, batches would cost more.
   */
  constructor(besideSmallFlows: number) {
    this.#besideSmallFlows = besideSmallFlows;
  }

  get size(): number {
    return this.#size;
  }

  /** `flow`: empty for the service's own verbs. `bytes`: what it writes, when that may be much. */
  push(item: T, flow: string, bytes = 0): void {
    const queued = { item, bytes };
    const queue = this.#flows.get(flow) ?? this.#largeNext.get(flow);
    if (queue === undefined) this.#putLast(flow, [queued]);
    else queue.push(queued);
    this.#size++;
  }

  /** Takes the next batch, of `most` or fewer, as far as it is read. */
  *next(most: number): Generator<T, void> {
    if (this.#largeNext.size > 0 && (this.#isLargesTurn || this.#flows.size === 0)) {
      this.#isLargesTurn = false;
      yield this.#take(this.#largeNext).item;
      return;
    }
    this.#isLargesTurn = this.#largeNext.size > 0;
    if (this.#hasSmallFlow()) this.#small = BATCHES_BEHIND;
    else if (this.#small > 0) this.#small--;
    const bound = this.#small > 0 ? Math.min(most, this.#besideSmallFlows) : most;
    let bytes = 0;
    for (let count = 0; this.#flows.size > 0 && count < bound && bytes < BATCH_BYTES; count++) {
      const taken = this.#take(this.#flows);
      bytes += taken.bytes;
      yield taken.item;
    }
  }

  /** Whether one flow has more than half of what waits, and another one is small. */
  #hasSmallFlow(): boolean {
    if (this.#size <= this.#besideSmallFlows) return false;
    let [hasDominant, hasSmall] = [false, false];
    for (const flows of [this.#flows, this.#largeNext]) {
      for (const [flow, { length }] of flows) {
        if (length > this.#size / 2) hasDominant = true;
        else if (length <= SMALL_FLOW_VERBS && flow !== '') hasSmall = true;
      }
    }
    return hasDominant && hasSmall;
  }

  #take(flows: Flows<T>): Queued<T> {
    const [[flow, queue]] = flows as unknown as [[string, Queued<T>[]]];
    const first = queue.shift() as Queued<T>;
    flows.delete(flow);
    if (queue.length > 0) this.#putLast(flow, queue);
    this.#size--;
    return first;
  }

  /** Puts a flow behind all others. */
  #putLast(flow: string, queue: Queued<T>[]): void {
    const [{ bytes } = { bytes: 0 }] = queue;
    (bytes > LARGE_BYTES ? this.#largeNext : this.#flows).set(flow, queue);
  }
}
