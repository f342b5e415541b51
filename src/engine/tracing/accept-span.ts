// The span of an accepted event.

import type { Emission } from '../../domain/emission.ts';
import type { Span } from '../../ports.ts';
import { emissionAttributes } from './attributes.ts';
import { causeOf, spanIdsOf, traceIdOf } from './span-ids.ts';
import type { TraceContext } from './traceparent.ts';

/** Returns the span. `caller`: what the request came with, which is another trace when an old event is run again. */
export function acceptSpan(
  emission: Emission,
  { startMs, endMs }: Pick<Span, 'startMs' | 'endMs'>,
  caller: TraceContext | null,
): Span {
  const traceId = traceIdOf(emission);
  return {
    name: `accept ${emission.sourceType}`,
    kind: 'server',
    traceId,
    spanId: spanIdsOf(emission).accepted(emission.entry),
    parentSpanId: causeOf(emission),
    startMs,
    endMs,
    attributes: { ...emissionAttributes(emission), 'errand.source_type': emission.sourceType },
    exception: null,
    link: caller === null || caller.traceId === traceId ? null : { traceId: caller.traceId, spanId: caller.spanId },
  };
}
