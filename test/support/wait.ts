// Waiting for what other processes do: asked again until it is so. The deadline only ends a test that would hang.

import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 120_000;
const PAUSE_MS = 10;

/** Resolves with the first value that is not undefined, null or false. */
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
