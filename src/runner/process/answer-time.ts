// Judges whether a process that was asked to halt a run is silent: whether it had the time to answer. The wall clock
// alone does not tell. On an overloaded machine a process may wait for the CPU for all of the grace; it would be killed
// as if it looped, and its other runs would be executed twice. So what counts of each interval is what the process had:
// all of it while it sleeps, for then it waits for something of its own choice, and otherwise the CPU time that it got.
// An endless loop gets the CPU of the whole grace in as much time on a machine that has a core for it.

import { type Cpu, cpuOf } from '../pool/cpu.ts';

/**
 * Each interval ends in a turn of the server's own event loop, which has read the pipe since the last one. An answer
 * that the server itself is late to read is no silence, either.
 */
const INTERVAL_MS = 50;
/** A run settles at last, even if its process is stopped or gets no CPU: after so many times the grace. */
const MOST_GRACES = 10;

export class AnswerTime {
  readonly intervalMs: number;
  readonly #graceMs: number;
  #hadMs = 0;
  #passedMs = 0;
  #usedMs: number;

  constructor(graceMs: number, pid: number | undefined, now: Cpu | null = sampled(pid)) {
    this.#graceMs = graceMs;
    this.intervalMs = Math.min(INTERVAL_MS, graceMs);
    this.#usedMs = now?.usedMs ?? 0;
  }

  /** Counts an interval that has passed. Returns whether the process had its time. */
  isOver(pid: number | undefined, now: Cpu | null = sampled(pid)): boolean {
    this.#passedMs += this.intervalMs;
    // A late interval counts no more than others: several must pass before the process is silent.
    this.#hadMs += now?.isWaiting ? Math.min(this.intervalMs, now.usedMs - this.#usedMs) : this.intervalMs;
    this.#usedMs = now?.usedMs ?? 0;
    return this.#hadMs >= this.#graceMs || this.#passedMs >= MOST_GRACES * this.#graceMs;
  }
}

function sampled(pid: number | undefined): Cpu | null {
  return pid === undefined ? null : cpuOf(pid);
}
