// `deactivate` of a source whose vendor asks its address whether it may forget it, as WebSub does.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource } from '../../support/sources/sources.ts';

const newErrand = shareErrand();

const SUBSCRIBER = `let running = 0;
export default {
  props: { http: { type: '$.interface.http', customResponse: true }, hub: 'string', topic: { type: 'string', default: 'a' } },
  methods: {
    async ask(mode) {
      const response = await fetch(this.hub, { method: 'POST', body: JSON.stringify({ mode, callback: this.http.endpoint }) });
      if (response.status !== 204) throw new Error(mode + ' was not confirmed');
    },
  },
  hooks: {
    async activate() { await this.ask('subscribe'); },
    async deactivate() { await this.ask('unsubscribe'); },
  },
  async run({ query }) {
    const beside = running++;
    if (query.slow) await new Promise((resolve) => setTimeout(resolve, 200));
    running--;
    this.http.respond({ status: 200, body: query.challenge ?? String(beside) });
  },
};`;

/** Confirms what the address of the subscriber answers to; notes each order, and whether it was confirmed. */
async function startHub() {
  const seen: string[] = [];
  let isStubborn = false;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { mode, callback } = JSON.parse(Buffer.concat(parts).toString());
    const asked = fetch(`${callback}?challenge=${mode}`, { signal: AbortSignal.timeout(20_000) });
    const answer = await asked.then((answered) => answered.text()).catch(() => 'nothing');
    const isConfirmed = answer === mode && !(isStubborn && mode === 'unsubscribe');
    seen.push(`${mode} ${isConfirmed ? 'confirmed' : `got ${answer}`}`);
    response.writeHead(isConfirmed ? 204 : 409).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuseLeaving: (is: boolean) => {
      isStubborn = is;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('its address answers while it is changed, switched off and deleted', async () => {
  await using errand = await newErrand();
  await using hub = await startHub();
  const [confirmed, left] = ['subscribe confirmed', 'unsubscribe confirmed'];
  const source = await createSource(errand, SUBSCRIBER, { configured_props: { hub: hub.url } });
  assert.deepEqual(hub.seen.splice(0), [confirmed]);
  const path = `/v1/sources/${source.id}`;
  await errand.client.put(path, { configured_props: { hub: hub.url, topic: 'b' } });
  assert.deepEqual(hub.seen.splice(0), [left, confirmed]);
  await errand.client.put(path, { active: false });
  assert.deepEqual(hub.seen.splice(0), [left]);
  await errand.client.put(path, { active: true });
  await errand.client.delete(path);
  assert.deepEqual(hub.seen.splice(0), [confirmed, left]);
});

test('a source that may not leave stays as it was, and runs one after the other again', async () => {
  await using errand = await newErrand();
  await using hub = await startHub();
  const source = await createSource(errand, SUBSCRIBER, { configured_props: { hub: hub.url } });
  const path = `/v1/sources/${source.id}`;
  hub.refuseLeaving(true);
  const refused = await errand.client.request('PUT', path, { configured_props: { hub: hub.url, topic: 'b' } });
  assert.equal(refused.status, 422, refused.text);
  assert.equal(refused.json.errors[0].parameter, 'hooks.deactivate');
  const kept = (await errand.client.get(path)).data;
  assert.deepEqual([kept.active, kept.configured_props.topic], [true, undefined]);
  const answers = await Promise.all(
    [1, 2, 3].map(async () => (await fetch(`${source.endpoint_url}?slow=1`, { method: 'POST' })).text()),
  );
  assert.deepEqual(answers, ['0', '0', '0'], 'none beside another');
  hub.refuseLeaving(false);
  await errand.client.put(path, { configured_props: { hub: hub.url, topic: 'b' } });
  assert.equal((await errand.client.get(path)).data.configured_props.topic, 'b');
});
