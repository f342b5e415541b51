// A server that is stopped while its database hangs ends all the same, says what it waited for, and loses nothing.

import { deepEqual, equal, match } from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '../../support/client.ts';
import { createErrandOn } from '../../support/flows.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { startGate } from '../../support/gate.ts';
import { startCutter } from '../../support/postgres/cut.ts';
import { newDatabase } from '../../support/postgres/shared.ts';
import { spawnErrand } from '../../support/process.ts';

const KEY = 'a-key-that-only-this-test-knows';
const PATIENT = `export default async ({ steps }) => {
  const { n } = steps.trigger.event.body;
  await (await fetch(process.env.GATE + '/' + n)).text();
  return n;
};`;

test('a server is stopped in time while its database hangs, and what it had begun runs at the next start', async (t) => {
  const { url, drop } = await newDatabase();
  t.after(drop);
  await using folder = await createFolder();
  await using gate = await startGate();
  const { port, pathname } = new URL(url);
  await using cutter = await startCutter(Number(port));
  const settings = { ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: KEY };
  await using hung = await spawnErrand({ ...settings, ERRAND_DATABASE_URL: cutter.url(pathname.slice(1)) });
  const before = createErrandOn(() => createClient(hung.url, KEY));
  const workflow = await before.workflow(PATIENT, { settings: { env: { GATE: gate.url } } });
  await before.send(workflow, { n: 7 });
  await gate.wait(1);
  cutter.hold();
  gate.open();
  hung.child.kill('SIGTERM');
  deepEqual(await hung.exited, { code: 0, signal: null });
  match(hung.stderr() + hung.stdout(), /"waited_for":\["[^\]]+\].*ending without waiting any longer/);
  equal(await access(join(folder.path, 'running.json')).catch(({ code }) => code), 'ENOENT');

  await using next = await spawnErrand({ ...settings, ERRAND_DATABASE_URL: url });
  const after = createErrandOn(() => createClient(next.url, KEY));
  deepEqual((await after.settled()).runs.succeeded, 1);
});
