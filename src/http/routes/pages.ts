import type { FastifyReply } from 'fastify';
import { PUBLIC_PAGE } from '../access/access.ts';
import type { App } from '../app-type.ts';
import { htmlPage, sendHtml } from '../docs/html.ts';

/** A small page where people look first: the root, and the address in a workflow's `editor_url`. */
export function addPageRoutes(app: App): void {
  const send = (reply: FastifyReply): FastifyReply => sendHtml(reply, PAGE);
  app.get('/', { schema: PUBLIC_PAGE }, async (_request, reply) => send(reply));
  app.get('/@:owner/:workflow/edit', { schema: PUBLIC_PAGE }, async (_request, reply) => send(reply));
}

const PAGE = htmlPage(
  'Errand',
  `<main class="front"><h1>Errand</h1>
<p>Workflows that catch every error and tell a person about it.</p>
<p><a class="button" href="/docs">Read the documentation</a></p>
<p class="quiet">The service is running. It is used through its <a href="/docs">HTTP interface</a>; the document for
machines is <a href="/v1/openapi.json">/v1/openapi.json</a>.</p></main>`,
);
