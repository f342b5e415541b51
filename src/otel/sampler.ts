// Which traces are recorded: OTEL_TRACES_SAMPLER. Every node answers alike for a trace, which is judged by its id.

import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from './settings.ts';

/** Returns the sampler for spans whose parent was recorded, and for those without a parent. */
export function samplerOf({ sampler, ratio }: TracingSettings): Sampler {
  return new ParentBasedSampler({ root: rootOf(sampler, ratio) });
}

function rootOf(sampler: TracingSettings['sampler'], ratio: number): Sampler {
  if (sampler === 'always_off') return new AlwaysOffSampler();
  return sampler === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
}

export function isSampledBy(sampler: Sampler, traceId: string): boolean {
  const { decision } = sampler.shouldSample(ROOT_CONTEXT, traceId, '', SpanKind.SERVER, {}, []);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
}
