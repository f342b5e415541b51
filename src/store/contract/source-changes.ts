// Changes of a source that are under way. A change is several transactions with hooks between them, so its node leaves a
// mark for as long as it takes: no other node changes the source meanwhile, and a node that finds the mark of one that is
// gone knows that something is half made, and finishes it.

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
  /** The channel on which it was asked for: `$deploy`, `$activate` or `$deactivate`. */
  readonly name: string;
  readonly state: RunState;
  /** Code may have run: it was claimed at least once, also when that was lost or given back. */
  readonly hasBegun: boolean;
}

export interface SourceChangeStore {
  /**
   * This node changes the source from now on, until the last write of that (see SourceWrite), its deletion, or
   * `endSourceChange`. `busy`: a change is under way at some node, or its node is gone and it waits to be finished.
   * Undefined: no such source.
   */
  beginSourceChange(change: SourceChange): Promise<'begun' | 'busy' | undefined>;
  /** With nothing written. False: there is none, or it is not this node's (any more). */
  endSourceChange(ownerId: string, sourceId: string): Promise<boolean>;
  /** Those whose node is gone, and those of this one that it does not know to be `underWay`: they are this node's now. */
  takeSourceChanges(underWay: readonly string[]): Promise<readonly SourceChange[]>;
  /**
   * Runs of hooks that were asked for since the change began, or was last written: newest first. Undefined: it is not this
   * node's (any more).
   */
  hookRuns(ownerId: string, sourceId: string): Promise<readonly HookRun[] | undefined>;
}

type Cells = Readonly<Record<string, unknown>>;

/** A row of `source_changes`. */
export function toSourceChange(row: Cells): SourceChange {
  return {
    ownerId: text(row, 'owner_id'),
    sourceId: text(row, 'source_id'),
    kind: text<SourceChangeKind>(row, 'kind'),
  };
}

/** Rows of a change with its runs; one without a run: it has none yet. */
export function toHookRuns(rows: readonly Cells[]): readonly HookRun[] | undefined {
  if (rows.length === 0) return undefined;
  return rows.filter(({ run }) => run !== null).map(toHookRun);
}

/** Flags are booleans, or 0 and 1. */
function toHookRun(row: Cells): HookRun {
  return {
    run: number(row, 'run'),
    name: text(row, 'name'),
    state: text<RunState>(row, 'state'),
    hasBegun: flag(row, 'has_begun'),
  };
}
