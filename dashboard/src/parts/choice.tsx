import { seen } from './text/foreign.tsx';

interface ChoiceProps<V extends string> {
  readonly label: string;
  readonly value: V | undefined;
  readonly options: readonly V[];
  readonly textOf: (value: V) => string;
  /** What stands for no choice. */
  readonly all?: string;
  readonly choose: (value: V | undefined) => void;
}

/** One of a few, by the browser's own list. */
export function Choice<V extends string>({ label, value, options, textOf, all, choose }: ChoiceProps<V>) {
  return (
    <select
      className="choice"
      aria-label={label}
      value={value ?? ''}
      onChange={({ currentTarget }) => choose(options.find((one) => one === currentTarget.value))}
    >
      {all !== undefined && <option value="">{all}</option>}
      {options.map((one) => (
        <option key={one} value={one}>
          {seen(textOf(one))}
        </option>
      ))}
    </select>
  );
}
