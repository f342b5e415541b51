// Rows to records.

import type { DeliveryKind, DeliveryState, DueBy } from '../../domain/delivery.ts';
import type { Emission, SourceType } from '../../domain/emission.ts';
import { emitId } from '../../domain/ids.ts';
import {
  type ApiKey,
  DEFAULT_SETTINGS,
  type Dedupe,
  type Deployment,
  type Owner,
  type Schedule,
  type Scope,
  type Settings,
  type Source,
  type Step,
  type Subscription,
  type Trigger,
  type Via,
  type Workflow,
} from '../../domain/resource.ts';
import type { RunState } from '../../domain/run.ts';
import type { Wait, WaitKind } from '../../domain/waiting.ts';
import type { DeliveryRecord, EmissionRecord, RunRecord } from '../records.ts';
import type { Seal } from '../seal.ts';
import { additionalPropsPlace, runnableSettingsPlace, sourcePropsPlace, stepPropsPlace } from '../sealed-columns.ts';
import { openBody } from '../sealed-requests.ts';
import { withProps } from '../step-props.ts';
import type { Row } from './values.ts';

/** Whether what it emits has a list. */
export function isListed(emitterId: string): boolean {
  return /^(p|dc|wh)_/.test(emitterId);
}

/** What reading an emission takes. */
export interface EmissionReader {
  readonly storeTag: string;
  readonly seal: Seal;
}

export function toEmission(row: Row, { storeTag, seal }: EmissionReader): Emission {
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
    verified: row.verified as boolean,
    replay: row.replay as boolean,
    test: row.test as boolean,
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

export function toRunRecord(row: Row, storeTag: string): RunRecord {
  return {
    run: row.run as number,
    runnableId: row.runnable_id as string,
    deploymentId: row.deployment_id as string,
    state: row.state as RunState,
    attempt: row.attempt as number,
    replay: row.replay as boolean,
    entry: row.entry as number,
    emitId: emitId(storeTag, row.entry as number),
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

export function toOwner(row: Row): Owner {
  return {
    id: row.id as string,
    name: row.name as string,
    email: row.email as string | null,
    globalErrorWorkflowId: row.global_error_workflow_id as string | null,
    digestWindowMs: row.digest_window_ms as number,
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

export function toApiKey(row: Row): ApiKey {
  return {
    id: row.id as string,
    ownerId: row.owner_id as string,
    label: row.label as string,
    scopes: JSON.parse(row.scopes as string) as Scope[],
    createdAtMs: row.created_at_ms as number,
    revokedAtMs: row.revoked_at_ms as number | null,
  };
}

export function toWorkflow(row: Row, seal: Seal): Workflow {
  const id = row.id as string;
  return {
    id,
    ownerId: row.owner_id as string,
    name: row.name as string,
    active: row.active as boolean,
    deploymentId: row.deployment_id as string,
    settings: {
      ...DEFAULT_SETTINGS,
      ...(JSON.parse(seal.open(row.settings as string, runnableSettingsPlace(id))) as Partial<Settings>),
    },
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

export function toSource(row: Row, seal: Seal): Source {
  const props = seal.open(row.configured_props as string, sourcePropsPlace(row.id as string));
  const additional = row.additional_props as string | null;
  return {
    ...toWorkflow(row, seal),
    componentCode: row.component_code as string,
    configuredProps: JSON.parse(props) as Record<string, unknown>,
    additionalProps:
      additional === null ? {} : JSON.parse(seal.open(additional, additionalPropsPlace(row.id as string))),
    dedupe: row.dedupe as Dedupe | null,
    secretProps: JSON.parse(row.secret_props as string) as string[],
  };
}

export function toDeployment(row: Row, seal: Seal): Deployment {
  const steps = JSON.parse(row.steps as string) as Step[];
  const sealed = row.step_props as string | null;
  const props = sealed === null ? null : seal.open(sealed, stepPropsPlace(row.id as string));
  return {
    id: row.id as string,
    ownerId: row.owner_id as string,
    runnableId: row.runnable_id as string,
    steps: props === null ? steps : withProps(steps, props),
    createdAtMs: row.created_at_ms as number,
  };
}

export function toTrigger(row: Row): Trigger {
  return {
    id: row.id as string,
    ownerId: row.owner_id as string,
    runnableId: row.runnable_id as string,
    kind: row.kind as 'http' | 'schedule',
    createdAtMs: row.created_at_ms as number,
    key: row.key as string | null,
    customResponse: row.custom_response as boolean,
    tokenHash: row.token_hash as string | null,
    schedule: row.schedule === null ? null : (JSON.parse(row.schedule as string) as Schedule),
    nextAtMs: row.next_at_ms as number | null,
    skippedTicks: row.skipped_ticks as number,
  };
}

export function toSubscription(row: Row): Subscription {
  return {
    id: row.id as string,
    ownerId: row.owner_id as string,
    emitterId: row.emitter_id as string,
    listenerId: row.listener_id as string,
    eventName: row.event_name as string,
    via: row.via as Exclude<Via, 'global' | 'direct'>,
    active: row.active as boolean,
    createdAtMs: row.created_at_ms as number,
  };
}
