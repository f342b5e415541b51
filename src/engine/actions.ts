// Everything that callers may ask for, as one object.

import { createReports, type ReportDeps } from './accept/reports.ts';
import { type CheckDeps, createComponentChecks } from './components/check.ts';
import { type ConfigureDeps, createConfigure } from './components/configure.ts';
import { createOperationActions, type OperationActionDeps } from './deliveries/operations.ts';
import { createResends, type ResendDeps } from './deliveries/resends.ts';
import { createWebhookTests, type WebhookTestDeps } from './deliveries/webhook-tests.ts';
import { type ChannelTestDeps, createChannelTests } from './notices/channel-tests.ts';
import { type ChannelDeps, createChannels } from './notices/channels.ts';
import { createGroups, type GroupDeps } from './notices/groups.ts';
import { createLinkActions, type LinkDeps } from './notices/links.ts';
import { type AccountDeps, createAccounts } from './resources/accounts.ts';
import { createDataStores, type DataStoreDeps } from './resources/data-stores.ts';
import { createHeartbeats, type HeartbeatDeps } from './resources/heartbeats.ts';
import { createOwnerDeletions, type OwnerDeletionDeps } from './resources/owner-deletions.ts';
import { createOwners, type OwnerDeps } from './resources/owners.ts';
import { createSubscriptions } from './resources/subscriptions.ts';
import { createWebhooks, type WebhookDeps } from './resources/webhooks.ts';
import { createWorkflows, type WorkflowDeps } from './resources/workflows.ts';
import { createDifferences, type DifferenceDeps } from './runs/differences.ts';
import { createManualRuns, type ManualRunDeps } from './runs/manual-runs.ts';
import { createReplays, type ReplayActionDeps } from './runs/replays.ts';
import { createResumes, type ResumeDeps } from './runs/resumes.ts';
import { createRunRetries } from './runs/run-retries.ts';
import { createSources, type SourceDeps } from './sources/sources.ts';

export type ActionDeps = WorkflowDeps &
  ManualRunDeps &
  ReportDeps &
  ConfigureDeps &
  CheckDeps &
  SourceDeps &
  WebhookDeps &
  WebhookTestDeps &
  ResendDeps &
  ResumeDeps &
  OperationActionDeps &
  ReplayActionDeps &
  DifferenceDeps &
  AccountDeps &
  ChannelDeps &
  ChannelTestDeps &
  GroupDeps &
  LinkDeps &
  DataStoreDeps &
  HeartbeatDeps &
  OwnerDeps &
  OwnerDeletionDeps;

export type Actions = ReturnType<typeof createActions>;

export function createActions(deps: ActionDeps) {
  const manualRuns = createManualRuns(deps);
  const groups = createGroups(deps);
  return {
    accept: deps.emit,
    ...createWorkflows(deps),
    ...manualRuns,
    ...createReports(deps),
    ...createRunRetries(deps),
    ...createReplays(deps),
    ...createDifferences(deps),
    ...createResumes(deps),
    ...createSources(deps),
    ...createConfigure(deps),
    ...createComponentChecks(deps),
    ...createWebhooks(deps),
    ...createWebhookTests(deps),
    ...createResends(deps),
    ...createOperationActions(deps),
    ...createSubscriptions(deps),
    ...createOwners(deps),
    ...createOwnerDeletions(deps),
    ...createAccounts(deps),
    ...createChannels(deps),
    ...createChannelTests(deps),
    ...groups,
    ...createLinkActions(deps, { ...groups, replay: manualRuns.replay }),
    ...createDataStores(deps),
    ...createHeartbeats(deps),
  };
}
