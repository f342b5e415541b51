import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { ProblemError } from '../../../src/client/client.ts';
import { sessionQuery } from '../api/session.ts';
import { markSignedIn, mayBeSignedIn } from '../api/signed-in.ts';
import { errorSearch } from '../errors/search.ts';
import { noticeSearch } from '../notices/search.ts';
import { rememberWhatIsLeft } from '../parts/back.tsx';
import { LoadingPage } from '../parts/state.tsx';
import { runSearch } from '../runs/search.ts';
import { deliverySearch, webhookSearch } from '../webhooks/search.ts';
import { queryClient } from './client.ts';
import { judged } from './judged.ts';
import { laterPage } from './later.tsx';
import { Lost } from './lost.tsx';
import { Shell } from './shell.tsx';
import { PageFault } from './trouble.tsx';

const root = createRootRoute({ notFoundComponent: Lost });

/** An address of this server, to go to after signing in; anything else is the start. */
function nextOf(value: unknown): string {
  return typeof value === 'string' && /^\/(?![/\\])/.test(value) ? value : '/';
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: judged((search): { next?: string; ended?: true } => ({
    ...(search.next === undefined ? {} : { next: nextOf(search.next) }),
    ...(search.ended === true ? { ended: true } : {}),
  })),
  component: laterPage(() => import('./sign-in.tsx'), 'SignIn'),
});

/** Until it is known who looks. */
function Frame() {
  return (
    <div className="shell">
      <div className="side" />
      <main className="main">
        <div className="main-inner">
          <LoadingPage />
        </div>
      </main>
    </div>
  );
}

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  pendingComponent: Frame,
  beforeLoad: async ({ location }) => {
    const next = location.href === '/' ? {} : { next: location.href };
    if (!mayBeSignedIn()) throw redirect({ to: '/sign-in', search: next });
    try {
      await queryClient.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!(error instanceof ProblemError && error.status === 401)) throw error;
      markSignedIn(false);
      throw redirect({ to: '/sign-in', search: { ...next, ended: true } });
    }
  },
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: laterPage(() => import('../overview/overview.tsx'), 'Overview'),
});

const errors = createRoute({
  getParentRoute: () => shell,
  path: '/errors',
  validateSearch: judged(errorSearch),
  component: laterPage(() => import('../errors/inbox.tsx'), 'Inbox'),
});

const group = createRoute({
  getParentRoute: () => shell,
  path: '/errors/$groupId',
  component: laterPage(() => import('../errors/group.tsx'), 'GroupPage'),
});

const error = createRoute({
  getParentRoute: () => shell,
  path: '/errors/$groupId/$errorId',
  component: laterPage(() => import('../errors/error.tsx'), 'ErrorPage'),
});

const workflows = createRoute({
  getParentRoute: () => shell,
  path: '/workflows',
  component: laterPage(() => import('../workflows/list.tsx'), 'WorkflowList'),
});

const workflow = createRoute({
  getParentRoute: () => shell,
  path: '/workflows/$workflowId',
  component: laterPage(() => import('../workflows/workflow.tsx'), 'WorkflowPage'),
});

/** The address in a workflow's `editor_url`. */
const edit = createRoute({
  getParentRoute: () => shell,
  path: '/@{$owner}/$workflow/edit',
  component: laterPage(() => import('../workflows/workflow.tsx'), 'EditPage'),
});

const runs = createRoute({
  getParentRoute: () => shell,
  path: '/runs',
  validateSearch: judged(runSearch),
  component: laterPage(() => import('../runs/list.tsx'), 'RunList'),
});

const run = createRoute({
  getParentRoute: () => shell,
  path: '/runs/$runId',
  component: laterPage(() => import('../runs/run.tsx'), 'RunPage'),
});

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  validateSearch: judged(webhookSearch),
  component: laterPage(() => import('../webhooks/list.tsx'), 'WebhookList'),
});

const webhook = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks/$webhookId',
  component: laterPage(() => import('../webhooks/webhook.tsx'), 'WebhookPage'),
});

const deliveries = createRoute({
  getParentRoute: () => shell,
  path: '/deliveries',
  validateSearch: judged(deliverySearch),
  component: laterPage(() => import('../webhooks/deliveries.tsx'), 'DeliveryList'),
});

