import { Button } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { WholeList } from '../parts/listed.tsx';
import { SettingsFrame } from './frame.tsx';

interface ListPageProps<T> {
  readonly title: string;
  /** What makes one more; left out, nothing is made here. */
  readonly create?: string | undefined;
  readonly dialog: (close: () => void) => ReactNode;
  /** Null: the list may not be read. */
  readonly of: UseQueryResult<readonly T[]> | null;
  readonly empty: ReactNode;
  /** A row: a `<li>` with its key. */
  readonly row: (one: T) => ReactNode;
}

/** A page of the settings that lists what the owner has, and makes more of it in a dialog. */
export function ListPage<T>({ title, create, dialog, of, empty, row }: ListPageProps<T>) {
  const [isMaking, setMaking] = useState(false);
  return (
    <SettingsFrame
      title={title}
      head={
        create !== undefined && (
          <Button size="xs" onClick={() => setMaking(true)}>
            {create}
          </Button>
        )
      }
    >
      <section className="card" aria-label={title}>
        {of === null ? empty : <WholeList of={of} empty={empty} row={row} />}
      </section>
      {isMaking && dialog(() => setMaking(false))}
    </SettingsFrame>
  );
}
