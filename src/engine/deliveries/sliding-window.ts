// When the newest requests to a rate-limited webhook began: the whole truth about the last interval, so that the limit holds
// in every interval, wherever it begins. Counting by fixed intervals would let twice the limit through across a border.

const ROOM = 8;

export class Starts {
  /** A ring that grows as far as the limit makes it: 8 bytes per request of the interval. */
  #times = new Float64Array(ROOM);
  #first = 0;
  #count = 0;

  /** How many began less than `intervalMs` before `now`; forgets the others. */
  within(intervalMs: number, now: number): number {
    while (this.#count > 0 && this.#at(0) + intervalMs <= now) {
      this.#first = (this.#first + 1) % this.#times.length;
      this.#count--;
    }
    if (this.#count === 0 && this.#times.length > ROOM) this.#times = new Float64Array(ROOM);
    if (this.#count === 0) this.#first = 0;
    return this.#count;
  }

  /** When one began: 0 is the oldest that is known. Undefined: there are not so many. */
  time(index: number): number | undefined {
    return index < this.#count ? this.#at(index) : undefined;
  }

  /** `now` is never less than the time before. */
  add(now: number): void {
    if (this.#count === this.#times.length) this.#grow();
    this.#times[(this.#first + this.#count) % this.#times.length] = now;
    this.#count++;
  }

  #at(index: number): number {
    return this.#times[(this.#first + index) % this.#times.length] as number;
  }

  #grow(): void {
    const times = new Float64Array(this.#times.length * 2);
    for (let i = 0; i < this.#count; i++) times[i] = this.#at(i);
    this.#times = times;
    this.#first = 0;
  }
}
