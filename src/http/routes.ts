// All routes, in the order in which the document shows them.

import type { App } from './app.ts';
import type { HttpDeps } from './deps.ts';
import { addAccountRoutes } from './routes/accounts.ts';
import { addCatalogueRoutes } from './routes/catalogue.ts';
import { addDataRecordRoutes } from './routes/data-records.ts';
import { addDataStoreRoutes } from './routes/data-stores.ts';
import { addDeliveryRoutes } from './routes/deliveries.ts';
import { addDeploymentRoutes } from './routes/deployments.ts';
import { addDocsRoutes } from './routes/docs.ts';
import { addErrorRoutes } from './routes/errors.ts';
import { addEventRoutes } from './routes/events.ts';
import { addHealthRoutes } from './routes/health.ts';
import { addKeyRoutes } from './routes/keys.ts';
import { addLedgerRoutes } from './routes/ledger.ts';
import { addOperationRoutes } from './routes/operations.ts';
import { addOwnerRoutes } from './routes/owners.ts';
import { addPageRoutes } from './routes/pages.ts';
import { addRunRoutes } from './routes/runs.ts';
import { addSourceFileRoutes } from './routes/source-files.ts';
import { addSourceRoutes } from './routes/sources.ts';
import { addStreamRoutes } from './routes/streams.ts';
import { addSubscriptionRoutes } from './routes/subscriptions.ts';
import { addUserRoutes } from './routes/users.ts';
import { addWebhookSecretRoutes } from './routes/webhook-secrets.ts';
import { addWebhookTestRoutes } from './routes/webhook-tests.ts';
import { addWebhookRoutes } from './routes/webhooks.ts';
import { addWorkflowFileRoutes } from './routes/workflow-files.ts';
import { addWorkflowRoutes } from './routes/workflows.ts';

export function addRoutes(app: App, deps: HttpDeps): void {
  addWorkflowRoutes(app, deps);
  addWorkflowFileRoutes(app, deps);
  addDeploymentRoutes(app, deps);
  addErrorRoutes(app, deps);
  addEventRoutes(app, deps);
  addStreamRoutes(app, deps);
  addRunRoutes(app, deps);
  addSourceRoutes(app, deps);
  addSourceFileRoutes(app, deps);
  addCatalogueRoutes(app, deps);
  addAccountRoutes(app, deps);
  addDataStoreRoutes(app, deps);
  addDataRecordRoutes(app, deps);
  addWebhookRoutes(app, deps);
  addWebhookSecretRoutes(app, deps);
  addWebhookTestRoutes(app, deps);
  addDeliveryRoutes(app, deps);
  addOperationRoutes(app, deps);
  addSubscriptionRoutes(app, deps);
  addUserRoutes(app, deps);
  addKeyRoutes(app, deps);
  addOwnerRoutes(app, deps);
  addLedgerRoutes(app, deps);
  addHealthRoutes(app, deps);
  addDocsRoutes(app, deps);
  addPageRoutes(app);
}