const delivery = createRoute({
  getParentRoute: () => shell,
  path: '/deliveries/$deliveryId',
  component: laterPage(() => import('../webhooks/delivery.tsx'), 'DeliveryPage'),
});

const anyError = createRoute({
  getParentRoute: () => shell,
  path: '/emitters/$emitterId/errors/$errorId',
  component: laterPage(() => import('../errors/any-error.tsx'), 'AnyError'),
});

const operations = createRoute({
  getParentRoute: () => shell,
  path: '/operations',
  validateSearch: judged(({ kind }): { kind?: 'replay' | 'resend' } =>
    kind === 'replay' || kind === 'resend' ? { kind } : {},
  ),
  component: laterPage(() => import('../operations/list.tsx'), 'OperationList'),
});

const newReplays = createRoute({
  getParentRoute: () => shell,
  path: '/operations/new',
  validateSearch: judged(({ group, workflow, source }): { group?: string; workflow?: string; source?: string } => ({
    ...(typeof group === 'string' ? { group } : {}),
    ...(typeof workflow === 'string' ? { workflow } : {}),
    ...(typeof source === 'string' ? { source } : {}),
  })),
  component: laterPage(() => import('../operations/new.tsx'), 'NewReplays'),
});

const operation = createRoute({
  getParentRoute: () => shell,
  path: '/operations/$operationId',
  component: laterPage(() => import('../operations/operation.tsx'), 'OperationPage'),
});

const notices = createRoute({
  getParentRoute: () => shell,
  path: '/notices',
  validateSearch: judged(noticeSearch),
  component: laterPage(() => import('../notices/notices.tsx'), 'NoticesPage'),
});

const sources = createRoute({
  getParentRoute: () => shell,
  path: '/sources',
  component: laterPage(() => import('../sources/list.tsx'), 'SourceList'),
});

const newSource = createRoute({
  getParentRoute: () => shell,
  path: '/sources/new',
  validateSearch: judged(({ component }): { component?: string } =>
    typeof component === 'string' ? { component } : {},
  ),
  component: laterPage(() => import('../sources/new.tsx'), 'NewSource'),
});

const source = createRoute({
  getParentRoute: () => shell,
  path: '/sources/$sourceId',
  component: laterPage(() => import('../sources/source.tsx'), 'SourcePage'),
});

const subscriptions = createRoute({
  getParentRoute: () => shell,
  path: '/subscriptions',
  component: laterPage(() => import('../subscriptions/subscriptions.tsx'), 'SubscriptionsPage'),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: laterPage(() => import('../settings/profile.tsx'), 'SettingsPage'),
});

const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  component: laterPage(() => import('../settings/keys.tsx'), 'KeysPage'),
});

const accounts = createRoute({
  getParentRoute: () => shell,
  path: '/accounts',
  component: laterPage(() => import('../settings/accounts.tsx'), 'AccountsPage'),
});

const dataStores = createRoute({
  getParentRoute: () => shell,
  path: '/data-stores',
  component: laterPage(() => import('../settings/data-stores.tsx'), 'DataStoresPage'),
});

const dataStore = createRoute({
  getParentRoute: () => shell,
  path: '/data-stores/$storeId',
  component: laterPage(() => import('../settings/data-store.tsx'), 'DataStorePage'),
});

const heartbeats = createRoute({
  getParentRoute: () => shell,
  path: '/heartbeats',
  component: laterPage(() => import('../settings/heartbeats.tsx'), 'HeartbeatsPage'),
});

const heartbeat = createRoute({
  getParentRoute: () => shell,
  path: '/heartbeats/$heartbeatId',
  component: laterPage(() => import('../settings/heartbeat.tsx'), 'HeartbeatPage'),
});

const pages = [
  ...[overview, errors, group, error, anyError],
  ...[workflows, workflow, edit, runs, run],
  ...[webhooks, webhook, deliveries, delivery],
  ...[operations, newReplays, operation, notices],
  ...[sources, newSource, source, subscriptions],
  ...[settings, keys, accounts, dataStores, dataStore, heartbeats, heartbeat],
] as const;
const tree = root.addChildren([signIn, shell.addChildren(pages)]);

/** As late as the outlines of parts of a page. */
const OUTLINE_MS = 200;

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingMs: OUTLINE_MS,
  defaultPendingMinMs: 0,
  defaultPendingComponent: LoadingPage,
  defaultErrorComponent: PageFault,
});
rememberWhatIsLeft(router);

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
