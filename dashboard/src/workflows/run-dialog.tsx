import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Run } from '../../../src/client/client.ts';
import { lastEventsQuery, runEventQuery } from '../api/runs.ts';
import { T } from '../english.ts';
import { eventFault, readable } from '../errors/event-text.ts';
import { Choice } from '../parts/choice.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { EventField } from '../parts/event-field.tsx';
import { localText } from '../parts/time.tsx';
import { toast, toastError } from '../parts/toast.tsx';

interface RunDialogProps {
  readonly title: string;
  /** What is to be known before the event is typed. */
  readonly about: string;
  /** A workflow or source. */
  readonly id: string;
  /** The event that stands there at first. */
  readonly first: string;
  readonly run: (id: string, event: string) => Promise<{ readonly run_id: string }>;
  readonly close: () => void;
}

/** Runs a workflow or source with an event that is typed, or with one that it had. */
export function RunDialog({ title, about, id: runnableId, first, run, close }: RunDialogProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [text, setText] = useState(first);
  const [of, setOf] = useState<string | undefined>();
  const last = useQuery(lastEventsQuery(runnableId)).data ?? [];
  const take = async (id: string | undefined): Promise<void> => {
    setOf(id);
    try {
      setText(id === undefined ? first : readable(await client.fetchQuery(runEventQuery(id))));
    } catch (error) {
      toastError(error);
    }
  };
  const start = async (): Promise<void> => {
    const { run_id: runId } = await run(runnableId, text);
    toast(T.workflows.started);
    await navigate({ to: '/runs/$runId', params: { runId } });
  };
  return (
    <FormDialog
      title={title}
      submit={T.workflows.run}
      isLarge
      isReady={eventFault(text) === null}
      run={start}
      close={close}
    >
      <p className="soft">{about}</p>
      {last.length > 0 && (
        <div className="field">
          <span aria-hidden="true">{T.workflows.runWith}</span>
          <Choice
            label={T.workflows.runWith}
            all={T.workflows.runWithNew}
            options={last.map(({ id }) => id)}
            textOf={(id) => nameOf(last.find((run) => run.id === id))}
            value={of}
            choose={(id) => void take(id)}
          />
        </div>
      )}
      <EventField label={T.workflows.runEvent} text={text} set={setText} />
    </FormDialog>
  );
}

function nameOf(run: Run | undefined): string {
  if (run === undefined) return '';
  const { created_at_ms: ms, state, summary, error } = run;
  return [localText(ms), T.states[state] ?? state, error ? error.msg : summary]
    .filter(Boolean)
    .join(' · ')
    .slice(0, 120);
}
