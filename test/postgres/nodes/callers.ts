// Callers of workflows that answer, at whichever node.

import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import type { Gate } from '../../support/gate.ts';
import { until } from '../../support/wait.ts';

export const API = { ERRAND_ROLES: 'api' };
export const RUN = { ERRAND_ROLES: 'run' };
/** Only ends a test whose caller would be left waiting. */
const DEADLINE_MS = 20_000;

/** Is at the gate before it answers. */
export const PATIENT = `export default async ({ $ }) => {
  await (await fetch(process.env.GATE)).text();
  await $.respond({ status: 200, body: 'late' });
};`;

export function answering(node: Errand, code: string, more: Json = {}): Promise<Json> {
  return node.workflow(code, { triggers: [{ type: 'http', custom_response: true }], ...more });
}

interface Called {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export async function call(workflow: Json, body: Json = {}, headers: Record<string, string> = {}): Promise<Called> {
  const answer = await fetch(workflow.triggers?.[0].endpoint_url ?? workflow.endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

export function inState(node: Errand, workflow: Json, state: string, count = 1): Promise<Json[]> {
  return until(`${count} runs ${state}`, async () => {
    const { data } = await node.client.get(`/v1/workflows/${workflow.id}/runs?state=${state}`);
    return data.length >= count && data;
  });
}

export function atGate(gate: Gate, more: Json = {}): Json {
  return { settings: { env: { GATE: gate.url }, ...more } };
}
