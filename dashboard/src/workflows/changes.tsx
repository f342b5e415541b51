import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { changesQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Unready } from '../parts/state.tsx';
import { StepChanges } from './steps/step-changes.tsx';

interface ChangesProps {
  readonly workflowId: string;
  readonly version: string;
  /** The active version: a person may compare with it. */
  readonly current?: string;
  /** What it is compared with at first; the version before it when not given. */
  readonly from?: string;
  readonly close: () => void;
}

/** What a version changed, or what going back to it would change. */
export function Changes({ workflowId, version, current = version, from, close }: ChangesProps) {
  const [isToCurrent, setToCurrent] = useState(false);
  const asked = useQuery(changesQuery(workflowId, version, isToCurrent ? current : from));
  const { data } = asked;
  return (
    <Dialog title={T.workflows.changesOf(version)} isLarge close={close}>
      <div className="stack-16">
        {version !== current && (
          <div>
            <div className="tabs">
              <button type="button" aria-pressed={!isToCurrent} onClick={() => setToCurrent(false)}>
                {T.workflows.toBefore}
              </button>
              <button type="button" aria-pressed={isToCurrent} onClick={() => setToCurrent(true)}>
                {T.workflows.toCurrent}
              </button>
            </div>
          </div>
        )}
        {!data && <Unready of={asked} />}
        {data?.from_deployment_id === null && <p className="soft">{T.workflows.firstVersion}</p>}
        {data?.code.length === 0 && data.steps.length === 0 && <p className="soft">{T.workflows.noChange}</p>}
        {data && <StepChanges steps={data.from_deployment_id === null ? [] : data.steps} code={data.code} />}
      </div>
    </Dialog>
  );
}
