// The wake-ups of one process: what changes something says what has changed, and loops subscribe to what concerns them.
// A loop that was not started ignores its wake-ups.

import type { Wake, WakeTopic } from '../ports.ts';

/** `inMs`: there is work no sooner than so many milliseconds from now. */
export type OnWake = (inMs: number) => void;

export class WakeUps implements Wake {
  readonly #subscribers: Partial<Record<WakeTopic, OnWake[]>> = {};

  subscribe(topic: WakeTopic, onWake: OnWake): void {
    const subscribers = this.#subscribers[topic];
    if (subscribers) subscribers.push(onWake);
    else this.#subscribers[topic] = [onWake];
  }

  notify(topic: WakeTopic, inMs = 0): void {
    const subscribers = this.#subscribers[topic];
    if (subscribers) for (const onWake of subscribers) onWake(inMs);
  }
}
