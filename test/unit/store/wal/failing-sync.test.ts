// A server whose disk fails a sync: it says so to the callers that wait, ends, and starts again with everything that it accepted.

import { deepEqual, match, ok } from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient, type Json } from '../../../support/client.ts';
import { createErrandOn } from '../../../support/flows.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { startGate } from '../../../support/gate.ts';
import { spawnErrand } from '../../../support/process.ts';

const KEY = 'a-key-that-only-this-test-knows';
const SENDERS = 8;

test('a server whose disk fails ends, and has lost nothing that it accepted', async () => {
  await using folder = await createFolder();
  const settings = { ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: KEY };
  const flag = join(folder.path, 'fail');
  const preload = join(import.meta.dirname, 'failing-sync.ts');
  await using failing = await spawnErrand({ ...settings, NODE_OPTIONS: `--import ${preload}`, FAIL_SYNCS: flag });
  const client = createClient(failing.url, KEY);
  const { workflow } = createErrandOn(() => client);
  // No run ends before the disk fails: what the failing sync covers are requests.
  await using gate = await startGate();
  const code = `export default async () => { await fetch('${gate.url}'); };`;
  const made = await workflow(code, { settings: { concurrency: 100 } });
  const accepted: string[] = [];
  const refused: Json[] = [];
  const send = async (): Promise<void> => {
    for (;;) {
      const answer = await fetch(made.triggers[0].endpoint_url, { method: 'POST', body: '{}' });
      const body = (await answer.json()) as Json;
      if (answer.status !== 200) return void refused.push({ status: answer.status, ...body });
      accepted.push(body.id);
      if (accepted.length === 50) await writeFile(flag, '');
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, () => send().catch(() => undefined)));
  deepEqual(await failing.exited, { code: 1, signal: null });
  gate.open();
  match(failing.stderr(), /"level":50,.*EIO: i\/o error, fdatasync.*storage is lost/);
  ok(refused.length > 0);
  ok(
    refused.every(({ status }) => status === 503),
    JSON.stringify(refused),
  );
  ok(
    refused.some((body) => JSON.stringify(body).includes('may have happened')),
    JSON.stringify(refused),
  );

  await using again = await spawnErrand(settings);
  const after = createClient(again.url, KEY);
  const errand = createErrandOn(() => after);
  await errand.settled();
  const { data } = await after.get(`/v1/workflows/${made.id}/runs?limit=100`);
  const there = new Set(data.map((run: Json) => run.emission_id));
  deepEqual(
    accepted.filter((id) => !there.has(id)),
    [],
  );
});
