// All routes, in the order of the document.

import type { AuditLog } from './access/audit-log.ts';
import type { App } from './app-type.ts';
import type { HttpDeps } from './deps.ts';
import { addAccountRoutes } from './routes/accounts.ts';
import { addAuditRoutes } from './routes/admin/audit.ts';
import { addKeyRoutes } from './routes/admin/keys.ts';
import { addOwnerRoutes } from './routes/admin/owners.ts';
import { addQuotaRoutes } from './routes/admin/quotas.ts';
import { addSessionRoutes } from './routes/admin/session.ts';
import { addUserRoutes } from './routes/admin/users.ts';
import { addCatalogueRoutes } from './routes/catalogue.ts';
import { addComponentRoutes } from './routes/components.ts';
import { addDataRecordRoutes } from './routes/data-records.ts';
import { addDataStoreRoutes } from './routes/data-stores.ts';
import { addDeploymentRoutes } from './routes/deployments.ts';
import { addDocsRoutes, type BuildDocument } from './routes/docs.ts';
import { addHealthRoutes } from './routes/health.ts';
import { addHeartbeatRoutes } from './routes/heartbeats.ts';
import { addDeliveryRoutes } from './routes/log/deliveries.ts';
import { addErrorExportRoutes } from './routes/log/error-export.ts';
import { addErrorFixtureRoute } from './routes/log/error-fixture.ts';
import { addErrorGroupRoutes } from './routes/log/error-groups.ts';
import { addErrorStreamRoute } from './routes/log/error-stream.ts';
import { addErrorRoutes } from './routes/log/errors.ts';
import { addEventRoutes } from './routes/log/events.ts';
import { addLedgerRoutes } from './routes/log/ledger.ts';
import { addOperationRoutes } from './routes/log/operations.ts';
import { addReplayRoutes } from './routes/log/replays.ts';
import { addReportRoutes } from './routes/log/reports.ts';
import { addRunRoutes } from './routes/log/runs.ts';
import { addSearchRoutes } from './routes/log/searches.ts';
import { addStreamRoutes } from './routes/log/streams.ts';
import { addPageRoutes } from './routes/pages.ts';
import { addSourceFileRoutes } from './routes/source-files.ts';
import { addSourceRoutes } from './routes/sources.ts';
import { addSubscriptionRoutes } from './routes/subscriptions.ts';
import { addWebhookSecretRoutes } from './routes/webhook-secrets.ts';
import { addWebhookTestRoutes } from './routes/webhook-tests.ts';
import { addWebhookRoutes } from './routes/webhooks.ts';
import { addWorkflowFileRoutes } from './routes/workflow-files.ts';
import { addWorkflowRoutes } from './routes/workflows.ts';

export interface RouteParts {
  readonly log: AuditLog;
  readonly buildDocument: BuildDocument;
}

export function addRoutes(app: App, deps: HttpDeps, { log, buildDocument }: RouteParts): void {
  addWorkflowRoutes(app, deps);
  addWorkflowFileRoutes(app, deps);
  addDeploymentRoutes(app, deps);
  addSearchRoutes(app, deps);
  addErrorRoutes(app, deps);
  addErrorGroupRoutes(app, deps);
  addErrorStreamRoute(app, deps);
  addErrorExportRoutes(app, deps);
  addErrorFixtureRoute(app, deps);
  addReportRoutes(app, deps, log);
  addEventRoutes(app, deps);
  addStreamRoutes(app, deps);
  addRunRoutes(app, deps);
  addSourceRoutes(app, deps);
  addSourceFileRoutes(app, deps);
  addCatalogueRoutes(app, deps);
  addComponentRoutes(app, deps);
  addAccountRoutes(app, deps);
  addDataStoreRoutes(app, deps);
  addDataRecordRoutes(app, deps);
  addWebhookRoutes(app, deps);
  addWebhookSecretRoutes(app, deps);
  addWebhookTestRoutes(app, deps);
  addHeartbeatRoutes(app, deps);
  addDeliveryRoutes(app, deps);
  addOperationRoutes(app, deps);
  addReplayRoutes(app, deps);
  addSubscriptionRoutes(app, deps);
  addUserRoutes(app, deps);
  addKeyRoutes(app, deps);
  addSessionRoutes(app, deps);
  addOwnerRoutes(app, deps);
  addQuotaRoutes(app, deps);
  addAuditRoutes(app, deps, log);
  addLedgerRoutes(app, deps);
  addHealthRoutes(app, deps);
  addDocsRoutes(app, deps, buildDocument);
  addPageRoutes(app, deps);
}
