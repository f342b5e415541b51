// Rows to records.

import type { DeliveryKind, DeliveryState, DueBy } from '../../domain/delivery.ts';
import type { Emission, SourceType } from '../../domain/emission.ts';
import { emitId } from '../../domain/ids.ts';
import {
  type ApiKey,
  DEFAULT_SETTINGS,
  DEFAULT_WEBHOOK_SETTINGS,
  type Dedupe,
  type Deployment,
  type Owner,
  type Schedule,
  type Scope,
  type Settings,
  type SigningSecret,
  type Source,
  type Step,
  type Subscription,
  type Trigger,
  type Via,
  type Webhook,
  type WebhookSettings,
  type Workflow,
} from '../../domain/resource.ts';
import type { RunState } from '../../domain/run.ts';
import type { WaitKind } from '../../domain/waiting.ts';
import type { DeliveryRecord, EmissionRecord, RunRecord } from '../records.ts';
import type { Seal } from '../seal.ts';
import { additionalPropsPlace, runnableSettingsPlace, sourcePropsPlace, stepPropsPlace } from '../sealed-columns.ts';
import { openBody } from '../sealed-requests.ts';
import { withProps } from '../step-props.ts';
import type { Row } from './database.ts';

const VERIFIED = 1;
const REPLAY = 2;
const TEST = 4;
const LISTED = 8;

/** Whether what it emits has a list. */
export function isListed(emitterId: string): boolean {
  return /^(p|dc|wh)_/.test(emitterId);
}

export function flagsOf(emission: { verified: boolean; replay: boolean; test: boolean; emitterId: string }): number {
  return (
    (emission.verified ? VERIFIED : 0) |
    (emission.replay ? REPLAY : 0) |
    (emission.test ? TEST : 0) |
    (isListed(emission.emitterId) ? LISTED : 0)
  );
}

/** What reading an emission takes. */
export interface EmissionReader {
  readonly storeTag: string;
  readonly seal: Seal;
}

export function toEmission(row: Row, { storeTag, seal }: EmissionReader): Emission {
  const flags = row.flags as number;
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
    verified: (flags & VERIFIED) !== 0,
    replay: (flags & REPLAY) !== 0,
    test: (flags & TEST) !== 0,
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

export function toRunRecord(row: Row, storeTag: string): RunRecord {
  return {
    run: row.run as number,
    runnableId: row.runnable_id as string,
    deploymentId: row.deployment_id as string,
    state: row.state as RunState,
    attempt: row.attempt as number,
    replay: ((row.flags as number) & REPLAY) !== 0,
    entry: row.entry as number,
    emitId: emitId(storeTag, row.entry as number),
    emitterId: row.origin_id as string,
    eventName: row.name as string,
    startedAtMs: row.started_at_ms as number | null,
    endedAtMs: row.ended_at_ms as number | null,
    summary: row.summary as string | null,
    errorEntry: row.error_entry as number | null,
    errorCode: row.error_code as string | null,
    waiting: row.wait_kind === null ? null : { kind: row.wait_kind as WaitKind, dueAtMs: row.due_at_ms as number },
  };
}

/** Of `deliveries JOIN emissions`. */
export const DELIVERY_COLUMNS = `delivery, deliveries.kind, listener_id, subscription_id, entry, emitter_id, emissions.name,
  state, attempts_made, due_at_ms, due_by, ended_at_ms`;

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
    active: row.active === 1,
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
    customResponse: row.custom_response === 1,
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
    active: row.active === 1,
    createdAtMs: row.created_at_ms as number,
  };
}

export function toWebhook(row: Row, seal: Seal): Webhook {
  const id = row.id as string;
  const secrets = JSON.parse(seal.open(row.secrets as string, secretsPlace(id))) as (string | SigningSecret)[];
  const settings =
    row.settings === null ? {} : (JSON.parse(seal.open(row.settings as string, settingsPlace(id))) as object);
  return {
    id,
    ownerId: row.owner_id as string,
    url: row.url as string,
    name: row.name as string | null,
    description: row.description as string | null,
    active: row.active === 1,
    settings: { ...DEFAULT_WEBHOOK_SETTINGS, ...(settings as Partial<WebhookSettings>) },
    secrets: secrets.map(toSecret),
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

/** Version 1 kept the secrets alone. */
function toSecret(kept: string | SigningSecret): SigningSecret {
  return typeof kept === 'string' ? { secret: kept, publicKey: null, untilMs: null } : kept;
}

/** The columns that hold secrets, as they are kept. */
export function sealedOf({ id, secrets, settings }: Webhook, seal: Seal): { secrets: string; settings: string } {
  return {
    secrets: seal.seal(JSON.stringify(secrets), secretsPlace(id)),
    settings: seal.seal(JSON.stringify(settings), settingsPlace(id)),
  };
}

const secretsPlace = (id: string): string => `webhook secrets ${id}`;
const settingsPlace = (id: string): string => `webhook settings ${id}`;
