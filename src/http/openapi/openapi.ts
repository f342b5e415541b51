// Writes docs/openapi.json; with `--check` compares instead, and exits 1 when the file is not what the routes say.

import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import swagger from '@fastify/swagger';
import { AuditLog } from '../access/audit-log.ts';
import { createApp } from '../app.ts';
import { createBodyMemory } from '../body/body-memory.ts';
import type { HttpDeps } from '../deps.ts';
import { type ApiDocument, documentOf } from './document.ts';
import { openApiOptions } from './openapi-options.ts';

const FILE = fileURLToPath(new URL('../../../docs/openapi.json', import.meta.url));
const PUBLIC_URL = 'http://127.0.0.1:4400';

/**
 * Builds the document without a service: routes use their dependencies only when a request comes. The service, too, builds it from
 * an app of its own, at the first request, since collecting all routes' schemas would slow each start and stay in memory.
 */
export async function buildDocument(publicUrl = PUBLIC_URL): Promise<ApiDocument> {
  const deps = {} as HttpDeps;
  const app = await createApp(deps, {
    serverFactory: (handler) => createServer(handler),
    clientErrorHandler: () => {},
    nextRequestId: () => '',
    bodyMemory: createBodyMemory({ maxBytes: 0, maxOwnerBytes: 0 }),
    auditLog: new AuditLog(deps),
    buildDocument,
    beforeRoutes: async (app) => {
      await app.register(swagger, openApiOptions());
    },
  });
  await app.ready();
  const document = documentOf(app, publicUrl);
  await app.close();
  return document;
}

async function main(): Promise<void> {
  const text = `${JSON.stringify(await buildDocument(), null, 2)}\n`;
  if (!process.argv.includes('--check')) return writeFile(FILE, text);
  const committed = await readFile(FILE, 'utf8').catch(() => '');
  if (committed === text) return;
  console.error('docs/openapi.json is not what the routes say; run `npm run generate`');
  process.exitCode = 1;
}

if (import.meta.main) await main();
