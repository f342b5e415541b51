// Who may take how many of the hands that this node has for deliveries. What fails or is slow holds a hand for as long as a
// timeout takes, and hundreds of such webhooks would hold all of them; so it gets half at most. Of a webhook that has not yet
// answered nobody knows: all webhooks are unknown after a start, and those that are dead show it only after their timeout. So
// a quarter is for those alone that have answered.

/** `well`: answers fast enough. `unknown`: has not answered yet. `weak`: fails, or is slow. */
export type Footing = 'well' | 'unknown' | 'weak';

/** All deliveries that one node holds at once. What is beyond waits in the store, not in memory. */
const MAX_DELIVERIES = 512;
const MAX_WEAK = MAX_DELIVERIES / 2;
const MAX_NOT_WELL = (MAX_DELIVERIES * 3) / 4;
/** What turns weak while it holds hands may hold more than its share; the others get theirs all the same, up to this. */
const MAX_EVER = MAX_DELIVERIES * 2;
/** And those that have not answered up to this. */
const MAX_EVER_NOT_WELL = MAX_EVER - (MAX_DELIVERIES - MAX_NOT_WELL);

export class Shares {
  readonly #held: Record<Footing, number> = { well: 0, unknown: 0, weak: 0 };

  get total(): number {
    const { well, unknown, weak } = this.#held;
    return well + unknown + weak;
  }

  take(footing: Footing): boolean {
    if (this.roomFor(footing) <= 0) return false;
    this.#held[footing]++;
    return true;
  }

  free(footing: Footing, count = 1): void {
    this.#held[footing] -= count;
  }

  /** A webhook that holds so many stands otherwise from now on. */
  move(count: number, from: Footing, to: Footing): void {
    this.#held[from] -= count;
    this.#held[to] += count;
  }

  /** How many hands are free for it; none, too, when it holds more than it may. */
  roomFor(footing: Footing): number {
    const { well, unknown, weak } = this.#held;
    const { total } = this;
    if (footing === 'well') {
      return Math.min(MAX_DELIVERIES - well - Math.min(unknown + weak, MAX_NOT_WELL), MAX_EVER - total);
    }
    if (footing === 'weak') {
      return Math.min(MAX_DELIVERIES - total, MAX_NOT_WELL - unknown - weak, MAX_WEAK - weak);
    }
    const others = unknown + Math.min(weak, MAX_WEAK);
    return Math.min(MAX_DELIVERIES - well - others, MAX_NOT_WELL - others, MAX_EVER_NOT_WELL - total);
  }

  /** Whether so many who wait for a hand would find one less, if `takenBy` took one. */
  isAmongLast(count: number, footing: Footing, takenBy: Footing): boolean {
    const room = this.roomFor(footing);
    if (room <= 0 || room > count) return false;
    this.#held[takenBy]++;
    const isLess = this.roomFor(footing) < room;
    this.#held[takenBy]--;
    return isLess;
  }
}
