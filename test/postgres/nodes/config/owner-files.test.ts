// Files of a deleted owner at nodes of which each has other roles.

import { test } from 'node:test';
import { createOwner } from '../../../support/owners.ts';
import { queryOn } from '../../../support/postgres/databases.ts';
import { until } from '../../../support/wait.ts';
import { startNodes } from '../nodes.ts';

test('letters of a purged owner go where mails are sent', async () => {
  const env = { ERRAND_OWNER_GRACE_DAYS: '0', ERRAND_MAIL_TO: '' };
  await using nodes = await startNodes({ ...env, ERRAND_ROLES: 'api,run' }, { ...env, ERRAND_ROLES: 'deliver' });
  const [runs, sends] = nodes.all;
  const [gone, stays] = [await createOwner(runs, 'gone'), await createOwner(runs, 'stays')];
  for (const owner of [gone, stays]) {
    const workflow = await owner.workflow(`export default () => { throw new Error('of ${owner.id}') }`);
    await owner.send(workflow, {});
  }
  await until('two letters', async () => (await sends.outbox()).length === 2);
  await runs.client.request('DELETE', `/v1/owners/${gone.id}`);
  const begun = `SELECT 1 AS one FROM owners WHERE id = '${gone.id}' AND purge IS NOT NULL`;
  await until('the purge has begun', async () => (await queryOn(nodes.databaseUrl, begun)).length === 1);
  // Looks at once, and not with the next poll.
  await sends.restart();
  await until('those of one are gone', async () => {
    const [letter = '', ...others] = await sends.outbox();
    return others.length === 0 && letter.includes(stays.id);
  });
});
