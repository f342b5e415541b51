// Builds the `$errors` emission that follows every failure. Its body is the flat object that listeners get,
// `{original_event, original_context, error}`, with the original event's bytes copied in, never re-serialised.

import { concat, text, utf8 } from './bytes.ts';
import type { Attempt, ClaimedDelivery } from './delivery/delivery.ts';
import { type DeliveryNames, nameOfDelivery } from './delivery/delivery-name.ts';
import { bodyInError } from './delivery/without-secrets.ts';
import {
  EMAIL,
  type Emission,
  ERRORS,
  hookEvent,
  type NewEmission,
  NOTICE,
  PLAIN_EMISSION,
  type SourceType,
  sourceTypeOf,
} from './emission.ts';
import { type CapturedFault, captured, type FaultText } from './errors/fingerprint.ts';
import { faultOf, type Report, withMember } from './errors/report.ts';
import { msOf, numberedId, PREFIX, prefixOf } from './ids.ts';
import { memberOf } from './json-member.ts';
import { LIMITS } from './limits.ts';
import { LOST_AFTER_END, THROWN_AFTER_END } from './refusal.ts';
import type { Runnable } from './resource.ts';
import type { Fault } from './run/run.ts';
import { VERSION } from './version.ts';

const BEFORE_EVENT = utf8('{"original_event":');
const CLOSE = utf8('}');

/** Returns what a run, or the error that ends it, says about the event that started it. */
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

/** Returns the `$errors` emission of a failed run. `run` is its number. */
export function failureOfRun(
  failed: { emission: Emission; runnable: Runnable; run: number; attempt: number },
  fault: Fault,
): NewEmission {
  const { emission, runnable, run, attempt } = failed;
  const context = contextOf(emission, runnable, attempt);
  const grouped = captured(fault, runnable.deploymentId);
  const error = errorEmission(
    { emission, emitterId: runnable.id, context, causeRun: run, causeDelivery: null, grouped },
    fault,
  );
  return hookEvent(emission)?.creates === true ? { ...error, isAnswered: true } : error;
}

/**
 * Returns the `$errors` emission of what the code of a run did when that run had ended: it threw, or made calls by which something
 * was `lost`. The error is none of the run's.
 */
export function failureAfterEnd(
  { emission, runnable, run, attempt }: { emission: Emission; runnable: Runnable; run: number; attempt: number },
  { fault, lost }: { fault: Fault; lost: readonly string[] | null },
): NewEmission {
  const context = contextOf(emission, runnable, attempt);
  const made =
    lost === null
      ? { ...fault, code: THROWN_AFTER_END, msg: `${fault.code}: ${fault.msg}` }
      : { ...fault, code: LOST_AFTER_END, msg: `${lost.join(', ')} had no effect: the code must await what it begins` };
  const grouped = captured(made, runnable.deploymentId);
  const did = lost === null ? 'Thrown' : 'Called';
  const msg = cut(`${did} after ${numberedId(PREFIX.run, run)} had ended: ${made.msg}`);
  const of = { emission, emitterId: runnable.id, context, causeRun: null, causeDelivery: null, grouped };
  return errorEmission(of, { ...made, msg });
}

function cut(msg: string): string {
  const bytes = utf8(msg);
  return bytes.byteLength > LIMITS.messageBytes ? text(bytes.subarray(0, LIMITS.messageBytes - 2)) : msg;
}

/**
 * Returns the `$errors` emission of an exhausted delivery: from the webhook, or from the workflow that sent the mail or asked
 * for the request, without possible credentials of a request and without links that act. With `msg`: about the webhook's
 * health, emitted together with the delivery that showed it.
 */
