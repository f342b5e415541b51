import { Button, Menu } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { ListedErrorGroup } from '../../../src/client/client.ts';
import type { GroupChange } from '../api/errors.ts';
import { T } from '../english.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { toast } from '../parts/toast.tsx';
import type { GroupActs } from './acts.ts';
import { MuteItems } from './mute-items.tsx';

interface SelectedRowProps {
  readonly name: string;
  readonly isSelected: boolean;
  readonly toggle: () => void;
}

/** Selects a row. Its label is as high as the row, so that a finger does not miss it and open the group. */
export function SelectRow({ name, isSelected, toggle }: SelectedRowProps) {
  return (
    <label className="select-cell">
      <input type="checkbox" aria-label={name} checked={isSelected} onChange={toggle} />
    </label>
  );
}

/** Groups that are selected, and changed, at once. */
const MOST = 1000;

/** The part of a listing's query that asks for what is not shown yet. */
export type MoreGroups = Pick<
  UseInfiniteQueryResult<InfiniteData<{ readonly data: readonly ListedErrorGroup[] }>>,
  'hasNextPage' | 'fetchNextPage'
>;

interface SelectionProps {
  readonly all: readonly ListedErrorGroup[];
  readonly selected: readonly ListedErrorGroup[];
  readonly select: (ids: readonly string[]) => void;
  readonly more: MoreGroups;
  readonly assign: () => void;
  readonly acts: GroupActs;
}

/** Selects all rows that are shown, and has what can be done to those that are selected. */
export function Selection({ all, selected, select, more, assign, acts }: SelectionProps) {
  const box = useRef<HTMLInputElement>(null);
  const isAll = selected.length === all.length;
  useEffect(() => {
    if (box.current) box.current.indeterminate = selected.length > 0 && !isAll;
  }, [selected.length, isAll]);
  return (
    <>
      <label className="select-cell">
        <input
          ref={box}
          type="checkbox"
          aria-label={T.errors.selectAll}
          checked={isAll}
          onChange={() => select(isAll ? [] : all.map(({ id }) => id))}
        />
      </label>
      {selected.length > 0 && (
        <div className="selection">
          <strong role="status">{T.errors.selected(selected.length)}</strong>
          {isAll && more.hasNextPage && all.length < MOST && (
            <ActButton size="compact-xs" variant="subtle" act={() => selectMatching(more, select)}>
              {T.errors.selectMatching}
            </ActButton>
          )}
          <Acts selected={selected} clear={() => select([])} assign={assign} acts={acts} />
        </div>
      )}
    </>
  );
}

/** Selects what the filters find, the rows that are not shown yet, too. */
async function selectMatching(more: MoreGroups, select: (ids: readonly string[]) => void): Promise<void> {
  for (;;) {
    const { data, hasNextPage, error } = await more.fetchNextPage();
    if (error !== null) throw error;
    const groups = data?.pages.flatMap((page) => page.data) ?? [];
    if (hasNextPage && groups.length < MOST) continue;
    select(groups.slice(0, MOST).map(({ id }) => id));
    if (hasNextPage || groups.length > MOST) toast(T.errors.selectedMost(MOST.toLocaleString()));
    return;
  }
}

interface ActsProps {
  readonly selected: readonly ListedErrorGroup[];
  readonly clear: () => void;
  readonly assign: () => void;
  readonly acts: GroupActs;
}

function Acts({ selected, clear, assign, acts }: ActsProps) {
  const change = async (groups: readonly ListedErrorGroup[], wanted: GroupChange, said: string): Promise<void> => {
    await acts.changeAll(groups, wanted, said);
    clear();
  };
  const unresolved = selected.filter(({ state }) => state !== 'resolved');
  const closed = selected.filter(({ state }) => state !== 'open');
  return (
    <>
      {unresolved.length > 0 && (
        <ActButton
          size="compact-xs"
          leftSection={<Icon name="check" size={14} />}
          act={() => change(unresolved, { state: 'resolved' }, T.errors.resolved)}
        >
          {T.errors.resolve}
        </ActButton>
      )}
      {closed.length > 0 && (
        <ActButton size="compact-xs" variant="default" act={() => change(closed, { state: 'open' }, T.errors.reopened)}>
          {T.errors.reopen}
        </ActButton>
      )}
      <Menu position="bottom-start">
        <Menu.Target>
          <Button size="compact-xs" variant="default" rightSection={<Icon name="down" size={14} />}>
            {T.errors.mute}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <MuteItems groups={selected} change={(wanted, said) => change(selected, wanted, said)} />
        </Menu.Dropdown>
      </Menu>
      <Button size="compact-xs" variant="default" onClick={assign}>
        {T.errors.assign}
      </Button>
      <Button size="compact-xs" variant="subtle" onClick={clear}>
        {T.errors.selectNone}
      </Button>
    </>
  );
}
