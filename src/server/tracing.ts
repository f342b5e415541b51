// Opens what spans are sent by, where tracing is on. The packages of OpenTelemetry are loaded here and nowhere else.

import { VERSION } from '../domain/version.ts';
import type { Log, SpanSink } from '../ports.ts';
import type { Config } from './config.ts';

export async function openSpansOf({ tracing }: Pick<Config, 'tracing'>, log: Log): Promise<SpanSink | null> {
  if (tracing === null) return null;
  const { openSpans } = await import('../otel/spans.ts');
  return openSpans(tracing, { log, version: VERSION });
}
