// What Prometheus may ask of this process.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { REFUSALS, type RefusalCode } from '../domain/fault.ts';
import { HEARTBEAT_FAILED, SILENT, UNHEALTHY } from '../domain/watch/watch.ts';
import type { SpanCounts } from '../ports.ts';
import { REPAIR_KINDS } from '../store/contract/counters.ts';
import type { Slots } from './capacity/slots.ts';
import { QueueLag, type QueueLagDeps } from './queue-lag.ts';
import type { Streams } from './streams/streams.ts';

interface Counted {
  readonly processes: () => number;
  readonly isBundlingFailing: () => boolean;
  readonly spans: () => SpanCounts | undefined;
  readonly queue: QueueLagDeps;
}

export class Metrics {
  readonly #registry = new Registry();
  readonly accepted: Counter;
  readonly runs: Counter<'state'>;
  readonly runSeconds: Histogram;
  readonly errors: Counter<'code'>;
  readonly attempts: Counter<'kind' | 'outcome'>;
  readonly attemptSeconds: Histogram;
  readonly repairs: Counter<'kind'>;
  readonly pings: Counter<'kind'>;
  readonly watchErrors: Counter<'code'>;
  readonly watchesJudged: Gauge;
  readonly #refusals: Counter<'code'>;
  readonly #enveloped: Counter<'item'>;

  constructor(slots: Slots, streams: Pick<Streams, 'open' | 'cut'>, counted: Counted) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    const seconds = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60];
    this.accepted = new Counter({
      name: 'errand_emissions_accepted_total',
      help: 'Events accepted from outside',
      registers,
    });
    this.runs = new Counter({
      name: 'errand_runs_ended_total',
      help: 'Runs ended, or put off, by the state that followed',
      labelNames: ['state'],
      registers,
    });
    this.runSeconds = new Histogram({
      name: 'errand_run_seconds',
      help: 'Time a run took in its process',
      buckets: seconds,
      registers,
    });
    this.errors = new Counter({
      name: 'errand_errors_total',
      help: 'Errors captured, by code of the platform (other codes as "user")',
      labelNames: ['code'],
      registers,
    });
    this.attempts = new Counter({
      name: 'errand_delivery_attempts_total',
      help: 'Delivery attempts, by kind and outcome',
      labelNames: ['kind', 'outcome'],
      registers,
    });
    this.attemptSeconds = new Histogram({
      name: 'errand_delivery_attempt_seconds',
      help: 'Time an attempt took',
      buckets: seconds,
      registers,
    });
    this.repairs = new Counter({
      name: 'errand_store_repairs_total',
      help: 'Counters of the store that differed from its rows and were corrected, by kind',
      labelNames: ['kind'],
      registers,
    });
    this.pings = new Counter({
      name: 'errand_heartbeat_pings_total',
      help: 'Pings of heartbeats, by kind',
      labelNames: ['kind'],
      registers,
    });
    this.watchErrors = new Counter({
      name: 'errand_watch_errors_total',
      help: 'Errors that watches and heartbeats told of, by code',
      labelNames: ['code'],
      registers,
    });
    this.watchesJudged = new Gauge({
      name: 'errand_watches_judged_timestamp_seconds',
      help: 'When watches and heartbeats were last looked at here',
      registers,
    });
    this.#refusals = new Counter({
      name: 'errand_http_refusals_total',
      help: 'Requests that were refused, by the code of the refusal; answers of workflows do not count',
      labelNames: ['code'],
      registers,
    });
    this.#enveloped = new Counter({
      name: 'errand_envelope_items_total',
      help: 'Items of envelopes that came to /api/{project}/envelope/: errors are taken, all others ignored',
      labelNames: ['item'],
      registers,
    });
    new Counter({
      name: 'errand_trace_spans_total',
      help: 'Spans that were to be sent to the receiver of traces, by what became of them',
      labelNames: ['result'],
      registers,
      collect() {
        this.reset();
        const { exported = 0, failed = 0, dropped = 0 } = counted.spans() ?? {};
        for (const [result, count] of Object.entries({ exported, failed, dropped })) this.inc({ result }, count);
      },
    });
    const lag = new QueueLag(counted.queue);
    new Gauge({
      name: 'errand_queue_lag_seconds',
      help: 'How long the oldest run has not begun, and how long the first delivery has been due; of the whole store',
      labelNames: ['kind'],
      registers,
      async collect() {
        for (const [kind, seconds] of Object.entries(await lag.read())) this.set({ kind }, seconds);
      },
    });
    // Shown from the start: an alert looks for what was added.
    for (const kind of REPAIR_KINDS) this.repairs.inc({ kind }, 0);
    for (const kind of ['success', 'start', 'fail']) this.pings.inc({ kind }, 0);
    for (const code of [SILENT, UNHEALTHY, HEARTBEAT_FAILED]) this.watchErrors.inc({ code }, 0);
    for (const code of Object.keys(REFUSALS)) this.#refusals.inc({ code }, 0);
    for (const item of ['taken', 'ignored']) this.#enveloped.inc({ item }, 0);
    const gauge = (name: string, help: string, read: () => number): void => {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    };
    gauge('errand_runs_in_flight', 'Runs that this process executes now', () => slots.inFlight.runs);
    gauge('errand_deliveries_in_flight', 'Deliveries that this process attempts now', () => slots.inFlight.deliveries);
    gauge('errand_runner_processes', 'Warm child processes', counted.processes);
    gauge('errand_bundling_failing', '1 while no code can be bundled, and so none be deployed', () =>
      counted.isBundlingFailing() ? 1 : 0,
    );
    gauge('errand_streams_open', 'Streams of events that are open at this process', () => streams.open);
    gauge('errand_streams_cut', 'Streams cut off since the start, as their readers took nothing', () => streams.cut);
  }

  enveloped(item: 'taken' | 'ignored'): void {
    this.#enveloped.inc({ item });
  }

  refused(code: RefusalCode): void {
    this.#refusals.inc({ code });
  }

  async text(): Promise<{ contentType: string; body: string }> {
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }
}
