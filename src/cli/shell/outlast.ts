// What a command goes on with until Ctrl-C outlasts a server that restarts, or a network that is away.

import { setTimeout as pause } from 'node:timers/promises';
import { ConnectionError, ProblemError, type StreamOptions } from '../../client/client.ts';
import type { Output } from './output.ts';

/** Makes a call until it has an answer. */
export type Again = <T>(call: () => Promise<T>) => Promise<T>;

const FIRST_MS = 500;
const LONGEST_MS = 10_000;

/** Returns what makes calls until they have an answer; what is refused is thrown. Each outage is told once. */
export function outlasting(out: Pick<Output, 'note'>): Again {
  let isAway = false;
  return async (call) => {
    for (let waitMs = FIRST_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_MS)) {
      try {
        const answer = await call();
        isAway = false;
        return answer;
      } catch (error) {
        if (!isPassing(error)) throw error;
        if (!isAway) out.note(connectingAgain(error));
        isAway = true;
        await pause(waitMs);
      }
    }
  };
}

/** Returns what a stream tells of its connections: its beginning once, in a terminal, and each outage once. */
export function tellingOutages(
  out: Pick<Output, 'note' | 'hint'>,
  begun: string,
): Pick<StreamOptions, 'onConnect' | 'onDisconnect'> {
  let [isBegun, isAway] = [false, false];
  return {
    onConnect: () => {
      if (!isBegun) out.hint(begun);
      isBegun = true;
      isAway = false;
    },
    onDisconnect: (error) => {
      // Each attempt that fails comes here.
      if (!isAway) out.note(connectingAgain(error));
      isAway = true;
    },
  };
}

/** Returns how a person is told that a connection is made again. */
export function connectingAgain(error: unknown): string {
  return `errand: connecting again${error instanceof Error ? `: ${error.message}` : ''}`;
}

function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ProblemError && (error.status >= 500 || error.status === 408 || error.status === 429);
}
