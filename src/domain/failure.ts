// Everything that fails emits `$errors`: this makes that emission. Its body is the flat object that listeners get,
// `{original_event, original_context, error}`, with the original event's bytes copied in, never re-serialised.

import { concat, utf8 } from './bytes.ts';
import type { Attempt, ClaimedDelivery } from './delivery.ts';
import { type Emission, ERRORS, type NewEmission, PLAIN_EMISSION, sourceTypeOf } from './emission.ts';
import { msOf, prefixOf } from './ids.ts';
import { LIMITS } from './limits.ts';
import { hiddenBody, readRequest, titleOf } from './request.ts';
import type { Runnable } from './resource.ts';
import type { Fault } from './run.ts';
import { VERSION } from './version.ts';

const BEFORE_EVENT = utf8('{"original_event":');

/** What a run (or the error that it ends in) says about the event that started it. */
export function contextOf(emission: Emission, runnable: Runnable, attempt: number): Record<string, unknown> {
  const isWorkflow = runnable.id.startsWith('p_');
  return {
    id: emission.emitId,
    ts: new Date(msOf(emission.entry)).toISOString(),
    workflow_id: isWorkflow ? runnable.id : null,
    deployment_id: runnable.deploymentId,
    source_type: emission.sourceType,
    verified: emission.verified,
    owner_id: emission.ownerId,
    platform_version: VERSION,
    workflow_name: runnable.name,
    emitter_id: emission.originId,
    trace_id: emission.traceId,
    replay: emission.replay,
    attempt,
    test: emission.test,
    ...(isWorkflow ? {} : { source_id: runnable.id }),
  };
}

/** The `$errors` emission of a failed run. `run` is its number. */
export function failureOfRun(
  failed: { emission: Emission; runnable: Runnable; run: number; attempt: number },
  fault: Fault,
): NewEmission {
  const { emission, runnable, run, attempt } = failed;
  const context = contextOf(emission, runnable, attempt);
  return errorEmission({ emission, emitterId: runnable.id, context, causeRun: run, causeDelivery: null }, fault);
}

/**
 * The `$errors` emission of an exhausted delivery: from the webhook, or from the workflow that sent the mail or asked for
 * the request, which is told without what may be credentials. With `msg`:
 * of the webhook's health, told with the delivery that showed it.
 */
export function failureOfDelivery(
  delivery: ClaimedDelivery,
  made: Attempt,
  failed: { code: string; msg?: string },
): NewEmission {
  const { code } = failed;
  const { kind, webhook } = delivery;
  const emission = kind === 'http' ? withHiddenBody(delivery.emission) : delivery.emission;
  const emitterId = webhook?.id ?? emission.emitterId;
  const context = {
    id: emission.emitId,
    ts: new Date(msOf(emission.entry)).toISOString(),
    workflow_id: webhook ? null : emission.emitterId,
    deployment_id: null,
    source_type: emission.sourceType,
    verified: emission.verified,
    owner_id: emission.ownerId,
    platform_version: VERSION,
    workflow_name: webhook?.name ?? null,
    emitter_id: emission.emitterId,
    trace_id: emission.traceId,
    replay: emission.replay,
    attempt: delivery.attempt,
    test: emission.test,
    ...(webhook ? { webhook_id: webhook.id, event_name: emission.name } : {}),
  };
  const fault: Fault = {
    code,
    msg:
      failed.msg ??
      `${nameOf(delivery)} not delivered after ${delivery.attempt} attempt${delivery.attempt === 1 ? '' : 's'}: ${made.detail}`,
    cellId: '',
    namespace: '',
    tsMs: made.startedAtMs + made.tookMs,
    stack: '',
  };
  return errorEmission({ emission, emitterId, context, causeRun: null, causeDelivery: delivery.delivery }, fault);
}

function withHiddenBody(emission: Emission): Emission {
  return { ...emission, body: hiddenBody(emission.body) };
}

function nameOf({ kind, emission }: ClaimedDelivery): string {
  if (kind === 'http') return `Request ${titleOf(readRequest(emission.body))} (${emission.emitId})`;
  return kind === 'mail' ? 'Mail' : 'Webhook';
}

interface Failed {
  readonly emission: Emission;
  readonly emitterId: string;
  readonly context: Record<string, unknown>;
  readonly causeRun: number | null;
  readonly causeDelivery: number | null;
}

function errorEmission(failed: Failed, fault: Fault): NewEmission {
  const { emission, emitterId } = failed;
  const error = {
    code: fault.code,
    msg: fault.msg,
    cellId: fault.cellId,
    ts: new Date(fault.tsMs).toISOString(),
    stack: fault.stack,
    namespace: fault.namespace,
  };
  const rest = `,"original_context":${JSON.stringify(failed.context)},"error":${JSON.stringify(error)}}`;
  return {
    ...PLAIN_EMISSION,
    ownerId: emission.ownerId,
    emitterId,
    name: ERRORS,
    body: concat([BEFORE_EVENT, emission.body, utf8(rest)]),
    sourceType: 'ERROR',
    originId: emitterId,
    replay: emission.replay,
    test: emission.test,
    traceId: emission.traceId,
    lineage: extended(emission.lineage, emitterId),
    hops: emission.hops + 1,
    causeRun: failed.causeRun,
    causeDelivery: failed.causeDelivery,
    code: fault.code,
    originalStart: BEFORE_EVENT.byteLength,
    originalLength: emission.body.byteLength,
  };
}

/** An emission that a run's code asked for: same trace, one hop on. */
export function emittedBy(
  run: { emission: Emission; runnable: Runnable; run: number },
  name: string,
  body: Uint8Array,
): NewEmission {
  const { emission, runnable } = run;
  return {
    ...PLAIN_EMISSION,
    ownerId: emission.ownerId,
    emitterId: runnable.id,
    name,
    body,
    sourceType: sourceTypeOf(prefixOf(runnable.id), name),
    originId: runnable.id,
    replay: emission.replay,
    test: emission.test,
    traceId: emission.traceId,
    lineage: extended(emission.lineage, runnable.id),
    hops: emission.hops + 1,
    causeRun: run.run,
  };
}

/** A lineage keeps each listener once, and the newest ones when it grows too long. */
function extended(lineage: readonly string[], id: string): readonly string[] {
  return [...lineage.filter((known) => known !== id), id].slice(-LIMITS.lineageIds);
}
