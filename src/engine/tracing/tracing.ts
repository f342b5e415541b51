// Traces of an event's way: accepted → run → steps → delivery → attempts. A span is made when what it is about has ended, and of
// what is in the log alone, so it does not matter which process did which part. A run that waits or is tried again is one
// span: the steps of its segments are told as each segment ends, the run itself with its last one, by whichever process has it.
//
// What a killed process had under way is not told by it; the steps of the next attempt are. A run that no process ended
// (cancelled while it waited, lost three times) has no span.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { ClaimedDelivery } from '../../domain/delivery/delivery.ts';
import type { Emission, NewEmission } from '../../domain/emission.ts';
import type { ClaimedRun, RunOutcome } from '../../domain/run/run.ts';
import type { RunEnd } from '../../domain/run/run-end.ts';
import type { Clock, Random, Span, SpanCounts, SpanSink } from '../../ports.ts';
import type { Appended, AttemptEnd, Finished } from '../../store/contract/store.ts';
import { acceptSpan, refusedSpan } from './accept-span.ts';
import { attemptSpan, deliverySpan, isFirstEnd } from './delivery-spans.ts';
import { runSpan, stepSpans } from './run-spans.ts';
import { spanIdsOf, traceIdOf } from './span-ids.ts';
import { contextOf, keptContext, stateOf, type TraceHeaders } from './trace-context.ts';
import { traceparentOf } from './traceparent.ts';

/** A request that is being answered. */
export interface TracedCall extends TraceHeaders {
  /** Gets the header `traceresponse` of its answer. */
  readonly answer: (traceresponse: string) => void;
}

/** A call, and whether its event is in the log. */
interface OpenCall extends TracedCall {
  hasEvent: boolean;
}

/** A request that is to bring an event. */
export interface AcceptedCall {
  readonly method: string;
  /** Calls what it is given with the status of the answer; never, when none is sent. */
  readonly onAnswer: (answered: (status: number) => void) => void;
}

interface Refused {
  readonly start: AcceptStart;
  readonly method: string;
  readonly status: number;
}

export interface SentContext {
  readonly traceparent: string;
  /** Null: there is none to pass on. */
  readonly tracestate: string | null;
}

const FIRST_REFUSAL = 400;
const TRACE_BYTES = 16;
const SPAN_BYTES = 8;

export interface AcceptStart {
  readonly atMs: number;
  readonly elapsedMs: () => number;
}

export interface TracingDeps {
  readonly spans: SpanSink;
  readonly clock: Clock;
  readonly random: Random;
  /** Returns what applies the owner's rules of redaction to messages about these resources. */
  readonly textFor: (ownerId: string, ids: readonly (string | null)[]) => Promise<(given: string) => string>;
}

export class Tracing {
  readonly #sink: SpanSink;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #textFor: TracingDeps['textFor'];
  readonly #calls = new AsyncLocalStorage<OpenCall>();
  readonly #redacting = new Set<Promise<void>>();

  constructor({ spans, clock, random, textFor }: TracingDeps) {
    this.#sink = spans;
    this.#clock = clock;
    this.#random = random;
    this.#textFor = textFor;
  }

  get counts(): SpanCounts {
    return this.#sink.counts;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#redacting);
    await this.#sink.stop();
  }

  /** Handles a request: what is accepted meanwhile belongs to the caller's trace. */
  during(call: TracedCall, handle: () => void): void {
    this.#calls.run({ ...call, hasEvent: false }, handle);
  }

  /** Handles a request that is to bring an event. An answer that refuses it is told as the end of a span, if nothing was accepted. */
  accepting({ method, onAnswer }: AcceptedCall, handle: () => void): void {
    const call = this.#calls.getStore();
    const start = this.begin();
    onAnswer((status) => {
      if (status >= FIRST_REFUSAL && call && !call.hasEvent) this.#refused(call, { start, method, status });
    });
    handle();
  }

