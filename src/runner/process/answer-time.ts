// Judges whether a process that was asked for something (to halt a run, to load code) is silent: whether it had the time
// to answer. The wall clock alone does not tell. On an overloaded machine, or one that its host pauses for ten seconds, a
// process may wait for the CPU for all of the grace; it would be killed as if it looped, its other runs would be executed
// twice, and sound code would be refused. So what counts of each interval is what the process had: all of it while it
// sleeps, for then it waits for something of its own choice, and otherwise the CPU time that it got. An endless loop gets
// the CPU of the whole grace in as much time on a machine that has a core for it.

import { type Cpu, cpuOf } from '../pool/cpu.ts';

/**
 * Each interval ends in a turn of the server's own event loop, which has read the pipe since the last one. An answer
 * that the server itself is late to read is no silence, either.
 */
const INTERVAL_MS = 50;
/** It is over at last, even if the process is stopped or gets no CPU: after so many times the grace. */
const MOST_GRACES = 10;

interface Answering {
  readonly graceMs: number;
  /** The process; undefined while it is not known: then all of the time counts in which the server itself runs. */
  readonly pid: () => number | undefined;
  readonly mostGraces?: number;
}

/** Calls `then` once the process has had its time to answer. Returns what ends the wait. */
export function afterAnswerTime({ graceMs, pid, mostGraces }: Answering, then: () => void): () => void {
  const time = new AnswerTime(graceMs, pid(), undefined, mostGraces);
  const timer = setInterval(() => {
    if (!time.isOver(pid())) return;
    clearInterval(timer);
    then();
  }, time.intervalMs);
  return () => clearInterval(timer);
}

export class AnswerTime {
  readonly intervalMs: number;
  readonly #graceMs: number;
  readonly #mostMs: number;
  #hadMs = 0;
  #passedMs = 0;
  #usedMs: number;

  constructor(graceMs: number, pid: number | undefined, now: Cpu | null = sampled(pid), mostGraces = MOST_GRACES) {
    this.#graceMs = graceMs;
    this.#mostMs = mostGraces * graceMs;
    this.intervalMs = Math.min(INTERVAL_MS, graceMs);
    this.#usedMs = now?.usedMs ?? 0;
  }

  /** Counts an interval that has passed. Returns whether the process had its time. */
  isOver(pid: number | undefined, now: Cpu | null = sampled(pid)): boolean {
    this.#passedMs += this.intervalMs;
    // A late interval counts no more than others: several must pass before the process is silent.
    this.#hadMs += now?.isWaiting ? Math.min(this.intervalMs, now.usedMs - this.#usedMs) : this.intervalMs;
    this.#usedMs = now?.usedMs ?? 0;
    return this.#hadMs >= this.#graceMs || this.#passedMs >= this.#mostMs;
  }
}

function sampled(pid: number | undefined): Cpu | null {
  return pid === undefined ? null : cpuOf(pid);
}
