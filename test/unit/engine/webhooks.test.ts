// Webhooks as their owners change them: settings, secrets, and tests.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { HOUR_MS, LIMITS } from '../../../src/domain/limits.ts';
import type { WebhookInput } from '../../../src/domain/requests.ts';
import { DEFAULT_WEBHOOK_SETTINGS, type SigningSecret, type Webhook } from '../../../src/domain/resource.ts';
import { createWebhookTests } from '../../../src/engine/deliveries/webhook-tests.ts';
import { createWebhooks } from '../../../src/engine/resources/webhooks.ts';
import { answered, webhook } from './parts.ts';

const URL = 'https://example.com/hook';
const BAD = 'http://10.0.0.1/';

/** One webhook in a store that asks twice for every change, as it may. */
function create(stored?: Webhook) {
  let now = 1000;
  let made = 0;
  let kept = stored;
  const told: string[] = [];
  const webhooks = createWebhooks({
    store: {
      createWebhook: async (created) => {
        kept = created;
      },
      updateWebhook: async (ownerId, id, change) => {
        if (kept?.id !== id || kept.ownerId !== ownerId) return undefined;
        change(kept);
        kept = change(kept);
        return kept;
      },
      deleteWebhook: async (_, id) => (kept?.id === id ? kept : undefined),
    },
    clock: { nowMs: () => now },
    ids: { next: (prefix) => `${prefix}1`, secret: () => '' },
    random: { bytes: (count) => new Uint8Array(count).fill(++made), fraction: () => 0 },
    newSecret: (bytes) => `whsec_${bytes.length}_${bytes[0]}`,
    newSigningKey: (seed) => ({ secret: `whsk_${seed.length}_${seed[0]}`, publicKey: `whpk_${seed[0]}` }),
    reasonAgainst: (url) => (url === BAD ? 'it is private' : null),
    wake: { notify: (topic) => void told.push(topic) },
    releaseClaimed: (id) => told.push(`let go ${id}`),
  });
  const update = (input: WebhookInput) => webhooks.updateWebhook('u_1', 'wh_1', input);
  const rotate = (overlapMs: number) => webhooks.rotateSecret('u_1', 'wh_1', overlapMs);
  const pass = (ms: number): void => {
    now += ms;
  };
  return { ...webhooks, update, rotate, told, kept: () => kept, pass, now: () => now };
}

const kinds = ({ secrets }: Webhook) => secrets.map(({ secret }) => secret.slice(0, secret.indexOf('_')));
const ends = ({ secrets }: Webhook) => secrets.map(({ untilMs }) => untilMs);

test('a new webhook has defaults under its settings', async () => {
  const { createWebhook, kept } = create();
  const made = await createWebhook('u_1', { url: URL, settings: { timeoutMs: 2000, maxInFlight: undefined } });
  assert.deepEqual(made.settings, { ...DEFAULT_WEBHOOK_SETTINGS, timeoutMs: 2000 });
  assert.deepEqual(made.secrets, [{ secret: 'whsec_32_1', publicKey: null, untilMs: null }]);
  assert.deepEqual([made.active, made.name, made.description], [true, null, null]);
  assert.equal(kept(), made);
});

test('v1a gets a key pair of its own', async () => {
  const made = await create().createWebhook('u_1', { url: URL, settings: { signature: ['v1a'] } });
  assert.deepEqual(kinds(made), ['whsec', 'whsk']);
  assert.deepEqual(made.secrets[1], { secret: 'whsk_32_2', publicKey: 'whpk_2', untilMs: null });
});

test('settings change member by member', async () => {
  const headers = { authorization: 'Bearer 1' };
  const { update, told } = create(webhook({ timeoutMs: 2000, ordered: true, headers }));
  const changed = await update({ settings: { ordered: false, maxInFlight: 3 } });
  assert.deepEqual(changed.settings, { ...DEFAULT_WEBHOOK_SETTINGS, timeoutMs: 2000, headers, maxInFlight: 3 });
  assert.deepEqual(told, ['let go wh_1', 'deliveries', 'operations']);
});

