import { TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { ErrorGroupWhole } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { useGroupActs } from './acts.ts';

interface Typed {
  readonly note?: string;
  readonly assignee?: string;
  /** The note that was there when the first letter was typed. */
  readonly over?: string;
}

/** What was typed and is not saved, by group: it outlives its page, also when a person has to sign in again. */
const unsaved = new Map<string, Typed>();

/** Returns what is not saved yet: what the server has by now follows the server again. */
function withoutSaved(typed: Typed, { note, assignee }: ErrorGroupWhole): Typed {
  return {
    ...(typed.note === undefined || typed.note === (note ?? '') ? {} : { note: typed.note, over: typed.over }),
    ...(typed.assignee === undefined || typed.assignee.trim() === (assignee ?? '') ? {} : { assignee: typed.assignee }),
  };
}

/** What a person wrote about the group, and who takes care of it. Both are kept with the group, whatever state that has. */
export function Note({ group }: { group: ErrorGroupWhole }) {
  const acts = useGroupActs();
  const mayWrite = useMay('write');
  // What is not touched follows the server.
  const [typed, setTyped] = useState(() => unsaved.get(group.id) ?? {});
  const { note, assignee } = { note: group.note ?? '', assignee: group.assignee ?? '', ...typed };
  const isOvertaken = typed.note !== undefined && ![typed.over, typed.note].includes(group.note ?? '');
  const isChanged = note !== (group.note ?? '') || assignee.trim() !== (group.assignee ?? '');
  useEffect(() => setTyped((before) => withoutSaved(before, group)), [group]);
  useEffect(() => {
    if (Object.keys(typed).length === 0) unsaved.delete(group.id);
    else unsaved.set(group.id, typed);
  }, [group.id, typed]);
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
        onChange={({ currentTarget }) =>
          setTyped(withoutSaved({ ...typed, note: currentTarget.value, over: typed.over ?? group.note ?? '' }, group))
        }
      />
      {isOvertaken && (
        <div className="card-body" role="status">
          <p className="warn">{T.group.changedMeanwhile}</p>
          <p className="break" style={{ whiteSpace: 'pre-wrap' }}>
            <Foreign>{group.note ?? T.group.noNote}</Foreign>
          </p>
        </div>
      )}
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
