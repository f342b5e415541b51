// A backup of Postgres, by its own programs and as the command line says, restored into a new database: servers go on there.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { checkPostgres } from '../../../../src/store/postgres/maintenance/check.ts';
import { createClient } from '../../../support/client.ts';
import { createErrandOn } from '../../../support/flows.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { startPostgres } from '../../../support/postgres/server.ts';
import { spawnErrand } from '../../../support/process.ts';
import { call } from '../command.ts';

const THROW = `export default () => { throw new Error('it failed'); };`;

/** The version of the programs that Debian 12 has. */
const server = await startPostgres({ version: 15 });
after(() => server.dispose());

const run = promisify(execFile);

async function requirePrograms(): Promise<void> {
  for (const program of ['pg_dump', 'pg_restore']) {
    await run(program, ['--version']).catch(() => {
      throw new Error(`${program} is not on this machine: install postgresql-client`);
    });
  }
}

test('servers go on from a backup of Postgres', async () => {
  await requirePrograms();
  await using folder = await createFolder();
  const dataDir = join(folder.path, 'data');
  const file = join(folder.path, 'errand.dump');
  await server.createDatabase('live');
  const settings = { ERRAND_DATA_DIR: dataDir, ERRAND_LOG_LEVEL: 'error' };
  let key = '';
  let workflowId = '';
  {
    await using errand = await spawnErrand({ ...settings, ERRAND_DATABASE_URL: server.url('live') });
    key = (await readFile(join(dataDir, 'api-key'), 'utf8')).trim();
    const actions = createErrandOn(() => createClient(errand.url, key));
    const workflow = await actions.workflow(THROW);
    workflowId = workflow.id;
    await actions.send(workflow, { n: 1 });
    await actions.errors(workflowId, 1);
    const advice = await call(['store', 'backup', file], { ERRAND_DATABASE_URL: server.url('live') });
    equal(advice.status, 1);
    const [command] = /pg_dump .*/.exec(advice.stderr) ?? [];
    match(String(command), /^pg_dump --format=custom/);
    await run('bash', ['-c', String(command)]);
    await actions.send(workflow, { n: 2 });
    await actions.errors(workflowId, 2);
    // The server is killed here: the new one finds it among the nodes.
  }
  await server.createDatabase('restored');
  const url = server.url('restored');
  await run('pg_restore', ['--no-owner', '--exit-on-error', '--dbname', url, file]);
  deepEqual((await checkPostgres(url)).findings, []);
  await using errand = await spawnErrand({ ...settings, ERRAND_DATABASE_URL: url });
  const client = createClient(errand.url, key);
  const actions = createErrandOn(() => client);
  const [error, ...others] = await actions.errors(workflowId, 1);
  deepEqual([error?.event.original_event.body.n, others], [1, []]);
  const { data: workflow } = await client.get(`/v1/workflows/${workflowId}`);
  await actions.send(workflow, { n: 3 });
  const errors = await actions.errors(workflowId, 2);
  deepEqual(
    errors.map(({ event }) => event.original_event.body.n),
    [3, 1],
  );
  ok((await checkPostgres(url)).ok);
});
