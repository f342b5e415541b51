import type { FastifyReply, FastifyRequest } from 'fastify';
import { PUBLIC_PAGE } from '../access/access.ts';
import type { App } from '../app-type.ts';
import { openDashboard } from '../dashboard/built.ts';
import { sendAsset, sendIndex } from '../dashboard/send-built.ts';
import type { HttpDeps } from '../deps.ts';
import { htmlPage, sendHtml } from '../docs/html.ts';
import { notFound } from '../found.ts';

const NOUNS = [
  ...['errors', 'workflows', 'runs', 'sources', 'webhooks', 'deliveries', 'operations'],
  ...['data-stores', 'heartbeats'],
];

/** The addresses of the dashboard: the page itself finds out which part is meant. A workflow's `editor_url` is one of them. */
const PAGES = [
  '/',
  '/@:owner/:workflow/edit',
  '/sign-in',
  ...NOUNS.flatMap((noun) => [`/${noun}`, `/${noun}/:id`]),
  '/errors/:group/:id',
  '/emitters/:emitter/errors/:id',
  ...['subscriptions', 'notices', 'accounts', 'keys', 'settings'].map((noun) => `/${noun}`),
];

/** Adds the dashboard; where it has not been built, a small page in its place. */
export function addPageRoutes(app: App, { dashboard = openDashboard() }: Pick<HttpDeps, 'dashboard'>): void {
  const send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const index = await dashboard?.index();
    return index ? sendIndex(request, reply, index) : sendHtml(reply, SMALL_PAGE);
  };
  for (const path of PAGES) app.get(path, { schema: PUBLIC_PAGE }, send);
  app.get<{ Params: { name: string } }>('/assets/:name', { schema: PUBLIC_PAGE }, async (request, reply) => {
    const file = await dashboard?.asset(request.params.name);
    if (!file) throw notFound('file', request.params.name);
    return sendAsset(request, reply, file);
  });
}

const SMALL_PAGE = htmlPage(
  'Errand',
  `<main class="front"><h1>Errand</h1>
<p>Workflows that catch every error and tell a person about it.</p>
<p><a class="button" href="/docs">Read the documentation</a></p>
<p class="quiet">The service is running. It is used through its <a href="/docs">HTTP API</a>; the document for
machines is <a href="/v1/openapi.json">/v1/openapi.json</a>.</p>
<p class="quiet">The dashboard is not here, since it has not been built: <code>npm run build</code> builds it.</p></main>`,
);
