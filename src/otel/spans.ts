// Spans, sent to an OpenTelemetry collector by the packages of OpenTelemetry. This file is loaded only where tracing is on.
//
// What is recorded waits in a bounded queue and is sent in batches, beside all other work. When the receiver is slow or away,
// the queue fills and spans are dropped and counted; nothing waits for them. Ids are ours (engine/tracing/span-ids): the
// generator hands out the ones of the span that is being made.

import { type Span as OtelSpan, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log, Span, SpanCounts, SpanSink } from '../ports.ts';
import { isSampledBy, samplerOf } from './sampler.ts';
import type { TracingSettings } from './settings.ts';

type Counts = { -readonly [name in keyof SpanCounts]: SpanCounts[name] };

const KINDS = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  producer: SpanKind.PRODUCER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const;

/** A receiver that is away must not hold up the stop of the service. */
const STOP_MS = 3000;

export async function openSpans(
  settings: TracingSettings,
  { log, version }: { log: Log; version: string },
): Promise<SpanSink> {
  const counts: Counts = { exported: 0, failed: 0, dropped: 0 };
  const exporter = counted(await exporterOf(settings), counts, log);
  const { maxQueueSize, maxBatchSize: maxExportBatchSize, delayMs: scheduledDelayMillis } = settings;
  const batches = new BatchSpanProcessor({ exporter, maxQueueSize, maxExportBatchSize, scheduledDelayMillis });
  const sampler = samplerOf(settings);
  let next = { traceId: '', spanId: '' };
  const provider = new TracerProvider({
    sampler,
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'errand', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    idGenerator: { generateTraceId: () => next.traceId, generateSpanId: () => next.spanId },
    spanProcessors: [bounded(batches, { exporter, counts, maxQueueSize })],
  });
  const tracer = provider.getTracer('errand', version);

  function add(span: Span): void {
    const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, exception, link } = span;
    next = { traceId, spanId };
    const parent = { traceId, spanId: parentSpanId ?? '', traceFlags: TraceFlags.SAMPLED, isRemote: true };
    const context = parentSpanId === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    const links = link === null ? [] : [{ context: { ...link, traceFlags: TraceFlags.NONE } }];
    const made: OtelSpan = tracer.startSpan(
      name,
      { kind: KINDS[kind], startTime: startMs, attributes: { ...attributes }, links },
      context,
    );
    if (exception !== null) {
      made.recordException({ name: exception.type, message: exception.message, stack: exception.stack }, endMs);
      made.setStatus({ code: SpanStatusCode.ERROR, message: exception.message });
    }
    made.end(endMs);
  }

  let stopped: Promise<void> | null = null;
  return {
    counts,
    isSampled: (traceId) => isSampledBy(sampler, traceId),
    add,
    stop: () => {
      stopped ??= within(STOP_MS, provider.shutdown());
      return stopped;
    },
  };
}

async function exporterOf({ protocol, url }: TracingSettings): Promise<SpanExporter> {
  // Headers, timeout, compression and certificates the exporters read from OTEL_EXPORTER_OTLP_…
  if (protocol === 'http/json') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
    return new OTLPTraceExporter({ url });
  }
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter({ url });
}

interface CountingExporter extends SpanExporter {
  /** Spans handed over so far. */
  readonly taken: () => number;
}

/** Counts what is sent; the log tells when it begins to fail, and when it succeeds again. */
function counted(exporter: SpanExporter, counts: Counts, log: Log): CountingExporter {
  let taken = 0;
  let isFailing = false;
  const ended = (spans: number, error: Error | undefined, code: ExportResultCode): void => {
    const isSuccess = code === ExportResultCode.SUCCESS;
    counts[isSuccess ? 'exported' : 'failed'] += spans;
    if (isSuccess === !isFailing) return;
    isFailing = !isSuccess;
    if (isFailing) log.warn({ err: error, spans }, 'traces cannot be sent; the service goes on without them');
    else log.info({}, 'traces are sent again');
  };
  return {
    taken: () => taken,
    export: (spans, done) => {
      taken += spans.length;
      exporter.export(spans, (result) => {
        ended(spans.length, result.error, result.code);
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}

interface Bounds {
  readonly exporter: CountingExporter;
  readonly counts: Counts;
  readonly maxQueueSize: number;
}

/** Counts what is dropped: the processor has the same bound, and does not tell. */
function bounded(batches: BatchSpanProcessor, { exporter, counts, maxQueueSize }: Bounds): SpanProcessor {
  let added = 0;
  return {
    onStart: () => {},
    onEnd: (span: ReadableSpan) => {
      if (added - exporter.taken() >= maxQueueSize) counts.dropped++;
      else {
        added++;
        batches.onEnd(span);
      }
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  // What could not be sent was told already.
  await Promise.race([work.catch(() => {}), over]);
  clearTimeout(timer);
}
