import { type Named, useNames } from '../../api/names.ts';
import { Choice } from '../choice.tsx';

interface EmitterChoiceProps {
  readonly label: string;
  /** What stands for no choice. */
  readonly all: string;
  /** What can be chosen, by kind. */
  readonly named: readonly (readonly Named[])[];
  readonly value: string | undefined;
  readonly choose: (id: string | undefined) => void;
}

/** One of what has a name. One that the address names stands there, too, when it is deleted. */
export function EmitterChoice({ label, all, named, value, choose }: EmitterChoiceProps) {
  const names = useNames();
  const ids = named.flatMap((kind) => kind.map(({ id }) => id));
  const options = value === undefined || ids.includes(value) ? ids : [value, ...ids];
  return <Choice label={label} all={all} value={value} options={options} textOf={names} choose={choose} />;
}
