// The span of an accepted event, and of a request whose event was refused.

import type { Emission } from '../../domain/emission.ts';
import { STATUS_CODES } from '../../node-http.ts';
import type { Span } from '../../ports.ts';
import { emissionAttributes } from './attributes.ts';
import { causeOf, spanIdsOf, traceIdOf } from './span-ids.ts';
import type { TraceContext } from './traceparent.ts';

type Times = Pick<Span, 'startMs' | 'endMs'>;

interface Accepted extends Times {
  /** What the request came with, which is another trace when an old event is run again. */
  readonly caller: TraceContext | null;
  /** The queue of its workflow was full: the event is in the log, and its run has failed at once. */
  readonly hasNoRoom: boolean;
}

export function acceptSpan(emission: Emission, { startMs, endMs, caller, hasNoRoom }: Accepted): Span {
  const traceId = traceIdOf(emission);
  return {
    name: `accept ${emission.sourceType}`,
    kind: 'server',
    traceId,
    spanId: spanIdsOf(emission).accepted(emission.entry),
    parentSpanId: causeOf(emission),
    startMs,
    endMs,
    attributes: {
      ...emissionAttributes(emission),
      'errand.source_type': emission.sourceType,
      ...(hasNoRoom ? { 'error.type': NO_ROOM.type } : {}),
    },
    exception: hasNoRoom ? NO_ROOM : null,
    link: caller === null || caller.traceId === traceId ? null : { traceId: caller.traceId, spanId: caller.spanId },
  };
}

const NO_ROOM = { type: 'NoRoom', message: 'The event was accepted, and its run had no room', stack: '' };

/** Returns the span of a request that brought an event and was refused. It says nothing of the event, nor of its address. */
export function refusedSpan(
  ids: Pick<Span, 'traceId' | 'spanId' | 'parentSpanId'> & Times,
  { method, status }: { readonly method: string; readonly status: number },
): Span {
  const type = String(status);
  return {
    ...ids,
    name: 'accept HTTP',
    kind: 'server',
    attributes: {
      'errand.source_type': 'HTTP',
      'http.request.method': method,
      'http.response.status_code': status,
      'error.type': type,
    },
    exception: { type, message: `The event was refused: ${status} ${STATUS_CODES[status] ?? ''}`.trim(), stack: '' },
    link: null,
  };
}
