import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Heartbeat } from '../../../src/client/client.ts';
import { heartbeatsQuery } from '../api/heartbeats.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { Badge, Empty } from '../parts/state.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago } from '../parts/time.tsx';
import { HeartbeatForm } from './heartbeat-form.tsx';
import { ListPage } from './list-page.tsx';

const words = T.heartbeats;

export function HeartbeatsPage() {
  return (
    <ListPage
      title={words.title}
      create={useMay('write') ? words.create : undefined}
      dialog={(close) => <HeartbeatForm close={close} />}
      of={useQuery(heartbeatsQuery)}
      empty={<Empty icon="heartbeat" title={words.none} text={words.noneText} command={words.command} />}
      row={(heartbeat) => (
        <li key={heartbeat.id} className="group-link">
          <div className="grow">
            <Link to="/heartbeats/$heartbeatId" params={{ heartbeatId: heartbeat.id }}>
              <Foreign>{heartbeat.name}</Foreign>
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
      )}
    />
  );
}

export function whenOf({ cron, interval_seconds: seconds, timezone }: Heartbeat): string {
  return cron === undefined ? T.workflows.every(durationText((seconds ?? 0) * 1000)) : `${cron} (${timezone})`;
}
