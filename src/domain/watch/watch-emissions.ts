// The emissions of watches: the `$errors` of one that is late or fails too often, and the `$recovered` of its end.

import { concat, utf8 } from '../bytes.ts';
import { ERRORS, type NewEmission, PLAIN_EMISSION, RECOVERED } from '../emission.ts';
import { type CapturedFault, captured, type Fingerprint } from '../errors/fingerprint.ts';
import { LIMITS } from '../limits.ts';
import { VERSION } from '../version.ts';
import type { Ping } from './heartbeat.ts';
import {
  type Ended,
  HEARTBEAT_FAILED,
  type NamedWatch,
  SILENT,
  UNHEALTHY,
  WATCH_KINDS,
  type WatchFinding,
  type WatchKind,
  type Why,
} from './watch.ts';

export interface Seen {
  readonly nowMs: number;
  readonly ended?: Ended;
  readonly ping?: Ping;
}

/** Errors of one kind are one group, whatever their times and counts. */
const TITLES: Readonly<Record<Why, string>> = {
  not_run: 'The workflow has not run in time',
  not_succeeded: 'The workflow has not succeeded in time',
  ratio: 'Too many runs of the workflow fail',
  no_ping: 'The heartbeat was not heard in time',
  not_ended: 'The job began, and its end was not heard in time',
  reported: 'The job reported that it failed',
};

/** Returns what errors of one kind are grouped by. The two ways in which a heartbeat is silent end together. */
export function faultOf(code: string, why: Why): CapturedFault {
  return captured({ code, msg: TITLES[why === 'not_ended' ? 'no_ping' : why] }, null);
}

/** Returns what the errors of a watch may be grouped by. */
export function faultsOf(kind: WatchKind): readonly CapturedFault[] {
  if (kind === 'silence') return [faultOf(SILENT, 'not_run')];
  if (kind === 'success') return [faultOf(SILENT, 'not_succeeded')];
  if (kind === 'ratio') return [faultOf(UNHEALTHY, 'ratio')];
  return [faultOf(SILENT, 'no_ping'), faultOf(HEARTBEAT_FAILED, 'reported')];
}

/** Returns the watch whose errors a group has; null: it has others. */
export function watchOfErrors({ code, template }: Pick<Fingerprint, 'code' | 'template'>): WatchKind | null {
  const isOf = ({ fingerprint }: CapturedFault): boolean =>
    fingerprint.code === code && fingerprint.template === template;
  return WATCH_KINDS.find((kind) => faultsOf(kind).some(isOf)) ?? null;
}

const BEFORE_EVENT = utf8('{"original_event":');
const MSG_LOG_CHARS = 1000;

export function emissionOf(watch: NamedWatch, told: WatchFinding, seen: Seen): NewEmission {
  return told.kind === 'error' ? errorOf(watch, told, seen) : recoveryOf(watch, told, seen);
}

type FoundError = WatchFinding & { readonly kind: 'error' };

function errorOf(watch: NamedWatch, told: FoundError, seen: Seen): NewEmission {
  const { id, ownerId } = watch;
  const ts = new Date(seen.nowMs).toISOString();
  const isWorkflow = id.startsWith('p_');
  const event = utf8(JSON.stringify(eventOf(watch, told, seen)));
  const of = `watch:${id}:${watch.kind}:${watch.version}`;
  const context = {
    id: of,
    ts,
    workflow_id: isWorkflow ? id : null,
    deployment_id: watch.deploymentId,
    source_type: 'API',
    verified: false,
    owner_id: ownerId,
    platform_version: VERSION,
    workflow_name: isWorkflow ? watch.name : null,
    emitter_id: id,
    trace_id: of,
    replay: false,
    attempt: 1,
    test: false,
    ...(isWorkflow ? {} : { heartbeat_id: id, heartbeat_name: watch.name }),
  };
  const error = { code: told.code, msg: messageOf(watch, told, seen), cellId: '', ts, stack: '', namespace: '' };
  const rest = `,"original_context":${JSON.stringify(context)},"error":${JSON.stringify(error)}}`;
  return {
    ...PLAIN_EMISSION,
    ownerId,
    emitterId: id,
    originId: id,
    name: ERRORS,
    body: concat([BEFORE_EVENT, event, utf8(rest)]),
    sourceType: 'ERROR',
    lineage: [id],
    hops: 1,
    code: told.code,
    fault: faultOf(told.code, told.why),
    originalStart: BEFORE_EVENT.byteLength,
    originalLength: event.byteLength,
  };
}