  #refused(call: TraceHeaders, { start, method, status }: Refused): void {
    const bytes = Buffer.from(this.#random.bytes(TRACE_BYTES + SPAN_BYTES)).toString('hex');
    const caller = contextOf(keptContext(call));
    const traceId = caller?.traceId ?? bytes.slice(0, 2 * TRACE_BYTES);
    if (!(caller?.isSampled ?? this.#sink.isSampled(traceId))) return;
    const ids = { traceId, spanId: bytes.slice(2 * TRACE_BYTES), parentSpanId: caller?.spanId ?? null };
    const times = { startMs: start.atMs, endMs: start.atMs + start.elapsedMs() };
    this.#sink.add(refusedSpan({ ...ids, ...times }, { method, status }));
  }

  /** Returns the emission with the trace context of the request that brings it. */
  received(emission: NewEmission): NewEmission {
    const call = this.#calls.getStore();
    const isOriginal = emission.causeRun === null && emission.causeDelivery === null && emission.traceparent === null;
    const traceparent = call === undefined || !isOriginal ? null : keptContext(call);
    return traceparent === null ? emission : { ...emission, traceparent };
  }

  begin(): AcceptStart {
    const startedMs = performance.now();
    return { atMs: this.#clock.nowMs(), elapsedMs: () => performance.now() - startedMs };
  }

  /** Tells of a request whose event is in the log; a repeated one is not told again. */
  accepted(made: NewEmission, { entry, emitId, repeated, firstRunRefused }: Appended, start: AcceptStart): void {
    const emission = { ...made, entry, emitId, traceId: made.traceId ?? emitId };
    const call = this.#calls.getStore();
    if (call) call.hasEvent = true;
    const isSampled = this.#isSampled(emission);
    if (repeated !== null) return;
    const spanId = spanIdsOf(emission).accepted(entry);
    call?.answer(traceparentOf({ traceId: traceIdOf(emission), spanId, isSampled }));
    if (!isSampled) return;
    const caller = call === undefined ? null : contextOf(keptContext(call));
    const times = { startMs: start.atMs, endMs: start.atMs + start.elapsedMs() };
    this.#sink.add(acceptSpan(emission, { ...times, caller, hasNoRoom: firstRunRefused }));
  }

  /** Tells of a run, or of a segment of it. */
  ran(run: ClaimedRun, { end, outcome, finished }: { end: RunEnd; outcome: RunOutcome; finished: Finished }): void {
    if (!finished.held || !this.#isSampled(run.emission)) return;
    const of = { ownerId: run.runnable.ownerId, ids: [run.runnable.id, run.emission.emitterId] };
    for (const span of stepSpans(run, outcome)) this.#add(span, of);
    const isCancelled = finished.isCancelled === true;
    if (!isCancelled && (end.state === 'queued' || end.state === 'waiting')) return;
    const state = isCancelled ? 'cancelled' : end.state;
    this.#add(runSpan(run, { state, fault: end.fault, endMs: this.#clock.nowMs() }), of);
  }

  /** Tells of an attempt. `held`: it counts. */
  attempted(delivery: ClaimedDelivery, end: AttemptEnd, held: boolean): void {
    if (!this.#isSampled(delivery.emission)) return;
    const { ownerId, emitterId } = delivery.emission;
    const of = { ownerId, ids: [emitterId] };
    this.#add(attemptSpan(delivery, end), of);
    if (held && isFirstEnd(delivery, end)) this.#add(deliverySpan(delivery, end, this.#clock.nowMs()), of);
  }

  /** Returns the headers that a claimed delivery is sent with. */
  sent({ emission, delivery, fence }: ClaimedDelivery): SentContext {
    const spanId = spanIdsOf(emission).attempt(delivery, fence);
    const context = { traceId: traceIdOf(emission), spanId, isSampled: this.#isSampled(emission) };
    return { traceparent: traceparentOf(context), tracestate: stateOf(emission.traceparent) };
  }

  /** Adds a span. What its exception says is told as lists show it; nothing of it while the rules cannot be read. */
  #add(span: Span, { ownerId, ids }: { readonly ownerId: string; readonly ids: readonly string[] }): void {
    const { exception } = span;
    if (exception === null) {
      this.#sink.add(span);
      return;
    }
    const { type, message, stack } = exception;
    const hidden = (hide: (given: string) => string): void =>
      this.#sink.add({ ...span, exception: { type, message: hide(message), stack: hide(stack) } });
    const redacting: Promise<void> = this.#textFor(ownerId, ids)
      .then(hidden, () => hidden(() => ''))
      .finally(() => this.#redacting.delete(redacting));
    this.#redacting.add(redacting);
  }

  /** Returns what the caller decided, or, of a trace that began here, as the sampler does. */
  #isSampled(emission: Pick<Emission, 'traceparent' | 'traceId'>): boolean {
    return contextOf(emission.traceparent)?.isSampled ?? this.#sink.isSampled(traceIdOf(emission));
  }
}
