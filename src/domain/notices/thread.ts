// Which mails belong together: all that are about one group of errors, or all summaries of one emitter.

import { groupOfKey, isGroupsKey } from '../delivery/digest.ts';
import { EMAIL, type NewEmission, NOTICE } from '../emission.ts';
import { summaryKey } from './notice.ts';

const GROUP = /^eg_\w+$/;

/** Returns what the mails that belong together have in common; null: the mail stands alone. */
export function threadOf({
  name,
  digestKey,
  summary,
}: Pick<NewEmission, 'name' | 'digestKey' | 'summary'>): string | null {
  // A test, and the closing notice of a summary, are of no group.
  if (name === NOTICE) return digestKey;
  if (name !== EMAIL) return null;
  // The mail of a recovery repeats no other, so it has no key.
  const group = digestKey === null ? (summary?.split(' ').at(-1) ?? '') : groupOfKey(digestKey);
  if (GROUP.test(group)) return group;
  return digestKey !== null && isGroupsKey(digestKey) ? summaryKey(digestKey.slice(0, digestKey.indexOf(' '))) : null;
}
