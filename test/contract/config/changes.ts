// Changes of a webhook: each sees what the ones before it made, and one that throws has not happened.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE_MS } from '../../../src/domain/limits.ts';
import type { Webhook, WebhookSettings } from '../../../src/domain/resource.ts';
import { change, countOf, deliverAll, withWebhooks } from '../deliveries/sending.ts';
import { all, defined, type Harness, sameMembers, times, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { aSecret } from '../maker.ts';
import { Stage } from '../stage.ts';

class Refused extends Error {}

export function changesContract(harness: Harness): void {
  describe('changes of a webhook', () => {
    it('that come at once lose none', async () => {
      await using stage = await Stage.open(harness);
      const webhook = await stage.webhook({ secrets: [] });
      const add = (i: number) => (before: Webhook) => ({
        ...before,
        secrets: [aSecret(`whsec_${i}`), ...before.secrets],
        settings: { ...before.settings, headers: { ...before.settings.headers, [`x-${i}`]: `${i}` } },
      });
      const update = (i: number) => stage.store.updateWebhook(stage.owner.id, webhook.id, add(i));
      const answers = await Promise.all(times(20, update));
      const kept = defined(await stage.store.getWebhook(stage.owner.id, webhook.id));
      sameMembers(
        kept.secrets.map((s) => s.secret),
        times(20, (i) => `whsec_${i}`),
      );
      equal(Object.keys(kept.settings.headers).length, 20);
      // Each answer is what stood after its own change.
      for (const [i, answer] of answers.entries()) {
        equal(defined(answer).secrets[0]?.secret, `whsec_${i}`);
        equal(defined(answer).settings.headers[`x-${i}`], `${i}`);
      }
      deepEqual(new Set(answers.map((a) => a?.secrets.length)), new Set(times(20, (i) => i + 1)));
    });

    it('that throw write nothing, and say why', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(2, () => stage.append(stage.emitterId));
      const refused = new Refused('no');
      const beside = times(5, (i) => change(stage, stage.main, { name: `n${i}` }));
      const thrown = rejects(
        stage.store.updateWebhook(stage.owner.id, stage.main.id, () => {
          throw refused;
        }),
        (error) => error === refused,
      );
      const appended = times(5, () => stage.append(stage.emitterId));
      await Promise.all([...beside, thrown, ...appended]);
      const kept = defined(await stage.store.getWebhook(stage.owner.id, stage.main.id));
      ok(kept.active && /^n[0-4]$/.test(defined(kept.name)));
      equal((await deliverAll(stage)).length, 7);
      await assertLedgerAddsUp(stage);
    });

    it('that throw leave one store as it was', async () => {
      await using stage = await Stage.open(harness);
      const webhook = await stage.webhook();
      for (const _ of [1, 2]) {
        const thrown = stage.store.updateWebhook(stage.owner.id, webhook.id, () => {
          throw new Refused('no');
        });
        await rejects(thrown, Refused);
      }
      deepEqual(await stage.store.getWebhook(stage.owner.id, webhook.id), webhook);
      equal((await change(stage, webhook, { name: 'later' })).name, 'later');
    });

    it('leave id, owner and time of creation as they are', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const webhook = await stage.webhook();
      const bold = { id: 'wh_bold', ownerId: other.owner.id, createdAtMs: 1 };
      const changed = await stage.store.updateWebhook(stage.owner.id, webhook.id, (before) => ({
        ...before,
        ...bold,
        name: 'new',
      }));
      deepEqual(changed, { ...webhook, name: 'new' });
      deepEqual(await stage.store.getWebhook(stage.owner.id, webhook.id), { ...webhook, name: 'new' });
    });

    it('are not asked of what is gone', async () => {
      await using stage = await Stage.open(harness);
      const webhook = await stage.webhook();
      const other = await stage.neighbour();
      let asked = 0;
      const count = (before: Webhook): Webhook => {
        asked++;
        return before;
      };
      equal(await stage.store.updateWebhook(other.owner.id, webhook.id, count), undefined);
      await stage.store.deleteWebhook(stage.owner.id, webhook.id);
      equal(await stage.store.updateWebhook(stage.owner.id, webhook.id, count), undefined);
      equal(asked, 0);
    });

    it('take hold with what is accepted next', async () => {
      await using stage = await withWebhooks(harness);
      await change(stage, stage.main, { active: false });
      deepEqual((await stage.append(stage.emitterId, {}, all())).claims.deliveries, []);
      equal(await countOf(stage, stage.main, 'held'), 1);
      const changed = await change(stage, stage.main, { active: true, name: 'back' });
      deepEqual((await deliverAll(stage))[0]?.webhook, changed);
      const { claims } = await stage.append(stage.emitterId, {}, all());
      deepEqual(claims.deliveries[0]?.webhook, changed);
    });

    it('that leave it active hold nothing', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(2, () => stage.append(stage.emitterId));
      const [first] = await stage.deliveries(1);
      await stage.retrying(defined(first), MINUTE_MS);
      await change(stage, stage.main, { active: true, description: 'still' });
      equal((await deliverAll(stage)).length, 1);
      stage.clock.advance(MINUTE_MS);
      equal((await deliverAll(stage)).length, 1);
    });

    it('keep every setting as it was given', async () => {
      await using stage = await Stage.open(harness);
      const webhook = await stage.webhook();
      const settings: WebhookSettings = {
        headers: { authorization: 'Bearer ä "\\{}', 'x-empty': '' },
        timeoutMs: 60_000,
        retryDelaysMs: [0, 1, 604_800_000],
        rateLimit: { limit: 7, intervalMs: 1000 },
        maxInFlight: 256,
        ordered: true,
        signature: ['v1', 'v1a'],
      };
      const secrets = [
        { secret: 'whsk_c2VlZA==', publicKey: 'whpk_cHVi', untilMs: null },
        { secret: 'whsec_bmV3', publicKey: null, untilMs: null },
        { secret: 'whsec_b2xk', publicKey: null, untilMs: 1_800_000_000_000 },
      ];
      await change(stage, webhook, { settings, secrets });
      const whole = { ...webhook, settings, secrets };
      deepEqual(await stage.store.getWebhook(stage.owner.id, webhook.id), whole);
      deepEqual((await stage.store.listWebhooks(stage.owner.id, { limit: 9 })).items, [whole]);
      await stage.reopen();
      deepEqual(await stage.store.getWebhook(stage.owner.id, webhook.id), whole);
      await change(stage, webhook, { settings: { ...settings, retryDelaysMs: [], rateLimit: null } });
      const now = await stage.store.getWebhook(stage.owner.id, webhook.id);
      deepEqual([now?.settings.retryDelaysMs, now?.settings.rateLimit], [[], null]);
    });
  });
}
