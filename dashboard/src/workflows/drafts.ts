// Code that was typed and is not deployed. It outlives its page: a person who looks at an error meanwhile, or has to sign in
// again, finds it there. It is kept in memory alone, for one owner at a time.

import { useQuery } from '@tanstack/react-query';
import { type Dispatch, type SetStateAction, useEffect, useState } from 'react';
import { sessionQuery } from '../api/session.ts';

/** The code of steps, by their names. */
export type Code = Readonly<Record<string, string>>;

export interface Draft {
  readonly code: Code;
  /** The version that was active when the first letter was typed; null: nothing is typed. */
  readonly base: string | null;
}

export const NO_DRAFT: Draft = { code: {}, base: null };

const drafts = new Map<string, Draft>();
let ofOwner = '';

/** Returns what was typed of a workflow's code before, if anything. */
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

/** Returns a draft with changed code; `version`: the active one. */
export function withCode(draft: Draft, code: Code, version: string): Draft {
  if (code === draft.code) return draft;
  return Object.keys(code).length === 0 ? NO_DRAFT : { code, base: draft.base ?? version };
}
