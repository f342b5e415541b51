// Pages of a table that were overwritten: the check reports them, and a server that comes upon one is not ready any more.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { readConfig } from '../../../../src/server/config.ts';
import { clock, random } from '../../../../src/server/real-ports.ts';
import { startService } from '../../../../src/server/service.ts';
import { checkSqlite } from '../../../../src/store/sqlite/maintenance/check.ts';
import { createClient } from '../../../support/client.ts';
import { createFolder } from '../../../support/folders/folder.ts';

const EVENTS = 60;

/** Overwrites the leaves of the table that stand in its middle. */
async function damage(path: string, table: string): Promise<number> {
  const db = new DatabaseSync(path);
  const leaves = db.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path").all(table);
  const { page_size: size } = db.prepare('PRAGMA page_size').get() as { page_size: number };
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  const hit = leaves.slice(leaves.length >> 2, (3 * leaves.length) >> 2).map(({ pageno }) => Number(pageno));
  const file = await open(path, 'r+');
  for (const page of hit) await file.write(Buffer.alloc(size, 0xab), 0, size, (page - 1) * size);
  await file.close();
  return hit.length;
}

test('damaged pages of a table are reported, and make a server unready', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const config = readConfig({ ERRAND_DATA_DIR: folder.path, ERRAND_PORT: '0' });
  const logged: string[] = [];
  const note = (_fields: object, name: string): void => void logged.push(name);
  const start = () => startService(config, { clock, random, log: { debug() {}, info() {}, warn: note, error: note } });
  let service = await start();
  const key = (await readFile(join(folder.path, 'api-key'), 'utf8')).trim();
  let client = createClient(service.url, key);
  const workflow = await client.post('/v1/workflows', {
    name: 'test',
    steps: [{ namespace: 'step', code: 'export default () => 1;' }],
    triggers: [{ type: 'http' }],
  });
  const body = JSON.stringify({ text: 'x'.repeat(1500) });
  for (let n = 0; n < EVENTS; n++) {
    const path = new URL(workflow.triggers[0].endpoint_url).pathname;
    const { status } = await fetch(service.url + path, { method: 'POST', body });
    equal(status, 200);
  }
  equal((await client.request('GET', '/readyz')).status, 200);
  await service.stop(5000);
  ok((await damage(path, 'emissions')) > 3);
  const report = await checkSqlite(path);
  deepEqual([report.ok, report.findings.map(({ check }) => check)], [false, ['quick_check']]);
  match(report.findings[0]?.detail ?? '', /malformed|page/);
  service = await start();
  try {
    client = createClient(service.url, key);
    const read = await client.request('GET', `/v1/runs?workflow_id=${workflow.id}&text=nothing-has-it`);
    equal(read.status, 503, read.text);
    match(read.json.detail, /^The part of the store that has this is damaged\./);
    const ready = await client.request('GET', '/readyz');
    deepEqual([ready.status, ready.json.detail], [503, 'Storage does not answer, takes no writes, or is damaged']);
    equal((await client.request('GET', '/healthz')).status, 200);
    equal(logged.filter((name) => name.startsWith('the store is damaged')).length, 1);
  } finally {
    await service.stop(5000);
  }
});
