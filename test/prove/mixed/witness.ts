// The second checker. It knows nothing of the store: only what senders were answered, what receivers received, and what the
// API says, all along and in the end.

import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { EMITS, FAILS } from '../arrangement.ts';
import { Findings } from '../findings.ts';
import type { Load } from '../load.ts';
import { API_KEY, type Server } from '../server.ts';
import { GIVEN_UP } from '../verdict.ts';
import { DELAY_MS, type MixedArrangement } from './arrangement.ts';
import { MANNERS, type Receivers } from './receivers.ts';

const ASKED_EVERY_MS = 250;
const ANSWER_MS = 3000;
const LATE_NOTICES_MS = 30_000;
const PAGE = 100;
const OVER = new Set(['succeeded', 'failed', 'cancelled']);

/** Adds up, and nothing of it is below zero. */
function judgeLedger(ledger: Json, findings: Findings): void {
  for (const kind of ['runs', 'deliveries']) {
    const { total, ...states } = ledger[kind] as Record<string, number>;
    for (const [state, n] of Object.entries(states)) {
      if (n < 0) findings.add('ledger below zero', `${kind}.${state}: ${n}`);
    }
    const sum = Object.values(states).reduce((all, n) => all + n, 0);
    if (sum !== total) findings.add('ledger that does not add up', `${kind}: ${sum}, not ${total}`);
  }
}

/** Asks one server after the other for the ledger until it is stopped. */
export class LedgerWatch {
  readonly findings = new Findings();
  looks = 0;
  #isStopped = false;
  readonly #done: Promise<void>;

  constructor(servers: readonly Server[]) {
    this.#done = this.#watch(servers);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  async #watch(servers: readonly Server[]): Promise<void> {
    for (let n = 0; !this.#isStopped; n++) {
      const { url } = servers[n % servers.length] as Server;
      try {
        const headers = { authorization: `Bearer ${API_KEY}` };
        const answer = await fetch(`${url}/v1/ledger`, { headers, signal: AbortSignal.timeout(ANSWER_MS) });
        const { data } = (await answer.json()) as Json;
        if (answer.status === 200) {
          judgeLedger(data, this.findings);
          this.looks++;
        }
      } catch {
        // down, cut off, or standing still
      }
      await pause(ASKED_EVERY_MS);
    }
  }
}

/** What the faults may have led to, although the events did not. */
export interface Allowances {
  /** Code that could not be started, since there was no room. */
  readonly mayFailToStart: boolean;
  /** Waits that ended before their time, since the clock that they went by was set. */
  readonly mayWakeEarly: boolean;
}

export interface Evidence extends Allowances {
  readonly server: Server;
  readonly load: Load;
  readonly receivers: Receivers;
  readonly arrangement: MixedArrangement;
}

export interface Testimony {
  readonly lost: Findings;
  readonly doubled: Findings;
  readonly stuck: Findings;
  readonly wrong: Findings;
  readonly counts: Readonly<Record<string, number>>;
}

/** Everything has come to rest. */
export async function testify(evidence: Evidence): Promise<Testimony> {
  return new Witness(evidence).testify();
}

/** `replay` is also true of what a replay has emitted. */
const isReplay = ({ event_name: name }: Json): boolean => name === '$replay';
const withoutReplays = (runs: readonly Json[]): Json[] => runs.filter((run) => !isReplay(run));

