// The CPU time that each owner's processes used in the last minute, in a sliding window of seconds.

const SECONDS = 60;
const SECOND_MS = 1000;

interface Window {
  readonly bySecond: number[];
  /** The second that was written last. */
  second: number;
  totalMs: number;
}

export class CpuUse {
  readonly #windows = new Map<string, Window>();

  add(ownerId: string, usedMs: number, nowMs: number): void {
    if (usedMs <= 0) return;
    const window = this.#windows.get(ownerId) ?? { bySecond: Array(SECONDS).fill(0), second: 0, totalMs: 0 };
    this.#windows.set(ownerId, window);
    const second = slide(window, nowMs);
    window.bySecond[second % SECONDS] = (window.bySecond[second % SECONDS] as number) + usedMs;
    window.totalMs += usedMs;
  }

  /** Returns the CPU time used in the last minute. */
  usedMs(ownerId: string, nowMs: number): number {
    const window = this.#windows.get(ownerId);
    if (window === undefined) return 0;
    slide(window, nowMs);
    if (window.totalMs <= 0) this.#windows.delete(ownerId);
    return Math.max(0, window.totalMs);
  }
}

/** Slides the window to now and returns the current second. */
function slide(window: Window, nowMs: number): number {
  const second = Math.floor(nowMs / SECOND_MS);
  for (let n = Math.max(window.second + 1, second - SECONDS + 1); n <= second; n++) {
    window.totalMs -= window.bySecond[n % SECONDS] as number;
    window.bySecond[n % SECONDS] = 0;
  }
  window.second = Math.max(window.second, second);
  return window.second;
}
