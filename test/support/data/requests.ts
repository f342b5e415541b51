// Requests that code asks for with `$.send.http`, as a test asks for them and finds them.

import type { Client, Json } from '../client.ts';
import type { Errand } from '../errand.ts';
import { until } from '../wait.ts';

/** A step that asks for the request in its event's body. */
export const SEND_BODY = 'export default ({ steps, $ }) => $.send.http(steps.trigger.event.body);';

interface Caller {
  readonly client: Client;
}

/** Waits until there are so many requests; returns them newest first. */
export function requestsOf({ client }: Caller, query = '', count = 1): Promise<Json[]> {
  return until(`${count} requests${query}`, async () => {
    const { data } = await client.get(`/v1/deliveries?kind=http${query}`);
    return data.length >= count && data;
  });
}

/** A workflow that asks for this request, and its delivery. */
export async function askedFor(errand: Errand, request: Json): Promise<{ workflow: Json; delivery: Json }> {
  const workflow = await errand.workflow(SEND_BODY, { name: 'Sender' });
  await errand.send(workflow, request);
  const [delivery] = await requestsOf(errand);
  return { workflow, delivery };
}

export async function wholeOf({ client }: Caller, { id }: Json): Promise<Json> {
  return (await client.get(`/v1/deliveries/${id}`)).data;
}
