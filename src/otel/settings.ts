// What tracing goes by. server/settings/tracing.ts reads it from the environment, by the names that OpenTelemetry gives them.

export const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
export const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;

export interface TracingSettings {
  /** Where spans are sent, with its path. May contain a credential. */
  readonly url: string;
  readonly protocol: (typeof PROTOCOLS)[number];
  /** Of traces that begin here; those of a caller are recorded if the caller records them. */
  readonly sampler: (typeof SAMPLERS)[number];
  /** Of `traceidratio`, from 0 to 1. */
  readonly ratio: number;
  /** Spans that wait at most; the next ones are dropped. */
  readonly maxQueueSize: number;
  readonly maxBatchSize: number;
  /** Between two batches. */
  readonly delayMs: number;
}
