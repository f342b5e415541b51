import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Run, runsQuery } from '../api/runs.ts';
import { T } from '../english.ts';
import { durationText } from '../parts/duration.ts';
import { Badge, Empty, Failed, Loading } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';

const STATES = ['succeeded', 'failed', 'waiting', 'running', 'queued', 'cancelled'] as const;

/** The runs of a workflow, newest first. */
export function Runs({ workflowId }: { workflowId: string }) {
  const [state, setState] = useState<string | undefined>();
  const { data, isPending, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    runsQuery({ workflow: workflowId, state }),
  );
  const runs = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <section className="card" aria-label={T.runs.title}>
      <div className="card-head">
        <h2>{T.runs.title}</h2>
        <span className="grow" />
        <select
          className="choice"
          aria-label={T.runs.title}
          value={state ?? ''}
          onChange={(event) => setState(event.currentTarget.value || undefined)}
        >
          <option value="">{T.runs.all}</option>
          {STATES.map((one) => (
            <option key={one} value={one}>
              {T.states[one]}
            </option>
          ))}
        </select>
      </div>
      {isPending && <Loading />}
      {error && <Failed error={error} again={() => void refetch()} />}
      {data && runs.length === 0 && <Empty icon="workflows" title={T.runs.none} text={T.runs.noneText} />}
      <ul className="rows">
        {runs.map((run) => (
          <Row key={run.id} run={run} />
        ))}
      </ul>
      {hasNextPage && runs.length > 0 && (
        <div className="card-body">
          <Button size="compact-sm" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {T.errors.more}
          </Button>
        </div>
      )}
    </section>
  );
}

function Row({ run }: { run: Run }) {
  const said = run.error ? `${run.error.code}: ${run.error.msg}` : run.summary;
  return (
    <li className="group-link">
      <Badge state={run.state} />
      <div className="grow cut">
        <Link to="/runs/$runId" params={{ runId: run.id }}>
          <bdi>{said || <code>{run.id}</code>}</bdi>
        </Link>
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
