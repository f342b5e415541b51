import { useState } from 'react';
import { T } from '../english.ts';
import { Changes } from './changes.tsx';

interface OvertakenProps {
  readonly workflowId: string;
  /** The active version. */
  readonly version: string;
  /** The one that was active when typing began. */
  readonly base: string;
}

/** Says that another version was deployed while code was typed, and shows it before it is replaced. */
export function Overtaken({ workflowId, version, base }: OvertakenProps) {
  const [isShown, setShown] = useState(false);
  return (
    <p className="card-body warn overtaken" role="alert">
      {T.workflows.overtaken}{' '}
      <button type="button" className="link-button" onClick={() => setShown(true)}>
        {T.workflows.overtakenBy}
      </button>
      {isShown && <Changes workflowId={workflowId} version={version} from={base} close={() => setShown(false)} />}
    </p>
  );
}
