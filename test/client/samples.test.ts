// The samples of the documentation, as their readers use them: copied whole, in three languages, against a real server.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { operationsOf } from '../../src/http/docs/page.ts';
import { sampleOf } from '../../src/http/docs/samples/request.ts';
import { type Sample, samplesOf } from '../../src/http/docs/samples/samples.ts';
import type { ApiDocument } from '../../src/http/openapi/document.ts';
import { buildDocument } from '../../src/http/openapi/openapi.ts';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { programOf } from '../support/programs.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXTENSIONS = { curl: 'sh', TypeScript: 'ts', Python: 'py' } as const;

function allSamples(document: ApiDocument): ReadonlyMap<string, readonly Sample[]> {
  const entries = document.tags.flatMap(({ name }) => operationsOf(document, name));
  return new Map(entries.map((entry) => [entry.operation.operationId, samplesOf(sampleOf(entry, document))]));
}

/** Returns a folder in which `errand/client` is found, as in a project that has installed the package. */
async function makeProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'errand-samples-'));
  const installed = join(folder, 'node_modules/errand');
  await mkdir(installed, { recursive: true });
  await symlink(join(ROOT, 'src'), join(folder, 'src'));
  const exports = { './client': '../../src/client/client.ts' };
  // Outside of node_modules, since Node runs no TypeScript in there.
  await writeFile(
    join(installed, 'package.json'),
    JSON.stringify({ name: 'errand', type: 'module', exports: { './client': './client.js' } }),
  );
  await writeFile(
    join(installed, 'client.js'),
    `export * from ${JSON.stringify(join(folder, exports['./client'].slice(6)))};\n`,
  );
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  return folder;
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { env, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
      else resolve(stdout);
    });
  });
}

test('every sample in TypeScript compiles', async () => {
  const samples = allSamples(await buildDocument());
  const folder = await makeProject();
  try {
    const files = [...samples].map(([id, all]) => [`${id}.ts`, all[1]?.code ?? ''] as const);
    assert.ok(files.length > 150);
    await Promise.all(files.map(([name, code]) => writeFile(join(folder, name), code)));
    const compilerOptions = {
      ...{ noEmit: true, strict: true, target: 'es2024', module: 'nodenext', allowImportingTsExtensions: true },
      ...{ lib: ['es2024'], types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')], skipLibCheck: true },
      paths: { 'errand/client': [join(ROOT, 'src/client/client.ts')] },
    };
    const config = { compilerOptions, files: files.map(([name]) => name) };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

const python = programOf('python3');

test('every sample in Python is Python', { skip: python ? false : 'needs Python' }, async () => {
  const codes = [...allSamples(await buildDocument()).values()].map(([, , sample]) => sample?.code);
  const folder = await mkdtemp(join(tmpdir(), 'errand-samples-'));
  try {
    await writeFile(join(folder, 'codes.json'), JSON.stringify(codes));
    const check = 'import json, sys\nfor code in json.load(open(sys.argv[1])): compile(code, "sample", "exec")';
    await run(python as string, ['-c', check, join(folder, 'codes.json')]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** The samples of an operation with the ids of this server, each run in its language. */
async function runSamples(
  at: { errand: Errand; folder: string },
  id: string,
  ids: Readonly<Record<string, string>> = {},
) {
  const { errand, folder } = at;
  const samples = allSamples(await buildDocument(errand.url)).get(id) ?? [];
  const env = { ...process.env, KEY: errand.client.key, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const printed: Record<string, string> = {};
  for (const { language, code } of samples) {
    if (language === 'Python' && python === undefined) continue;
    let own = code;
    for (const [example, real] of Object.entries(ids)) own = own.replaceAll(example, real);
    const file = join(folder, `${id}.${EXTENSIONS[language]}`);
    await writeFile(file, own);
    const program = { curl: 'bash', TypeScript: process.execPath, Python: python ?? '' }[language];
    printed[language] = await run(program, [file], env);
  }
  return printed;
}

test('samples do what they say', async () => {
  await using errand = await startErrand();
  const folder = await makeProject();
  try {
    const at = { errand, folder };
    const { client } = errand;
    const languages = python === undefined ? 2 : 3;
    const made = await runSamples(at, 'createWorkflow');
    for (const [language, text] of Object.entries(made)) assert.match(text, /\bp_\w+/, language);
    const workflows: Json[] = (await client.get('/v1/workflows')).data;
    const orders = workflows.filter(({ name }) => name === 'Orders');
    assert.equal(orders.length, languages);
    const [workflow] = orders;
    const { id } = workflow as Json;
    const example = { p_0Vj3aBc9dEfGhIjK: id };
    for (const [language, text] of Object.entries(await runSamples(at, 'listWorkflows'))) {
      for (const { id: listed } of orders) assert.ok(text.includes(listed), language);
    }
    for (const [language, text] of Object.entries(await runSamples(at, 'getWorkflow', example))) {
      assert.ok(text.includes(id), language);
    }
    await runSamples(at, 'patchWorkflow', example);
    assert.equal((await client.get(`/v1/workflows/${id}`)).data.active, false);
    await runSamples(at, 'createWebhook');
    const webhooks: Json[] = (await client.get('/v1/webhooks')).data;
    assert.equal(webhooks.length, languages);
    assert.deepEqual(webhooks[0]?.retry, webhooks[1]?.retry);
    const { endpoint_url: endpoint } = (await client.get(`/v1/workflows/${orders[1]?.id}`)).data.triggers[0];
    const label = new URL(endpoint).pathname.split('/').at(-1) as string;
    const called = await runSamples(at, 'callEndpoint', { Xk3vJ8nZ5tX1bL7cR0sW2y: label });
    for (const [language, text] of Object.entries(called)) assert.match(text, /\bid\b/, language);
    for (const [language, text] of Object.entries(await runSamples(at, 'getMetrics'))) {
      assert.match(text, /^# HELP errand_/m, language);
    }
    await client.delete(`/v1/workflows/${id}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
