// Changes of a source that are under way. A change is several transactions with hooks between them, so its node leaves a mark
// meanwhile. The mark keeps other nodes from changing the source; a node that finds the mark of a node that is gone finishes
// the change.

import type { RunState } from '../../domain/run/run.ts';
import { flag, number, text } from '../rows/cells.ts';

export type SourceChangeKind = 'create' | 'update' | 'delete';

export interface SourceChange {
  readonly ownerId: string;
  readonly sourceId: string;
  readonly kind: SourceChangeKind;
}

/** A run of a source's hooks. */
export interface HookRun {
  readonly run: number;
  /** The channel of its emission: `$deploy`, `$activate` or `$deactivate`. */
  readonly name: string;
  readonly state: RunState;
  /** Its code may have run: it was claimed at least once, even if that lease expired or was released. */
  readonly hasBegun: boolean;
}

export interface SourceChangeStore {
  /**
   * Begins a change by this node. It ends with its last write (see SourceWrite), the source's deletion, or `endSourceChange`.
   * `busy`: a change is under way, or its node is gone and it waits to be finished. Undefined: no such source.
   */
  beginSourceChange(change: SourceChange): Promise<'begun' | 'busy' | undefined>;
  /** Ends a change with nothing written. Returns false when this node has no change of the source. */
  endSourceChange(ownerId: string, sourceId: string): Promise<boolean>;
  /** Takes over changes whose node is gone, and this node's changes that are not in `underWay`. */
  takeSourceChanges(underWay: readonly string[]): Promise<readonly SourceChange[]>;
  /**
   * Returns the runs of hooks since the change began or was last written, newest first. Undefined: this node has no change of
   * the source.
   */
  hookRuns(ownerId: string, sourceId: string): Promise<readonly HookRun[] | undefined>;
}

type Cells = Readonly<Record<string, unknown>>;

/** Reads a row of `source_changes`. */
export function toSourceChange(row: Cells): SourceChange {
  return {
    ownerId: text(row, 'owner_id'),
    sourceId: text(row, 'source_id'),
    kind: text<SourceChangeKind>(row, 'kind'),
  };
}

/** Reads the rows of a change with its runs; a change without runs is one row of nulls. */
export function toHookRuns(rows: readonly Cells[]): readonly HookRun[] | undefined {
  if (rows.length === 0) return undefined;
  return rows.filter(({ run }) => run !== null).map(toHookRun);
}

function toHookRun(row: Cells): HookRun {
  return {
    run: number(row, 'run'),
    name: text(row, 'name'),
    state: text<RunState>(row, 'state'),
    hasBegun: flag(row, 'has_begun'),
  };
}
