import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReplayResult } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import { resultsQuery } from '../api/operations.ts';
import { T } from '../english.ts';
import { useChoice } from '../parts/address.ts';
import { Choice } from '../parts/choice.tsx';
import { Listed } from '../parts/listed.tsx';
import { Empty } from '../parts/state.tsx';
import { Foreign, Said } from '../parts/text/foreign.tsx';
import { At } from '../parts/time.tsx';
import { ErrorLink } from './error-link.tsx';
import { OUTCOMES, TONES } from './progress.tsx';

/** What became of each error, with the way to the error and to the run of its replay. */
export function Results({ id, isOver, groupId }: { id: string; isOver: boolean; groupId: string | null }) {
  const [outcome, setOutcome] = useChoice('outcome', OUTCOMES);
  return (
    <Listed
      title={T.operations.results}
      of={useInfiniteQuery(resultsQuery(id, outcome, isOver))}
      head={
        <>
          <span className="grow" />
          <Choice
            label={T.operations.outcome}
            all={T.operations.all}
            options={OUTCOMES}
            textOf={(one) => T.operations.outcomes[one]}
            value={outcome}
            choose={setOutcome}
          />
        </>
      }
      row={(result) => <Row key={result.id} result={result} groupId={groupId} />}
      empty={<Empty icon="replay" title={T.operations.noResults} />}
    />
  );
}

function Row({ result, groupId }: { result: ReplayResult; groupId: string | null }) {
  const names = useNames();
  const { id, emitter_id: emitterId, outcome, run_id: runId, reason, error, error_id: errorId } = result;
  return (
    <li>
      <div className="grow">
        <ErrorLink id={id} emitterId={emitterId} groupId={groupId} text={<At ms={Number.parseInt(id, 10)} />} />
        {emitterId !== null && (
          <div className="soft cut">
            <Foreign>{names(emitterId)}</Foreign>
          </div>
        )}
        {error && (
          <div className="cut">
            <Foreign>{error.code}</Foreign>{' '}
            <span className="soft">
              <Said>{error.msg}</Said>
            </span>
          </div>
        )}
        {reason && (
          <div className="soft">
            <Foreign>{reason}</Foreign>
          </div>
        )}
      </div>
      {errorId !== null && (
        <ErrorLink
          id={errorId}
          emitterId={emitterId}
          groupId={outcome === 'failed_same' ? groupId : null}
          text={T.operations.newError}
        />
      )}
      {runId !== null && (
        <Link to="/runs/$runId" params={{ runId }}>
          {T.operations.run}
        </Link>
      )}
      <span className={`badge ${TONES[outcome]}`}>{T.operations.outcomes[outcome]}</span>
    </li>
  );
}
