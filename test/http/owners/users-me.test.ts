// The owner, as existing callers of the user's record read it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../../support/shared-errand.ts';

const newOwner = shareErrand();

test('the user has a username and a list of orgs', async () => {
  const { client } = await newOwner();
  const { data: me } = await client.get('/v1/users/me');
  assert.deepEqual([me.username, me.orgs], [me.name, []]);
  const changed = await client.put('/v1/users/me', { name: 'Ada' });
  assert.deepEqual([changed.name, changed.username, changed.orgs], ['Ada', 'Ada', []]);
});

test('an action offers the user as an emitter', async () => {
  const { client } = await newOwner();
  const code = `import { axios } from '@pipedream/platform';
    export default {
      type: 'action',
      props: {
        kind: 'string',
        emitter: {
          type: 'string',
          async options({ page }) {
            const headers = { Authorization: 'Bearer ${client.key}' };
            const { data } = await axios(this, { url: '${client.url}/v1/users/me', headers });
            const orgs = data.orgs.map((org) => ({ label: org.orgname, value: org.id }));
            return page ? [] : [{ label: 'User - ' + data.username, value: data.id }, ...orgs];
          },
        },
      },
      run() {},
    };`;
  const { data: me } = await client.get('/v1/users/me');
  const { options } = await client.post('/v1/components/configure', { component_code: code, prop_name: 'emitter' });
  assert.deepEqual(options, [{ label: `User - ${me.name}`, value: me.id }]);
});
