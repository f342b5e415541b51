// Reads a body that has no end in sight, as text in parts.

import { ConnectionError } from './problem.ts';

/**
 * Yields the text of a body as it comes. Throws `ConnectionError` when the connection breaks, or nothing comes for `idleMs`; the
 * signal's reason when it is aborted. A body that is left is closed.
 */
export async function* textOf(
  { body }: Response,
  { idleMs, signal }: { readonly idleMs: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), idleMs);
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof ConnectionError) throw error;
    throw new ConnectionError('the connection broke in the middle of the answer', { cause: error });
  } finally {
    // Of a connection that is broken there is nothing left to close.
    await reader.cancel().catch(() => undefined);
  }
}

/** The most that a timer can wait; it would go off at once for more. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Rejects when the reading takes longer than `ms`. A connection whose other end is gone may never say so. */
function inTime<T>(reading: Promise<T>, ms: number): Promise<T> {
  if (ms > MAX_TIMER_MS) return reading;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new ConnectionError(`nothing came for ${ms} ms`)), ms);
    reading.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
