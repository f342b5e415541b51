// All verbs of the configuration, for either database.

import type { AuditStore } from '../contract/audit.ts';
import type { ChannelStore, NoticeStore } from '../contract/channels.ts';
import type { AccountStore, DataStoreStore } from '../contract/data.ts';
import type { DeploymentStore } from '../contract/deployments.ts';
import type { ErrorGroupStore } from '../contract/error-groups.ts';
import type { OperationStore } from '../contract/operations.ts';
import type { OwnerDeletionStore } from '../contract/owner-deletions.ts';
import type { QuotaStore } from '../contract/quotas.ts';
import type { RedactionStore } from '../contract/redaction.ts';
import type {
  OwnerStore,
  ResourceStore,
  SourceStore,
  SubscriptionStore,
  TriggerStore,
  WebhookStore,
  WorkflowStore,
} from '../contract/resources.ts';
import type { SourceChangeStore } from '../contract/source-changes.ts';
import type { DeliveryStore, TimeStore } from '../contract/store.ts';
import type { WatchStore } from '../contract/watches.ts';
import { accountVerbs } from './accounts.ts';
import { auditVerbs } from './audit.ts';
import { clockVerbs } from './clock/clock-jumps.ts';
import type { ConfigCore } from './config-database.ts';
import { dataStoreVerbs } from './data-stores.ts';
import { ownerDeletionVerbs } from './deletion/owner-deletions.ts';
import { deliveryVerbs } from './deliveries.ts';
import { deploymentVerbs } from './deployments.ts';
import { errorGroupVerbs } from './error-groups.ts';
import { channelVerbs } from './notices/channels.ts';
import { noticeVerbs } from './notices/notices.ts';
import { operationVerbs } from './operations.ts';
import { ownerVerbs } from './owners.ts';
import { quotaVerbs } from './quotas.ts';
import { redactionVerbs } from './redaction.ts';
import { sourceChangeVerbs } from './source-changes.ts';
import { sourceVerbs } from './sources.ts';
import { subscriptionVerbs } from './subscriptions.ts';
import { triggerVerbs } from './triggers.ts';
import { heartbeatVerbs } from './watch/heartbeats.ts';
import { watchVerbs } from './watch/watches.ts';
import { webhookVerbs } from './webhooks.ts';
import { workflowVerbs } from './workflows.ts';

export type ConfigStore = OwnerStore &
  QuotaStore &
  RedactionStore &
  WorkflowStore &
  DeploymentStore &
  SourceStore &
  SourceChangeStore &
  TriggerStore &
  WebhookStore &
  SubscriptionStore &
  Omit<OperationStore, 'previewReplay' | 'nextReplays' | 'countReplayed'> &
  ErrorGroupStore &
  Pick<DeliveryStore, 'listDeliveries' | 'getDelivery' | 'resendDelivery'> &
  AccountStore &
  ChannelStore &
  NoticeStore &
  DataStoreStore &
  AuditStore &
  WatchStore &
  Pick<TimeStore, 'followClock'> &
  Pick<ResourceStore, 'exists'> &
  Omit<OwnerDeletionStore, 'readEmissions'>;

export function configVerbs(core: ConfigCore): ConfigStore {
  return {
    ...ownerVerbs(core),
    ...ownerDeletionVerbs(core),
    ...quotaVerbs(core),
    ...redactionVerbs(core),
    ...workflowVerbs(core),
    ...deploymentVerbs(core),
    ...sourceVerbs(core),
    ...sourceChangeVerbs(core),
    ...triggerVerbs(core),
    ...webhookVerbs(core),
    ...subscriptionVerbs(core),
    ...deliveryVerbs(core),
    ...operationVerbs(core),
    ...errorGroupVerbs(core),
    ...accountVerbs(core),
    ...channelVerbs(core),
    ...noticeVerbs(core),
    ...dataStoreVerbs(core),
    ...auditVerbs(core),
    ...clockVerbs(core),
    ...watchVerbs(core),
    ...heartbeatVerbs(core),
  };
}
