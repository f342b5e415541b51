import type { ReactNode } from 'react';

export interface RowsProps<T> {
  readonly all: readonly T[];
  /** A row: a `<li>` with its key. */
  readonly row: (one: T, index: number) => ReactNode;
  /** Of the list; `rows` when not given. */
  readonly className?: string;
  /** Of a usual row, where it is not measured yet. */
  readonly rowPx?: number;
  /** The row that is brought into view when it becomes another one; -1: none. */
  readonly at?: number;
}
