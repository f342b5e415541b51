// Heartbeats: one that is expected soon, one whose job has failed, and the time in which they are missed.

import type { Client, Json } from './client.ts';
import type { Errand } from './errand.ts';
import { until } from './wait.ts';

/** Shorter than what is taken for a server that was away; three of them are longer than interval and grace of `beat`. */
const STEP_MS = 14_000;

export const beat = ({ client }: { readonly client: Client }, more: Json = {}): Promise<Json> =>
  client.post('/v1/heartbeats', { name: 'Backup', interval_seconds: 10, grace_seconds: 30, ...more });

/** Sets the clock forward, and lets the scheduler look all the time. */
export async function pass(errand: Errand, steps = 3): Promise<void> {
  const { id } = await beat(errand, { name: 'Marker' });
  const judgedAt = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${errand.client.key}` };
    const metrics = await (await fetch(`${errand.url}/metrics`, { headers })).text();
    return Number(/^errand_watches_judged_timestamp_seconds (\S+)$/m.exec(metrics)?.[1]);
  };
  await until('the scheduler looks for the first time', async () => (await judgedAt()) > 0);
  for (let step = 0; step < steps; step++) {
    const before = await judgedAt();
    errand.forward(STEP_MS);
    await errand.client.put(`/v1/heartbeats/${id}`, { name: 'Wakes the scheduler' });
    await until('the scheduler looks', async () => (await judgedAt()) >= before + STEP_MS / 1000);
  }
  await errand.client.delete(`/v1/heartbeats/${id}`);
}

/** Makes a heartbeat whose job has failed. Returns the ids of the heartbeat and of its error. */
export async function failedHeartbeat(client: Client, name = 'Backup'): Promise<[id: string, recordId: string]> {
  const { id, ping_url } = await client.post('/v1/heartbeats', { name, interval_seconds: 86_400 });
  await fetch(`${ping_url}/fail`, { method: 'POST', body: name });
  const { data } = await client.get(`/v1/heartbeats/${id}/$errors/event_summaries`);
  return [id, data[0].id];
}
