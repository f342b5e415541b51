// The header `traceparent` of W3C Trace Context: which trace a request belongs to, and the span that it was sent in.

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** A higher version may have more fields behind these. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Returns null for what is no `traceparent`: the trace then begins here, as the specification demands. */
export function readTraceparent(header: string): TraceContext | null {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header.trim()) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags as string, 16) & SAMPLED) !== 0 };
}

export function traceparentOf({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
