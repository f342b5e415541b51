import { Button } from '@mantine/core';
import { useState } from 'react';
import type { RunWhole } from '../../../src/client/client.ts';
import { cancelRun, resumeRun } from '../api/runs.ts';
import { T } from '../english.ts';
import { useAct, useMay } from '../parts/act.ts';
import { Card } from '../parts/card.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { At } from '../parts/time.tsx';

const words = T.waits;

/** What a run waits for, and how that ends. */
export function Wait({ run: { id, waiting } }: { run: RunWhole }) {
  const mayWrite = useMay('write');
  const [isResuming, setResuming] = useState(false);
  const [data, setData] = useState('');
  const act = useAct(['run', id], ['runs']);
  if (!waiting) return null;
  const { kind, until_ms: untilMs } = waiting;
  const fault = faultOf(data);
  return (
    <Card title={words.title}>
      <div className="card-body stack-12">
        <div>
          <p>{words.kinds[kind]}</p>
          <p className="soft">
            {kind === 'suspend' ? words.cancelledAt : words.goesOnAt} <At ms={untilMs} />
          </p>
        </div>
        {mayWrite && (
          <div className="buttons">
            {kind !== 'retry' && (
              <Button size="xs" onClick={() => setResuming(true)}>
                {words.resume}
              </Button>
            )}
            <ConfirmButton
              title={T.runs.cancelRun}
              text={T.runs.cancelText}
              run={() => act(() => cancelRun(id), T.runs.cancelled)}
            >
              {T.runs.cancel}
            </ConfirmButton>
          </div>
        )}
      </div>
      {isResuming && (
        <FormDialog
          title={words.resume}
          submit={words.resume}
          close={() => setResuming(false)}
          isReady={fault === null}
          run={async () => {
            await resumeRun(id, data);
            await act(async () => undefined, words.resumed);
          }}
        >
          <label className="field">
            <span>{words.data}</span>
            <span className="check-hint">{words.dataHint}</span>
            <textarea
              className="editor-text is-short"
              spellCheck={false}
              value={data}
              onChange={(event) => setData(event.currentTarget.value)}
            />
          </label>
          {fault !== null && (
            <p className="bad" role="status">
              {T.error.notJson} {fault}
            </p>
          )}
        </FormDialog>
      )}
    </Card>
  );
}

function faultOf(text: string): string | null {
  if (text.trim() === '') return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
