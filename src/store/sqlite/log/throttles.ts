// When the newest runs of throttled workflows began: in memory, and written with their transaction, so that the limit also holds
// after a restart. A workflow without a throttle has no entry.
//
// Changes apply at once, so that the verbs of one batch see each other's. A rollback undoes them.

import type { Runnable } from '../../../domain/resource.ts';
import { addStarts, nextStartMs, roomAt, type StartTimes, startTimesAsOf } from '../../../domain/run/throttle.ts';
import { json, text } from '../../rows/cells.ts';
import type { Connection } from '../database.ts';

type Throttled = Pick<Runnable, 'id' | 'settings'>;

export class Throttles {
  readonly #starts = new Map<string, StartTimes>();
  /** The former starts of workflows that the transaction has changed. */
  readonly #before = new Map<string, StartTimes | undefined>();

  constructor(writer: Connection) {
    for (const row of writer.all('SELECT runnable_id, starts FROM throttles')) {
      this.#starts.set(text(row, 'runnable_id'), json<StartTimes>(row, 'starts'));
    }
  }

  /** Returns how many runs may begin now; Infinity: there is no throttle. */
  room({ id, settings: { throttle } }: Throttled, nowMs: number): number {
    return throttle ? roomAt(throttle, this.#asOf(id, nowMs), nowMs) : Number.POSITIVE_INFINITY;
  }

  /** Returns when the next run may begin. */
  nextMs({ id, settings: { throttle } }: Throttled, nowMs: number): number {
    return throttle ? nextStartMs(throttle, this.#asOf(id, nowMs), nowMs) : nowMs;
  }

  /** Counts a run that begins. */
  began({ id, settings: { throttle } }: Throttled, nowMs: number): void {
    if (throttle) this.#change(id, addStarts(throttle, this.#asOf(id, nowMs), { nowMs, count: 1 }));
  }

  /** Forgets a workflow that was deleted, or is no longer throttled. */
  forget(id: string): void {
    if (this.#starts.has(id)) this.#change(id, undefined);
  }

  beforeCommit(writer: Connection): void {
    for (const id of this.#before.keys()) {
      const starts = this.#starts.get(id);
      if (starts) writer.run('REPLACE INTO throttles (runnable_id, starts) VALUES (?,?)', id, JSON.stringify(starts));
      else writer.run('DELETE FROM throttles WHERE runnable_id = ?', id);
    }
  }

  committed(): void {
    this.#before.clear();
  }

  rolledBack(): void {
    for (const [id, starts] of this.#before) this.#put(id, starts);
    this.#before.clear();
  }

  #asOf(id: string, nowMs: number): StartTimes {
    const known = this.#starts.get(id) ?? [];
    const starts = startTimesAsOf(known, nowMs);
    // The clock was set back. Not written: the next opening of the file corrects it in the same way.
    if (starts !== known) this.#starts.set(id, starts);
    return starts;
  }

  #change(id: string, starts: StartTimes | undefined): void {
    if (!this.#before.has(id)) this.#before.set(id, this.#starts.get(id));
    this.#put(id, starts);
  }

  #put(id: string, starts: StartTimes | undefined): void {
    if (starts === undefined) this.#starts.delete(id);
    else this.#starts.set(id, starts);
  }
}
