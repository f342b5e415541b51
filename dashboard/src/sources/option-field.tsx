// A prop with options: offered, and other values are taken, too. Those that code has to look up are asked for when the field
// is reached.

import { TextInput } from '@mantine/core';
import { type ReactNode, useId, useRef, useState } from 'react';
import { readOptions } from '../api/sources.ts';
import { T } from '../english.ts';
import { Foreign, seen } from '../parts/text/foreign.tsx';
import { toastError } from '../parts/toast.tsx';
import { Fault, Hint, labelOf, meant, type PropFieldProps, textOf } from './prop.tsx';

interface Option {
  readonly label: string;
  readonly value: unknown;
}

function optionsIn(given: unknown): Option[] {
  if (!Array.isArray(given)) return [];
  return given.map((one: unknown) => {
    if (typeof one !== 'object' || one === null || !('value' in one)) return { label: String(one), value: one };
    const { label, value } = one as { label?: unknown; value: unknown };
    return { label: typeof label === 'string' ? label : String(value), value };
  });
}

interface Next {
  readonly query: string;
  readonly page: number;
  readonly context: unknown;
}

const FIRST: Next = { query: '', page: 0, context: null };

/** What a prop offers: of the component, or asked for page by page. */
function useOptions({ of, prop, values }: PropFieldProps) {
  const [options, setOptions] = useState(() => optionsIn(prop.options));
  const [isAsking, setAsking] = useState(false);
  /** Null: there are no more. */
  const [next, setNext] = useState<Next | null>(null);
  const begun = useRef<string | null>(null);
  const latest = useRef(0);
  const ask = async (from: Next): Promise<void> => {
    // Not twice for the same configuration; what is chosen here changes nothing of what is offered.
    const key = JSON.stringify([{ ...values, [prop.name]: null }, from.query]);
    if (prop.remoteOptions !== true || (from.page === 0 && begun.current === key)) return;
    begun.current = key;
    const turn = ++latest.current;
    setAsking(true);
    try {
      const { options: given, context } = await readOptions(of, values, { prop: prop.name, ...from });
      // Another one was asked for meanwhile.
      if (turn !== latest.current) return;
      const known = from.page === 0 ? [] : options;
      const isKnown = new Set(known.map(({ value }) => JSON.stringify(value)));
      const found = optionsIn(given).filter(({ value }) => !isKnown.has(JSON.stringify(value)));
      setOptions([...known, ...found]);
      // Code that knows no pages gives the same again.
      setNext(found.length === 0 ? null : { ...from, page: from.page + 1, context });
    } catch (error) {
      toastError(error);
      begun.current = null;
    }
    if (turn === latest.current) setAsking(false);
  };
  return { options, isAsking, ask, next };
}

/** More are not offered at once. */
const SHOWN = 500;

export function OptionField(props: PropFieldProps) {
  const { options, isAsking, ask, next } = useOptions(props);
  const { type = 'string', remoteOptions } = props.prop;
  const isRemote = remoteOptions === true;
  const more = isRemote && (isAsking || options.length === 0 || next !== null) && (
    <button type="button" className="link-button" disabled={isAsking} onClick={() => void ask(next ?? FIRST)}>
      {isAsking ? T.common.loading : options.length === 0 ? T.sources.loadOptions : T.sources.moreOptions}
    </button>
  );
  const Field = type.endsWith('[]') ? ManyField : OneField;
  return <Field {...props} options={options} ask={(query) => void ask({ ...FIRST, query })} more={more} />;
}

interface OptionsProps extends PropFieldProps {
  readonly options: readonly Option[];
  readonly ask: (query: string) => void;
  /** Asks for what is not offered yet. */
  readonly more: ReactNode;
}

/** Returns the value that a text stands for: that of the option which is so called, or the text itself. */
function meantBy(text: string, { options, prop }: OptionsProps): unknown {
  const option = options.find(({ label, value }) => String(value) === text || label === text);
  return option ? option.value : meant(text, prop.type);
}

function ManyField(props: OptionsProps) {
  const { prop, values, fault, set, options, ask, more } = props;
  const value = values[prop.name];
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const offered = [
    ...new Map([
      ...chosen.map((one) => [one, one] as const),
      ...options.map((one) => [String(one.value), one.label] as const),
    ]),
  ];
  return (
    <fieldset className="field is-group" onFocus={() => ask('')}>
      <legend>{labelOf(prop)}</legend>
      <Hint prop={prop} />
      {offered.slice(0, SHOWN).map(([one, label]) => (
        <label key={one} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={({ currentTarget: { checked } }) => {
              const then = checked ? [...chosen, one] : chosen.filter((other) => other !== one);
              set(then.length === 0 ? undefined : then.map((text) => meantBy(text, props)));
            }}
          />
          <span>
            <Foreign>{label}</Foreign>
          </span>
        </label>
      ))}
      {more}
      <Fault fault={fault} />
    </fieldset>
  );
}

function OneField(props: OptionsProps) {
  const { prop, values, fault, set, options, ask, more } = props;
  const list = useId();
  const value = values[prop.name] ?? '';
  const chosen = options.find((one) => JSON.stringify(one.value) === JSON.stringify(value));
  return (
    <div className="field-with-more">
      <TextInput
        label={labelOf(prop)}
        description={textOf(prop.description)}
        error={fault}
        list={list}
        autoComplete="off"
        value={typeof value === 'string' ? value : JSON.stringify(value)}
        placeholder={textOf(prop.default)}
        onFocus={() => ask('')}
        onChange={({ currentTarget: { value: text } }) => {
          set(text === '' ? undefined : meantBy(text, props));
          if (prop.useQuery === true) ask(text);
        }}
      />
      <datalist id={list}>
        {options.slice(0, SHOWN).map((option) => (
          <option key={String(option.value)} value={String(option.value)}>
            {seen(option.label)}
          </option>
        ))}
      </datalist>
      <div className="soft">
        {chosen && chosen.label !== String(chosen.value) && <Foreign>{chosen.label} </Foreign>}
        {more}
      </div>
    </div>
  );
}
