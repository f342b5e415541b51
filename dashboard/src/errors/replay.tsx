import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { replayError } from '../api/errors.ts';
import { retryRun } from '../api/runs.ts';
import { T } from '../english.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { EventField } from '../parts/event-field.tsx';
import { CheckField } from '../parts/fields.tsx';
import { Scrollable } from '../parts/scrollable.tsx';
import { toast } from '../parts/toast.tsx';
import { diffLines, eventFault, readable } from './event-text.ts';

interface ReplayProps {
  readonly emitterId: string;
  readonly errorId: string;
  /** The run that failed, if it can go on from the step that failed; null: it cannot. */
  readonly runId: string | null;
  readonly event: string;
  readonly close: () => void;
}

/** The event may be edited before it runs again. As long as it was not, the original's bytes are used. */
export function ReplayDialog({ emitterId, errorId, runId: failedRunId, event, close }: ReplayProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [before] = useState(() => readable(event));
  const [text, setText] = useState(before);
  const [isFromFailed, setFromFailed] = useState(false);
  const isEdited = text !== before;
  // Another event has other results of the steps before.
  const goesOn = isFromFailed && !isEdited ? failedRunId : null;
  const start = async (): Promise<void> => {
    try {
      const { run_id: runId } =
        goesOn === null ? await replayError(emitterId, errorId, isEdited ? text : null) : await retryRun(goesOn, true);
      const show = (): void => void navigate({ to: '/runs/$runId', params: { runId } });
      toast(T.error.started, { label: T.error.showRun, run: show });
    } finally {
      void client.invalidateQueries({ queryKey: ['error', errorId] });
    }
  };
  return (
    <FormDialog
      title={T.error.replayTitle}
      submit={isEdited ? T.error.replayEdited : T.errors.replay}
      isLarge
      isReady={eventFault(text) === null || !isEdited}
      run={start}
      close={close}
    >
      <p className="soft">{T.error.replayText}</p>
      <EventField label={T.error.event} text={text} set={setText} />
      <Difference before={before} text={text} />
      {failedRunId !== null && !isEdited && (
        <CheckField
          label={T.operations.fromFailed}
          hint={T.operations.fromFailedHint}
          value={isFromFailed}
          set={setFromFailed}
        />
      )}
    </FormDialog>
  );
}

function Difference({ before, text }: { before: string; text: string }) {
  if (text === before) return <p className="diff-note">{T.error.original}</p>;
  const lines = diffLines(before, text);
  const changed = lines?.filter(({ kind }) => kind !== 'same').length ?? 0;
  return (
    <div aria-live="polite">
      <p className="diff-note">{T.error.changed(changed)}</p>
      {lines !== null && (
        <Scrollable className="diff" label={T.error.changed(changed)}>
          {lines.map(({ kind, text: line }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
            <div key={at} className={kind === 'add' ? 'add' : kind === 'cut' ? 'cut-out' : undefined}>
              {kind === 'add' ? '+ ' : kind === 'cut' ? '- ' : '  '}
              {line}
            </div>
          ))}
        </Scrollable>
      )}
    </div>
  );
}
