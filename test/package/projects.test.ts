// The package in projects of others: compilers of other versions with every way of resolving modules, and programs on other
// versions of Node.js, in both kinds of modules.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sendJson, startScripted } from '../client/server.ts';
import { type Installed, install, ROOT } from './installed.ts';
import { nodeOf, tscOf } from './other-nodes.ts';

let installed: Installed;
before(async () => {
  installed = await install();
});
after(() => installed?.[Symbol.asyncDispose]());

function run(program: string, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: installed.dir }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

const PROGRAM = `
import { Errand, etagOf, ProblemError, type Run } from 'errand/client';
import { runFixture } from 'errand/testing';
import { verifyWebhook } from 'errand/webhooks';
import { webhookMiddleware } from 'errand/webhooks/express';
import { webhookOf } from 'errand/webhooks/fastify';
import { verifyRequest } from 'errand/webhooks/fetch';
import { createReplayGuard } from 'errand/webhooks/replay';
import { defineWorkflow } from 'errand/workflow';

const errand = new Errand({ url: process.env['ERRAND_URL'], key: process.env['ERRAND_API_KEY'] });
export async function use(): Promise<string | undefined> {
  const page = await errand.searchRuns({ state: 'failed', limit: 1 });
  const first: Run | undefined = page.data[0];
  for await (const run of errand.searchRuns()) console.log(run.id);
  for await (const event of errand.streamErrors()) if (event.kind === 'event') console.log(event.data.event.error.msg);
  return errand.getMe().then(etagOf, (error: unknown) => (error instanceof ProblemError ? error.detail : first?.id));
}
export const flow = defineWorkflow({ name: 'x', triggers: [{ type: 'http' }], steps: (f) => f.step('a', () => 1) });
export const all = [runFixture, verifyWebhook, webhookMiddleware, webhookOf, verifyRequest, createReplayGuard];
`;

/** `node16` knows no way from CommonJS to a module. */
const WAYS = [
  ['esnext', 'bundler', 'program.mts'],
  ['node16', 'node16', 'program.mts'],
  ['nodenext', 'nodenext', 'program.mts'],
] as const;

/** Null: the one that this repository is compiled with. */
for (const version of ['5.4', '5.9', null]) {
  test(`TypeScript ${version ?? 'of this repository'} finds all types, and checks them`, async (t) => {
    const found = version === null ? { path: join(ROOT, 'node_modules/.bin/tsc') } : await tscOf(version);
    if ('why' in found) return t.skip(found.why);
    await writeFile(join(installed.dir, 'program.mts'), PROGRAM);
    await writeFile(join(installed.dir, 'program.cts'), PROGRAM);
    const common = version === '5.4' ? [] : ([['nodenext', 'nodenext', 'program.cts']] as const);
    for (const [module, moduleResolution, file] of [...WAYS, ...common]) {
      const compilerOptions = {
        ...{ module, moduleResolution, target: 'es2022', lib: ['es2023'], noEmit: true, strict: true },
        ...{ skipLibCheck: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
        ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
      };
      await writeFile(join(installed.dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
      const { stdout } = await run(found.path, ['-p', installed.dir]);
      // Of other packages, which this repository has for a newer compiler.
      const ours = stdout.split('\n').filter((line) => /^program|node_modules\/errand\//.test(line));
      assert.deepEqual(ours, [], `${module} ${moduleResolution} ${file}`);
      const wrong = PROGRAM.replace('limit: 1', "limit: '1'");
      await writeFile(join(installed.dir, file), wrong);
      assert.match((await run(found.path, ['-p', installed.dir])).stdout, /TS2322/, `${module} ${file}`);
      await writeFile(join(installed.dir, file), PROGRAM);
    }
  });
}

for (const major of [20, 22, 24]) {
  test(`The client runs on Node.js ${major}, as a module and in CommonJS`, async (t) => {
    const node = await nodeOf(major);
    if ('why' in node) return t.skip(node.why);
    await using server = await startScripted((response, { path }, n) => {
      if (n === 0) return void response.destroy();
      if (path === '/v1/users/me') return sendJson(response, 200, { data: { id: 'u_1' } }, { etag: '"a"' });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`retry: 1\nid: ${n}-0\ndata: {}\n\n`);
    });
    const use = `(async () => {
      const errand = new Errand({ url: process.argv.at(-1), key: 'k' });
      const me = await errand.getMe();
      let seen = 0;
      for await (const event of errand.streamErrors()) if (event.kind === 'event' && ++seen === 2) break;
      console.log(process.version, me.data.id, etagOf(me), seen);
    })();`;
    await writeFile(join(installed.dir, 'uses.mjs'), `import { Errand, etagOf } from 'errand/client';\n${use}`);
    await writeFile(join(installed.dir, 'uses.cjs'), `const { Errand, etagOf } = require('errand/client');\n${use}`);
    for (const file of ['uses.mjs', 'uses.cjs']) {
      const { code, stdout, stderr } = await run(node.path, [join(installed.dir, file), server.url]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, new RegExp(`^v${major}\\.\\S+ u_1 "a" 2\n$`), file);
    }
  });
}
