import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Heartbeat } from '../../../src/client/client.ts';
import { createHeartbeat, heartbeatsQuery } from '../api/heartbeats.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { Choice } from '../parts/choice.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { NumberField } from '../parts/fields.tsx';
import { Badge, Empty, Failed, Loading } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { SettingsFrame } from './frame.tsx';

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
      {isMaking && <NewHeartbeat close={() => setMaking(false)} />}
    </SettingsFrame>
  );
}

export function whenOf({ cron, interval_seconds: seconds, timezone }: Heartbeat): string {
  return cron === undefined ? T.workflows.every(seconds ?? 0) : `${cron} (${timezone})`;
}

const KINDS = ['interval', 'cron'] as const;

function NewHeartbeat({ close }: { close: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<(typeof KINDS)[number]>('interval');
  const [seconds, setSeconds] = useState<number | null>(3600);
  const [cron, setCron] = useState('0 3 * * *');
  const [grace, setGrace] = useState<number | null>(300);
  const create = async (): Promise<void> => {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    await createHeartbeat({
      name: name.trim(),
      ...(kind === 'cron' ? { cron, timezone: zone } : { interval_seconds: seconds ?? 0 }),
      ...(grace === null ? {} : { grace_seconds: grace }),
    });
    await client.invalidateQueries({ queryKey: ['heartbeats'] });
  };
  return (
    <FormDialog title={words.create} submit={words.create} close={close} run={create} isReady={name.trim() !== ''}>
      <TextInput label={words.name} required value={name} onChange={(typed) => setName(typed.currentTarget.value)} />
      <div className="field">
        <span aria-hidden="true">{words.when}</span>
        <Choice
          label={words.when}
          options={KINDS}
          textOf={(one) => T.sources.timers[one]}
          value={kind}
          choose={(one) => setKind(one ?? 'interval')}
        />
      </div>
      {kind === 'cron' ? (
        <TextInput label={T.sources.cron} value={cron} onChange={(typed) => setCron(typed.currentTarget.value)} />
      ) : (
        <NumberField label={T.sources.seconds} min={1} value={seconds} set={setSeconds} />
      )}
      <NumberField label={words.grace} hint={words.graceHint} min={0} value={grace} set={setGrace} />
    </FormDialog>
  );
}
