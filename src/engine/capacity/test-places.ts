// How many tests of webhooks, or of channels, are made at a time. They wait for nothing, and take no slots of deliveries. A
// receiver that hangs keeps the place of a test for as long as a timeout takes, so one owner gets half of the places.

import { Refusal } from '../../domain/refusal.ts';

const TESTS_AT_ONCE = 32;
const OF_ONE_OWNER = TESTS_AT_ONCE / 2;

export class TestPlaces {
  readonly #what: string;
  readonly #underWay = new Map<string, number>();
  #total = 0;

  /** `what`: what is tested, for messages. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Makes a test. Throws `Refusal` when too many are under way. */
  async run<T>(ownerId: string, test: () => Promise<T>): Promise<T> {
    const ofOwner = this.#underWay.get(ownerId) ?? 0;
    if (ofOwner >= OF_ONE_OWNER) throw this.#refusal(`${ofOwner} of your tests`);
    if (this.#total >= TESTS_AT_ONCE) throw this.#refusal(`${this.#total} tests`);
    this.#count(ownerId, 1);
    try {
      return await test();
    } finally {
      this.#count(ownerId, -1);
    }
  }

  #count(ownerId: string, by: 1 | -1): void {
    const ofOwner = (this.#underWay.get(ownerId) ?? 0) + by;
    if (ofOwner === 0) this.#underWay.delete(ownerId);
    else this.#underWay.set(ownerId, ofOwner);
    this.#total += by;
  }

  #refusal(tests: string): Refusal {
    const message = `${tests} of ${this.#what} are under way; try again`;
    return new Refusal('rate_limited', message, { retryAfterS: 1 });
  }
}
