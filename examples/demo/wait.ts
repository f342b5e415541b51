import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 15_000;
const PAUSE_MS = 15;

/** Resolves with the first value that is not undefined, null or false; rejects when none comes in time. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | null | false | Promise<T | undefined | null | false>,
): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== null && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`waited ${DEADLINE_MS / 1000} s in vain for: ${what}`);
    await pause(PAUSE_MS);
  }
}
