// Rows of owners, keys, triggers and subscriptions, for both backends.

import type { EventFilter } from '../../domain/filter/event-filter.ts';
import type { ApiKey, Scope } from '../../domain/keys.ts';
import type { Owner, Schedule, Subscription, Trigger, Via } from '../../domain/resource.ts';
import { flag, json, number, numberIfRead, numberOrNull, text, textOrNull } from './cells.ts';
import type { Row } from './rows.ts';

export function toOwner(row: Row): Owner {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    email: textOrNull(row, 'email'),
    globalErrorWorkflowId: textOrNull(row, 'global_error_workflow_id'),
    digestWindowMs: number(row, 'digest_window_ms'),
    channelIds: json<string[]>(row, 'channel_ids'),
    deletion: toOwnerDeletion(row),
    createdAtMs: number(row, 'created_at_ms'),
    updatedAtMs: number(row, 'updated_at_ms'),
  };
}

function toOwnerDeletion(row: Row): Owner['deletion'] {
  const purgeAtMs = numberOrNull(row, 'purge_at_ms');
  if (purgeAtMs === null) return null;
  return { askedAtMs: number(row, 'deleted_at_ms'), purgeAtMs, hasBegun: row.purge !== null };
}

/** Returns until when the owner of a key or trigger can be restored, if the statement has read that and it is being deleted. */
function ownerPurgeOf(row: Row): { readonly ownerPurgeAtMs?: number } {
  const ownerPurgeAtMs = numberIfRead(row, 'owner_purge_at_ms');
  return ownerPurgeAtMs === null ? {} : { ownerPurgeAtMs };
}

export function toApiKey(row: Row): ApiKey {
  return {
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    label: text(row, 'label'),
    scopes: json<Scope[]>(row, 'scopes'),
    createdAtMs: number(row, 'created_at_ms'),
    revokedAtMs: numberOrNull(row, 'revoked_at_ms'),
    expiresAtMs: numberOrNull(row, 'expires_at_ms'),
    createdBy: textOrNull(row, 'created_by'),
    lastUsedAtMs: numberOrNull(row, 'last_used_at_ms'),
    workflowId: textOrNull(row, 'workflow_id'),
    service: textOrNull(row, 'service'),
    sessionEpoch: number(row, 'session_epoch'),
    ...ownerPurgeOf(row),
  };
}

export function toTrigger(row: Row): Trigger {
  return {
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    runnableId: text(row, 'runnable_id'),
    kind: text<Trigger['kind']>(row, 'kind'),
    createdAtMs: number(row, 'created_at_ms'),
    key: textOrNull(row, 'key'),
    customResponse: flag(row, 'custom_response'),
    tokenHash: textOrNull(row, 'token_hash'),
    schedule: row.schedule === null ? null : json<Schedule>(row, 'schedule'),
    nextAtMs: numberOrNull(row, 'next_at_ms'),
    skippedTicks: number(row, 'skipped_ticks'),
    ...ownerPurgeOf(row),
  };
}

export function toSubscription(row: Row): Subscription {
  return {
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    emitterId: text(row, 'emitter_id'),
    listenerId: text(row, 'listener_id'),
    eventName: text(row, 'event_name'),
    filter: row.filter === null ? null : json<EventFilter>(row, 'filter'),
    via: text<Exclude<Via, 'global' | 'direct' | 'channel'>>(row, 'via'),
    active: flag(row, 'active'),
    createdAtMs: number(row, 'created_at_ms'),
  };
}
