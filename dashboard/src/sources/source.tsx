import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { SourceWhole } from '../../../src/client/client.ts';
import {
  deleteSource,
  invokeSource,
  invokeSourceWith,
  sourceLogsQuery,
  sourceQuery,
  updateSource,
} from '../api/sources.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { useAct, useMay } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { BackTo } from '../parts/back.tsx';
import { Card } from '../parts/card.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Command } from '../parts/copy.tsx';
import { Listed } from '../parts/listed.tsx';
import { Badge, Empty, Unready } from '../parts/state.tsx';
import { Foreign, Said } from '../parts/text/foreign.tsx';
import { At } from '../parts/time.tsx';
import { Runs } from '../runs/run-rows.tsx';
import { Links } from '../workflows/links.tsx';
import { RunDialog } from '../workflows/run-dialog.tsx';
import { Configured } from './configured.tsx';
import { Emissions } from './emissions.tsx';
import { kindOf } from './list.tsx';
import { PropForm } from './prop-form.tsx';
import { State } from './state.tsx';

export function SourcePage() {
  const { sourceId } = useParams({ from: '/shell/sources/$sourceId' });
  const asked = useQuery(sourceQuery(sourceId));
  const { data: source } = asked;
  if (!source) return <Unready of={asked} isPage />;
  return <Whole key={sourceId} source={source} />;
}

function Whole({ source }: { source: SourceWhole }) {
  const mayWrite = useMay('write');
  const { id, name, active, endpoint_url: url, skipped_ticks: skipped, configured_props: props } = source;
  const [isEditing, setEditing] = useState(false);
  const act = useAct(['source', id], ['sources']);
  return (
    <>
      <BackTo list="/sources">{T.sources.title}</BackTo>
      <div className="page-head">
        <div className="grow" style={{ minWidth: 0, flexBasis: 320 }}>
          <Heading isRecord text={name}>
            <Foreign>{name}</Foreign>{' '}
            <Badge state={active ? 'active' : 'paused'} text={active ? T.workflows.active : T.workflows.inactive} />
          </Heading>
          <p className="soft break">
            <code>{id}</code> · {kindOf({ ...source, endpoint_url: '' })} ·{' '}
            <Link to="/errors" search={{ emitter: id, state: 'all' }}>
              {T.workflows.errors}
            </Link>
            {mayWrite && (
              <>
                {' · '}
                <Link to="/operations/new" search={{ source: id }}>
                  {T.workflows.replayAll}
                </Link>
              </>
            )}
          </p>
        </div>
        {mayWrite && <Acts source={source} />}
      </div>
      <div className="columns">
        <div className="stack-16 beside">
          {url && (
            <Card title={T.sources.address}>
              <div className="card-body">
                <Command text={url} />
              </div>
            </Card>
          )}
          <Card
            title={T.sources.props}
            head={
              <>
                <span className="grow" />
                {mayWrite && (
                  <Button size="compact-xs" variant="default" onClick={() => setEditing(!isEditing)}>
                    {isEditing ? T.error.cancel : T.sources.edit}
                  </Button>
                )}
              </>
            }
          >
            {isEditing ? (
              <div className="card-body">
                <PropForm
                  of={{ source_id: id }}
                  first={props}
                  submit={T.sources.save}
                  send={async (values) => {
                    await updateSource(id, { configured_props: values });
                    setEditing(false);
                    await act(async () => undefined, T.sources.saved);
                  }}
                />
              </div>
            ) : (
              <Configured values={props} />
            )}
          </Card>
          <State sourceId={id} />
          {skipped !== undefined && (
            <section className="card card-body">
              <dl className="facts">
                <dt>{T.sources.skipped}</dt>
                <dd>{skipped.toLocaleString()}</dd>
              </dl>
            </section>
          )}
          <Links id={id} />
        </div>
        <div className="stack-16">
          <Emissions sourceId={id} />
          <Logs sourceId={id} />
          <Runs of={{ source_id: id }} />
        </div>
      </div>
    </>
  );
}

/** What a request to the source's address gives it. */
const FIRST_EVENT = '{\n  "method": "POST",\n  "path": "/",\n  "query": {},\n  "headers": {},\n  "body": {}\n}';

function Acts({ source: { id, name, active, endpoint_url: url } }: { source: SourceWhole }) {
  const [isRunning, setRunning] = useState(false);
  const hasAddress = url !== undefined && url !== null;
  const navigate = useNavigate();
  const act = useAct(['source', id], ['sources'], ['emissions', id], ['source-logs', id], ['runs']);
  const remove = async (): Promise<void> => {
    // The page asks for its record again and again, and would be told that there is none.
    await navigate({ to: '/sources' });
    await act(() => deleteSource(id), T.sources.deleted);
  };
  const toggle = (): Promise<void> => act(() => updateSource(id, { active: !active }), T.sources.saved);
  return (
    <div className="buttons">
      {hasAddress ? (
        <Button size="xs" disabled={!active} onClick={() => setRunning(true)}>
          {T.sources.invoke}
        </Button>
      ) : (
        <ActButton size="xs" disabled={!active} act={() => act(() => invokeSource(id), T.sources.invoked)}>
          {T.sources.invoke}
        </ActButton>
      )}
      {active ? (
        <ConfirmButton title={T.workflows.deactivate} text={T.workflows.deactivateText} run={toggle} />
      ) : (
        <ActButton size="xs" variant="default" act={toggle}>
          {T.workflows.activate}
        </ActButton>
      )}
      <ConfirmButton title={T.sources.delete} text={T.sources.deleteText(name)} run={remove} />
      {isRunning && (
        <RunDialog
          title={T.sources.invokeTitle}
          about={T.sources.invokeText}
          id={id}
          first={FIRST_EVENT}
          run={invokeSourceWith}
          close={() => setRunning(false)}
        />
      )}
    </div>
  );
}

function Logs({ sourceId }: { sourceId: string }) {
  return (
    <Listed
      title={T.sources.logs}
      of={useInfiniteQuery(sourceLogsQuery(sourceId))}
      row={({ id, run_id: runId, ts_ms: tsMs, level, text }) => (
        <li key={id} className={level === 'error' ? 'bad' : level === 'warn' ? 'warn' : undefined}>
          <div className="grow break mono">
            <Said>{text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text}</Said>
          </div>
          <Link to="/runs/$runId" params={{ runId }} className="nowrap">
            {T.operations.run}
          </Link>
          <span className="soft nowrap">
            <At ms={tsMs} />
          </span>
        </li>
      )}
      empty={<Empty icon="docs" title={T.runs.noLogs} />}
    />
  );
}

const MAX_CHARS = 2000;
