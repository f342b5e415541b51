import { Type } from 'typebox';
import { PUBLIC_PAGE } from '../access.ts';
import type { App } from '../app.ts';
import type { HttpDeps } from '../deps.ts';
import { errorsPage } from '../docs/errors-page.ts';
import { sendHtml } from '../docs/html.ts';
import { docsPage } from '../docs/page.ts';
import { documentOf } from '../document.ts';
import { operation } from '../operation.ts';

export function addDocsRoutes(app: App, { publicUrl }: HttpDeps): void {
  const schema = operation({
    id: 'getOpenApi',
    tag: 'service',
    access: 'public',
    summary: 'This document',
    description: 'OpenAPI 3.1. Needs no key.',
    answer: Type.Object({ openapi: Type.String({ examples: ['3.1.0'] }) }, { additionalProperties: true }),
  });
  app.get('/v1/openapi.json', { schema }, async () => documentOf(app, publicUrl()));

  // Rendered once per address: the document cannot change while the process runs.
  let rendered: { url: string; page: string } | null = null;
  app.get('/docs', { schema: PUBLIC_PAGE }, async (_request, reply) => {
    const url = publicUrl();
    if (rendered?.url !== url) rendered = { url, page: docsPage(documentOf(app, url)) };
    return sendHtml(reply, rendered.page);
  });
  app.get('/docs/errors', { schema: PUBLIC_PAGE }, async (_request, reply) => sendHtml(reply, errorsPage()));
}
