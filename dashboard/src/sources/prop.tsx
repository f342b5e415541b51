import type { ComponentOf, Prop, Values } from '../api/sources.ts';
import { T } from '../english.ts';

export interface PropFieldProps {
  readonly of: ComponentOf;
  readonly prop: Prop;
  readonly values: Values;
  readonly fault: string | undefined;
  readonly set: (value: unknown) => void;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Returns a text as a value of a prop's type: a list of whole numbers is typed as text, too. */
export function meant(text: string, type: string | undefined): unknown {
  return type?.startsWith('integer') && /^-?\d+$/.test(text) ? Number(text) : text;
}

export function labelOf({ name, label, optional, default: first }: Prop): string {
  const said = textOf(label) || name;
  return optional === true || first !== undefined ? T.sources.optional(said) : said;
}

/** What the component says of a prop. */
export function Hint({ prop }: { prop: Prop }) {
  const said = textOf(prop.description);
  return said === '' ? null : <span className="check-hint">{said}</span>;
}

export function Fault({ fault }: { fault: string | undefined }) {
  return fault === undefined ? null : (
    <span className="bad" role="alert">
      {fault}
    </span>
  );
}
