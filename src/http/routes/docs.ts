import type { FastifyReply } from 'fastify';
import { PUBLIC_PAGE } from '../access/access.ts';
import type { App } from '../app-type.ts';
import { type BuiltFile, openDashboard } from '../dashboard/built.ts';
import { builtOf, send } from '../dashboard/send-built.ts';
import type { HttpDeps } from '../deps.ts';
import type { Contents } from '../docs/frame.ts';
import { DOCS_HEADERS } from '../docs/html.ts';
import { found } from '../found.ts';
import type { ApiDocument } from '../openapi/document.ts';
import { operation } from '../openapi/operation.ts';
import { Type } from '../schema/type.ts';

export type BuildDocument = (publicUrl: string) => Promise<ApiDocument>;

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
/** A picture runs nothing, and has its colours in a style of its own. */
const PICTURE_HEADERS = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" };

export function addDocsRoutes(
  app: App,
  { urls, dashboard = openDashboard() }: Pick<HttpDeps, 'urls' | 'dashboard'>,
  buildDocument: BuildDocument,
): void {
  const schema = operation({
    id: 'getOpenApi',
    tag: 'service',
    access: 'public',
    summary: 'Read this document',
    description: 'OpenAPI 3.1. Needs no key.',
    answer: Type.Object(
      { openapi: Type.String({ description: 'Version of OpenAPI.', examples: ['3.1.0'] }) },
      { additionalProperties: true },
    ),
  });
  // Built at the first request, since a start does not need them, and once per address, since they cannot change while the process
  // runs: these routes need no key, and a thousand requests in one packet must not build them a thousand times.
  const kept = new Map<string, Promise<BuiltFile | null>>();
  let address = '';
  const current = (name: string, make: () => Promise<BuiltFile | null>): Promise<BuiltFile | null> => {
    if (address !== urls.publicUrl()) kept.clear();
    address = urls.publicUrl();
    const known = kept.get(name);
    if (known !== undefined) return known;
    const made = make();
    kept.set(name, made);
    // What failed, or is not there, is not kept: names are endless.
    const forget = (): void => {
      if (kept.get(name) === made) kept.delete(name);
    };
    made.then((file) => file ?? forget(), forget);
    return made;
  };
  let built: { readonly url: string; readonly document: Promise<ApiDocument> } | null = null;
  const documentOf = (): Promise<ApiDocument> => {
    const url = urls.publicUrl();
    if (built?.url !== url) {
      const document = buildDocument(url);
      const making = { url, document };
      built = making;
      document.catch(() => {
        if (built === making) built = null;
      });
    }
    return built.document;
  };
  const contents = async (): Promise<Contents> => {
    const [{ guideGroups }, script] = await Promise.all([
      import('../docs/guides.ts'),
      dashboard === null ? null : dashboard.docsScript(),
    ]);
    return { groups: await guideGroups(), script };
  };

  app.get('/v1/openapi.json', { schema }, async (request, reply) => {
    const file = await current('openapi', async () => builtOf(JSON.stringify(await documentOf()), JSON_TYPE));
    return send(request, reply, found(file ?? undefined, 'document', 'openapi.json'));
  });
  app.get('/docs', { schema: PUBLIC_PAGE }, async (request, reply) => {
    const file = await current('reference', async () => {
      const { referencePage } = await import('../docs/page.ts');
      return builtOf(referencePage(await documentOf(), await contents()), HTML);
    });
    return send(request, asPage(reply), found(file ?? undefined, 'page', 'docs'));
  });
  app.get('/docs/errors', { schema: PUBLIC_PAGE }, async (request, reply) => {
    const file = await current('errors', async () => {
      const { errorsPage } = await import('../docs/errors-page.ts');
      return builtOf(errorsPage(await contents()), HTML);
    });
    return send(request, asPage(reply), found(file ?? undefined, 'page', 'errors'));
  });
  app.get('/docs/search.json', { schema: PUBLIC_PAGE }, async (request, reply) => {
    const file = await current('search', async () => {
      const { searchIndexOf } = await import('../docs/search-index.ts');
      return builtOf(JSON.stringify(await searchIndexOf(await documentOf())), JSON_TYPE);
    });
    return send(request, reply.header('cache-control', 'no-cache'), found(file ?? undefined, 'index', 'search.json'));
  });
  app.get<{ Params: { name: string } }>('/docs/pictures/:name', { schema: PUBLIC_PAGE }, async (request, reply) => {
    const { name } = request.params;
    const file = await current(`picture ${name}`, async () => {
      const { readPicture } = await import('../docs/guides.ts');
      const picture = await readPicture(name);
      return picture && builtOf(picture, 'image/svg+xml');
    });
    return send(request, reply.headers(PICTURE_HEADERS), found(file ?? undefined, 'picture', name));
  });
  app.get<{ Params: { guide: string } }>('/docs/:guide', { schema: PUBLIC_PAGE }, async (request, reply) => {
    const { guide } = request.params;
    const file = await current(`guide ${guide}`, async () => {
      const { guidePage } = await import('../docs/guides.ts');
      const page = await guidePage(guide, await contents());
      return page === null ? null : builtOf(page, HTML);
    });
    return send(request, asPage(reply), found(file ?? undefined, 'guide', guide));
  });
}

function asPage(reply: FastifyReply): FastifyReply {
  return reply.headers(DOCS_HEADERS);
}
