import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ListedErrorGroup } from '../../../src/client/client.ts';
import { assigneesQuery } from '../api/errors.ts';
import { T } from '../english.ts';
import { FormDialog } from '../parts/dialog.tsx';
import type { GroupActs } from './acts.ts';

interface AssignDialogProps {
  readonly groups: readonly ListedErrorGroup[];
  readonly acts: GroupActs;
  readonly close: () => void;
  /** Called when they are assigned. */
  readonly done: () => void;
}

/** Returns the assignee that all groups have; empty: none, or not the same one. */
function commonAssignee(groups: readonly ListedErrorGroup[]): string {
  const [first, ...others] = new Set(groups.map(({ assignee }) => assignee ?? ''));
  return first !== undefined && others.length === 0 ? first : '';
}

/** Assigns groups to a person, or removes their assignee. Those who have groups already are offered. */
export function AssignDialog({ groups, acts, close, done }: AssignDialogProps) {
  const { data: known = [] } = useQuery(assigneesQuery());
  const [typed, setTyped] = useState(() => commonAssignee(groups));
  const assignee = typed.trim() || null;
  const isAssigned = groups.some((group) => group.assignee !== null);
  const said = assignee === null ? T.errors.unassignedNow : T.errors.assignedTo(assignee);
  return (
    <FormDialog
      title={T.errors.assignTitle(groups.length)}
      close={close}
      submit={assignee === null && isAssigned ? T.errors.unassign : T.errors.assign}
      isReady={assignee !== null || isAssigned}
      run={() => acts.changeAll(groups, { assignee }, said).then(done)}
    >
      <TextInput
        type="email"
        label={T.group.assignee}
        description={T.errors.assignText}
        list="assignees"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <datalist id="assignees">
        {known.map((one) => (
          <option key={one.assignee} value={one.assignee} />
        ))}
      </datalist>
    </FormDialog>
  );
}
