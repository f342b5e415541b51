// Reads errors for an export: oldest first, page by page, the next one when the reader has taken the last. So a slow reader
// costs the memory of one page, one that leaves ends the reading, and the store is never held longer than for a page.

import type { ErrorFilter } from '../../../domain/error-filter.ts';
import { errorJudge } from '../../../domain/errors/error-judge.ts';
import { NUMBERS_PER_MS, recordId } from '../../../domain/ids.ts';
import type { Store } from '../../../store/contract/store.ts';
import type { EmissionFilter } from '../../../store/contract/streams.ts';
import { endLine, errorLine } from '../../wire/log/error-lines.ts';

export interface ErrorExport {
  readonly channel: EmissionFilter;
  readonly filter: ErrorFilter;
  /** The entry behind which it begins; null: all that is kept. */
  readonly after: number | null;
  /** Asked before each page: false ends the export, to be gone on with later. */
  readonly mayGoOn: () => Promise<boolean>;
}

export async function* exportErrors(store: Store, asked: ErrorExport): AsyncGenerator<Buffer> {
  const { channel, filter, mayGoOn } = asked;
  const isMeant = errorJudge(filter);
  // Everything that is committed later has a higher number: the export has all up to its cursor.
  const end = Math.min(await store.logEnd(), entryBefore(filter.untilMs));
  let at = Math.max(asked.after ?? 0, entryBefore(filter.sinceMs ?? 0));
  let count = 0;
  while (at < end) {
    if (!(await mayGoOn())) {
      yield endLine({ complete: false, cursor: at > 0 ? recordId(at) : null, count });
      return;
    }
    const page = await store.emissionsAfter(channel, { after: at, upTo: end }, true);
    // A store that answers without waiting would keep all other work waiting while much is read.
    await new Promise((resolve) => setImmediate(resolve));
    const lines = page.filter(isMeant).map(errorLine);
    at = page.at(-1)?.entry ?? end;
    count += lines.length;
    if (lines.length > 0) yield Buffer.concat(lines);
  }
  // A range that lies ahead of the log has been read to the end of the log alone.
  const cursor = Math.max(asked.after ?? 0, Math.min(at, end));
  yield endLine({ complete: true, cursor: cursor > 0 ? recordId(cursor) : null, count });
}

/** Returns the last entry before a time; of none, the highest. */
function entryBefore(ms: number | undefined): number {
  return ms === undefined ? Number.MAX_SAFE_INTEGER : Math.max(0, ms * NUMBERS_PER_MS - 1);
}
