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

export class Shares {
  readonly #held: Record<Footing, number> = { well: 0, unknown: 0, weak: 0 };

  get total(): number {
    const { well, unknown, weak } = this.#held;
    return well + unknown + weak;
  }

  take(footing: Footing): boolean {
    if (!this.isFree(footing)) return false;
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

  isFree(footing: Footing): boolean {
    const { well, unknown, weak } = this.#held;
    if (footing === 'well') {
      return well + Math.min(unknown + weak, MAX_NOT_WELL) < MAX_DELIVERIES && this.total < MAX_EVER;
    }
    if (this.total >= MAX_DELIVERIES || unknown + weak >= MAX_NOT_WELL) return false;
    return footing === 'unknown' || weak < MAX_WEAK;
  }

  /** Whether a hand is free for the one, and none any more when one is taken by the other. */
  isLast(footing: Footing, takenBy: Footing): boolean {
    if (!this.isFree(footing)) return false;
    this.#held[takenBy]++;
    const isLast = !this.isFree(footing);
    this.#held[takenBy]--;
    return isLast;
  }
}
