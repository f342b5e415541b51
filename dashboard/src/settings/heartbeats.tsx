import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Heartbeat } from '../../../src/client/client.ts';
import { heartbeatsQuery } from '../api/heartbeats.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { Badge, Empty, Failed, Loading } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { SettingsFrame } from './frame.tsx';
import { HeartbeatForm } from './heartbeat-form.tsx';

const words = T.heartbeats;

export function HeartbeatsPage() {
  const mayWrite = useMay('write');
  const [isMaking, setMaking] = useState(false);
  const { data: all, error, isPending, refetch } = useQuery(heartbeatsQuery);
  return (
    <SettingsFrame
      title={words.title}
      head={
        mayWrite && (
          <Button size="xs" onClick={() => setMaking(true)}>
            {words.create}
          </Button>
        )
      }
    >
      <section className="card" aria-label={words.title}>
        {isPending && <Loading />}
        {error && <Failed error={error} again={() => void refetch()} />}
        {all?.length === 0 && <Empty icon="heartbeat" title={words.none} text={words.noneText} />}
        <ul className="rows">
          {all?.map((heartbeat) => (
            <li key={heartbeat.id} className="group-link">
              <div className="grow">
                <Link to="/heartbeats/$heartbeatId" params={{ heartbeatId: heartbeat.id }}>
                  <bdi>{heartbeat.name}</bdi>
                </Link>
                <div className="soft cut">{whenOf(heartbeat)}</div>
              </div>
              <Badge state={heartbeat.status} text={words.states[heartbeat.status]} />
              {heartbeat.last_ping_at_ms !== null && (
                <span className="soft">
                  <Ago ms={heartbeat.last_ping_at_ms} />
                </span>
              )}
            </li>
          ))}
        </ul>
      </section>
      {isMaking && <HeartbeatForm close={() => setMaking(false)} />}
    </SettingsFrame>
  );
}

export function whenOf({ cron, interval_seconds: seconds, timezone }: Heartbeat): string {
  return cron === undefined ? T.workflows.every(seconds ?? 0) : `${cron} (${timezone})`;
}
