import { PUBLIC_PAGE } from '../access/access.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { sendHtml } from '../docs/html.ts';
import { found } from '../found.ts';
import type { ApiDocument } from '../openapi/document.ts';
import { operation } from '../openapi/operation.ts';
import { Type } from '../schema/type.ts';

export type BuildDocument = (publicUrl: string) => Promise<ApiDocument>;

interface Made {
  readonly document: Buffer;
  readonly page: Buffer;
}

export function addDocsRoutes(app: App, { urls }: HttpDeps, buildDocument: BuildDocument): void {
  const schema = operation({
    id: 'getOpenApi',
    tag: 'service',
    access: 'public',
    summary: 'This document',
    description: 'OpenAPI 3.1. Needs no key.',
    answer: Type.Object({ openapi: Type.String({ examples: ['3.1.0'] }) }, { additionalProperties: true }),
  });
  // Built at the first request, since a start does not need them, and once per address, since they cannot change while the process
  // runs: these routes need no key, and a thousand requests in one packet must not build them a thousand times.
  let made: { readonly url: string; readonly parts: Promise<Made> } | null = null;
  const current = (): Promise<Made> => {
    const url = urls.publicUrl();
    if (made?.url === url) return made.parts;
    const parts = make(url, buildDocument);
    const making = { url, parts };
    made = making;
    // What failed is tried again by the next request.
    parts.catch(() => {
      if (made === making) made = null;
    });
    return parts;
  };
  app.get('/v1/openapi.json', { schema }, async (_request, reply) => {
    return reply.type('application/json; charset=utf-8').send((await current()).document);
  });
  app.get('/docs', { schema: PUBLIC_PAGE }, async (_request, reply) => sendHtml(reply, (await current()).page));
  let errors: Buffer | null = null;
  app.get('/docs/errors', { schema: PUBLIC_PAGE }, async (_request, reply) => {
    errors ??= Buffer.from((await import('../docs/errors-page.ts')).errorsPage());
    return sendHtml(reply, errors);
  });
  const pages = new Map<string, Buffer>();
  app.get<{ Params: { guide: string } }>('/docs/:guide', { schema: PUBLIC_PAGE }, async (request, reply) => {
    const { guide } = request.params;
    const html = pages.get(guide) ?? found(await render(guide), 'guide', guide);
    pages.set(guide, html);
    return sendHtml(reply, html);
  });
}

async function render(guide: string): Promise<Buffer | undefined> {
  const page = await (await import('../docs/guides.ts')).guidePage(guide);
  return page === null ? undefined : Buffer.from(page);
}

async function make(url: string, buildDocument: BuildDocument): Promise<Made> {
  const [document, { docsPage }, links] = await Promise.all([
    buildDocument(url),
    import('../docs/page.ts'),
    import('../docs/guides.ts').then(({ guideLinks }) => guideLinks(null)),
  ]);
  return { document: Buffer.from(JSON.stringify(document)), page: Buffer.from(docsPage(document, links)) };
}
