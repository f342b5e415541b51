import { Button } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Workflow } from '../api/types.ts';
import { updateWorkflow } from '../api/workflows.ts';
import { T } from '../english.ts';
import { useAct, useBusy } from '../parts/act.ts';
import { NumberField } from '../parts/fields.tsx';

const words = T.retention;
const DAYS = { min: 1, max: 3650 };
const NEWEST = { min: 100, max: 100_000 };

/** How long the errors of a workflow are kept: its setting `error_retention`. */
export function Retention({ workflow: { id, settings }, canWrite }: { workflow: Workflow; canWrite: boolean }) {
  const saved = settings.error_retention;
  // What is typed while a change is being saved stays; what is not touched follows the server.
  const [typed, setTyped] = useState<{ days?: number | null; newest?: number | null }>({});
  const { days, newest } = { days: saved?.days ?? null, newest: saved?.newest ?? null, ...typed };
  const setField = (name: 'days' | 'newest') => (value: number | null) =>
    setTyped((before) => ({ ...before, [name]: value }));
  const act = useAct(['workflow', id]);
  const [isBusy, busy] = useBusy();
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const kept = days === null && newest === null ? null : { days, newest };
    void busy(() => act(() => updateWorkflow(id, { settings: { error_retention: kept } }), words.saved));
  };
  return (
    <form className="card" aria-label={words.title} onSubmit={save}>
      <div className="card-head">
        <h2>{words.title}</h2>
      </div>
      <div className="card-body">
        <fieldset className="bare stack-16" disabled={!canWrite}>
          <p className="soft">{words.text}</p>
          <NumberField label={words.days} hint={words.hint} {...DAYS} value={days} set={setField('days')} />
          <NumberField label={words.newest} hint={words.hint} {...NEWEST} value={newest} set={setField('newest')} />
          {canWrite && (
            <div>
              <Button type="submit" size="xs" variant="default" loading={isBusy}>
                {words.save}
              </Button>
            </div>
          )}
        </fieldset>
      </div>
    </form>
  );
}
