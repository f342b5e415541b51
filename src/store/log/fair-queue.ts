// Verbs that wait for the next commit: a fair queue of flows (a trigger's events, a workflow's ends), served round robin. A
// workflow that ends a thousand runs at once delays other flows by one commit at most. Within a flow, order is kept.
//
// A large write has a batch of its own, behind the batch of the others: in one batch, five events of a megabyte would delay
// all of it by 20 to 40 ms. Large writes and batches of the others alternate.

/** A flow with at most so many verbs is small, when another one dominates. */
const SMALL_FLOW_VERBS = 2;
/** How many batches stay small after that of a small flow: its run has begun, and more verbs will follow. */
const BATCHES_BEHIND = 8;

/** A verb that writes more has a batch of its own. */
const LARGE_BYTES = 256 * 1024;
/** A batch ends at about so many bytes. */
const BATCH_BYTES = 1024 * 1024;

interface Queued<T> {
  readonly item: T;
  readonly bytes: number;
}

type Flows<T> = Map<string, Queued<T>[]>;

export class FairQueue<T> {
  readonly #besideSmallFlows: number;
  /** By flow; the first flow is served next. */
  readonly #flows: Flows<T> = new Map();
  /** The flows whose next verb is a large one. */
  readonly #largeNext: Flows<T> = new Map();
  #size = 0;
  /** The last batch had no large verb although one waited. */
  #isLargeDue = false;
  /** How many of the next batches are small. */
  #small = 0;

  /**
   * `besideSmallFlows`: the largest batch while one flow dominates and another is small. The small flow waits for the batch
   * before its own, for its own, and for one with each message of its run. If batches were always so small, they would cost more.
   */
  constructor(besideSmallFlows: number) {
    this.#besideSmallFlows = besideSmallFlows;
  }

  get size(): number {
    return this.#size;
  }

  /** Appends an item. `flow`: empty for the service's own verbs. `bytes`: about what it writes, if that may be much. */
  push(item: T, flow: string, bytes = 0): void {
    const queued = { item, bytes };
    const queue = this.#flows.get(flow) ?? this.#largeNext.get(flow);
    if (queue === undefined) this.#putLast(flow, [queued]);
    else queue.push(queued);
    this.#size++;
  }

  /** Takes the next batch, at most `most` items; each is taken when it is read. */
  *next(most: number): Generator<T, void> {
    if (this.#largeNext.size > 0 && (this.#isLargeDue || this.#flows.size === 0)) {
      this.#isLargeDue = false;
      yield this.#take(this.#largeNext).item;
      return;
    }
    this.#isLargeDue = this.#largeNext.size > 0;
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

  /** Returns whether one flow has more than half of the waiting verbs while another one is small. */
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

  /** Moves a flow behind all others. */
  #putLast(flow: string, queue: Queued<T>[]): void {
    const [{ bytes } = { bytes: 0 }] = queue;
    (bytes > LARGE_BYTES ? this.#largeNext : this.#flows).set(flow, queue);
  }
}
