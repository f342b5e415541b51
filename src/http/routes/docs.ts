import { PUBLIC_PAGE } from '../access/access.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { errorsPage } from '../docs/errors-page.ts';
import { sendHtml } from '../docs/html.ts';
import { docsPage } from '../docs/page.ts';
import { documentOf } from '../openapi/document.ts';
import { operation } from '../openapi/operation.ts';
import { Type } from '../schema/type.ts';

export function addDocsRoutes(app: App, { urls }: HttpDeps): void {
  const schema = operation({
    id: 'getOpenApi',
    tag: 'service',
    access: 'public',
    summary: 'This document',
    description: 'OpenAPI 3.1. Needs no key.',
    answer: Type.Object({ openapi: Type.String({ examples: ['3.1.0'] }) }, { additionalProperties: true }),
  });
  // Built once per address, since they cannot change while the process runs: these routes need no key, and a thousand requests
  // in one packet must not build them, or hold them in memory, a thousand times.
  let made: { url: string; document: Buffer; page: Buffer } | null = null;
  const current = () => {
    const url = urls.publicUrl();
    if (made?.url === url) return made;
    const document = documentOf(app, url);
    made = { url, document: Buffer.from(JSON.stringify(document)), page: Buffer.from(docsPage(document)) };
    return made;
  };
  app.get('/v1/openapi.json', { schema }, async (_request, reply) => {
    return reply.type('application/json; charset=utf-8').send(current().document);
  });
  app.get('/docs', { schema: PUBLIC_PAGE }, async (_request, reply) => sendHtml(reply, current().page));
  const errors = Buffer.from(errorsPage());
  app.get('/docs/errors', { schema: PUBLIC_PAGE }, async (_request, reply) => sendHtml(reply, errors));
}
