// The database is away for a while, and back: what callers and health checks see of it, and when work goes on.

import { setTimeout as pause } from 'node:timers/promises';
import type { Setting } from '../setting.ts';

export interface Outage {
  readonly what: string;
  readonly begin: () => Promise<void> | void;
  /** Resolves when the database can be had again. */
  readonly end: () => Promise<void> | void;
  readonly lastsMs: number;
  /** Callers must be told by then; left out: it may be over before anybody gives up. */
  readonly toldWithinMs?: number;
  /** The database does not answer at all, and health checks must say so. */
  readonly isAway?: boolean;
  /** From its end to the first event that is taken again; 15 s unless told otherwise. */
  readonly backWithinMs?: number;
}

const HEALTH_MS = 15_000;
const BACK_MS = 15_000;
const ASKED_EVERY_MS = 50;
const ANSWER_MS = 2000;

export async function goThrough(setting: Setting, outage: Outage): Promise<void> {
  const { load, notes, wrong } = setting;
  const { what, lastsMs, toldWithinMs, isAway = false, backWithinMs = BACK_MS } = outage;
  const refusedBefore = refusals(load);
  await outage.begin();
  const begunAt = Date.now();
  const acceptedAtBegin = load.accepted;
  const told = await timeUntil(begunAt, toldWithinMs ?? lastsMs, () => refusals(load) > refusedBefore);
  if (told === null && toldWithinMs !== undefined) wrong.add('outage that callers are not told of', what);
  if (isAway) await expectHealth(setting, { ready: 503, what });
  await pause(Math.max(0, begunAt + lastsMs - Date.now()));
  const meanwhile = `${refusals(load) - refusedBefore} × 503, ${load.accepted - acceptedAtBegin} × 200`;
  const lastedMs = Date.now() - begunAt;
  await outage.end();
  const endedAt = Date.now();
  const { accepted } = load;
  const taken = await timeUntil(endedAt, backWithinMs, () => load.accepted > accepted);
  if (taken === null) wrong.add('end of an outage that is not noticed', `${what}: ${backWithinMs} ms`);
  await expectHealth(setting, { ready: 200, what });
  notes.push(
    `${what} for ${lastedMs} ms: first 503 ${told === null ? 'never' : `after ${told} ms`}; meanwhile ${meanwhile}; ` +
      `first 200 ${taken} ms after its end, all ready after ${Date.now() - endedAt} ms`,
  );
}

function refusals({ statuses }: Setting['load']): number {
  return statuses.get(503) ?? 0;
}

/** Null when it never came. */
async function timeUntil(from: number, withinMs: number, isSo: () => boolean): Promise<number | null> {
  while (!isSo()) {
    if (Date.now() - from > withinMs) return null;
    await pause(5);
  }
  return Date.now() - from;
}

/** Every node that runs is alive all the time, and says of itself whether it can take events. */
async function expectHealth({ servers, wrong }: Setting, of: { ready: number; what: string }): Promise<void> {
  const { ready, what } = of;
  const running = servers.filter(({ isRunning }) => isRunning);
  await Promise.all(
    running.map(async ({ name, url }) => {
      const deadline = Date.now() + HEALTH_MS;
      for (;;) {
        const [alive, told] = await Promise.all([statusOf(`${url}/healthz`), statusOf(`${url}/readyz`)]);
        if (alive !== 200) wrong.add('node that does not say that it is alive', `${name}, ${what}: ${alive}`);
        if (told === ready) return;
        if (Date.now() > deadline) {
          wrong.add('node that says it is ready when it is not, or the reverse', `${name}, ${what}: ${told}`);
          return;
        }
        await pause(ASKED_EVERY_MS);
      }
    }),
  );
}

/** 0: it did not answer in time. */
async function statusOf(url: string): Promise<number> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return 0;
  }
}
