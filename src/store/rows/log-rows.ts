// What both backends make of the rows of the log. They keep the flags of an emission in ways of their own.

import { DELIVERY_STATES, type DeliveryKind, type DeliveryState, type DueBy } from '../../domain/delivery/delivery.ts';
import type { Emission, SourceType } from '../../domain/emission.ts';
import { emitId } from '../../domain/ids.ts';
import { RUN_STATES, type RunState } from '../../domain/run/run.ts';
import type { Wait, WaitKind } from '../../domain/run/wait.ts';
import type { DeliveryRecord, EmissionRecord, Ledger, RunRecord } from '../contract/records.ts';
import type { Seal } from '../seal/seal.ts';
import { openBody } from '../seal/sealed-requests.ts';
import type { Row } from './rows.ts';

/** Whether what it emits has a list. */
export function isListed(emitterId: string): boolean {
  return /^(p|dc|wh)_/.test(emitterId);
}

/** What reading an emission takes. */
export interface EmissionReader {
  readonly storeTag: string;
  readonly seal: Seal;
}

export type EmissionFlags = Pick<Emission, 'verified' | 'replay' | 'test'>;

export function emissionOf(row: Row, { storeTag, seal }: EmissionReader, flags: EmissionFlags): Emission {
  const entry = row.entry as number;
  const name = row.name as string;
  const lineage = row.lineage as string;
  return {
    entry,
    emitId: emitId(storeTag, entry),
    ownerId: row.owner_id as string,
    emitterId: row.emitter_id as string,
    name,
    body: openBody({ entry, name, body: row.body as Uint8Array }, seal),
    sourceType: row.source_type as SourceType,
    originId: row.origin_id as string,
    verified: flags.verified,
    replay: flags.replay,
    test: flags.test,
    traceId: row.trace_id as string,
    lineage: lineage === '' ? [] : lineage.split(' '),
    hops: row.hops as number,
    causeRun: row.cause_run as number | null,
    causeDelivery: row.cause_delivery as number | null,
    summary: row.summary as string | null,
    itemId: row.item_id as string | null,
    itemTs: row.item_ts as number | null,
    code: row.code as string | null,
    originalStart: row.original_start as number | null,
    originalLength: row.original_length as number | null,
    onlyListenerId: row.only_listener_id as string | null,
    digestKey: row.digest_key as string | null,
  };
}

/** What a source's emission never has: an emission that waits for its time has no columns for it. */
export const NOT_OF_SOURCES = {
  cause_delivery: null,
  code: null,
  original_start: null,
  original_length: null,
  only_listener_id: null,
  digest_key: null,
} as const;

export function toEmissionRecord(row: Row, { storeTag, seal }: EmissionReader): EmissionRecord {
  const entry = row.entry as number;
  const name = row.name as string;
  const body = (row.body as Uint8Array | null | undefined) ?? null;
  return {
    entry,
    emitId: emitId(storeTag, entry),
    emitterId: row.emitter_id as string,
    name,
    summary: row.summary as string | null,
    itemId: row.item_id as string | null,
    itemTs: row.item_ts as number | null,
    code: row.code as string | null,
    body: body && openBody({ entry, name, body }, seal),
  };
}

/** Of a run's row: what it waits for. */
export function toWait(row: Row): Wait | null {
  return row.wait_kind === null ? null : { kind: row.wait_kind as WaitKind, dueAtMs: row.due_at_ms as number };
}

export function runRecordOf(row: Row, of: { storeTag: string; replay: boolean }): RunRecord {
  return {
    run: row.run as number,
    runnableId: row.runnable_id as string,
    deploymentId: row.deployment_id as string,
    state: row.state as RunState,
    attempt: row.attempt as number,
    replay: of.replay,
    entry: row.entry as number,
    emitId: emitId(of.storeTag, row.entry as number),
    emitterId: row.origin_id as string,
    eventName: row.name as string,
    startedAtMs: row.started_at_ms as number | null,
    endedAtMs: row.ended_at_ms as number | null,
    summary: row.summary as string | null,
    errorEntry: row.error_entry as number | null,
    errorCode: row.error_code as string | null,
    waiting: toWait(row),
  };
}

export function toDeliveryRecord(row: Row, storeTag: string): DeliveryRecord {
  return {
    delivery: row.delivery as number,
    kind: row.kind as DeliveryKind,
    listenerId: row.listener_id as string,
    subscriptionId: row.subscription_id as string | null,
    entry: row.entry as number,
    emitId: emitId(storeTag, row.entry as number),
    emitterId: row.emitter_id as string,
    eventName: row.name as string,
    state: row.state as DeliveryState,
    attemptsMade: row.attempts_made as number,
    nextAttemptAtMs: row.due_at_ms as number | null,
    dueBy: row.due_by as DueBy,
    endedAtMs: row.ended_at_ms as number | null,
  };
}

/** `facts`: its counters by name. */
/** What is below zero is a counter that has gone wrong, and shown as nothing until that is put right. */
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
