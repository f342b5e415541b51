// What the listings of errors and of events share.

import { ERRORS } from '../../../domain/emission.ts';
import { isOfFile } from '../../../domain/errors/file-failure.ts';
import { entryOf, PREFIX } from '../../../domain/ids.ts';
import type { Store } from '../../../store/contract/store.ts';
import { notFound } from '../../found.ts';
import { Type } from '../../schema/type.ts';

export const EXPAND = Type.Optional(
  Type.Literal('event', { description: 'Each record with its whole event.', 'x-expected': '"event"' }),
);

/** Reads a cursor of emissions, which is a record id. */
export function entryCursor(cursor: string): number | undefined {
  return entryOf(cursor);
}

/** Refuses an emitter that does not exist, or is of another kind than its path says. */
export async function exists(
  store: Store,
  ownerId: string,
  emitter: { id: string; noun: string; prefix: string },
): Promise<void> {
  const { id, noun, prefix } = emitter;
  if (!id.startsWith(prefix) || !(await store.exists(ownerId, id))) throw notFound(noun, id);
}

/**
 * Refuses an emitter in the same way before its errors are listed: a workflow file that was never deployed has errors, and no
 * workflow yet.
 */
export async function hasErrorsOrExists(
  store: Store,
  ownerId: string,
  emitter: { id: string; noun: string; prefix: string },
): Promise<void> {
  const { id, prefix } = emitter;
  if (prefix === PREFIX.workflow && id.startsWith(prefix) && !(await store.exists(ownerId, id))) {
    const { items } = await store.listEmissions({ ownerId, emitterId: id, name: ERRORS }, { limit: 1 }, true);
    if (items.some(isOfFile)) return;
  }
  await exists(store, ownerId, emitter);
}
