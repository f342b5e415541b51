import { TextInput } from '@mantine/core';
import { seen } from './text/foreign.tsx';

interface NumberFieldProps {
  readonly label: string;
  readonly hint?: string;
  /** Why the value was refused. */
  readonly error?: string | undefined;
  /** What holds while nothing is typed. */
  readonly placeholder?: string;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly step?: number | 'any';
  readonly value: number | null;
  readonly set: (value: number | null) => void;
}

/** Null while nothing is typed. */
export function NumberField({ label, hint, min, max, step = 1, value, set, ...more }: NumberFieldProps) {
  return (
    <TextInput
      type="number"
      label={label}
      description={hint}
      min={min}
      max={max}
      step={step}
      {...more}
      value={value ?? ''}
      onChange={({ currentTarget }) => set(currentTarget.value === '' ? null : currentTarget.valueAsNumber)}
    />
  );
}

interface CheckFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: boolean;
  readonly set: (value: boolean) => void;
}

export function CheckField({ label, hint, value, set }: CheckFieldProps) {
  return (
    <label className="check">
      <input type="checkbox" checked={value} onChange={({ currentTarget }) => set(currentTarget.checked)} />
      <span>
        {seen(label)}
        {hint && <span className="check-hint">{hint}</span>}
      </span>
    </label>
  );
}
