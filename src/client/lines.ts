// Exports: one JSON object a line, and a last line that says whether that was all. What is cut off goes on by itself.

import { textOf } from './body.ts';
import type { CallOptions, Open } from './options.ts';
import { ConnectionError } from './problem.ts';
import { backoffMs, pause } from './retry.ts';

interface End {
  readonly end: { readonly complete: boolean; readonly cursor: string | null };
}

/** In a row, without a line between them. */
const MAX_FAILURES = 5;
/** A filter may pass over much of the log before a line fits. */
const IDLE_MS = 120_000;

export async function* exportLines<T extends { readonly id: string }>(
  open: Open,
  input: object,
  options: CallOptions,
): AsyncGenerator<T, void> {
  const { signal } = options;
  let wasOpen = false;
  let { after } = input as { readonly after?: string };
  for (let failures = 0; ; ) {
    try {
      const response = await open({ ...input, after }, options);
      wasOpen = true;
      for await (const line of linesOf(textOf(response, { idleMs: IDLE_MS, signal }))) {
        const value = JSON.parse(line) as T | End;
        if (isEnd(value)) {
          if (value.end.complete) return;
          after = value.end.cursor ?? after;
          break;
        }
        failures = 0;
        after = value.id;
        yield value;
      }
      throw new ConnectionError('the export ended before all was sent');
    } catch (error) {
      signal?.throwIfAborted();
      failures++;
      if (!wasOpen || !(error instanceof ConnectionError) || failures > MAX_FAILURES) throw error;
    }
    await pause(backoffMs(failures), signal);
  }
}

function isEnd(value: object): value is End {
  return 'end' in value && !('id' in value);
}

/** Yields the lines that are complete. */
async function* linesOf(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const part of parts) {
    const lines = part.split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
}
