import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Operation, ReplayProgress } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import { changeOperation, isUnderWay, operationQuery } from '../api/operations.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { useAct, useMay } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { BackTo } from '../parts/back.tsx';
import { Card, Fact } from '../parts/card.tsx';
import { Badge, LoadingPage, Unready } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago, At } from '../parts/time.tsx';
import { inWords, Numbers, Progress } from './progress.tsx';
import { Results } from './results.tsx';
import { GroupName, OperationTitle, useGroupOf, useTitleText } from './title.tsx';

export function OperationPage() {
  const { operationId } = useParams({ from: '/shell/operations/$operationId' });
  const asked = useQuery(operationQuery(operationId));
  const { data: operation } = asked;
  // The title has its name: what stands below would move.
  const group = useGroupOf(operation);
  if (!operation) return <Unready of={asked} isPage />;
  if (group.isLoading) return <LoadingPage />;
  return <Whole operation={operation} />;
}

function Whole({ operation }: { operation: Operation }) {
  const names = useNames();
  const mayWrite = useMay('write');
  const { id, state, reason, replay, webhook_id: webhookId } = operation;
  return (
    <>
      <BackTo list="/operations">{T.operations.title}</BackTo>
      <div className="page-head">
        <div className="grow" style={{ minWidth: 0, flexBasis: 320 }}>
          <Heading isRecord text={useTitleText(operation)}>
            <OperationTitle operation={operation} /> <Badge state={state} />
          </Heading>
          <div role="status">{reason && <p className={state === 'paused' ? 'warn' : 'soft'}>{reason}</p>}</div>
        </div>
        {mayWrite && <Acts operation={operation} />}
      </div>
      <div className="columns">
        <div className="stack-16">
          <Card title={T.operations.progress}>
            <div className="card-body stack-16">
              <p className="hidden-visually" role="status">
                {inWords(operation)}
              </p>
              <Progress operation={operation} />
              <Numbers operation={operation} />
            </div>
          </Card>
        </div>
        <section className="card card-body beside">
          <dl className="facts">
            {replay?.group_id && (
              <Fact name={T.operations.group}>
                <Link to="/errors/$groupId" params={{ groupId: replay.group_id }}>
                  <GroupName id={replay.group_id} />
                </Link>
              </Fact>
            )}
            {replay?.workflow_id && (
              <Fact name={T.runs.workflow}>
                <Link to="/workflows/$workflowId" params={{ workflowId: replay.workflow_id }}>
                  <Foreign>{names(replay.workflow_id)}</Foreign>
                </Link>
              </Fact>
            )}
            {replay?.source_id && (
              <Fact name={T.operations.source}>
                <Link to="/sources/$sourceId" params={{ sourceId: replay.source_id }}>
                  <Foreign>{names(replay.source_id)}</Foreign>
                </Link>
              </Fact>
            )}
            {webhookId && (
              <Fact name={T.operations.webhook}>
                <Link to="/webhooks/$webhookId" params={{ webhookId }}>
                  <Foreign>{names(webhookId)}</Foreign>
                </Link>
              </Fact>
            )}
            {replay && <Asked replay={replay} isRunning={state === 'running'} />}
            {replay === null && (
              <>
                <Fact name={T.operations.states}>{operation.states.map((one) => T.states[one] ?? one).join(', ')}</Fact>
                <Fact name={T.operations.since}>
                  <At ms={operation.since_ms} />
                </Fact>
                <Fact name={T.operations.until}>
                  <At ms={operation.until_ms} />
                </Fact>
              </>
            )}
            <Fact name={T.operations.began}>
              <Ago ms={operation.created_at_ms} />
            </Fact>
            {operation.ended_at_ms !== null && (
              <Fact name={T.operations.ended}>
                <Ago ms={operation.ended_at_ms} />
              </Fact>
            )}
          </dl>
        </section>
        {replay && <Results id={id} isOver={!isUnderWay(operation)} groupId={replay.group_id} />}
      </div>
    </>
  );
}

/** What the replay was asked for. */
function Asked({ replay, isRunning }: { replay: ReplayProgress; isRunning: boolean }) {
  const { code, deployment, canary, canary_over: isOver, rate, stop_on_failures: stop, from, ordered, again } = replay;
  const how = [
    from === 'failed_step' && T.operations.fromFailed,
    ordered && T.operations.ordered,
    again && T.operations.again,
  ].filter((word) => word !== false);
  const words = T.operations;
  return (
    <>
      {code && <Fact name={words.code}>{code}</Fact>}
      {replay.step && <Fact name={words.step}>{replay.step}</Fact>}
      {replay.failed_deployment_id && (
        <Fact name={words.failedVersion}>
          <code>{replay.failed_deployment_id}</code>
        </Fact>
      )}
      {replay.since_ms !== null && (
        <Fact name={words.since}>
          <At ms={replay.since_ms} />
        </Fact>
      )}
      {replay.until_ms !== null && (
        <Fact name={words.until}>
          <At ms={replay.until_ms} />
        </Fact>
      )}
      <Fact name={T.runs.version}>{deployment === 'current' ? words.current : <code>{deployment}</code>}</Fact>
      <Fact name={words.canary}>
        {canary}
        {isRunning && ` ${isOver ? words.canaryOver : words.canaryOpen}`}
      </Fact>
      {rate !== null && <Fact name={words.rate}>{words.perSecond(rate)}</Fact>}
      {stop !== null && <Fact name={words.stop}>{stop}</Fact>}
      {how.length > 0 && <Fact name={words.how}>{how.join(' · ')}</Fact>}
    </>
  );
}

function Acts({ operation }: { operation: Operation }) {
  const { id, state } = operation;
  const act = useAct(['operation', id], ['operations'], ['results', id]);
  if (!isUnderWay(operation)) return null;
  const { pause, resume, cancel, paused, resumed, cancelled } = T.operations;
  return (
    <div className="buttons">
      {state === 'running' ? (
        <ActButton size="xs" variant="default" act={() => act(() => changeOperation(id, 'pause'), paused)}>
          {pause}
        </ActButton>
      ) : (
        <ActButton size="xs" act={() => act(() => changeOperation(id, 'resume'), resumed)}>
          {resume}
        </ActButton>
      )}
      <ActButton size="xs" variant="default" act={() => act(() => changeOperation(id, 'cancel'), cancelled)}>
        {cancel}
      </ActButton>
    </div>
  );
}
