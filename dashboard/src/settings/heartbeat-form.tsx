import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Heartbeat } from '../../../src/client/client.ts';
import { changedOf } from '../api/changed.ts';
import { createHeartbeat, updateHeartbeat } from '../api/heartbeats.ts';
import { T } from '../english.ts';
import { Choice } from '../parts/choice.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { NumberField } from '../parts/fields.tsx';

const words = T.heartbeats;
const KINDS = ['interval', 'cron'] as const;

/** Makes a heartbeat, or changes one. */
export function HeartbeatForm({ of, close }: { of?: Heartbeat; close: () => void }) {
  const client = useQueryClient();
  const [before] = useState(of);
  const [name, setName] = useState(of?.name ?? '');
  const [kind, setKind] = useState<(typeof KINDS)[number]>(of?.cron === undefined ? 'interval' : 'cron');
  const [seconds, setSeconds] = useState<number | null>(of?.interval_seconds ?? 3600);
  const [cron, setCron] = useState(of?.cron ?? '0 3 * * *');
  const [zone, setZone] = useState(of?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [grace, setGrace] = useState<number | null>(of?.grace_seconds ?? 300);
  const title = of ? words.edit : words.create;
  const save = async (): Promise<void> => {
    const when = kind === 'cron' ? { cron, timezone: zone } : { interval_seconds: seconds ?? 0 };
    const others = { name: name.trim(), ...(grace === null ? {} : { grace_seconds: grace }) };
    if (before) {
      const isOther = Object.keys(changedOf(when, { ...before })).length > 0;
      await updateHeartbeat(before.id, { ...(isOther ? when : {}), ...changedOf(others, { ...before }) });
    } else await createHeartbeat({ ...when, ...others });
    if (of) await client.invalidateQueries({ queryKey: ['heartbeat', of.id] });
    await client.invalidateQueries({ queryKey: ['heartbeats'] });
  };
  return (
    <FormDialog
      title={title}
      submit={of ? T.sources.save : title}
      close={close}
      run={save}
      isReady={name.trim() !== ''}
    >
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
        <>
          <TextInput label={T.sources.cron} value={cron} onChange={(typed) => setCron(typed.currentTarget.value)} />
          <TextInput label={words.zone} value={zone} onChange={(typed) => setZone(typed.currentTarget.value)} />
        </>
      ) : (
        <NumberField label={T.sources.seconds} min={1} value={seconds} set={setSeconds} />
      )}
      <NumberField label={words.grace} hint={words.graceHint} min={0} value={grace} set={setGrace} />
    </FormDialog>
  );
}
