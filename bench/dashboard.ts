// The dashboard over a server with much on it: how soon each page can be used, in a browser that has been there before, and what
// its calls of the interface cost.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { NO_OUTCOME } from '../src/domain/run/run.ts';
import { endOf } from '../src/domain/run/run-end.ts';
import { clock, random } from '../src/server/real-ports.ts';
import type { Store } from '../src/store/contract/store.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import { skip, type Visit, visiting } from '../test/dashboard/browser.ts';
import { add, below } from './kit/figures.ts';
import { API_KEY, type Bench, SECRET_KEY, startBench } from './kit/server.ts';
import { spreadOf } from './kit/stats.ts';
import { eventOf, type Flow, FREE_HANDS } from './stores/store-work.ts';

export interface Filled {
  readonly workflows: number;
  readonly errors: number;
  /** Visits of each page. */
  readonly visits: number;
}

const MAKERS = 16;
const AT_ONCE = 500;
/** Workflows that fail; each in two ways. */
const FAILING = 100;
const CALLS = 40;
const INTERACTIVE_MS = 1000;
const CODE = `export default async ({ steps }) => {
  const { currency, total } = steps.trigger.event.body;
  if (currency === null) throw new Error('no currency');
  return { total };
};`;
const EVENT = Buffer.from(
  '{"method":"POST","path":"/","query":{},"body":{"number":1042,"currency":null,"total":59.9}}',
);

/** Adds a figure for each page: until it can be used, and the slowest of its calls. */
export async function dashboard(filled: Filled): Promise<void> {
  if (skip) return add({ name: `dashboard: ${skip}`, value: 0, unit: '' });
  const dir = await mkdtemp(join(tmpdir(), 'errand-dashboard-'));
  try {
    const flows = await lay(dir, filled);
    await fill(dir, flows, filled.errors);
    await using bench = await startBench(dir);
    const pages = await pagesOf(bench);
    const client = { ...bench.client, key: API_KEY };
    await visiting({ url: bench.process.url, client }, async (visit) => {
      await visit.signIn();
      for (const [name, path] of Object.entries(pages)) await measure({ visit, name, path, visits: filled.visits });
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function lay(dir: string, { workflows }: Filled): Promise<Flow[]> {
  await using bench = await startBench(dir);
  const { data: me } = await bench.client.get('/v1/users/me');
  const flows: Flow[] = [];
  const make = async (): Promise<void> => {
    while (flows.length < workflows) {
      const { id, hi } = await bench.workflow(CODE, { notify: false });
      flows.push({ ownerId: me.id, triggerId: hi, workflowId: id });
    }
  };
  await Promise.all(Array.from({ length: MAKERS }, make));
  const webhook = await bench.webhook('http://127.0.0.1:9/');
  for (const { workflowId } of flows.slice(0, 100)) await bench.subscribe(workflowId, webhook);
  return flows;
}

/** Fails runs in the store itself, at a few thousand a second. */
async function fill(dir: string, flows: readonly Flow[], errors: number): Promise<void> {
  const secretKeys = [{ key: SECRET_KEY, from: 'the benchmark', isShared: true }];
  const store = await openSqliteStore({ path: join(dir, 'errand.db'), clock, random, secretKeys });
  const started = performance.now();
  for (let n = 0; n < errors; n += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => fail(store, flows, n + i)));
  const seconds = (performance.now() - started) / 1000;
  await store.close();
  add({ name: 'dashboard: errors stored', value: errors, unit: '', note: `in ${seconds.toFixed(0)} s` });
}

async function fail(store: Store, flows: readonly Flow[], n: number): Promise<void> {
  const flow = flows[n % Math.min(FAILING, flows.length)] as Flow;
  const { claims } = await store.append(eventOf(flow, EVENT), FREE_HANDS);
  for (const run of claims.runs) {
    const code = n % 3 === 0 ? 'NoCurrency' : 'Error';
    const msg = `order ${n} has no currency`;
    const fault = { code, msg, cellId: 'c_0', namespace: 'step', tsMs: clock.nowMs(), stack: '    at step.ts:3:33' };
    const outcome = { ...NO_OUTCOME, end: { kind: 'failed', fault }, steps: [] } as const;
    await store.finishRun(endOf(run, outcome, clock.nowMs()), FREE_HANDS);
  }
}

async function pagesOf({ client }: Bench): Promise<Readonly<Record<string, string>>> {
  const [group] = (await client.get('/v1/error_groups?sort=count&limit=1')).data;
  const [error] = (await client.get(`/v1/errors?group_id=${group.id}&limit=1`)).data;
  const [run] = (await client.get('/v1/runs?limit=1')).data;
  const [webhook] = (await client.get('/v1/webhooks?limit=1')).data;
  return {
    overview: '/',
    errors: '/errors',
    'group of errors': `/errors/${group.id}`,
    error: `/errors/${group.id}/${error.id}`,
    workflows: '/workflows',
    workflow: `/workflows/${group.emitter_id}`,
    run: `/runs/${run.id}`,
    webhooks: '/webhooks',
    webhook: `/webhooks/${webhook.id}`,
    sources: '/sources',
    subscriptions: '/subscriptions',
    replays: '/operations',
    'replay of many': `/operations/new?group=${group.id}`,
    notices: '/notices',
    settings: '/settings',
  };
}

interface Measured {
  readonly visit: Visit;
  readonly name: string;
  readonly path: string;
  readonly visits: number;
}

/** A page can be used when it has its heading, and nothing of it is being loaded any more. */
async function measure({ visit, name, path, visits }: Measured): Promise<void> {
  const { page, requested } = visit;
  const took: number[] = [];
  let calls: string[] = [];
  for (let n = 0; n <= visits; n++) {
    requested.length = 0;
    const before = performance.now();
    await visit.open(path);
    await visit.still();
    // The first visit loads the page's script.
    if (n > 0) took.push(performance.now() - before);
    if (n > 0) continue;
    // Not all that is asked for is waited for: names come when they come.
    await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
    calls = requested.filter((url) => new URL(url).pathname.startsWith('/v1/') && !url.includes('/stream'));
  }
  const { p50, p99 } = spreadOf(took);
  const note = `slowest of ${visits}: ${p99.toFixed(0)} ms`;
  add({ name: `dashboard: ${name}, usable, p50`, value: p50, unit: 'ms', note, ...below(p50, INTERACTIVE_MS, 'ms') });
  const { slowest, kib } = await callsCost(calls);
  add({
    name: `dashboard: ${name}, calls, p95`,
    value: slowest.p95,
    unit: 'ms',
    note: `of the slowest of ${calls.length}, ${kib.toFixed(0)} KiB in all: ${slowest.path}`,
  });
}

/** Each call by itself, one at a time, with no browser beside it. */
async function callsCost(calls: readonly string[]): Promise<{ slowest: { p95: number; path: string }; kib: number }> {
  let slowest = { p95: 0, path: '' };
  let bytes = 0;
  for (const url of calls) {
    const { origin, pathname, search } = new URL(url);
    const pool = new Pool(origin, { connections: 1 });
    const took: number[] = [];
    for (let n = 0; n < CALLS; n++) {
      const before = performance.now();
      const headers = { authorization: `Bearer ${API_KEY}` };
      const { body } = await pool.request({ path: pathname + search, method: 'GET', headers });
      const { byteLength } = await body.arrayBuffer();
      took.push(performance.now() - before);
      if (n === 0) bytes += byteLength;
    }
    await pool.close();
    const { p95 } = spreadOf(took);
    if (p95 > slowest.p95) slowest = { p95, path: pathname + search };
  }
  return { slowest, kib: bytes / 1024 };
}
