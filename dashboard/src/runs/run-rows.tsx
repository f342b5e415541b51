import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Run } from '../../../src/client/client.ts';
import { type RunFilter, runsQuery } from '../api/runs.ts';
import { RUN_STATES } from '../api/states.ts';
import { T } from '../english.ts';
import { useChoice } from '../parts/address.ts';
import { Choice } from '../parts/choice.tsx';
import { Listed } from '../parts/listed.tsx';
import { Badge, Empty } from '../parts/state.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Foreign, Said } from '../parts/text/foreign.tsx';
import { Ago } from '../parts/time.tsx';

/** The runs of a workflow or source, newest first. */
export function Runs({ of }: { of: Pick<RunFilter, 'workflow_id' | 'source_id'> }) {
  const [state, setState] = useChoice('runs', RUN_STATES);
  const emitter = of.workflow_id ?? of.source_id;
  return (
    <Listed
      title={T.runs.title}
      of={useInfiniteQuery(runsQuery({ ...of, state }))}
      head={
        <>
          <span className="grow" />
          <Link to="/runs" search={emitter === undefined ? {} : { emitter }}>
            {T.runs.find}
          </Link>
          <Choice
            label={T.runs.title}
            all={T.runs.all}
            options={RUN_STATES}
            textOf={(one) => T.states[one] ?? one}
            value={state}
            choose={setState}
          />
        </>
      }
      row={(run) => <RunRow key={run.id} run={run} />}
      empty={
        <Empty
          icon="workflows"
          title={T.runs.none}
          text={T.runs.noneText}
          command={of.workflow_id === undefined ? undefined : T.runs.command(of.workflow_id)}
        />
      }
    />
  );
}

interface RunRowProps {
  readonly run: Run;
  /** The name of what ran, in a list of several. */
  readonly where?: string;
}

export function RunRow({ run, where }: RunRowProps) {
  const said = run.error ? [run.error.code, run.error.msg].filter(Boolean).join(': ') : run.summary;
  return (
    <li className="group-link">
      <Badge state={run.state} />
      <div className="grow cut">
        <Link to="/runs/$runId" params={{ runId: run.id }}>
          {said ? <Said>{said}</Said> : <code>{run.id}</code>}
        </Link>
        {where !== undefined && (
          <div className="soft cut">
            <Foreign>{where}</Foreign>
          </div>
        )}
      </div>
      {run.replay && <span className="soft only-wide">{T.runs.replay}</span>}
      {run.started_at_ms !== null && run.ended_at_ms !== null && (
        <span className="soft nowrap only-wide">{durationText(run.ended_at_ms - run.started_at_ms)}</span>
      )}
      <span className="soft">
        <Ago ms={run.created_at_ms} />
      </span>
    </li>
  );
}
