import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Trigger } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { Choice } from '../parts/choice.tsx';
import { NumberField } from '../parts/fields.tsx';

/** When a schedule fires, as it is typed. */
interface Times {
  readonly seconds: number | null;
  readonly cron: string;
  readonly timezone: string;
}

/** Returns the fields of a schedule, those of the trigger `of` or examples, and what changes them. */
export function useTimes(of?: Trigger): [Times, (change: Partial<Times>) => void] {
  const [times, setTimes] = useState<Times>({
    seconds: of?.interval_seconds ?? 900,
    cron: of?.cron ?? '0 9 * * 1-5',
    timezone: of?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
  return [times, (change) => setTimes({ ...times, ...change })];
}

/** Returns a schedule as the server takes it. */
export function scheduleOf(start: 'interval' | 'cron', { seconds, cron, timezone }: Times) {
  const type = 'schedule' as const;
  if (start === 'interval') return { type, interval_seconds: seconds ?? 0 };
  return { type, cron: cron.trim(), timezone: timezone.trim() };
}

interface TimesProps {
  readonly start: string;
  readonly times: Times;
  readonly put: (change: Partial<Times>) => void;
}

/** Nothing, for what is no schedule. */
export function TimesFields({ start, times: { seconds, cron, timezone }, put }: TimesProps) {
  if (start === 'interval') {
    return <NumberField label={T.sources.seconds} min={1} value={seconds} set={(value) => put({ seconds: value })} />;
  }
  if (start !== 'cron') return null;
  return (
    <>
      <TextInput label={T.sources.cron} value={cron} onChange={(typed) => put({ cron: typed.currentTarget.value })} />
      <TextInput
        label={T.heartbeats.zone}
        value={timezone}
        onChange={(typed) => put({ timezone: typed.currentTarget.value })}
      />
    </>
  );
}

interface StartProps<S extends keyof typeof T.newWorkflow.starts> {
  readonly starts: readonly S[];
  readonly value: S;
  readonly set: (start: S) => void;
}

/** Chooses what starts a workflow. */
export function StartChoice<S extends keyof typeof T.newWorkflow.starts>({ starts, value, set }: StartProps<S>) {
  return (
    <div className="field">
      <span aria-hidden="true">{T.newWorkflow.start}</span>
      <Choice
        label={T.newWorkflow.start}
        options={starts}
        textOf={(one) => T.newWorkflow.starts[one]}
        value={value}
        choose={(one) => one !== undefined && set(one)}
      />
    </div>
  );
}
