import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { ErrorRecordWhole } from '../../../src/client/client.ts';
import { errorQuery, fixtureQuery, groupQuery } from '../api/errors.ts';
import { useNames } from '../api/names.ts';
import { workflowQuery } from '../api/workflows.ts';
import { Heading } from '../app/heading.tsx';
import { useKeys } from '../app/keys.ts';
import { later } from '../app/later.tsx';
import { T } from '../english.ts';
import { ErrorLink } from '../operations/error-link.tsx';
import { TONES } from '../operations/progress.tsx';
import { useMay } from '../parts/act.ts';
import { Card } from '../parts/card.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { Scrollable } from '../parts/scrollable.tsx';
import { Badge, LoadingPage, Unready } from '../parts/state.tsx';
import { Foreign, seen } from '../parts/text/foreign.tsx';
import { At } from '../parts/time.tsx';
import { NodeLink } from '../subscriptions/node-link.tsx';
import { curlOf } from './curl.ts';
import { type EventText, eventTextOf, parseEvent } from './event-text.ts';
import { Message } from './message.tsx';
import { Receipts } from './receipts.tsx';
import { Stack, useFailedCode } from './stack.tsx';

/** It comes when it is first opened. */
const ReplayDialog = later(async () => (await import('./replay.tsx')).ReplayDialog);

export function ErrorPage() {
  const { groupId, errorId } = useParams({ from: '/shell/errors/$groupId/$errorId' });
  const group = useQuery(groupQuery(groupId));
  const emitterId = group.data?.emitter_id ?? '';
  const record = useQuery({ ...errorQuery(emitterId, errorId), enabled: emitterId !== '' });
  // All that the page is made of is there at once: what came later would push down what is read.
  const isOfWorkflow = emitterId.startsWith('p_');
  const workflow = useQuery({ ...workflowQuery(emitterId), enabled: isOfWorkflow });
  const fixture = useQuery(fixtureQuery(errorId));
  const deploymentId: unknown = record.data?.event?.original_context?.deployment_id;
  const code = useFailedCode(isOfWorkflow ? emitterId : null, typeof deploymentId === 'string' ? deploymentId : null);
  const isFirst = [fixture, ...(isOfWorkflow ? [workflow] : [])].some(
    ({ isPending, errorUpdateCount }) => isPending && errorUpdateCount === 0,
  );
  if (!record.data) return <Unready of={group.data ? record : group} isPage />;
  if (isFirst || code.isComing) return <LoadingPage />;
  return <Whole key={errorId} record={record.data} code={code} groupId={groupId} emitterId={emitterId} />;
}

interface WholeProps {
  readonly record: ErrorRecordWhole;
  readonly code: ReturnType<typeof useFailedCode>;
  readonly groupId: string;
  readonly emitterId: string;
}

