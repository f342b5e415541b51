// Everything that callers may ask for, as one object.

import { type AccountDeps, createAccounts } from './accounts.ts';
import { type ConfigureDeps, createConfigure } from './configure.ts';
import { createDataStores, type DataStoreDeps } from './data-stores.ts';
import { createDirects, type DirectDeps } from './directs.ts';
import { createOperationActions, type OperationActionDeps } from './operations.ts';
import { createOwners, type OwnerDeps } from './owners.ts';
import { createResends, type ResendDeps } from './resends.ts';
import { createResumes, type ResumeDeps } from './resumes.ts';
import { createRunRetries } from './run-retries.ts';
import { createSources, type SourceDeps } from './sources.ts';
import { createSubscriptions } from './subscriptions.ts';
import { createWebhookTests, type WebhookTestDeps } from './webhook-tests.ts';
import { createWebhooks, type WebhookDeps } from './webhooks.ts';
import { createWorkflows, type WorkflowDeps } from './workflows.ts';

export type ActionDeps = WorkflowDeps &
  DirectDeps &
  ConfigureDeps &
  SourceDeps &
  WebhookDeps &
  WebhookTestDeps &
  ResendDeps &
  ResumeDeps &
  OperationActionDeps &
  AccountDeps &
  DataStoreDeps &
  OwnerDeps;

export type Actions = ReturnType<typeof createActions>;

export function createActions(deps: ActionDeps) {
  return {
    accept: deps.emit,
    ...createWorkflows(deps),
    ...createDirects(deps),
    ...createRunRetries(deps),
    ...createResumes(deps),
    ...createSources(deps),
    ...createConfigure(deps),
    ...createWebhooks(deps),
    ...createWebhookTests(deps),
    ...createResends(deps),
    ...createOperationActions(deps),
    ...createSubscriptions(deps),
    ...createOwners(deps),
    ...createAccounts(deps),
    ...createDataStores(deps),
  };
}
