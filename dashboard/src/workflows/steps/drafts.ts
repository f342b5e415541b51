// What was changed of a workflow's steps and is not deployed. It outlives its page: a person who looks at an error meanwhile, or has
// to sign in again, finds it there. It is kept in memory alone, for one owner at a time.

import { useQuery } from '@tanstack/react-query';
import { type Dispatch, type SetStateAction, useEffect, useState } from 'react';
import { sessionQuery } from '../../api/session.ts';
import { type Draft, NO_DRAFT } from './draft.ts';

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
