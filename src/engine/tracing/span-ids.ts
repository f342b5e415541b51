// Ids of traces and spans, made of the ids of what they are about. An event may be accepted by one process, run by another
// after a restart, and delivered by a third; each names the spans of the others without asking, and nothing is stored for it.

import { hash } from 'node:crypto';
import type { Emission } from '../../domain/emission.ts';
import { HEARTBEAT_FAILED, SILENT, UNHEALTHY } from '../../domain/watch/watch.ts';
import { contextOf } from './trace-context.ts';

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
const STORE_TAG_CHARS = 5;
const OF_WATCHES: readonly (string | null)[] = [SILENT, UNHEALTHY, HEARTBEAT_FAILED];

export type Traced = Pick<
  Emission,
  'traceId' | 'traceparent' | 'entry' | 'emitId' | 'emitterId' | 'causeRun' | 'causeDelivery' | 'code'
>;

/** Returns the trace that an emission belongs to: that of its `traceparent`, or one made of Errand's own trace id. */
export function traceIdOf({ traceparent, traceId }: Pick<Traced, 'traceparent' | 'traceId'>): string {
  return contextOf(traceparent)?.traceId ?? digits(`trace ${traceId}`, TRACE_DIGITS);
}

/** Names spans of the emission's store. Numbers of two stores may be equal, and both may take part in one trace. */
export function spanIdsOf({ emitId }: Pick<Traced, 'emitId'>) {
  const tag = emitId.slice(0, STORE_TAG_CHARS);
  const of = (kind: string, ...numbers: number[]): string => digits([tag, kind, ...numbers].join(' '), SPAN_DIGITS);
  return {
    accepted: (entry: number) => of('accept', entry),
    run: (run: number) => of('run', run),
    /** Of the segment of the run that began with this fence. */
    step: (run: number, fence: number, index: number) => of('step', run, fence, index),
    delivery: (delivery: number) => of('delivery', delivery),
    attempt: (delivery: number, fence: number) => of('attempt', delivery, fence),
  };
}

/** Returns the span that led to the emission; null: none did. */
export function causeOf(emission: Traced): string | null {
  const { causeRun, causeDelivery, traceparent } = emission;
  const ids = spanIdsOf(emission);
  if (causeRun !== null) return ids.run(causeRun);
  if (causeDelivery !== null) return ids.delivery(causeDelivery);
  return contextOf(traceparent)?.spanId ?? null;
}

/** Returns the span below which the emission's runs and deliveries are. */
export function parentOf(emission: Traced): string | null {
  if (emission.causeRun !== null || emission.causeDelivery !== null) return causeOf(emission);
  const isAccepted = !emission.emitterId.startsWith('ti_') && !OF_WATCHES.includes(emission.code);
  return isAccepted ? spanIdsOf(emission).accepted(emission.entry) : causeOf(emission);
}

function digits(of: string, count: number): string {
  return hash('sha256', of, 'hex').slice(0, count);
}
