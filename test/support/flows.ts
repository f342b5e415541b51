// What most tests do first, in one line each.

import type { Client, Json } from './client.ts';
import { until } from './wait.ts';

const KINDS: Readonly<Record<string, string>> = { dc: 'sources', wh: 'webhooks', hb: 'heartbeats' };

export interface ErrandActions {
  /** A workflow with one step and an HTTP trigger, unless told otherwise. */
  workflow(code: string, more?: Json): Promise<Json>;
  /** POSTs an event to a workflow's HTTP trigger and asserts 200; returns the emit id. */
  send(workflow: Json, event: unknown): Promise<string>;
  /** Waits until the workflow has `count` errors; returns them newest first, expanded. */
  errors(id: string, count: number): Promise<Json[]>;
  /** Waits until the workflow has `count` runs that are over; returns them newest first. */
  runs(id: string, count: number): Promise<Json[]>;
  subscribe(emitterId: string, listenerId: string, eventName?: string): Promise<Json>;
  /** Waits until nothing is queued, running, or on its way. */
  settled(): Promise<Json>;
}

const OVER = ['succeeded', 'failed', 'cancelled'];

export function createErrandOn(client: () => Client): ErrandActions {
  return {
    workflow: (code, more = {}) =>
      client().post('/v1/workflows', {
        name: 'test',
        steps: [{ namespace: 'step', code }],
        triggers: [{ type: 'http' }],
        ...more,
      }),
    send: async (workflow, event) => {
      const url = workflow.triggers[0].endpoint_url;
      const isRaw = typeof event === 'string' || event instanceof Uint8Array;
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: (isRaw ? event : JSON.stringify(event)) as string,
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`the trigger answered ${response.status}: ${text}`);
      return JSON.parse(text).id;
    },
    errors: (id, count) =>
      until(`${count} errors of ${id}`, async () => {
        const kind = KINDS[id.slice(0, id.indexOf('_'))] ?? 'workflows';
        const page = await client().get(`/v1/${kind}/${id}/$errors/event_summaries?expand=event`);
        return page.data.length >= count && page.data;
      }),
    runs: (id, count) =>
      until(`${count} runs of ${id}`, async () => {
        const page = await client().get(`/v1/workflows/${id}/runs`);
        const over = page.data.filter((run: Json) => OVER.includes(run.state));
        return over.length >= count && over;
      }),
    subscribe: (emitterId, listenerId, eventName) =>
      client().post('/v1/subscriptions', {
        emitter_id: emitterId,
        listener_id: listenerId,
        ...(eventName === undefined ? {} : { event_name: eventName }),
      }),
    settled: () =>
      until('nothing under way', async () => {
        const { data } = await client().get('/v1/ledger');
        const { runs, deliveries } = data;
        const open = runs.queued + runs.running + deliveries.pending + deliveries.sending;
        return open === 0 && data;
      }),
  };
}
