// What Prometheus may ask of this process.

import { createRequire } from 'node:module';
import { type PLATFORM_CODES, REFUSALS, type RefusalCode } from '../../domain/refusal.ts';
import { HEARTBEAT_FAILED, SILENT, UNHEALTHY } from '../../domain/watch/watch.ts';
import type { SpanCounts } from '../../ports.ts';
import { REPAIR_KINDS } from '../../store/contract/counters.ts';
import type { Slots } from '../capacity/slots.ts';
import type { Streams } from '../streams/streams.ts';
import { Counter, Gauge, Histogram, type Metric, ReadMetric } from './kinds.ts';
import { QueueLag, type QueueLagDeps } from './queue-lag.ts';

interface MetricSources {
  readonly processes: () => number;
  readonly isBundlingFailing: () => boolean;
  readonly spans: () => SpanCounts | undefined;
  readonly queue: QueueLagDeps;
}

const require = createRequire(import.meta.url);
const PROM_CLIENT = require.resolve('prom-client');

/** Errors of runs; those of deliveries and of watches have counters of their own. */
const RUN_ERRORS: readonly ((typeof PLATFORM_CODES)[number] | 'user')[] = [
  ...(['Timeout', 'OutOfMemory', 'WorkerLost', 'WorkerExit', 'StartFailed', 'PayloadTooLarge'] as const),
  ...(['ConfigurationError', 'ThrownAfterEnd', 'LostAfterEnd', 'Internal', 'user'] as const),
];
/** Bounds in seconds. */
const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60];
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export class Metrics {
  readonly accepted = new Counter({ name: 'errand_emissions_accepted_total', help: 'Events accepted from outside' });
  readonly runs = new Counter({
    name: 'errand_runs_ended_total',
    help: 'Runs ended, or put off, by the state that followed',
    labels: ['state'],
  });
  readonly runSeconds = new Histogram({
    name: 'errand_run_seconds',
    help: 'Time a run took in its process',
    bounds: SECONDS,
  });
  readonly errors = new Counter({
    name: 'errand_errors_total',
    help: 'Errors captured, by code of the platform (other codes as "user")',
    labels: ['code'],
  });
  readonly attempts = new Counter({
    name: 'errand_delivery_attempts_total',
    help: 'Delivery attempts, by kind and outcome',
    labels: ['kind', 'outcome'],
  });
  readonly attemptSeconds = new Histogram({
    name: 'errand_delivery_attempt_seconds',
    help: 'Time an attempt took',
    bounds: SECONDS,
  });
  readonly repairs = new Counter({
    name: 'errand_store_repairs_total',
    help: 'Counters of the store that differed from its rows and were corrected, by kind',
    labels: ['kind'],
  });
  readonly pings = new Counter({
    name: 'errand_heartbeat_pings_total',
    help: 'Pings of heartbeats, by kind',
    labels: ['kind'],
  });
  readonly watchErrors = new Counter({
    name: 'errand_watch_errors_total',
    help: 'Errors that watches and heartbeats told of, by code',
    labels: ['code'],
  });
  readonly watchesJudged = new Gauge({
    name: 'errand_watches_judged_timestamp_seconds',
    help: 'When watches and heartbeats were last looked at here',
  });
  readonly #refusals = new Counter({
    name: 'errand_http_refusals_total',
    help: 'Requests that were refused, by the code of the refusal; answers of workflows do not count',
    labels: ['code'],
  });
  readonly #enveloped = new Counter({
    name: 'errand_envelope_items_total',
    help: 'Items of envelopes that came to /api/{project}/envelope/: errors are taken, all others ignored',
    labels: ['item'],
  });
  readonly #read: readonly Metric[];
  #ofProcess: { metrics(): Promise<string> } | undefined;

  constructor(slots: Slots, streams: Pick<Streams, 'open' | 'cut'>, counted: MetricSources) {
    this.#read = readMetrics(slots, streams, counted);
    // Shown from the start: an alert looks for what was added.
    for (const code of RUN_ERRORS) this.errors.inc({ code }, 0);
    for (const kind of REPAIR_KINDS) this.repairs.inc({ kind }, 0);
    for (const kind of ['success', 'start', 'fail']) this.pings.inc({ kind }, 0);
    for (const code of [SILENT, UNHEALTHY, HEARTBEAT_FAILED]) this.watchErrors.inc({ code }, 0);
    for (const code of Object.keys(REFUSALS)) this.#refusals.inc({ code }, 0);
    for (const item of ['taken', 'ignored']) this.#enveloped.inc({ item }, 0);
  }

  enveloped(item: 'taken' | 'ignored'): void {
    this.#enveloped.inc({ item });
  }

  refused(code: RefusalCode): void {
    this.#refusals.inc({ code });
  }

  async text(): Promise<{ contentType: string; body: string }> {
    const { accepted, runs, runSeconds, errors, attempts, attemptSeconds, repairs, pings } = this;
    const counted = [accepted, runs, runSeconds, errors, attempts, attemptSeconds, repairs, pings];
    const ours = [...counted, this.watchErrors, this.watchesJudged, this.#refusals, this.#enveloped, ...this.#read];
    this.#ofProcess ??= startDefaultMetrics();
    const texts = await Promise.all([this.#ofProcess.metrics(), ...ours.map((metric) => metric.text())]);
    return { contentType: CONTENT_TYPE, body: `${texts.map((text) => text.trimEnd()).join('\n\n')}\n` };
  }
}

/**
 * Starts to count what every Node.js process tells: memory, CPU, the event loop, garbage. Throws when no file can be opened; the next
 * call tries again, which Node does not do for an import that failed.
 */
function startDefaultMetrics(): { metrics(): Promise<string> } {
  const { collectDefaultMetrics, Registry } = require(PROM_CLIENT) as typeof import('prom-client');
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}

function readMetrics(slots: Slots, streams: Pick<Streams, 'open' | 'cut'>, counted: MetricSources): Metric[] {
  const gauge = (name: string, help: string, read: () => number) => new ReadMetric({ type: 'gauge', name, help, read });
  const lag = new QueueLag(counted.queue);
  return [
    new ReadMetric({
      type: 'counter',
      name: 'errand_trace_spans_total',
      help: 'Spans that were to be sent to the receiver of traces, by what became of them',
      label: 'result',
      read: () => ({ exported: 0, failed: 0, dropped: 0, ...counted.spans() }),
    }),
    new ReadMetric({
      type: 'gauge',
      name: 'errand_queue_lag_seconds',
      help: 'How long the oldest run has not begun, and how long the first delivery has been due; of the whole store',
      label: 'kind',
      read: async () => ({ ...(await lag.read()) }),
    }),
    gauge('errand_runs_in_flight', 'Runs that this process executes now', () => slots.inFlight.runs),
    gauge('errand_deliveries_in_flight', 'Deliveries that this process attempts now', () => slots.inFlight.deliveries),
    gauge('errand_runner_processes', 'Warm child processes', counted.processes),
    gauge('errand_bundling_failing', '1 while no code can be bundled, and so none be deployed', () =>
      counted.isBundlingFailing() ? 1 : 0,
    ),
    gauge('errand_streams_open', 'Streams of events that are open at this process', () => streams.open),
    gauge('errand_streams_cut', 'Streams cut off since the start, as their readers took nothing', () => streams.cut),
  ];
}
