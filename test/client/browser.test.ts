// The client as part of a page: nothing of Node's, and nothing of the server's.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';

const ENTRY = join(import.meta.dirname, '../../src/client/client.ts');

test('the client runs with what browsers have', async () => {
  const built = await build({
    ...{ entryPoints: [ENTRY], bundle: true, write: false, metafile: true, logLevel: 'silent' },
    ...{ platform: 'browser', format: 'iife', globalName: 'errand', target: 'es2022' },
  });
  const inputs = Object.keys(built.metafile.inputs);
  assert.ok(inputs.length > 5 && inputs.every((path) => path.includes('src/client/')), inputs.join(', '));
  const asked: string[] = [];
  const answer = async (url: string): Promise<Response> => {
    asked.push(url);
    return Response.json({ data: { id: 'u_1' } });
  };
  // Of a page, without Node's `process`, `Buffer` and `require`.
  const page = createContext({
    ...{
      fetch: answer,
      AbortController,
      AbortSignal,
      URL,
      URLSearchParams,
      TextDecoder,
      crypto,
      setTimeout,
      clearTimeout,
    },
  });
  runInContext(built.outputFiles[0]?.text ?? '', page);
  const me = await runInContext('new errand.Errand().getMe()', page);
  assert.equal(me.data.id, 'u_1');
  // Completed by the page's own address.
  assert.deepEqual(asked, ['/v1/users/me']);
});
