// Accounts when the operator's key is replaced: their fields are still there, and nobody has seen them.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../../src/server/config.ts';
import { openStore } from '../../../../src/server/open-store.ts';
import { clock, random } from '../../../../src/server/real-ports.ts';
import { startService } from '../../../../src/server/service.ts';
import { createClient } from '../../../support/client.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { call } from '../command.ts';
import { API_KEY, OTHER, onSqlite, SETTING } from './sealed.ts';

const FIELDS = { api_key: 'sk-very-private', nested: { list: [1, null] } };
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test('fields outlive the replacement of the key', async () => {
  await using folder = await createFolder();
  const before = onSqlite(folder.path, { ERRAND_SECRET_KEY: SETTING });
  const after = onSqlite(folder.path, { ERRAND_SECRET_KEY: OTHER });
  const service = await startService(readConfig({ ...before, ERRAND_PORT: '0' }), { clock, random, log });
  const { id } = await createClient(service.url, API_KEY).post('/v1/accounts', { app: 'openai', fields: FIELDS });
  await service.stop(0);
  const rekeyed = await call(['store', 'rekey'], before, `${OTHER}\n`);
  deepEqual([rekeyed.status, rekeyed.stderr], [0, '']);
  const checked = await call(['store', 'check', '--json'], after);
  deepEqual([checked.status, checked.json().findings], [0, []]);
  equal((await call(['store', 'check', '--json'], before)).status, 1, 'the old key opens nothing');
  const store = await openStore(readConfig(after), { clock, random, log });
  const [owner] = await store.listOwners();
  deepEqual((await store.getAccount(String(owner?.id), id))?.fields, FIELDS);
  await store.close();
  const files = [...(await folder.contents()).values()];
  ok(files.length > 0 && !files.some((bytes) => bytes.includes(FIELDS.api_key)));
});
