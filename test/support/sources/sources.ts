// Sources as a caller deploys them, what comes in at their endpoint, and what they emitted.

import type { Answer, Json } from '../client.ts';
import type { Errand } from '../errand.ts';
import { until } from '../wait.ts';

/** Emits its HTTP event's body. */
export const ECHO_SOURCE = `export default {
  props: { http: '$.interface.http' },
  run(event) { this.$emit(event.body); },
};`;

export function createSource(errand: Errand, code: string, more: Json = {}): Promise<Json> {
  return errand.client.post('/v1/sources', { name: 'test', component_code: code, ...more });
}

/** The answer to a deployment that may be refused. */
export function trySource(errand: Errand, code: string, more: Json = {}): Promise<Answer> {
  return errand.client.request('POST', '/v1/sources', { name: 'test', component_code: code, ...more });
}

/** POSTs a body to a source's endpoint and asserts 200. */
export async function post(source: Json, body: unknown, headers: Record<string, string> = {}): Promise<Json> {
  const response = await fetch(source.endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the endpoint answered ${response.status}: ${text}`);
  return text;
}

/** Waits until an emitter has `count` emissions of a name (none: the default channel); returns them newest first. */
export function emissions(errand: Errand, id: string, count: number, name?: string): Promise<Json[]> {
  const path = `${emissionsPath(id)}?expand=event${name === undefined ? '' : `&event_name=${encodeURIComponent(name)}`}`;
  return until(`${count} emissions of ${id}`, async () => {
    const page = await errand.client.get(path);
    return page.data.length >= count && page.data;
  });
}

export function emissionsPath(id: string): string {
  return `/v1/${id.startsWith('dc_') ? 'sources' : 'workflows'}/${id}/event_summaries`;
}

/** The events of emissions, oldest first. */
export function eventsOf(records: Json[]): Json[] {
  return records.map((record) => record.event).reverse();
}
