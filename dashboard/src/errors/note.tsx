import { useState } from 'react';
import type { ErrorGroupWhole } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { useGroupActs } from './acts.ts';

/** What a person wrote about the group. It is kept with the group, whatever state that has. */
export function Note({ group }: { group: ErrorGroupWhole }) {
  const acts = useGroupActs();
  const mayWrite = useMay('write');
  // What is not touched follows the server.
  const [typed, setTyped] = useState<string | null>(null);
  const saved = group.note ?? '';
  const text = typed ?? saved;
  const isChanged = text !== saved;
  return (
    <section className="card">
      <div className="card-head">
        <h2 id="note">{T.group.note}</h2>
        <span className="grow" />
        {isChanged && (
          <ActButton
            size="compact-xs"
            act={() => acts.change(group, { note: text === '' ? null : text }, T.group.noteSaved)}
          >
            {T.group.save}
          </ActButton>
        )}
      </div>
      <textarea
        className="note"
        aria-labelledby="note"
        placeholder={mayWrite ? T.group.notePlaceholder : T.group.noNote}
        value={text}
        rows={3}
        readOnly={!mayWrite}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </section>
  );
}
