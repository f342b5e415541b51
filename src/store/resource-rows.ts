// What both backends make of the rows of the configuration. Flags are booleans, or 0 and 1.

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
} from '../domain/resource.ts';
import type { Row } from './rows.ts';
import type { Seal } from './seal.ts';
import { additionalPropsPlace, runnableSettingsPlace, sourcePropsPlace, stepPropsPlace } from './sealed-columns.ts';
import { withProps } from './step-props.ts';

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
    active: Boolean(row.active),
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