test('null makes a setting the default again', async () => {
  const { update } = create(webhook({ timeoutMs: 2000, headers: { a: 'b' }, ordered: true }));
  const nulls = { timeoutMs: null, headers: null, ordered: null } as unknown as WebhookInput['settings'];
  assert.deepEqual((await update({ settings: nulls })).settings, DEFAULT_WEBHOOK_SETTINGS);
});

test('what is not given stays as it is', async () => {
  const before = webhook({}, { name: 'orders', description: 'all', active: false });
  const { update, now } = create(before);
  assert.deepEqual(await update({}), { ...before, updatedAtMs: now() });
  assert.equal((await update({ name: null })).name, null);
  assert.equal((await update({ active: true })).description, 'all');
});

test('the key pair comes and goes with v1a', async () => {
  const { update } = create(webhook());
  const asked = await update({ settings: { signature: ['v1', 'v1a'] } });
  assert.deepEqual(kinds(asked), ['whsec', 'whsk']);
  const same = await update({ name: 'orders' });
  assert.deepEqual(same.secrets, asked.secrets, 'another change leaves it alone');
  assert.deepEqual(kinds(await update({ settings: { signature: ['v1'] } })), ['whsec']);
});

test('an address that may not be reached changes nothing', async () => {
  const before = webhook();
  const { update, createWebhook, told, kept } = create(before);
  await assert.rejects(update({ url: BAD, name: 'orders' }), { code: 'impossible', message: /it is private/ });
  await assert.rejects(createWebhook('u_1', { url: BAD }), { code: 'impossible' });
  assert.equal(kept(), before);
  assert.deepEqual(told, []);
});

test('what is not there cannot be changed', async () => {
  const { updateWebhook, rotateSecret, deleteWebhook, told } = create(webhook());
  await assert.rejects(updateWebhook('u_2', 'wh_1', { url: BAD }), { code: 'not_found' });
  await assert.rejects(rotateSecret('u_1', 'wh_2', 0), { code: 'not_found' });
  await assert.rejects(deleteWebhook('u_1', 'wh_2'), { code: 'not_found' });
  assert.deepEqual(told, []);
});

test('after a rotation both secrets sign for a while', async () => {
  const { rotate, told } = create(webhook());
  const rotated = await rotate(HOUR_MS);
  assert.deepEqual(rotated.secrets, [
    { secret: 'whsec_32_2', publicKey: null, untilMs: null },
    { secret: 'whsec_1', publicKey: null, untilMs: 1000 + HOUR_MS },
  ]);
  assert.deepEqual(told, ['let go wh_1', 'deliveries', 'operations'], 'what is claimed is signed anew');
});

test('a rotation never lengthens the life of a secret', async () => {
  const { rotate, pass } = create(webhook());
  await rotate(HOUR_MS);
  pass(1000);
  assert.deepEqual(ends(await rotate(2 * HOUR_MS)), [null, 2000 + 2 * HOUR_MS, 1000 + HOUR_MS]);
  assert.deepEqual(ends(await rotate(500)), [null, 2500, 2500, 2500], 'but it may shorten it');
  pass(500);
  assert.deepEqual(ends(await rotate(HOUR_MS)), [null, 2500 + HOUR_MS], 'those that are over are dropped');
});

test('without overlap the old secret is over', async () => {
  assert.deepEqual(ends(await create(webhook()).rotate(0)), [null]);
});

test('both schemes rotate, each newest first', async () => {
  const { createWebhook, rotate } = create();
  await createWebhook('u_1', { url: URL, settings: { signature: ['v1', 'v1a'] } });
  const rotated = await rotate(HOUR_MS);
  assert.deepEqual(kinds(rotated), ['whsec', 'whsec', 'whsk', 'whsk']);
  assert.deepEqual(ends(rotated), [null, 1000 + HOUR_MS, null, 1000 + HOUR_MS]);
});

