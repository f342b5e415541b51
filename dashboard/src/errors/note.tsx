import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ErrorGroupWhole } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { useGroupActs } from './acts.ts';

/** What a person wrote about the group, and who takes care of it. Both are kept with the group, whatever state that has. */
export function Note({ group }: { group: ErrorGroupWhole }) {
  const acts = useGroupActs();
  const mayWrite = useMay('write');
  // What is not touched follows the server.
  const [typed, setTyped] = useState<{ note?: string; assignee?: string }>({});
  const { note, assignee } = { note: group.note ?? '', assignee: group.assignee ?? '', ...typed };
  const isChanged = note !== (group.note ?? '') || assignee.trim() !== (group.assignee ?? '');
  const save = (): Promise<void> =>
    acts.change(group, { note: note || null, assignee: assignee.trim() || null }, T.group.saved);
  return (
    <section className="card">
      <div className="card-head">
        <h2 id="note">{T.group.note}</h2>
        <span className="grow" />
        {isChanged && (
          <ActButton size="compact-xs" act={save}>
            {T.group.save}
          </ActButton>
        )}
      </div>
      <textarea
        className="note"
        aria-labelledby="note"
        placeholder={mayWrite ? T.group.notePlaceholder : T.group.noNote}
        value={note}
        rows={3}
        readOnly={!mayWrite}
        onChange={({ currentTarget }) => setTyped({ ...typed, note: currentTarget.value })}
      />
      {(mayWrite || assignee !== '') && (
        <div className="card-body">
          <TextInput
            size="xs"
            type="email"
            label={T.group.assignee}
            description={mayWrite ? T.group.noAssignee : undefined}
            readOnly={!mayWrite}
            value={assignee}
            onChange={({ currentTarget }) => setTyped({ ...typed, assignee: currentTarget.value })}
          />
        </div>
      )}
    </section>
  );
}