function recoveryOf(watch: NamedWatch, told: WatchFinding & { kind: 'recovered' }, { nowMs }: Seen): NewEmission {
  const { id, ownerId } = watch;
  const { code, sinceMs } = told;
  const body = {
    emitter_id: id,
    name: watch.name,
    code,
    watch: watch.kind,
    since_ms: sinceMs,
    recovered_at_ms: nowMs,
    lasted_ms: Math.max(0, nowMs - sinceMs),
  };
  return {
    ...PLAIN_EMISSION,
    ownerId,
    emitterId: id,
    originId: id,
    name: RECOVERED,
    body: utf8(JSON.stringify(body)),
    sourceType: id.startsWith('p_') ? 'WORKFLOW' : 'API',
    lineage: [id],
    hops: 1,
  };
}

function eventOf(watch: NamedWatch, told: FoundError, { ended, ping }: Seen): Record<string, unknown> {
  const { why } = told;
  const { rule, lastAtMs } = watch;
  const about = { watch: watch.kind, why, last_at_ms: lastAtMs };
  if ('limitMs' in rule) return { ...about, limit_ms: rule.limitMs };
  if ('errorRatio' in rule) {
    const { over, ofAtLeast, windowMs } = rule.errorRatio;
    return { ...about, over, of_at_least: ofAtLeast, window_ms: windowMs, ...ended };
  }
  const { durationMs } = watch.counts;
  return {
    ...about,
    expected_at_ms: watch.expectedAtMs,
    grace_ms: rule.graceMs,
    started_at_ms: told.startedAtMs ?? watch.counts.startedAtMs,
    duration_ms: durationMs,
    ...(ping ? { exit_code: ping.exitCode, log: ping.log } : {}),
  };
}

function messageOf(watch: NamedWatch, { why, startedAtMs }: FoundError, { ended, ping }: Seen): string {
  const { rule, lastAtMs } = watch;
  const last = lastAtMs === null ? 'never yet' : `last ${new Date(lastAtMs).toISOString()}`;
  const name = JSON.stringify(watch.name.slice(0, LIMITS.groupedMessageChars));
  if ('limitMs' in rule) {
    const what = why === 'not_run' ? 'not run' : 'not succeeded';
    return `Workflow ${name} has ${what} for ${inWords(rule.limitMs)} (${last}).`;
  }
  if ('errorRatio' in rule) {
    const { succeeded, failed } = ended ?? { succeeded: 0, failed: 0 };
    const of = `${failed} of ${succeeded + failed} runs`;
    return `Workflow ${name}: ${of} failed within ${inWords(rule.errorRatio.windowMs)}, more than ${rule.errorRatio.over * 100} %.`;
  }
  if (why === 'no_ping') return `Heartbeat ${name} was not heard in time (${last}, grace ${inWords(rule.graceMs)}).`;
  if (why === 'not_ended') {
    const began = startedAtMs === undefined ? 'began' : `began at ${new Date(startedAtMs).toISOString()}`;
    return `Heartbeat ${name}: the job ${began}, and did not end within ${inWords(rule.graceMs)}.`;
  }
  const code = ping?.exitCode ?? null;
  const log = (ping?.log ?? '').trim().slice(-MSG_LOG_CHARS);
  return `Heartbeat ${name}: the job failed${code === null ? '' : ` with exit code ${code}`}.${log === '' ? '' : `\n${log}`}`.toWellFormed();
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const;

/** Returns a duration as `25 h` or `1 h 30 min`. */
export function inWords(ms: number): string {
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, name] of UNITS) {
    const n = Math.floor(rest / unit);
    rest -= n * unit;
    if (n > 0) parts.push(`${n} ${name}`);
  }
  if (rest > 0 || parts.length === 0) parts.push(`${rest} ms`);
  return parts.slice(0, 2).join(' ');
}
