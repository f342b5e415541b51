// What a start loads: time and memory of each server, also of those that never use it.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createFolder } from '../../support/folders/folder.ts';
import { spawnErrand } from '../../support/process.ts';

const PRELOADED = pathToFileURL(join(import.meta.dirname, 'loaded.mjs')).href;

/** By a part of their URLs. */
const ON_DEMAND = [
  '/node_modules/@fastify/swagger/',
  '/node_modules/@modelcontextprotocol/',
  '/node_modules/@opentelemetry/',
  '/node_modules/nodemailer/',
  '/node_modules/prom-client/',
  '/node_modules/re2js/',
  '/node_modules/undici/',
  '/src/client/',
  '/src/mcp/',
  '/src/otel/spans',
  ...(process.env.TEST_STORE === 'postgres' ? [] : ['/node_modules/postgres/', '/src/store/postgres/']),
];

test('a start loads nothing that it does not need', async () => {
  await using folder = await createFolder();
  const file = join(folder.path, 'loaded.json');
  await using server = await spawnErrand({
    ERRAND_DATA_DIR: join(folder.path, 'data'),
    NODE_OPTIONS: `--import=${PRELOADED}`,
    LOADED_FILE: file,
  });
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
  server.child.kill('SIGTERM');
  await server.exited;
  const { modules, own }: Record<string, string[]> = JSON.parse(await readFile(file, 'utf8'));
  assert.ok(
    modules?.some((url) => url.endsWith('/src/http/app.ts')),
    'it sees what is loaded',
  );
  assert.deepEqual(
    ON_DEMAND.filter((part) => modules?.some((url) => url.includes(part))),
    [],
  );
  assert.ok(own?.includes('http'), 'it sees what Node loads');
  assert.ok(!own?.includes('internal/deps/undici/undici'), 'by an import of node:http');
});
