// What is secret comes back as it was written, and does not lie in the store's files or tables for whoever reads them.

import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { change, deliverAll, FAILED, record, resend, withWebhooks } from '../deliveries/sending.ts';
import { type Harness, timesInTurn } from '../fixtures.ts';
import { aSecret } from '../maker.ts';
import { Stage } from '../stage.ts';

const SECRETS = ['whsec_Zmlyc3Qgc2VjcmV0', 'whsk_c2VlZCBhbmQga2V5', 'whsec_cm90YXRlZCBzZWNyZXQ'];
const HEADER = 'Bearer 5f8a-very-private';

/** Also as the hexadecimal that tables show of bytes, and in base64. */
function assertNowhere(raw: string, words: readonly string[]): void {
  for (const word of words) {
    for (const spelt of [word, Buffer.from(word).toString('hex'), Buffer.from(word).toString('base64')]) {
      ok(!raw.includes(spelt), `${word} can be read`);
    }
  }
}

/** A webhook with a header that is secret, and which signs in both ways; with a name that may be read. */
async function secretive(harness: Harness) {
  const stage = await withWebhooks(harness, 1, {
    name: 'may-be-read',
    secrets: [aSecret(SECRETS[0] as string), { secret: SECRETS[1] as string, publicKey: 'whpk_cHVi', untilMs: null }],
    settings: { headers: { authorization: HEADER }, signature: ['v1', 'v1a'] },
  });
  return stage;
}

export function sealingContract(harness: Harness): void {
  describe('secrets', () => {
    it('cannot be read where they are kept', async () => {
      await using stage = await secretive(harness);
      const raw = await stage.raw();
      ok(raw.includes('may-be-read') && raw.includes(stage.main.id), 'this is where it is kept');
      assertNowhere(raw, [...SECRETS, HEADER]);
    });

    it('of steps and sources come back, and cannot be read', async () => {
      await using stage = await Stage.open(harness);
      const additionalProps = { made: { type: 'string', default: 'hush-additional' } };
      const source = await stage.source({ configuredProps: { key: 'hush-source' }, additionalProps });
      const workflow = stage.make.workflow();
      const { steps, ...plain } = stage.make.deployment(workflow);
      const props = { configured: { key: 'hush-step' }, additional: additionalProps, secret: ['key'] };
      const deployment = {
        ...plain,
        steps: [
          ...steps.map((step) => ({ ...step, props })),
          ...stage.make.deployment(workflow).steps.map((step) => ({ ...step, namespace: 'plain' })),
        ],
      };
      await stage.store.createWorkflow({ workflow, deployment, triggers: [], subscriptions: [] });
      for (const reopened of [false, true]) {
        if (reopened) await stage.reopen();
        deepEqual(await stage.store.getSource(stage.owner.id, source.id), source);
        deepEqual(await stage.store.getDeployment(stage.owner.id, deployment.id), deployment);
        const { items } = await stage.store.listDeployments(stage.owner.id, workflow.id, { limit: 5 });
        deepEqual(items, [deployment]);
      }
      const none = { ...source, additionalProps: {} };
      await stage.updateSource({ source: none, deployment: null, triggers: [], subscriptions: [] });
      deepEqual(await stage.store.getSource(stage.owner.id, source.id), none);
      const raw = await stage.raw();
      ok(raw.includes(source.id) && raw.includes(deployment.id), 'this is where it is kept');
      assertNowhere(raw, ['hush-source', 'hush-step', 'hush-additional']);
    });

    it('leave no trace with what happens', async () => {
      await using stage = await secretive(harness);
      await change(stage, stage.main, { secrets: [aSecret(SECRETS[2] as string), ...stage.main.secrets] });
      await timesInTurn(4, () => stage.append(stage.emitterId));
      for (const delivery of await stage.deliveries(2)) await record(stage, delivery, FAILED);
      for (const delivery of await stage.deliveries(1)) await stage.exhausted(delivery);
      for (const delivery of await deliverAll(stage)) await resend(stage, delivery);
      await stage.store.createOperation(stage.make.operation(stage.main.id));
      await stage.store.stepOperation();
      await change(stage, stage.main, { active: false });
      assertNowhere(await stage.raw(), [...SECRETS, HEADER]);
      await stage.reopen();
      await stage.store.deleteWebhook(stage.owner.id, stage.main.id);
      assertNowhere(await stage.raw(), [...SECRETS, HEADER]);
    });

    it('are sealed anew with each writing', async () => {
      await using stage = await Stage.open(harness);
      const same = [aSecret(SECRETS[0] as string)];
      const [one, two] = [await stage.webhook({ secrets: same }), await stage.webhook({ secrets: same })];
      deepEqual((await stage.store.getWebhook(stage.owner.id, one.id))?.secrets, same);
      deepEqual((await stage.store.getWebhook(stage.owner.id, two.id))?.secrets, same);
      const sealed = (await stage.raw()).match(/sealed1:[A-Za-z0-9+/=]+/g) ?? [];
      ok(new Set(sealed).size >= 2, `${sealed.length} sealed texts`);
    });

    it('come back to every reader as written', async () => {
      await using stage = await secretive(harness);
      const { main: webhook } = stage;
      const readings = async () => [
        await stage.store.getWebhook(stage.owner.id, webhook.id),
        (await stage.store.listWebhooks(stage.owner.id, { limit: 5 })).items[0],
      ];
      for (const reading of await readings()) deepEqual(reading, webhook);
      await stage.reopen();
      for (const reading of await readings()) deepEqual(reading, webhook);
      await stage.append(stage.emitterId);
      for (const delivery of await stage.deliveries()) deepEqual(delivery.webhook, webhook);
      deepEqual(await stage.store.deleteWebhook(stage.owner.id, webhook.id), webhook);
    });
  });
}
