// Runs that the server has sent ahead of their turn (RunMessage.atOnce). With few of a workflow's runs at a time, the way of
// the end to the server, and of the next run back, would take longer than short runs do: so the next ones wait here, and each
// begins as soon as fewer than `atOnce` are in flight. That it begins is written before any of its code is called: so the
// server knows of each run whether its code was called, also when the process dies, and counts its time from there.

import type { ActiveRun } from './active-run.ts';

// Kept before user code can replace them.
const nowMs = performance.now.bind(performance);
const { round } = Math;

interface Held {
  readonly run: ActiveRun;
  readonly sinceMs: number;
}

export class HeldRuns {
  /** The oldest first. */
  #held: Held[] = [];

  get count(): number {
    return this.#held.length;
  }

  add(run: ActiveRun): void {
    this.#held[this.#held.length] = { run, sinceMs: nowMs() }; // `push` may be the code's own
  }

  /**
   * Takes those that may begin while so many other runs are in flight, and puts off their deadlines by the time that they
   * have waited.
   */
  take(inFlight: number): ActiveRun[] {
    const taken: ActiveRun[] = [];
    const left: Held[] = [];
    for (let i = 0; i < this.#held.length; i++) {
      const held = this.#held[i] as Held;
      const { message } = held.run;
      if (left.length > 0 || inFlight + taken.length >= (message.atOnce ?? 0)) left[left.length] = held;
      else {
        message.deadlineMs += round(nowMs() - held.sinceMs);
        taken[taken.length] = held.run;
      }
    }
    if (taken.length > 0) this.#held = left;
    return taken;
  }

  /** Gives back runs, whose code was not called: all, or the one of this number. */
  giveBack(run: number | null = null): void {
    const left: Held[] = [];
    const back: Held[] = [];
    for (let i = 0; i < this.#held.length; i++) {
      const held = this.#held[i] as Held;
      const list = run === null || held.run.message.run === run ? back : left;
      list[list.length] = held;
    }
    this.#held = left;
    for (let i = 0; i < back.length; i++) back[i]?.run.halt();
  }
}
