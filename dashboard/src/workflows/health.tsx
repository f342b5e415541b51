// What the newest runs of a workflow tell, in its row of the list.

import { useQuery } from '@tanstack/react-query';
import { type ListedWorkflow, workflowHealthQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { Badge } from '../parts/state.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Ago, localText } from '../parts/time.tsx';

interface HealthProps {
  readonly id: string;
  /** The last workflow of the page before that of this one. */
  readonly after: string | undefined;
}

/** A page of workflows is asked for once, when one of them is on the screen. */
export function Health({ id, after }: HealthProps) {
  const { data } = useQuery(workflowHealthQuery(after));
  const health = data?.get(id);
  if (!health) return <span className="soft health" />;
  const { last_run: last, runs, failed, since_ms: since, p95_ms: p95 } = health;
  if (last === null) return <span className="soft health">{T.workflows.health.none}</span>;
  return (
    <span className="soft health">
      {runs === 0 || since === null ? (
        <span />
      ) : (
        <span title={T.workflows.health.judged(runs, failed, localText(since))} className={failed > 0 ? 'bad' : ''}>
          {T.workflows.health.failed(failed / runs)}
        </span>
      )}
      {p95 === null ? (
        <span />
      ) : (
        <span title={T.workflows.health.most(durationText(p95))}>{T.workflows.health.p95(durationText(p95))}</span>
      )}
      <Badge state={last.state} />
      <Ago ms={last.created_at_ms} />
    </span>
  );
}

const PER_PAGE = 100;

/** Returns the page of each workflow, by the last one of the page before. */
export function pagesOf(all: readonly ListedWorkflow[]): ReadonlyMap<string, string | undefined> {
  return new Map(all.map(({ id }, at) => [id, all[at - (at % PER_PAGE) - 1]?.id]));
}
