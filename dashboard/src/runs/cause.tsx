import { Link } from '@tanstack/react-router';
import type { RunWhole } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { ErrorLink } from '../operations/error-link.tsx';
import { Foreign } from '../parts/text/foreign.tsx';

const REPLAY = /^replay of (\d+-\d+)(.*)$/;

/** Where the event of a run came from: an error that was replayed, another run, or what a source said of it. */
export function Cause({ run }: { run: Pick<RunWhole, 'caused_by' | 'workflow_id' | 'source_id'> }) {
  const { run_id: runId, summary } = run.caused_by;
  const [, errorId, how] = REPLAY.exec(summary ?? '') ?? [];
  if (summary === null && runId === null) return null;
  return (
    <>
      <dt>{T.runs.cause}</dt>
      <dd>
        {errorId !== undefined ? (
          <>
            <ErrorLink
              id={errorId}
              emitterId={run.workflow_id ?? run.source_id ?? null}
              groupId={null}
              text={T.runs.replayed}
            />
            {how}
          </>
        ) : (
          <>
            {summary !== null && <Foreign>{summary}</Foreign>}
            {summary !== null && runId !== null && ' · '}
            {runId !== null && (
              <Link to="/runs/$runId" params={{ runId }}>
                {T.runs.causeRun}
              </Link>
            )}
          </>
        )}
      </dd>
    </>
  );
}
