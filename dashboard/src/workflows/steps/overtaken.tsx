import { useState } from 'react';
import { Changes } from '../changes.tsx';
import { words } from './english.ts';

interface OvertakenProps {
  readonly workflowId: string;
  /** The active version. */
  readonly version: string;
  /** The one that was active when the first change was made. */
  readonly base: string;
}

/** Says that another version was deployed while steps were changed, and shows it before it is replaced. */
export function Overtaken({ workflowId, version, base }: OvertakenProps) {
  const [isShown, setShown] = useState(false);
  return (
    <p className="card-body warn overtaken" role="alert">
      {words.overtaken}{' '}
      <button type="button" className="link-button" onClick={() => setShown(true)}>
        {words.overtakenBy}
      </button>
      {isShown && <Changes workflowId={workflowId} version={version} from={base} close={() => setShown(false)} />}
    </p>
  );
}
