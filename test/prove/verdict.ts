// The verdict over a store: every event that was answered 2xx, followed to its end.

import { emitId } from '../../src/domain/ids.ts';
import { type Arrangement, EMITS, FAILS } from './arrangement.ts';
import { Findings } from './findings.ts';
import { judgeInbox } from './inbox-verdict.ts';
import type { Sent } from './load.ts';
import type { Sightings } from './receiver.ts';
import { type EmissionRow, grouped, type Rows, type RunRow } from './rows.ts';

export interface Evidence {
  readonly rows: Rows;
  readonly sent: ReadonlyMap<number, Sent>;
  readonly seen: ReadonlyMap<string, Sightings>;
  readonly arrangement: Arrangement;
  /** Groups that a caller has resolved, as it was answered. */
  readonly resolved: ReadonlySet<string>;
  /** Disk full: code that could not be started has failed, which the event did not decide. */
  readonly mayFailToStart?: boolean;
  /**
   * The store is beyond a network: a commit whose answer was lost there cannot be told from one that never came, and a
   * caller is told 503 for both.
   */
  readonly isRemote?: boolean;
}

export interface Verdict {
  /** Something that was promised is not there. */
  readonly lost: Findings;
  /** Something is there twice that may be there once, or that nobody asked for. */
  readonly wrong: Findings;
  readonly counts: Readonly<Record<string, number>>;
}

const OVER = new Set(['succeeded', 'failed', 'cancelled']);
/** A run that was under way in three lives that were killed is given up, and says so. */
export const GIVEN_UP: ReadonlySet<string> = new Set(['WorkerLost']);

export function judge(evidence: Evidence): Verdict {
  return new Judge(evidence).verdict();
}

