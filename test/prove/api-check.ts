// The same questions to the running server, as any caller could ask them.

import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Json } from '../support/client.ts';
import type { Arrangement } from './arrangement.ts';
import { Findings } from './findings.ts';
import { GIVEN_UP } from './verdict.ts';

const PAUSE_MS = 50;

/** Waits until nothing is queued, under way or due again. Rejects with the ledger when that takes too long. */
export async function settle(client: Client, deadlineMs: number): Promise<Json> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const { data } = await client.get('/v1/ledger');
    const { runs, deliveries } = data;
    const open = runs.queued + runs.running + runs.waiting + deliveries.pending + deliveries.sending;
    if (open + deliveries.retrying === 0 && (await areReplaysAtRest(client))) return data;
    if (Date.now() > deadline) throw new Error(`still busy after ${deadlineMs / 1000} s: ${JSON.stringify(data)}`);
    await pause(PAUSE_MS);
  }
}

/** Returns whether no operation goes on by itself. One that is paused waits for an order. */
async function areReplaysAtRest(client: Client): Promise<boolean> {
  const { data } = await client.get('/v1/operations?kind=replay&limit=100');
  return data.every(({ state, replay }: Json) => state !== 'running' && replay.under_way === 0);
}

async function isGivenUp(client: Client, receipt: Json): Promise<boolean> {
  if (receipt.state !== 'failed') return false;
  const { error } = (await client.get(`/v1/runs/${receipt.id}`)).data;
  return GIVEN_UP.has(error.code);
}

/** An error names its replays, and the run of a replay the run that failed and the error that was replayed. */
async function checkLinks(client: Client, findings: Findings): Promise<void> {
  const { data: operations } = await client.get('/v1/operations?kind=replay&limit=20');
  for (const { id: operationId } of operations) {
    const { data: results } = await client.get(`/v1/operations/${operationId}/results?limit=5`);
    for (const { id, emitter_id: emitterId, run_id: runId, reason } of results) {
      if (runId === null || reason !== null) continue;
      const { data: error } = await client.get(`/v1/workflows/${emitterId}/$errors/event_summaries/${id}`);
      const link = error.replays.find(({ run_id: of }: Json) => of === runId);
      findings.equal(`replay that its error ${id} does not name`, link?.operation_id, operationId);
      const { data: run } = await client.get(`/v1/runs/${runId}`);
      findings.equal(`error that its replay ${runId} does not name`, run.caused_by?.summary, `replay of ${id}`);
      const { data: failed } = await client.get(`/v1/runs/${run.caused_by?.run_id}`);
      findings.equal(`run that does not say that ${runId} followed it`, typeof failed.retried_by, 'string');
    }
  }
}

/** What the lists and the ledger of a settled server say. */
export async function checkOverApi(client: Client, { a, b, w, global }: Arrangement): Promise<Findings> {
  const findings = new Findings();
  const { runs, deliveries, errors } = (await client.get('/v1/ledger')).data;
  const sum = (of: Json): number =>
    Object.entries(of).reduce((total, [state, n]) => (state === 'total' ? total : total + (n as number)), 0);
  findings.equal('runs that do not add up', sum(runs), runs.total);
  findings.equal('deliveries that do not add up', sum(deliveries), deliveries.total);
  findings.equal('errors that are not the failed runs', errors.captured, runs.failed + deliveries.exhausted);
  // Nothing is pruned meanwhile, so groups count what the log has, no more and no less.
  const { data: groups } = await client.get('/v1/error_groups?limit=100');
  const counted = groups.reduce((total: number, group: Json) => total + group.count, 0);
  findings.equal('errors that their groups do not count', counted, errors.captured);
  for (const { id, count } of groups) {
    const { hours, deployments } = (await client.get(`/v1/error_groups/${id}`)).data;
    for (const parts of [hours, deployments]) {
      const sum = parts.reduce((total: number, part: Json) => total + part.count, 0);
      // Errors of deliveries belong to no deployment.
      if (parts.length > 0) findings.equal(`parts of group ${id}`, sum, count);
    }
  }
  await checkLinks(client, findings);
  const path = `/v1/workflows/${a}/$errors/event_summaries`;
  const { data: listed } = await client.get(path);
  for (const { id } of listed) {
    const { receipts } = (await client.get(`${path}/${id}`)).data;
    const told = new Map<string, Json>(receipts.map((r: Json) => [r.listener_id, r]));
    for (const listener of [b, global]) {
      const receipt = told.get(listener);
      if (receipt && (await isGivenUp(client, receipt))) continue;
      findings.equal(`receipt of ${id}`, receipt?.state, 'succeeded');
    }
    findings.equal(`receipt of ${id}`, told.get(w)?.state, 'delivered');
  }
  return findings;
}
