// The search of groups by text for an owner with rules. The store finds by what is stored; of that only those count in which
// the text is shown, so that neither a page nor a count tells what is hidden.

import type { ErrorGroup } from '../../domain/errors/group.ts';
import { LIMITS } from '../../domain/limits.ts';
import { containing } from '../../domain/literal-text.ts';
import type { GroupPageQuery, GroupPlace, GroupQuery } from '../../store/contract/error-groups.ts';
import type { Page } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';

interface GroupSearch {
  readonly of: GroupQuery;
  readonly text: string;
  readonly query: GroupPageQuery;
  readonly show: (group: ErrorGroup) => ErrorGroup;
}

/** Groups that are read at a time. */
const STEP = 100;

/** Looks at no more than LIMITS.countedRecords groups. */
export async function foundGroups(
  store: Pick<Store, 'listErrorGroups'>,
  { of, text, query, show }: GroupSearch,
): Promise<Page<ErrorGroup>> {
  const hasText = containing(text);
  const found: ErrorGroup[] = [];
  let looked = 0;
  for (let after: GroupPlace | null | undefined; after !== null && looked < LIMITS.countedRecords; ) {
    const { items } = await store.listErrorGroups(of, { limit: STEP, ...(after === undefined ? {} : { after }) });
    looked += items.length;
    found.push(...items.map(show).filter((group) => textsOf(group).some(hasText)));
    const last = items.at(-1);
    after = last && items.length === STEP ? placeOf(last, of) : null;
  }
  return { totalCount: found.length, items: pageOf(found, of, query) };
}

function textsOf({ fingerprint: { code, template, frame, namespace }, rule }: ErrorGroup): readonly string[] {
  return [code, template, frame, namespace, rule ?? ''];
}

function placeOf({ id, count, lastEntry }: ErrorGroup, { sort }: GroupQuery): GroupPlace {
  return { id, value: sort === 'count' ? count : lastEntry };
}

/** Returns one page. `found`: in the order of the list. */
function pageOf(found: readonly ErrorGroup[], of: GroupQuery, query: GroupPageQuery): readonly ErrorGroup[] {
  const { limit, after, before } = query;
  const isBelow = (one: ErrorGroup, place: GroupPlace): boolean => compared(placeOf(one, of), place, of) < 0;
  const isAbove = (one: ErrorGroup, place: GroupPlace): boolean => compared(placeOf(one, of), place, of) > 0;
  if (after) return found.filter((one) => isBelow(one, after)).slice(0, limit);
  return before ? found.filter((one) => isAbove(one, before)).slice(-limit) : found.slice(0, limit);
}

function compared(a: GroupPlace, b: GroupPlace, { sort }: GroupQuery): number {
  if (a.value !== b.value || sort !== 'count') return a.value - b.value;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
