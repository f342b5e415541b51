// The trace context that an event came with, as it is kept with the event: its `traceparent`, and behind a blank its `tracestate`.

import { readTraceparent, type TraceContext, traceparentOf } from './traceparent.ts';
import { readTracestate } from './tracestate.ts';

/** Headers of a request, as they came. */
export interface TraceHeaders {
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** Returns what is kept of the headers; null: there is no trace. A `tracestate` without a right `traceparent` means nothing. */
export function keptContext({ traceparent, tracestate }: TraceHeaders): string | null {
  const context = traceparent === undefined ? null : readTraceparent(traceparent);
  if (context === null) return null;
  const state = tracestate === undefined ? null : readTracestate(tracestate);
  return state === null ? traceparentOf(context) : `${traceparentOf(context)} ${state}`;
}

/** Returns the context of a kept one; null: there is none. */
export function contextOf(kept: string | null): TraceContext | null {
  return kept === null ? null : readTraceparent(kept.split(' ', 1)[0] as string);
}

/** Returns the `tracestate` of a kept context; null: it has none. */
export function stateOf(kept: string | null): string | null {
  const blank = kept?.indexOf(' ') ?? -1;
  return blank === -1 ? null : (kept as string).slice(blank + 1);
}
