import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { RunWhole } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import { cancelRun, isOpen, retryRun, runQuery } from '../api/runs.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { Message } from '../errors/message.tsx';
import { Receipts } from '../errors/receipts.tsx';
import { useMay } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { Scrollable } from '../parts/scrollable.tsx';
import { Badge, Unready } from '../parts/state.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Foreign, Said } from '../parts/text/foreign.tsx';
import { Ago, At, Clock, useSeconds } from '../parts/time.tsx';
import { toast, toastError } from '../parts/toast.tsx';
import { Cause } from './cause.tsx';
import { Wait } from './wait.tsx';
import { Waterfall } from './waterfall.tsx';

export function RunPage() {
  const { runId } = useParams({ from: '/shell/runs/$runId' });
  const asked = useQuery(runQuery(runId));
  const { data: run } = asked;
  if (!run) return <Unready of={asked} isPage />;
  return <Whole run={run} />;
}

function Whole({ run }: { run: RunWhole }) {
  const names = useNames();
  const now = useSeconds(run.state === 'running');
  const mayWrite = useMay('write');
  const of = run.workflow_id ?? run.source_id ?? '';
  const ended = run.ended_at_ms ?? now;
  return (
    <>
      {run.workflow_id !== undefined && (
        <Link to="/workflows/$workflowId" params={{ workflowId: run.workflow_id }} className="crumb">
          ‹ <Foreign>{names(run.workflow_id)}</Foreign>
        </Link>
      )}
      <div className="page-head">
        <div className="grow" style={{ minWidth: 0, flexBasis: 320 }}>
          <Heading isRecord text={run.summary || names(of)}>
            <Foreign>{run.summary || names(of)}</Foreign> <Badge state={run.state} />
          </Heading>
          <p className="soft">
            <At ms={run.created_at_ms} />
            {run.started_at_ms !== null && ` · ${durationText(Math.max(0, ended - run.started_at_ms))}`}
            {run.waiting && ` · ${T.runs.waits(run.waiting.kind)}`}
          </p>
        </div>
        {mayWrite && <Acts run={run} />}
      </div>
      <div className="columns">
        <div className="stack-16">
          <Wait run={run} />
          {run.error && (
            <section className="card">
              <div className="card-head">
                <h2>{T.runs.error}</h2>
              </div>
              <div className="card-body">
                <strong>
                  <Foreign>{run.error.code}</Foreign>
                </strong>
                <Message text={run.error.msg} />
              </div>
              {run.error.stack && (
                <Scrollable className="frames" label={T.error.stack}>
                  {run.error.stack.split('\n').map((frame, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: frames repeat, and keep their places
                    <div key={at} className="frame is-other">
                      {frame.trim()}
                    </div>
                  ))}
                </Scrollable>
              )}
              {run.error_id && of !== '' && (
                <div className="card-body">
                  <Link to="/emitters/$emitterId/errors/$errorId" params={{ emitterId: of, errorId: run.error_id }}>
                    {T.runs.toError}
                  </Link>
                </div>
              )}
            </section>
          )}
          <Waterfall run={run} />
          <Logs run={run} />
          <section className="card">
            <div className="card-head">
              <h2>{T.runs.event}</h2>
            </div>
            <JsonTree value={run.event} />
          </section>
        </div>
        <div className="stack-16 beside">
          <section className="card card-body">
            <dl className="facts">
              <dt>{T.runs.created}</dt>
              <dd>
                <Ago ms={run.created_at_ms} />
              </dd>
              <dt>{T.runs.attempt}</dt>
              <dd>{run.attempt}</dd>
              <dt>{T.runs.version}</dt>
              <dd className="mono">{run.deployment_id}</dd>
              <Cause run={run} />
              {run.exit_reason && (
                <>
                  <dt>{T.runs.ended}</dt>
                  <dd>{run.exit_reason}</dd>
                </>
              )}
            </dl>
          </section>
          {run.causes.length > 0 && (
            <section className="card">
              <div className="card-head">
                <h2>{T.runs.causes}</h2>
              </div>
              <Receipts receipts={run.causes} />
            </section>
          )}
        </div>
      </div>
    </>
  );
}

function Acts({ run }: { run: RunWhole }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const act = async (what: () => Promise<void>): Promise<void> => {
    try {
      await what();
    } catch (error) {
      toastError(error);
    }
    void client.invalidateQueries({ queryKey: ['run', run.id] });
  };
  const cancel = (): Promise<void> =>
    act(async () => {
      await cancelRun(run.id);
      toast(T.runs.cancelled);
    });
  const retry = (): Promise<void> =>
    act(async () => {
      const { run_id: runId } = await retryRun(run.id);
      toast(T.runs.retried);
      await navigate({ to: '/runs/$runId', params: { runId } });
    });
  return (
    <div className="buttons">
      {run.state === 'failed' && !run.retried_by && run.workflow_id && (
        <ActButton size="xs" leftSection={<Icon name="replay" size={15} />} act={retry}>
          {T.runs.retry}
        </ActButton>
      )}
      {isOpen(run) && !run.waiting && (
        <ConfirmButton title={T.runs.cancelRun} text={T.runs.cancelText} run={cancel}>
          {T.runs.cancel}
        </ConfirmButton>
      )}
    </div>
  );
}

function Logs({ run }: { run: RunWhole }) {
  const { logs, log_bytes_dropped: dropped = 0 } = run;
  return (
    <section className="card">
      <div className="card-head">
        <h2>{T.runs.logs}</h2>
        {dropped > 0 && <span className="soft">{T.runs.dropped(dropped.toLocaleString())}</span>}
      </div>
      {logs.length === 0 ? (
        <p className="card-body soft">{run.state === 'running' ? T.runs.later : T.runs.noLogs}</p>
      ) : (
        <Scrollable className="logs mono" label={T.runs.logs}>
          {logs.map(({ ts_ms, level, namespace, text }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines repeat, and keep their places
            <div key={at} className={level === 'error' || level === 'warn' ? `log ${level}` : 'log'}>
              <Clock ms={ts_ms} />
              <span className="soft">{namespace}</span>
              <Said>{text}</Said>
            </div>
          ))}
        </Scrollable>
      )}
    </section>
  );
}
