import { TextInput } from '@mantine/core';
import { T } from '../english.ts';
import { Choice } from '../parts/choice.tsx';
import { NumberField } from '../parts/fields.tsx';
import { Fault, Hint, labelOf, type PropFieldProps } from './prop.tsx';

interface Timer {
  readonly intervalSeconds?: number;
  readonly cron?: string;
}

const KINDS = ['interval', 'cron'] as const;

export function TimerField({ prop, values, fault, set }: PropFieldProps) {
  const timer = (values[prop.name] ?? prop.default ?? { intervalSeconds: 900 }) as Timer;
  const kind = timer.cron === undefined ? 'interval' : 'cron';
  return (
    <fieldset className="field is-group">
      <legend>{labelOf(prop)}</legend>
      <Hint prop={prop} />
      <Choice
        label={T.sources.timer}
        options={KINDS}
        textOf={(one) => T.sources.timers[one]}
        value={kind}
        choose={(one) => set(one === 'cron' ? { cron: '0 9 * * 1-5' } : { intervalSeconds: 900 })}
      />
      {kind === 'cron' ? (
        <TextInput
          label={T.sources.cron}
          value={timer.cron ?? ''}
          onChange={(event) => set({ cron: event.currentTarget.value })}
        />
      ) : (
        <NumberField
          label={T.sources.seconds}
          min={1}
          value={timer.intervalSeconds ?? null}
          set={(value) => set(value === null ? undefined : { intervalSeconds: value })}
        />
      )}
      <Fault fault={fault} />
    </fieldset>
  );
}
