// A heartbeat whose job has failed.

import type { Client } from './client.ts';

/** Returns the ids of the heartbeat and of its error. */
export async function failedHeartbeat(client: Client, name = 'Backup'): Promise<[id: string, recordId: string]> {
  const { id, ping_url } = await client.post('/v1/heartbeats', { name, interval_seconds: 86_400 });
  await fetch(`${ping_url}/fail`, { method: 'POST', body: name });
  const { data } = await client.get(`/v1/heartbeats/${id}/$errors/event_summaries`);
  return [id, data[0].id];
}