export function failureOfDelivery(
  delivery: ClaimedDelivery,
  made: Attempt,
  failed: { code: string; msg?: string; names?: DeliveryNames },
): NewEmission {
  const { code, names } = failed;
  const { webhook } = delivery;
  const { name } = delivery.emission;
  const of = { ...(name === NOTICE ? { isOfNotice: true } : {}), ...(name === EMAIL ? { isOfMail: true } : {}) };
  const emission = { ...delivery.emission, body: bodyInError(delivery.emission.name, delivery.emission.body) };
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
    workflow_name: webhook?.name ?? names?.emitter ?? null,
    emitter_id: emission.emitterId,
    trace_id: emission.traceId,
    replay: emission.replay,
    attempt: delivery.attempt,
    test: emission.test,
    ...(names?.owner ? { owner_name: names.owner } : {}),
    ...(webhook ? { webhook_id: webhook.id, event_name: emission.name } : {}),
  };
  const attempts = `${delivery.attempt} attempt${delivery.attempt === 1 ? '' : 's'}`;
  const title = nameOfDelivery(delivery, names?.channel ?? null);
  const msg = failed.msg ?? `${title} not delivered after ${attempts}: ${made.detail}`;
  const fault = ofNoStep(code, msg, made.startedAtMs + made.tookMs);
  const grouped = { ...capturedAgain({ code, msg }, null), ...of };
  return errorEmission(
    { emission, emitterId, context, causeRun: null, causeDelivery: delivery.delivery, grouped },
    fault,
  );
}

/** What `failureOfDelivery` puts into its message. */
const ATTEMPTS = /(?: \(\w+\))? not delivered after \d+ attempts?: /;

/**
 * Returns what the group of an error is made of, by what the error shows. How often a delivery was attempted differs with the
 * webhook's settings, and its id with the request; rules match the whole message.
 */
export function capturedAgain(fault: FaultText, deploymentId: string | null): CapturedFault {
  const whole = captured(fault, deploymentId);
  if (whole.fingerprint.namespace !== '' || !ATTEMPTS.test(fault.msg)) return whole;
  const { fingerprint } = captured({ ...fault, msg: fault.msg.replace(ATTEMPTS, ' not delivered: ') }, deploymentId);
  return { ...whole, fingerprint };
}

/** Where a reported error came in. */
export interface ReportedBy {
  /** The workflow whose error it is. */
  readonly workflow: Pick<Runnable, 'id' | 'ownerId' | 'name'>;
  /** The trigger, or the owner for a key. */
  readonly originId: string;
  readonly sourceType: SourceType;
  readonly verified: boolean;
  /** What led to the report; undefined: nothing of ours. */
  readonly lineage?: readonly string[] | undefined;
  /** The id that its original event gets, and its trace. */
  readonly eventId: string;
  readonly nowMs: number;
}

const NO_EVENT = utf8('null');

/** Returns the `$errors` emission of an error that another program reported: the first emission of its trace. */
export function failureOfReport(report: Report, by: ReportedBy): NewEmission {
  const { workflow, originId, sourceType, verified, lineage = PLAIN_EMISSION.lineage, eventId, nowMs } = by;
  const { id, ownerId, name } = workflow;
  const context = {
    id: eventId,
    ts: new Date(nowMs).toISOString(),
    workflow_id: id,
    deployment_id: null,
    source_type: sourceType,
    verified,
    owner_id: ownerId,
    platform_version: VERSION,
    workflow_name: name,
    emitter_id: originId,
    trace_id: eventId,
    replay: false,
    attempt: 1,
    test: false,
    reported: true,
  };
  const fault = faultOf(report, nowMs);
  const { template: msg = fault.msg, ownFrames: stack = fault.stack } = report;
  // Rules match the message that is shown.
  const grouped = { ...captured({ ...fault, msg, stack }, null), msg: fault.msg.slice(0, LIMITS.groupedMessageChars) };
  const body = report.originalEvent ?? NO_EVENT;
  const { hops, traceparent } = PLAIN_EMISSION;
  const emission = { ownerId, body, replay: false, test: false, traceId: eventId, traceparent, lineage, hops };
  const failed = { emission, emitterId: id, context, causeRun: null, causeDelivery: null, grouped };
  return errorEmission(failed, fault, report.context);
}

/** Returns the fault of a run that never began because the queue is full. `isThrottled`: the throttle keeps it full. */
export function queueFull({ name, settings }: Runnable, isThrottled: boolean, tsMs: number): Fault {
  const wait = `${settings.queueLimit} ${settings.queueLimit === 1 ? 'run waits' : 'runs wait'} already (settings.queue_limit)`;
  const why = isThrottled
    ? `No more runs of ${name} may begin now (settings.throttle), and ${wait}`
    : `The queue of ${name} is full: ${wait}`;
  return ofNoStep(
    isThrottled ? 'RateLimited' : 'QueueFull',
    `${why}. The event is kept here and can be replayed.`,
    tsMs,
  );
}

