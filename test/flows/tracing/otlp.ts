// A receiver of OTLP, as JSON over HTTP: keeps the spans that it got.

import assert from 'node:assert/strict';
import type { Json } from '../../support/client.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';

export interface GotSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** As OTLP numbers them. */
  readonly kind: number;
  readonly tookMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly exceptions: readonly Readonly<Record<string, unknown>>[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

export interface OtlpReceiver extends AsyncDisposable {
  /** What Errand is started with. */
  readonly settings: Record<string, string>;
  readonly requests: Receiver;
  spans(): GotSpan[];
  /** Waits for as many spans. */
  wait(count: number): Promise<GotSpan[]>;
}

export async function startOtlp(): Promise<OtlpReceiver> {
  const requests = await startReceiver();
  const spans = (): GotSpan[] =>
    requests.received.flatMap(({ path, body }) => {
      assert.equal(path, '/v1/traces');
      return JSON.parse(body.toString()).resourceSpans.flatMap(read);
    });
  return {
    requests,
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: new URL(requests.url).origin,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    },
    spans,
    wait: (count) => until(`${count} spans`, () => spans().length >= count && spans()),
    [Symbol.asyncDispose]: () => requests[Symbol.asyncDispose](),
  };
}

function read({ resource, scopeSpans }: Json): GotSpan[] {
  return scopeSpans.flatMap(({ spans }: Json) =>
    spans.map((span: Json) => ({
      name: span.name,
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: span.parentSpanId ?? '',
      kind: span.kind,
      tookMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
      attributes: plain(span.attributes),
      resource: plain(resource.attributes),
      isError: span.status?.code === 2,
      exceptions: (span.events ?? [])
        .filter(({ name }: Json) => name === 'exception')
        .map((e: Json) => plain(e.attributes)),
      links: span.links ?? [],
    })),
  );
}

function plain(attributes: Json[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** Returns the only span of that name. */
export function named(spans: readonly GotSpan[], name: string): GotSpan {
  const found = spans.filter((span) => span.name === name);
  assert.equal(found.length, 1, `${name} among ${spans.map((span) => span.name).join(', ')}`);
  return found[0] as GotSpan;
}
