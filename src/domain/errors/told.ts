// Whether a listener or a channel was told of an error: judged by the runs, deliveries, mails and notices that it caused.

import type { DeliveryState } from '../delivery/delivery.ts';
import type { RunState } from '../run/run.ts';

/**
 * `told`: a listener's run succeeded, a mail, webhook, request or notice went out, a mail is in the outbox folder, or a person resolved its group before. `under_way`: one of them is not over. `counted`:
 * its mail was withheld, or a notice of its group is due later, and a digest counts it. `failed`: all failed, were given up or cancelled. `withheld`: every listener was left
 * out, or its mail was, since its group is muted. `no_listener`: there was none.
 */
export const TOLD = ['told', 'under_way', 'counted', 'failed', 'withheld', 'no_listener'] as const;
export type Told = (typeof TOLD)[number];

/** What searches take: one state, or whether a listener was told. */
export const TOLD_WORDS = ['true', 'false', ...TOLD] as const;

/** A run, delivery, notice or withheld listener of an error, or of what such a run sent. */
export interface Telling {
  readonly state: RunState | DeliveryState | 'withheld' | 'counted' | 'muted' | 'resolved';
  /** The number of a run. */
  readonly run: number | null;
  /** The run that sent it; null: the error itself caused it. */
  readonly sentBy: number | null;
}

/** `resolved`: nothing was sent, since a person had resolved its group by then, and so knows of it. */
const GOOD = new Set<Telling['state']>(['succeeded', 'delivered', 'resolved']);
const BAD = new Set<Telling['state']>(['failed', 'cancelled', 'exhausted']);

/** Returns the best of what became of it. Of a run that sent something, what it sent decides: the end of its code alone tells no person. */
export function toldBy(tellings: readonly Telling[]): Told {
  const senders = new Set(tellings.map(({ sentBy }) => sentBy));
  const states = tellings
    .filter(({ run, state }) => run === null || state !== 'succeeded' || !senders.has(run))
    .map((telling) => stateOf(telling));
  return TOLD.find((state) => states.includes(state)) ?? 'no_listener';
}

function stateOf({ state, sentBy }: Telling): Told {
  if (GOOD.has(state)) return 'told';
  if (BAD.has(state)) return 'failed';
  if (state === 'counted') return 'counted';
  if (state === 'muted') return 'withheld';
  if (state !== 'withheld') return 'under_way';
  return sentBy === null ? 'withheld' : 'counted';
}
