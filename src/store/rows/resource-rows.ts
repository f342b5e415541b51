// What both backends make of the rows of owners, keys, triggers and subscriptions. Flags are booleans, or 0 and 1.

import type { ApiKey, Scope } from '../../domain/keys.ts';
import type { Owner, Schedule, Subscription, Trigger, Via } from '../../domain/resource.ts';
import type { Row } from './rows.ts';

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
    expiresAtMs: row.expires_at_ms as number | null,
    createdBy: row.created_by as string | null,
    lastUsedAtMs: row.last_used_at_ms as number | null,
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
    customResponse: Boolean(row.custom_response),
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
    active: Boolean(row.active),
    createdAtMs: row.created_at_ms as number,
  };
}
