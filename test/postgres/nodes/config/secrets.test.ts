// A webhook's secrets, replaced at one node: the next request of another one is signed with them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type Received, startReceiver } from '../../../support/receiver.ts';
import { seenFrom, startNodes } from '../nodes.ts';

const NOTHING = 'export default () => 1';

function isSignedWith(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body.toString(), headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

test('secrets rotated at one sign at the other', async () => {
  await using receiver = await startReceiver();
  await using nodes = await startNodes({}, { ERRAND_ROLES: 'api,deliver' });
  const [a, b] = nodes.all;
  const workflow = await a.workflow(NOTHING);
  const webhook = await a.client.post('/v1/webhooks', { url: receiver.url });
  await a.subscribe(workflow.triggers[0].id, webhook.id);
  const secrets = [webhook.secret];
  for (let n = 1; n <= 8; n++) {
    const [node, other] = n % 2 === 0 ? [a, b] : [b, a];
    // The first rotations leave those before valid for a while, the last ones do not.
    const overlap = n <= 4 ? {} : { overlap_s: 0 };
    const { secret } = await node.client.post(`/v1/webhooks/${webhook.id}/rotate_secret`, overlap);
    await other.send(seenFrom(other, workflow), { n });
    const request = (await receiver.wait(n)).at(-1) as Received;
    assert.ok(isSignedWith(secret, request), `request ${n} is signed with the newest secret`);
    assert.equal(isSignedWith(secrets.at(-1), request), n <= 4);
    assert.equal(String(request.headers['webhook-signature']).split(' ').length, n <= 4 ? n + 1 : 1);
    secrets.push(secret);
  }
});

test('secrets are sealed for all nodes alike', async () => {
  await using receiver = await startReceiver();
  const key = { ERRAND_SECRET_KEY: 'a-key-that-no-test-but-this-one-uses-0123456789' };
  await using nodes = await startNodes(key, key, key);
  const [a, b, c] = nodes.all;
  const workflow = await a.workflow(NOTHING);
  const webhook = await b.client.post('/v1/webhooks', { url: receiver.url });
  await a.subscribe(workflow.triggers[0].id, webhook.id);
  for (const [n, node] of [a, b, c].entries()) {
    await node.send(seenFrom(node, workflow), { n });
    const request = (await receiver.wait(n + 1)).at(-1) as Received;
    assert.ok(isSignedWith(webhook.secret, request));
  }
});
