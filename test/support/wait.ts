// Waiting for what other processes do: asked again until it is so. The deadline only ends a test that would hang.

import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 240_000;
/** Asked ever more rarely: what is waited for shares the processor with those who ask. */
const [FIRST_PAUSE_MS, PAUSE_GROWTH, LONGEST_PAUSE_MS] = [5, 1.25, 100];

/** Resolves with the first value that is not undefined, null or false. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | null | false | Promise<T | undefined | null | false>,
): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * PAUSE_GROWTH)) {
    const value = await probe();
    if (value !== undefined && value !== null && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`waited ${DEADLINE_MS / 1000} s in vain for: ${what}`);
    await pause(pauseMs);
  }
}

/** Lets nothing else run in this process for longer than so many ms: what arrives meanwhile is read later. */
export function standStill(ms: number): void {
  const until = performance.now() + ms + 20;
  while (performance.now() < until);
}
