// Rows of the log, for both backends. Each stores the flags of an emission differently.

import {
  type Attempt,
  DELIVERY_STATES,
  type DeliveryKind,
  type DeliveryState,
  type DueBy,
} from '../../domain/delivery/delivery.ts';
import type { DigestWindow } from '../../domain/delivery/digest.ts';
import { whyKept } from '../../domain/delivery/kept-mail.ts';
import { type Emission, NOTICE, type SourceType } from '../../domain/emission.ts';
import { errorIn } from '../../domain/failure.ts';
import { emitId } from '../../domain/ids.ts';
import { noticeSubject, subjectAtStart } from '../../domain/notices/mail.ts';
import { readNotice } from '../../domain/notices/notice.ts';
import { ledBy } from '../../domain/privacy/led-by.ts';
import { RUN_STATES, type RunState } from '../../domain/run/run.ts';
import type { Wait, WaitKind } from '../../domain/run/wait.ts';
import type { DeliveryRecord, EmissionRecord, Ledger, ListedRun, RunRecord } from '../contract/records.ts';
import type { LoggedRecord } from '../contract/streams.ts';
import type { Seal } from '../seal/seal.ts';
import { openBody } from '../seal/sealed-requests.ts';
import { bytes, flag, json, number, numberOrNull, text, textOrNull } from './cells.ts';
import { FLAG_BITS } from './emission-cells.ts';
import type { Row } from './rows.ts';

/** What reads of emissions need. */
export interface EmissionReader {
  readonly storeTag: string;
  readonly seal: Seal;
}

/** Reads a row of `emissions` of either database. */
export function toEmission(row: Row, { storeTag, seal }: EmissionReader): Emission {
  const entry = number(row, 'entry');
  const name = text(row, 'name');
  return {
    entry,
    emitId: emitId(storeTag, entry),
    ownerId: text(row, 'owner_id'),
    emitterId: text(row, 'emitter_id'),
    name,
    body: openBody({ entry, name, body: bytes(row, 'body') }, seal),
    sourceType: text<SourceType>(row, 'source_type'),
    originId: text(row, 'origin_id'),
    verified: hasFlag(row, 'verified'),
    replay: hasFlag(row, 'replay'),
    test: hasFlag(row, 'test'),
    traceId: text(row, 'trace_id'),
    traceparent: textOrNull(row, 'traceparent'),
    lineage: lineageIn(row),
    hops: number(row, 'hops'),
    causeRun: numberOrNull(row, 'cause_run'),
    causeDelivery: numberOrNull(row, 'cause_delivery'),
    summary: textOrNull(row, 'summary'),
    itemId: textOrNull(row, 'item_id'),
    itemTs: numberOrNull(row, 'item_ts'),
    code: textOrNull(row, 'code'),
    originalStart: numberOrNull(row, 'original_start'),
    originalLength: numberOrNull(row, 'original_length'),
    onlyListenerId: textOrNull(row, 'only_listener_id'),
    digestKey: textOrNull(row, 'digest_key'),
    groupId: textOrNull(row, 'group_id'),
  };
}

function lineageIn(row: Row): readonly string[] {
  const lineage = text(row, 'lineage');
  return lineage === '' ? [] : lineage.split(' ');
}

function ledByIn(row: Row): readonly string[] {
  const [name, emitterId] = [text(row, 'name'), text(row, 'emitter_id')];
  return ledBy({ name, emitterId, digestKey: textOrNull(row, 'digest_key'), lineage: lineageIn(row) });
}

function hasFlag(row: Row, name: keyof typeof FLAG_BITS): boolean {
  return row.flags === undefined ? flag(row, name) : (number(row, 'flags') & FLAG_BITS[name]) !== 0;
}

export function toEmissionRecord(row: Row, { storeTag, seal }: EmissionReader): EmissionRecord {
  const entry = number(row, 'entry');
  const name = text(row, 'name');
  const body = row.body === null || row.body === undefined ? null : bytes(row, 'body');
  return {
    entry,
    emitId: emitId(storeTag, entry),
    emitterId: text(row, 'emitter_id'),
    name,
    summary: textOrNull(row, 'summary'),
    itemId: textOrNull(row, 'item_id'),
    itemTs: numberOrNull(row, 'item_ts'),
    code: textOrNull(row, 'code'),
    groupId: textOrNull(row, 'group_id'),
    ledBy: ledByIn(row),
    body: body && openBody({ entry, name, body }, seal),
  };
}

