import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Heartbeat } from '../../../src/client/client.ts';
import { deleteHeartbeat, heartbeatQuery, updateHeartbeat } from '../api/heartbeats.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { useAct, useMay } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { BackTo } from '../parts/back.tsx';
import { Card } from '../parts/card.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Command } from '../parts/copy.tsx';
import { Badge, Unready } from '../parts/state.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago, At } from '../parts/time.tsx';
import { Links } from '../workflows/links.tsx';
import { HeartbeatForm } from './heartbeat-form.tsx';
import { whenOf } from './heartbeats.tsx';

const words = T.heartbeats;

export function HeartbeatPage() {
  const { heartbeatId } = useParams({ from: '/shell/heartbeats/$heartbeatId' });
  const asked = useQuery(heartbeatQuery(heartbeatId));
  const { data: heartbeat } = asked;
  if (!heartbeat) return <Unready of={asked} isPage />;
  return <Whole heartbeat={heartbeat} />;
}

function Whole({ heartbeat }: { heartbeat: Heartbeat }) {
  const mayWrite = useMay('write');
  const { id, name, status, ping_url: url, codes } = heartbeat;
  return (
    <>
      <BackTo list="/heartbeats">{words.title}</BackTo>
      <div className="page-head">
        <div className="grow" style={{ minWidth: 0, flexBasis: 320 }}>
          <Heading isRecord text={name}>
            <Foreign>{name}</Foreign> <Badge state={status} text={words.states[status]} />
          </Heading>
          <p className="soft">
            {whenOf(heartbeat)} ·{' '}
            <Link to="/errors" search={{ emitter: id, state: 'all' }}>
              {T.workflows.errors}
            </Link>
          </p>
          {codes.length > 0 && <p className="bad">{codes.map((code) => words.codes[code] ?? code).join(' ')}</p>}
        </div>
        {mayWrite && <Acts heartbeat={heartbeat} />}
      </div>
      <div className="columns">
        <div className="stack-16">
          <Card title={words.pinged}>
            <div className="card-body">
              <p className="soft">{words.pingText}</p>
              <Command text={`curl -fsS -X POST ${url}`} />
            </div>
          </Card>
        </div>
        <div className="stack-16 beside">
          <section className="card card-body">
            <Facts heartbeat={heartbeat} />
          </section>
          <Links id={id} />
        </div>
      </div>
    </>
  );
}

function Facts({ heartbeat }: { heartbeat: Heartbeat }) {
  const times = [
    [words.down, heartbeat.down_since_ms],
    [words.last, heartbeat.last_ping_at_ms],
    [words.began, heartbeat.started_at_ms],
  ] as const;
  const { next_expected_at_ms: next, last_duration_ms: took, grace_seconds: grace, pings, failures } = heartbeat;
  return (
    <dl className="facts">
      {times.map(
        ([name, ms]) =>
          ms !== null && (
            <div key={name} style={{ display: 'contents' }}>
              <dt>{name}</dt>
              <dd>
                <Ago ms={ms} />
              </dd>
            </div>
          ),
      )}
      {next !== null && (
        <>
          <dt>{words.next}</dt>
          <dd>
            <At ms={next} />
          </dd>
        </>
      )}
      {took !== null && (
        <>
          <dt>{words.took}</dt>
          <dd>{durationText(took)}</dd>
        </>
      )}
      <dt>{words.graceTime}</dt>
      <dd>{durationText(grace * 1000)}</dd>
      <dt>{words.pings}</dt>
      <dd>{pings.toLocaleString()}</dd>
      <dt>{words.failures}</dt>
      <dd>{failures.toLocaleString()}</dd>
    </dl>
  );
}

function Acts({ heartbeat }: { heartbeat: Heartbeat }) {
  const { id, name, active } = heartbeat;
  const [isEditing, setEditing] = useState(false);
  const navigate = useNavigate();
  const act = useAct(['heartbeat', id], ['heartbeats']);
  const remove = async (): Promise<void> => {
    // The page asks for its record again and again, and would be told that there is none.
    await navigate({ to: '/heartbeats' });
    await act(() => deleteHeartbeat(id), words.deleted);
  };
  return (
    <div className="buttons">
      <Button size="xs" variant="default" onClick={() => setEditing(true)}>
        {words.edit}
      </Button>
      {isEditing && <HeartbeatForm of={heartbeat} close={() => setEditing(false)} />}
      <ActButton
        size="xs"
        variant="default"
        act={() => act(() => updateHeartbeat(id, { active: !active }), T.sources.saved)}
      >
        {active ? T.heartbeats.pause : T.heartbeats.resume}
      </ActButton>
      <ConfirmButton title={words.delete} text={words.deleteText(name)} run={remove} />
    </div>
  );
}