function Whole({ record, code, groupId, emitterId }: WholeProps) {
  const [isReplaying, setReplaying] = useState(false);
  const names = useNames();
  const fixture = useQuery(fixtureQuery(record.id));
  const event = fixture.data ? eventTextOf(fixture.data) : null;
  const fault = record.event?.error;
  const context: Readonly<Record<string, unknown>> = { ...record.event?.original_context };
  const mayWrite = useMay('write');
  // Without a run no event was run: it is of a mail, a request or a watch, or was reported.
  const isOfCode = /^(p|dc)_/.test(emitterId) && record.run_id !== null;
  const canReplay = mayWrite && isOfCode && event !== null && !event.isBinary;
  useKeys({ r: () => canReplay && setReplaying(true) });
  if (!fault) return null;
  return (
    <>
      <Link to="/errors/$groupId" params={{ groupId }} className="crumb">
        ‹ <Foreign>{fault.code}</Foreign>
      </Link>
      <div className="page-head">
        <div className="grow" style={{ minWidth: 0, flexBasis: 320 }}>
          <Heading isRecord text={fault.code}>
            <Foreign>{fault.code}</Foreign>
          </Heading>
          <Message text={fault.msg} />
          <p className="soft">
            <NodeLink id={emitterId} name={names(emitterId)} />
            {fault.namespace !== '' && ` ${T.errors.in(fault.namespace)}`} · <At ms={record.indexed_at_ms} />
            <Failed record={record} />
          </p>
        </div>
        <div className="buttons">
          {canReplay && (
            <Button size="xs" leftSection={<Icon name="replay" size={15} />} onClick={() => setReplaying(true)}>
              {T.errors.replay}
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            component="a"
            href={`/v1/errors/${record.id}/fixture`}
            download={`${record.id}.json`}
            leftSection={<Icon name="download" size={15} />}
          >
            {T.error.fixture}
          </Button>
        </div>
      </div>
      <div className="columns">
        <div className="stack-16">
          <section className="card">
            <div className="card-head">
              <h2>{T.error.stack}</h2>
              <span className="grow" />
              <CopyButton text={`${fault.code}: ${fault.msg}\n${fault.stack}`} of={T.error.stack} />
            </div>
            <Stack fault={fault} code={code} />
          </section>
          {event ? (
            <EventCard event={event} workflowId={emitterId.startsWith('p_') ? emitterId : null} />
          ) : (
            <Card title={T.error.event}>
              <Unready of={fixture} rows={8} />
            </Card>
          )}
        </div>
        <div className="stack-16 beside">
          <section className="card">
            <div className="card-head">
              <h2>{T.error.told}</h2>
            </div>
            <Receipts receipts={record.receipts ?? []} />
          </section>
          <Replays record={record} emitterId={emitterId} />
          <section className="card">
            <div className="card-head">
              <h2>{T.error.context}</h2>
            </div>
            <div className="card-body">
              <dl className="facts">
                {Object.entries(context).map(([name, value]) => (
                  <div key={name} style={{ display: 'contents' }}>
                    <dt className="mono">{name}</dt>
                    <dd className="mono">
                      <Foreign>{String(value)}</Foreign>
                    </dd>
                  </div>
                ))}
              </dl>
            </div>
          </section>
        </div>
      </div>
      {isReplaying && event && (
        <ReplayDialog
          emitterId={emitterId}
          errorId={record.id}
          runId={emitterId.startsWith('p_') && record.run_retained ? record.run_id : null}
          event={event.text}
          close={() => setReplaying(false)}
        />
      )}
    </>
  );
}

/** The way to the run that failed, while there is a record of it, or to the delivery that was given up. */
function Failed({ record }: Pick<WholeProps, 'record'>) {
  const { run_id: runId, run_retained: isRetained, delivery_id: deliveryId, event } = record;
  if (deliveryId !== null) {
    return (
      <>
        {' · '}
        <Link to="/deliveries/$deliveryId" params={{ deliveryId }}>
          {T.error.delivery}
        </Link>
      </>
    );
  }
  if (runId === null) return null;
  const at = Date.parse(event?.original_context.ts ?? '');
  return (
    <>
      {' · '}
      {isRetained ? (
        <Link to="/runs/$runId" params={{ runId }}>
          {T.error.run}
        </Link>
      ) : (
        <span title={runId}>
          {T.error.runGone[0]} {Number.isFinite(at) && <At ms={at} />} {T.error.runGone[1]}
        </span>
      )}
    </>
  );
}

function EventCard({ event, workflowId }: { event: EventText; workflowId: string | null }) {
  const parsed = event.isBinary ? undefined : parseEvent(event.text);
  const [isRaw, setRaw] = useState(parsed === undefined);
  const { data: workflow } = useQuery({ ...workflowQuery(workflowId ?? ''), enabled: workflowId !== null });
  const endpoint = workflow?.triggers?.find(({ endpoint_url: url }) => url)?.endpoint_url;
  const isJson = parsed !== undefined;
  const curl = useMemo(
    () => (endpoint && isJson ? curlOf(event.text, endpoint) : null),
    [endpoint, isJson, event.text],
  );
  return (
    <section className="card">
      <div className="card-head">
        <h2>{T.error.event}</h2>
        <span className="soft">{T.error.bytes(event.bytes.toLocaleString())}</span>
        <span className="grow" />
        {parsed !== undefined && (
          <div className="tabs">
            <button type="button" aria-pressed={!isRaw} onClick={() => setRaw(false)}>
              {T.error.tree}
            </button>
            <button type="button" aria-pressed={isRaw} onClick={() => setRaw(true)}>
              {T.error.raw}
            </button>
          </div>
        )}
        {curl !== null && <CopyButton text={curl} label={T.error.curl} hint={T.error.curlHint} />}
        <CopyButton text={event.text} of={T.error.event} />
      </div>
      {event.isBinary && <p className="card-body soft">{T.error.binary}</p>}
      {!isRaw && parsed !== undefined ? (
        <JsonTree value={parsed.value} />
      ) : (
        <Scrollable className="raw mono" label={T.error.raw}>
          {seen(event.text)}
        </Scrollable>
      )}
    </section>
  );
}

function Replays({ record: { replays = [] }, emitterId }: Pick<WholeProps, 'record' | 'emitterId'>) {
  if (replays.length === 0) return null;
  return (
    <section className="card">
      <div className="card-head">
        <h2>{T.error.replays}</h2>
      </div>
      <ul className="rows">
        {replays.map(({ run_id, state, outcome, edited, operation_id: operationId, ...replay }) => (
          <li key={run_id}>
            <div className="grow">
              <Link to="/runs/$runId" params={{ runId: run_id }} className="cut mono">
                {run_id}
              </Link>
              <div className="soft">
                <At ms={replay.created_at_ms} />
                {edited && ` · ${T.error.edited}`}
                {operationId && (
                  <>
                    {' · '}
                    <Link to="/operations/$operationId" params={{ operationId }}>
                      {T.operations.operation}
                    </Link>
                  </>
                )}
                {replay.error_id && (
                  <>
                    {' · '}
                    <ErrorLink id={replay.error_id} emitterId={emitterId} groupId={null} text={T.operations.newError} />
                  </>
                )}
              </div>
            </div>
            {outcome === null ? (
              <Badge state={state} />
            ) : (
              <span className={`badge ${TONES[outcome]}`}>{T.operations.outcomes[outcome]}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
