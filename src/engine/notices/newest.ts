// The newest error of a group, as far as notices and the page behind their links show it.

import type { Emission } from '../../domain/emission.ts';
import { errorPartsOf } from '../../domain/errors/error-parts.ts';
import type { ErrorGroup } from '../../domain/errors/group.ts';
import { NO_ERROR, whyNeverReplayed } from '../../domain/errors/replay.ts';
import { detailOf } from '../../domain/failure.ts';
import { headOf } from '../../domain/notices/event-head.ts';
import { type ShownError, sampleOf } from '../../domain/notices/notice.ts';
import type { Store } from '../../store/contract/store.ts';

/** Reads the newest error of a group; null: retention has deleted it, and what its group knows is shown then. */
export async function newestOf(store: Pick<Store, 'getEmission'>, group: ErrorGroup): Promise<ShownError> {
  const { fingerprint, ownerId, emitterId, lastEntry } = group;
  const { template: message, namespace: step, frame: line } = fingerprint;
  const newest = await store.getEmission(ownerId, lastEntry);
  if (!newest) {
    const unknown = { name: emitterId, cause: '', stack: '', event: '', lineage: [emitterId], whyNoReplay: NO_ERROR };
    return { ...unknown, message, step, line };
  }
  const sample = sampleOf(detailOf(newest.body));
  return {
    ...sample,
    name: sample.name ?? emitterId,
    line: sample.line === '' ? line : sample.line,
    event: headOf(eventOf(newest)),
    lineage: newest.lineage,
    whyNoReplay: whyNeverReplayed(newest),
  };
}

function eventOf({ body, originalStart: start, originalLength: length }: Emission): Uint8Array {
  return errorPartsOf(body, start === null || length === null ? null : { start, length }).originalEvent;
}