class Witness {
  readonly #evidence: Evidence;
  readonly #client: Client;
  readonly #lost = new Findings();
  readonly #doubled = new Findings();
  readonly #stuck = new Findings();
  readonly #wrong = new Findings();
  /** Events whose run failed, and that emitted, as far as senders know the numbers. */
  readonly #failed = new Set<number>();
  readonly #emitted = new Set<number>();
  #givenUp = 0;
  #cutShort = 0;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
    this.#client = createClient(evidence.server.url, API_KEY);
  }

  async testify(): Promise<Testimony> {
    const { a, b, c, t } = this.#evidence.arrangement;
    const runs = await this.#runsOf(a);
    this.#events(runs);
    this.#received();
    const failed = runs.filter(({ state }) => state === 'failed').length;
    // What becomes of replays is told by the rows: `inbox-verdict.ts`.
    const forwarded = withoutReplays(await this.#runsOf(b));
    this.#equal('errors forwarded', forwarded.length, failed);
    const emissions = this.#evidence.receivers.received.fine.ids;
    const own = [...emissions.values()].filter(({ isError }) => !isError).length;
    const waits = withoutReplays(await this.#runsOf(c));
    this.#equal('own events that workflow C heard', waits.length, own);
    this.#waits(waits);
    const ticks = withoutReplays(await this.#runsOf(t));
    this.#ticks(ticks);
    await this.#rest();
    const counts = {
      events_acknowledged: this.#acknowledged.length,
      runs: runs.length,
      runs_of_replays: runs.filter(isReplay).length,
      runs_failed: failed,
      runs_given_up: this.#givenUp,
      waits: waits.length,
      waits_cut_short: this.#cutShort,
      ticks: ticks.length,
      deliveries_received: this.#sum(({ taken, refused }) => taken + refused),
      deliveries_taken_twice: this.#sum(({ taken }) => (taken > 1 ? 1 : 0)),
    };
    const [lost, doubled, stuck, wrong] = [this.#lost, this.#doubled, this.#stuck, this.#wrong];
    return { lost, doubled, stuck, wrong, counts };
  }

  get #acknowledged() {
    return [...this.#evidence.load.sent].filter(([, { outcome }]) => outcome === 'accepted');
  }

  #sum(of: (seen: { taken: number; refused: number }) => number): number {
    const { received } = this.#evidence.receivers;
    return MANNERS.flatMap((manner) => [...received[manner].ids.values()]).reduce((sum, seen) => sum + of(seen), 0);
  }

  #equal(what: string, found: number, expected: number): void {
    if (found < expected) this.#lost.add(what, `${found} of ${expected}`);
    if (found > expected) this.#doubled.add(what, `${found}, not ${expected}`);
  }

  /** The whole list, page by page. */
  async #runsOf(workflowId: string): Promise<Json[]> {
    const all: Json[] = [];
    for (let after = ''; ; ) {
      const { data, page_info: page } = await this.#client.get(
        `/v1/workflows/${workflowId}/runs?limit=${PAGE}${after && `&after=${after}`}`,
      );
      all.push(...data);
      if (data.length < PAGE) break;
      after = page.end_cursor;
    }
    for (const { id, state } of all) if (!OVER.has(state)) this.#stuck.add('run that did not end', `${id}: ${state}`);
    return all;
  }

  /** Each event that was acknowledged has one run, which ended as the event said. */
  #events(runs: readonly Json[]): void {
    const byEvent = Map.groupBy(runs, ({ emission_id: id }) => id as string);
    for (const [id, found] of byEvent) if (found.length > 1) this.#doubled.add('runs of one event', id);
    for (const [n, { kind, emitId }] of this.#acknowledged) {
      const [run] = byEvent.get(emitId ?? '') ?? [];
      if (!run) {
        this.#lost.add('acknowledged event without a run', `event ${n} (${emitId})`);
        continue;
      }
      const isGivenUp = this.#isGivenUp(run);
      if (isGivenUp) this.#givenUp++;
      const state = FAILS.has(kind) || isGivenUp ? 'failed' : 'succeeded';
      if (run.state !== state) this.#wrong.add('run that ended otherwise', `event ${n} (${kind}): ${run.state}`);
      if (state === 'failed') this.#failed.add(n);
      if (EMITS.has(kind) && !isGivenUp) this.#emitted.add(n);
    }
  }

  #isGivenUp({ error }: Json): boolean {
    return GIVEN_UP.has(error?.code) || (this.#evidence.mayFailToStart && error?.code === 'StartFailed');
  }

  /** Each was as long as it was to be, or longer. */
  #waits(runs: readonly Json[]): void {
    for (const run of runs) {
      if (this.#isGivenUp(run)) continue;
      if (run.state !== 'succeeded') {
        this.#wrong.add('wait that ended otherwise', `${run.id}: ${run.state}`);
        continue;
      }
      if (Number(run.summary) >= DELAY_MS) continue;
      this.#cutShort++;
      if (!this.#evidence.mayWakeEarly)
        this.#wrong.add('wait that ended before its time', `${run.id}: ${run.summary} ms`);
    }
  }

  /** One for each time that was due. */
  #ticks(runs: readonly Json[]): void {
    const byTime = Map.groupBy(runs, ({ summary }) => summary as string);
    for (const [dueAtMs, found] of byTime) {
      if (found.length > 1 && !found.some((run) => this.#isGivenUp(run)))
        this.#doubled.add('ticks of one time', `${dueAtMs}: ${found.map(({ id }) => id).join(', ')}`);
    }
  }

  /** One error of each failed run, and one event of each that emitted, taken by every receiver under one id. */
  #received(): void {
    const { receivers } = this.#evidence;
    const known = new Set(this.#evidence.receivers.received.fine.ids.keys());
    for (const manner of MANNERS) {
      const told = { errors: new Map<number, number>(), own: new Map<number, number>() };
      for (const [id, { n, isError, isReplay: isOfReplay, taken }] of receivers.received[manner].ids) {
        if (taken === 0) this.#lost.add('delivery that was never taken', `${manner}: ${id}`);
        if (!known.has(id)) this.#wrong.add('event that only some receivers know', `${manner}: ${id}`);
        if (isOfReplay) continue;
        const counts = isError ? told.errors : told.own;
        counts.set(n, (counts.get(n) ?? 0) + 1);
      }
      for (const [what, counts] of Object.entries(told)) {
        for (const [n, count] of counts)
          if (count > 1) this.#doubled.add(`${what} of one event`, `${manner}: event ${n}`);
      }
      for (const n of this.#failed)
        if (!told.errors.has(n)) this.#lost.add('error not received', `${manner}: event ${n}`);
      for (const n of this.#emitted)
        if (!told.own.has(n)) this.#lost.add('event not received', `${manner}: event ${n}`);
    }
  }

  /** The ledger and the lists say that nothing is left to do. A notice that groups are resolved is sent after their last replay. */
  async #rest(): Promise<void> {
    const deadline = Date.now() + LATE_NOTICES_MS;
    for (;;) {
      const { data } = await this.#client.get('/v1/ledger');
      const left = await this.#left(data);
      if (left.length > 0 && Date.now() < deadline) {
        await pause(ASKED_EVERY_MS);
        continue;
      }
      judgeLedger(data, this.#wrong);
      for (const [what, detail] of left) this.#stuck.add(what, detail);
      this.#equal('captured errors', data.errors.captured, data.runs.failed + data.deliveries.exhausted);
      return;
    }
  }

  async #left({ runs, deliveries }: Json): Promise<[string, string][]> {
    const open = { ...runs, ...deliveries };
    const states = ['queued', 'running', 'waiting', 'pending', 'sending', 'retrying', 'held'];
    const left = states
      .filter((state) => open[state] !== 0)
      .map((state): [string, string] => [`ledger: ${state}`, String(open[state])]);
    for (const state of ['pending', 'sending', 'retrying']) {
      const { data } = await this.#client.get(`/v1/deliveries?state=${state}&limit=5`);
      for (const { id } of data) left.push(['delivery that is not over', `${id}: ${state}`]);
    }
    return left;
  }
}
