// Room in a run's row for what its end will write.
//
// New rows fill pages to the last byte. A row that grows later does not fit any more: SQLite divides its page, and that was a third
// of the time that SQLite takes for an event with its run (15 instead of 22 µs with room). So a new row has a text of blanks,
// which its end replaces by its report. It is as long as the report of the workflow's latest run.

/** For the first run of a workflow: a step that returns a number. */
const FIRST_BYTES = 192;
/** A longer report gets none: its blanks would be more to write than the pages that are divided. */
const MAX_BYTES = 768;
/** A claim takes so much, for what it writes. */
const CLAIM_BYTES = 16;
const MAX_RUNNABLES = 10_000;

/** The assignment of a claim. */
export const ROOM_AFTER_CLAIM = `room = substr(room, ${CLAIM_BYTES + 1})`;

export class RowRoom {
  readonly #reportBytes = new Map<string, number>();

  /** Returns the blanks for a new row of a run that is not over. */
  forNew(runnableId: string): string | null {
    const bytes = this.#reportBytes.get(runnableId) ?? FIRST_BYTES;
    return bytes > MAX_BYTES ? null : ' '.repeat(bytes + CLAIM_BYTES);
  }

  /** Notes how long a report is. Its characters are counted, since most are ASCII. */
  ended(runnableId: string, report: { readonly summary: string | null; readonly detail: string | null }): void {
    const bytes = (report.summary?.length ?? 0) + (report.detail?.length ?? 0);
    if (this.#reportBytes.get(runnableId) === bytes) return;
    if (this.#reportBytes.size >= MAX_RUNNABLES) this.#reportBytes.clear();
    this.#reportBytes.set(runnableId, bytes);
  }
}