test('too many secrets at a time are refused', async () => {
  const old = (n: number): SigningSecret => ({ secret: `whsec_${n}`, publicKey: null, untilMs: n * HOUR_MS });
  const secrets = [...webhook().secrets, ...Array.from({ length: LIMITS.secretsPerWebhook - 1 }, (_, n) => old(n + 1))];
  const { rotate, kept } = create(webhook({}, { secrets }));
  const refused = { code: 'conflict', message: /1970-01-01T01:00:00\.000Z/ };
  await assert.rejects(rotate(24 * HOUR_MS), refused);
  assert.equal(kept()?.secrets, secrets);
  assert.equal((await rotate(0)).secrets.length, 1);
});

function createTests(known: Webhook | undefined, probe?: Parameters<typeof createWebhookTests>[0]['probe']) {
  const probed: ClaimedDelivery[] = [];
  let count = 0;
  const request = { method: 'POST', url: URL, headers: [], body: Buffer.from('{}') };
  const { testWebhook } = createWebhookTests({
    store: { getWebhook: async () => known },
    clock: { nowMs: () => 2000 },
    ids: { next: (prefix) => `${prefix}${++count}`, secret: () => '' },
    probe:
      probe ??
      (async (delivery) => {
        probed.push(delivery);
        return { attempt: answered(503), request };
      }),
  });
  return { testWebhook, probed, request };
}

test('a test is a delivery of an event of ours', async () => {
  const known = webhook({ maxInFlight: 3 }, { active: false });
  const { testWebhook, probed, request } = createTests(known);
  const shown = await testWebhook('u_1', 'wh_1', null);
  assert.deepEqual(shown, { attempt: answered(503), request, state: 'retrying' });
  await testWebhook('u_1', 'wh_1', null);
  const [first, second] = probed as [ClaimedDelivery, ClaimedDelivery];
  assert.deepEqual([first.trigger, first.attempt, first.tries, first.webhook], ['test', 1, 0, known]);
  assert.deepEqual([first.emission.test, first.emission.ownerId, first.emission.name], [true, 'u_1', '']);
  assert.equal(JSON.parse(Buffer.from(first.emission.body).toString()).test, true);
  assert.match(first.emission.emitId, /^[A-Za-z0-9_]+$/);
  assert.notEqual(first.emission.emitId, second.emission.emitId);
});

test('a test sends the bytes that were given', async () => {
  const { testWebhook, probed } = createTests(webhook());
  const event = Buffer.from('{"a": 1.0}');
  await testWebhook('u_1', 'wh_1', event);
  assert.equal(probed[0]?.emission.body, event);
});

test('a test of nothing, or while stopping, is refused', async () => {
  await assert.rejects(createTests(undefined).testWebhook('u_1', 'wh_1', null), { code: 'not_found' });
  const stopping = createTests(webhook(), async () => undefined);
  await assert.rejects(stopping.testWebhook('u_1', 'wh_1', null), { code: 'unavailable' });
});

test('only so many tests go on at once, half of them of one owner', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const { testWebhook } = createTests(webhook(), () => promise);
  const test = (ownerId: string) => testWebhook(ownerId, 'wh_1', null);
  const tests = Array.from({ length: 16 }, () => test('u_1'));
  const refused = { code: 'rate_limited', message: '16 of your tests of webhooks are under way; try again' };
  await assert.rejects(test('u_1'), refused);
  tests.push(...Array.from({ length: 16 }, () => test('u_2')));
  await assert.rejects(test('u_3'), { code: 'rate_limited', message: '32 tests of webhooks are under way; try again' });
  resolve(undefined);
  for (const { reason } of (await Promise.allSettled(tests)) as PromiseRejectedResult[]) {
    assert.equal(reason.code, 'unavailable');
  }
  for (const ownerId of ['u_1', 'u_3']) {
    await assert.rejects(test(ownerId), { code: 'unavailable' }, 'there is room again');
  }
});