/** Reads a row with the place of the original event. */
export function toLoggedRecord(row: Row, reader: EmissionReader): LoggedRecord {
  const start = numberOrNull(row, 'original_start');
  const length = numberOrNull(row, 'original_length');
  return {
    ...toEmissionRecord(row, reader),
    original: start === null || length === null ? null : { start, length },
  };
}

/** Returns the wait of a run's row; null: it does not wait. */
export function toWait(row: Row): Wait | null {
  return row.wait_kind === null ? null : { kind: text<WaitKind>(row, 'wait_kind'), dueAtMs: number(row, 'due_at_ms') };
}

function toRunRecord(row: Row, storeTag: string): RunRecord {
  return {
    run: number(row, 'run'),
    runnableId: text(row, 'runnable_id'),
    deploymentId: text(row, 'deployment_id'),
    state: text<RunState>(row, 'state'),
    attempt: number(row, 'attempt'),
    replay: flag(row, 'replay'),
    entry: number(row, 'entry'),
    emitId: emitId(storeTag, number(row, 'entry')),
    emitterId: text(row, 'origin_id'),
    eventName: text(row, 'name'),
    ledBy: ledByIn({ ...row, emitter_id: row.origin_id, digest_key: null }),
    startedAtMs: numberOrNull(row, 'started_at_ms'),
    endedAtMs: numberOrNull(row, 'ended_at_ms'),
    summary: textOrNull(row, 'summary'),
    errorEntry: numberOrNull(row, 'error_entry'),
    errorCode: textOrNull(row, 'error_code'),
    waiting: toWait(row),
  };
}

/** Returns a run as lists show it. `error_tail`: the part of the error's body behind the original event. */
export function toListedRun(row: Row, storeTag: string): ListedRun {
  return {
    ...toRunRecord(row, storeTag),
    errorMessage: row.error_tail === null ? null : errorIn(bytes(row, 'error_tail')).msg,
    retriedBy: numberOrNull(row, 'retried_by'),
  };
}

export function toDeliveryRecord(row: Row, storeTag: string): DeliveryRecord {
  return {
    delivery: number(row, 'delivery'),
    kind: text<DeliveryKind>(row, 'kind'),
    listenerId: text(row, 'listener_id'),
    subscriptionId: textOrNull(row, 'subscription_id'),
    entry: number(row, 'entry'),
    emitId: emitId(storeTag, number(row, 'entry')),
    emitterId: text(row, 'emitter_id'),
    eventName: text(row, 'name'),
    ledBy: ledByIn(row),
    subject: row.said === null ? null : subjectIn(text(row, 'name'), bytes(row, 'said')),
    state: text<DeliveryState>(row, 'state'),
    attemptsMade: number(row, 'attempts_made'),
    nextAttemptAtMs: numberOrNull(row, 'due_at_ms'),
    dueBy: text<DueBy>(row, 'due_by'),
    endedAtMs: numberOrNull(row, 'ended_at_ms'),
    unsent: row.last_made === null ? null : whyKept(json<Pick<Attempt, 'detail'>>(row, 'last_made').detail),
  };
}

/** Returns the subject. `said`: a notice, or the beginning of a mail. */
function subjectIn(name: string, said: Uint8Array): string | null {
  return name === NOTICE ? noticeSubject(readNotice(said)) : subjectAtStart(said);
}

/** Returns the ledger. `facts`: counters by name. A counter below zero is wrong, and shown as zero until it is corrected. */
export function toLedger(facts: ReadonlyMap<string, number>): Ledger {
  const of = <S extends string>(kind: string, states: readonly S[]): Record<S, number> =>
    Object.fromEntries(states.map((state) => [state, Math.max(0, facts.get(`${kind}.${state}`) ?? 0)])) as Record<
      S,
      number
    >;
  return {
    emissions: facts.get('emissions') ?? 0,
    runs: of('runs', RUN_STATES),
    deliveries: of('deliveries', DELIVERY_STATES),
    errors: facts.get('errors') ?? 0,
  };
}

export function toDigestWindow(row: Row): DigestWindow {
  return {
    openedAtMs: number(row, 'opened_at_ms'),
    closesAtMs: number(row, 'closes_at_ms'),
    repeats: number(row, 'repeats'),
  };
}