/** Returns the fault of a run whose process was lost too often. */
export function workerLost(tsMs: number): Fault {
  const msg = `The server stopped ${LIMITS.rescues} times while this run was under way; it is not tried again by itself.`;
  return ofNoStep('WorkerLost', msg, tsMs);
}

function ofNoStep(code: string, msg: string, tsMs: number): Fault {
  return { code, msg, cellId: '', namespace: '', tsMs, stack: '' };
}

interface FailedWork {
  readonly emission: Pick<
    Emission,
    'ownerId' | 'body' | 'replay' | 'test' | 'traceId' | 'traceparent' | 'lineage' | 'hops'
  >;
  readonly emitterId: string;
  readonly context: Record<string, unknown>;
  readonly causeRun: number | null;
  readonly causeDelivery: number | null;
  readonly grouped: CapturedFault;
}

export interface ErrorJson {
  readonly code: string;
  readonly msg: string;
  readonly cellId: string;
  readonly ts: string;
  readonly namespace?: string;
  readonly stack?: string;
}

/** What the service wrote into an `$errors` emission, beside the original event. */
export interface ErrorDetail {
  readonly context: {
    readonly deployment_id: string | null;
    readonly workflow_name: string | null;
    readonly heartbeat_name?: string;
    readonly owner_name?: string;
  };
  readonly error: ErrorJson;
}

/** Returns what is behind the original event of an `$errors` emission. `tail`: its body behind that and a comma; small. */
export function detailIn(tail: Uint8Array): ErrorDetail {
  const { original_context: context, error } = JSON.parse(`{${text(tail)}`) as {
    original_context: ErrorDetail['context'];
    error: ErrorJson;
  };
  return { context, error };
}

/** Returns the same of a whole body. */
export function detailOf(body: Uint8Array): ErrorDetail {
  const part = <T>(name: string): T => JSON.parse(text(memberOf(body, name) ?? utf8('null'))) as T;
  return { context: part('original_context'), error: part('error') };
}

/** Returns the `error` object of an `$errors` emission. `tail`: as that of `detailIn`. */
export function errorIn(tail: Uint8Array): ErrorJson {
  return detailIn(tail).error;
}

/** Returns an `$errors` emission. `told`: JSON text that becomes a member of the error, `context`. */
function errorEmission(failed: FailedWork, fault: Fault, told: Uint8Array | null = null): NewEmission {
  const { emission, emitterId } = failed;
  const error = {
    code: fault.code,
    msg: fault.msg,
    cellId: fault.cellId,
    ts: new Date(fault.tsMs).toISOString(),
    stack: fault.stack,
    namespace: fault.namespace,
  };
  const json = JSON.stringify(error);
  const rest = `,"original_context":${JSON.stringify(failed.context)},"error":`;
  const tail = told === null ? [utf8(`${rest}${json}}`)] : [utf8(rest), withMember(json, 'context', told), CLOSE];
  return {
    ...PLAIN_EMISSION,
    ownerId: emission.ownerId,
    emitterId,
    name: ERRORS,
    body: concat([BEFORE_EVENT, emission.body, ...tail]),
    sourceType: 'ERROR',
    originId: emitterId,
    replay: emission.replay,
    test: emission.test,
    traceId: emission.traceId,
    traceparent: emission.traceparent,
    lineage: extended(emission.lineage, emitterId),
    hops: emission.hops + 1,
    causeRun: failed.causeRun,
    causeDelivery: failed.causeDelivery,
    code: fault.code,
    fault: failed.grouped,
    originalStart: BEFORE_EVENT.byteLength,
    originalLength: emission.body.byteLength,
  };
}

/** Returns the emission that a run's code asked for: same trace, one hop more. */
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
    traceparent: emission.traceparent,
    lineage: extended(emission.lineage, runnable.id),
    hops: emission.hops + 1,
    causeRun: run.run,
  };
}

/** Appends a listener once; a lineage that grows too long keeps the newest. */
export function extended(lineage: readonly string[], id: string): readonly string[] {
  return [...lineage.filter((known) => known !== id), id].slice(-LIMITS.lineageIds);
}
