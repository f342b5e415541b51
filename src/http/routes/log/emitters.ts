// What the listings of errors and of events share.

import { entryOf } from '../../../domain/ids.ts';
import type { Store } from '../../../store/contract/store.ts';
import { notFound } from '../../found.ts';
import { Type } from '../../schema/type.ts';

export const EXPAND = Type.Optional(
  Type.Literal('event', { description: 'Each record with its whole event.', 'x-expected': '"event"' }),
);

/** Cursors of emissions are record ids. */
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
