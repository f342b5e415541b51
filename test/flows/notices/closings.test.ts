// The end of a group of which nothing has recovered: what failed was switched off or deleted, or is not watched any more.

import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { failedHeartbeat } from '../../support/heartbeats.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';

/** Has all notices sent to receivers: as a program gets them, and as text. */
async function hearAll({ client }: Errand, program: Receiver, text: Receiver): Promise<void> {
  const titles = { url: text.url, template: '{{title}}' };
  const made = [
    await client.post('/v1/channels', { kind: 'http', config: { url: program.url } }),
    await client.post('/v1/channels', { kind: 'http', config: titles }),
  ];
  await client.put('/v1/users/me', { channels: made.map(({ id }) => id) });
}

const textsOf = ({ received }: Receiver): string[] => received.map(({ body }) => String(body));
const endsOf = ({ received }: Receiver): Json[] =>
  received.map(({ body }) => JSON.parse(String(body))).filter(({ kind }) => kind === 'recovered');

test('the group of a heartbeat that is switched off or deleted is told as closed', async () => {
  await using errand = await startErrand();
  await using program = await startReceiver();
  await using text = await startReceiver();
  await hearAll(errand, program, text);
  const [paused] = await failedHeartbeat(errand.client, 'Backup');
  const [deleted] = await failedHeartbeat(errand.client, 'Report');
  await program.wait(2);
  await text.wait(2);
  await until('the mails', async () => (await errand.outbox()).length === 2);
  await errand.client.put(`/v1/heartbeats/${paused}`, { active: false });
  await text.wait(3);
  await errand.client.delete(`/v1/heartbeats/${deleted}`);
  await text.wait(4);
  await program.wait(4);
  deepEqual(
    endsOf(program).map(({ emitter_id: id, closed }) => [id, closed]),
    [
      [paused, 'switched_off'],
      [deleted, 'deleted'],
    ],
  );
  const [, , first, second] = textsOf(text);
  match(`${first}`, /^Backup closed, since the heartbeat was switched off: HeartbeatFailed Heartbeat "Backup"/);
  match(`${second}`, /^Report closed, since the heartbeat was deleted: HeartbeatFailed Heartbeat "Report"/);
  await errand.settled();
  const mails = await errand.outbox();
  equal(mails.length, 3, 'no mail tells of a deletion');
  const { subject } = await PostalMime.parse(`${mails[2]}`);
  match(`${subject}`, /^\[Errand\] Backup closed, since the heartbeat was switched off: /);
});

test('the group of a watch that ends with its workflow or its setting is told as closed', async () => {
  await using errand = await startErrand();
  await using program = await startReceiver();
  await using text = await startReceiver();
  await hearAll(errand, program, text);
  const settings = { watch: { error_ratio: { over: 0.5, of_at_least: 2, window_ms: 60_000 } } };
  const unhealthy = async (name: string): Promise<string> => {
    const before = text.received.length;
    const { id } = await errand.workflow(`export default () => { throw new Error('no') }`, { name, settings });
    for (let n = 0; n < 2; n++) await errand.client.post(`/v1/workflows/${id}/runs`, { event: {} });
    await text.wait(before + 2);
    return id;
  };
  const [off, unwatched] = [await unhealthy('Orders'), await unhealthy('Stock')];
  await errand.client.put(`/v1/workflows/${off}`, { active: false });
  await text.wait(5);
  await errand.client.put(`/v1/workflows/${unwatched}`, { settings: { watch: null } });
  await text.wait(6);
  await errand.client.delete(`/v1/workflows/${unwatched}`);
  await text.wait(7);
  await program.wait(7);
  deepEqual(
    endsOf(program).map(({ emitter_id: id, code, closed }) => [id, code, closed]),
    [
      [off, 'Unhealthy', 'switched_off'],
      [unwatched, 'Unhealthy', 'not_watched'],
      [unwatched, 'Error', 'deleted'],
    ],
  );
  const ends = textsOf(text).slice(4);
  match(`${ends[0]}`, /^Orders closed, since the workflow was switched off: Unhealthy/);
  match(`${ends[1]}`, /^Stock closed, since the workflow is not watched for it any more: Unhealthy/);
  match(`${ends[2]}`, /^Stock closed, since the workflow was deleted: Error no/);
});