class Judge {
  readonly #evidence: Evidence;
  readonly #lost = new Findings();
  readonly #wrong = new Findings();
  readonly #byEntry: Map<number, EmissionRow>;
  readonly #runsByEntry: Map<number, RunRow[]>;
  readonly #byCause: Map<number | null, EmissionRow[]>;
  #unanswered = 0;
  #givenUp = 0;
  #duplicates = 0;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
    const { emissions, runs } = evidence.rows;
    this.#byEntry = new Map(emissions.map((e) => [e.entry, e]));
    this.#runsByEntry = grouped(runs, (r) => r.entry);
    this.#byCause = grouped(emissions, (e) => e.cause_run);
  }

  verdict(): Verdict {
    this.#events();
    this.#runs();
    this.#fanOut();
    this.#deliveries();
    this.#wholeness();
    this.#ledger();
    const { rows, resolved } = this.#evidence;
    const inbox = judgeInbox({ rows, resolved });
    this.#lost.addAll(inbox.lost);
    this.#wrong.addAll(inbox.wrong);
    const { emissions, runs, deliveries, attempts } = rows;
    const counts = {
      events_sent: this.#evidence.sent.size,
      events_accepted: [...this.#evidence.sent.values()].filter((s) => s.outcome === 'accepted').length,
      events_kept_without_an_answer: this.#unanswered,
      emissions: emissions.length,
      runs: runs.length,
      runs_failed: runs.filter((r) => r.state === 'failed').length,
      runs_rescued: this.#evidence.rows.rescues,
      runs_given_up: this.#givenUp,
      deliveries: deliveries.length,
      attempts: [...attempts.values()].reduce((sum, n) => sum + n, 0),
      deliveries_seen_twice: this.#duplicates,
      ...inbox.counts,
      lost: this.#lost.count,
      wrong: this.#wrong.count,
    };
    return { lost: this.#lost, wrong: this.#wrong, counts };
  }

  /**
   * Answered 2xx: exactly one emission, under the id that was answered. No answer: at most one. Refused: none, but for
   * what nobody could know.
   */
  #events(): void {
    const { rows, sent, isRemote } = this.#evidence;
    const byNumber = grouped(
      rows.emissions.filter((e) => e.emitter_id.startsWith('hi_')),
      (e) => numberOf(e),
    );
    for (const [n, { outcome, emitId: answered, status }] of sent) {
      const found = byNumber.get(n) ?? [];
      byNumber.delete(n);
      if (found.length > 1) this.#wrong.add('event with several emissions', `event ${n}`);
      const [only] = found;
      if (outcome === 'accepted' && !only) this.#lost.add('accepted event without emission', `event ${n}`);
      const isOpen = outcome === 'unknown' || (isRemote === true && status === 503);
      if (isOpen && only) this.#unanswered++;
      else if (outcome === 'refused' && only) {
        this.#wrong.add('refused event with an emission', `event ${n} (${status})`);
      }
      if (only && answered !== null && answered !== emitId(rows.storeTag, only.entry)) {
        this.#wrong.add('event under another id than answered', `event ${n}: ${answered}`);
      }
      if (only) this.#outcome(n, only);
    }
    for (const n of byNumber.keys()) this.#wrong.add('event that nobody sent', `event ${n}`);
  }

  /** A's run of an event ended as the event said, and emitted as the event said. */
  #outcome(n: number, event: EmissionRow): void {
    const { sent, arrangement, mayFailToStart } = this.#evidence;
    const { kind } = sent.get(n) as Sent;
    const runs = this.#runsByEntry.get(event.entry) ?? [];
    if (runs.length === 0) this.#lost.add('event without a run', `event ${n}`);
    if (runs.length > 1) this.#wrong.add('event with several runs', `event ${n}`);
    const [run] = runs;
    if (!run) return;
    const isGivenUp = GIVEN_UP.has(run.error_code ?? '') || (mayFailToStart && run.error_code === 'StartFailed');
    if (isGivenUp) this.#givenUp++;
    const own = (this.#byCause.get(run.run) ?? []).filter((e) => e.emitter_id === arrangement.a && e.name === '');
    const expected = EMITS.has(kind) && !isGivenUp ? 1 : 0;
    if (own.length < expected) this.#lost.add('run without what it emitted', `event ${n} (${kind})`);
    if (own.length > expected) this.#wrong.add('run that emitted too often', `event ${n} (${kind}): ${own.length}`);
    const state = FAILS.has(kind) || isGivenUp ? 'failed' : 'succeeded';
    if (run.state !== state) this.#wrong.add('run that ended otherwise', `event ${n} (${kind}): ${run.state}`);
  }

  /** All over; a failed one has exactly one `$errors`, with the event byte for byte, and no other has any. */
  #runs(): void {
    for (const run of this.#evidence.rows.runs) {
      if (!OVER.has(run.state)) this.#lost.add('run that did not end', `run ${run.run}: ${run.state}`);
      const errors = (this.#byCause.get(run.run) ?? []).filter((e) => e.name === '$errors');
      const expected = run.state === 'failed' ? 1 : 0;
      if (errors.length < expected) this.#lost.add('failed run without $errors', `run ${run.run}`);
      if (errors.length > expected) this.#wrong.add('run with too many $errors', `run ${run.run}: ${errors.length}`);
      const [error] = errors;
      if (!error) continue;
      if (run.error_entry !== error.entry) this.#wrong.add('run that names another error', `run ${run.run}`);
      const start = error.original_start as number;
      const kept = Buffer.from(error.body).subarray(start, start + (error.original_length as number));
      const event = this.#byEntry.get(run.entry);
      if (event && !kept.equals(event.body))
        this.#wrong.add('error whose event is not byte for byte', `run ${run.run}`);
    }
  }

  /** Every emission has a row for each that should hear of it, and no others. */
  #fanOut(): void {
    const { deliveries, withheld } = this.#evidence.rows;
    const deliveriesByEntry = grouped(deliveries, (d) => d.entry);
    for (const emission of this.#evidence.rows.emissions) {
      const { entry } = emission;
      const told = [
        ...(this.#runsByEntry.get(entry) ?? []).map((r) => r.runnable_id),
        ...(deliveriesByEntry.get(entry) ?? []).map((d) => d.listener_id),
        ...(withheld.get(entry) ?? []),
      ];
      for (const listener of this.#listenersOf(emission)) {
        const at = told.indexOf(listener);
        if (at < 0)
          this.#lost.add('emission that a listener was not told of', `${entry} ${emission.name} → ${listener}`);
        else told.splice(at, 1);
      }
      for (const extra of told) this.#wrong.add('emission told to too many', `${entry} ${emission.name} → ${extra}`);
    }
  }

  #listenersOf({ emitter_id: emitter, name, only_listener_id: only }: EmissionRow): string[] {
    const { a, b, c, w, global } = this.#evidence.arrangement;
    if (only !== null) return [only];
    if (emitter.startsWith('hi_')) return [a];
    if (name === '$email') return ['mail'];
    if (emitter === a) return name === '$errors' ? [b, w, global] : [c, w];
    // B, C and the webhook are not meant to fail; where they do, the owner is told. Of its own errors, it is only noted.
    return name === '$errors' ? [global] : [];
  }

  #deliveries(): void {
    const { rows, seen, arrangement } = this.#evidence;
    const known = new Set<string>();
    for (const { delivery, state, listener_id: listener, entry, attempts_made: made } of rows.deliveries) {
      // Whoever replayed the errors that a mail is about knows of them.
      const isKnown = listener === 'mail' && state === 'cancelled' && rows.settled.has(delivery);
      if (state !== 'delivered' && !isKnown)
        this.#lost.add('delivery that did not arrive', `delivery ${delivery}: ${state}`);
      const attempts = rows.attempts.get(delivery) ?? 0;
      if (attempts !== made) this.#wrong.add('delivery with other attempts than counted', `delivery ${delivery}`);
      if (listener !== arrangement.w) continue;
      const id = emitId(rows.storeTag, entry);
      known.add(id);
      const sightings = seen.get(id) ?? { taken: 0, refused: 0 };
      if (sightings.taken === 0) this.#lost.add('delivery that the receiver never took', `delivery ${delivery}`);
      if (sightings.taken > 1) this.#duplicates++;
      if (sightings.taken + sightings.refused < attempts) {
        this.#wrong.add('attempt recorded that was not made', `delivery ${delivery}`);
      }
    }
    for (const id of seen.keys()) if (!known.has(id)) this.#wrong.add('delivery that is not in the store', id);
  }

  /** Nothing refers to what is not there. */
  #wholeness(): void {
    const { rows } = this.#evidence;
    for (const flaw of rows.flaws) this.#wrong.add('flaw of the store', flaw);
    const runs = new Set(rows.runs.map((r) => r.run));
    const deliveries = new Set(rows.deliveries.map((d) => d.delivery));
    const missing = (kind: string, isThere: boolean, of: number): void => {
      if (!isThere) this.#wrong.add(kind, String(of));
    };
    for (const { run, entry } of rows.runs) missing('run without emission', this.#byEntry.has(entry), run);
    for (const { delivery, entry } of rows.deliveries) {
      missing('delivery without emission', this.#byEntry.has(entry), delivery);
    }
    for (const delivery of rows.attempts.keys())
      missing('attempt without delivery', deliveries.has(delivery), delivery);
    for (const entry of rows.withheld.keys()) missing('withheld without emission', this.#byEntry.has(entry), entry);
    for (const { entry, cause_run: run, cause_delivery: delivery } of rows.emissions) {
      missing('emission of a run that is not there', run === null || runs.has(run), entry);
      missing('emission of a delivery that is not there', delivery === null || deliveries.has(delivery), entry);
    }
  }

  /** The counts that the server kept are those of the rows. */
  #ledger(): void {
    const { ledger, emissions, runs, deliveries } = this.#evidence.rows;
    const recount = new Map<string, number>([
      ['emissions', emissions.length],
      ['errors', emissions.filter((e) => e.name === '$errors').length],
    ]);
    for (const [kind, rows] of [
      ['runs', runs],
      ['deliveries', deliveries],
    ] as const) {
      for (const { state } of rows) recount.set(`${kind}.${state}`, (recount.get(`${kind}.${state}`) ?? 0) + 1);
    }
    for (const fact of new Set([...ledger.keys(), ...recount.keys()])) {
      const [found, expected] = [ledger.get(fact) ?? 0, recount.get(fact) ?? 0];
      if (found !== expected) this.#wrong.add('ledger that is not the recount', `${fact}: ${found}, not ${expected}`);
    }
  }
}

/** The event's number, out of the HTTP event's body. */
function numberOf(event: EmissionRow): number {
  const { body } = JSON.parse(Buffer.from(event.body).toString()) as { body: { n: number } };
  return body.n;
}
