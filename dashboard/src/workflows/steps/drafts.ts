// What was changed of a workflow's steps and is not deployed. It outlives its page: a person who looks at an error meanwhile, or has
// to sign in again, finds it there. It is kept in memory alone, for one owner at a time.

import { useQuery } from '@tanstack/react-query';
import { type Dispatch, type SetStateAction, useEffect, useState } from 'react';
import { sessionQuery } from '../../api/session.ts';

export interface DraftStep {
  /** Of a step that is deployed: its name there. Of another one: no name that a step can have. */
  readonly id: string;
  readonly name: string;
}

export interface Draft {
  /** Code that was typed, by the ids of the steps. */
  readonly code: ReadonlyMap<string, string>;
  /** The steps in their order; null: which they are, their names and their order are as deployed. */
  readonly steps: readonly DraftStep[] | null;
  /** Ids of the deployed steps that were removed: others that are not among `steps` came with another version. */
  readonly removed: ReadonlySet<string>;
  /** How often code was changed that nobody typed: editors take it over. */
  readonly written: number;
  /** The version that was active when the first change was made; null: nothing is changed. */
  readonly base: string | null;
}

export const NO_DRAFT: Draft = { code: new Map(), steps: null, removed: new Set(), written: 0, base: null };

const drafts = new Map<string, Draft>();
let ofOwner = '';

/** Returns what was changed of a workflow before, if anything. */
function draftOf(owner: string, workflow: string): Draft {
  if (owner === '') return NO_DRAFT;
  if (owner !== ofOwner) drafts.clear();
  ofOwner = owner;
  return drafts.get(workflow) ?? NO_DRAFT;
}

export function useDraft(workflow: string): [Draft, Dispatch<SetStateAction<Draft>>] {
  const owner = useQuery(sessionQuery).data?.owner.id ?? '';
  const [draft, setDraft] = useState(() => draftOf(owner, workflow));
  useEffect(() => {
    if (owner === ofOwner) drafts.set(workflow, draft);
  }, [owner, workflow, draft]);
  return [draft, setDraft];
}
