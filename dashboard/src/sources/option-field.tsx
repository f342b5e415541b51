// A prop with options: offered, and other values are taken, too. Those that code has to look up are asked for when the field
// is reached.

import { TextInput } from '@mantine/core';
import { useId, useRef, useState } from 'react';
import { readOptions } from '../api/sources.ts';
import { T } from '../english.ts';
import { toastError } from '../parts/toast.tsx';
import { labelOf, type PropFieldProps } from './prop.tsx';

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

/** More are not offered at once. */
const SHOWN = 200;

export function OptionField({ of, prop, values, fault, set }: PropFieldProps) {
  const list = useId();
  const [options, setOptions] = useState(() => optionsIn(prop.options));
  const [isAsking, setAsking] = useState(false);
  const asked = useRef<string | null>(null);
  const { name, type = 'string', remoteOptions, useQuery: takesQuery } = prop;
  const isMany = type.endsWith('[]');
  const ask = async (query: string): Promise<void> => {
    // Not twice for the same configuration.
    const key = JSON.stringify([values, query]);
    if (remoteOptions !== true || asked.current === key) return;
    asked.current = key;
    setAsking(true);
    try {
      setOptions(optionsIn(await readOptions(of, values, { prop: name, query })));
    } catch (error) {
      toastError(error);
    }
    setAsking(false);
  };
  const meant = (text: string): unknown =>
    options.find(({ label, value }) => String(value) === text || label === text)?.value ??
    (type.startsWith('integer') && /^-?\d+$/.test(text) ? Number(text) : text);
  const value = values[name] ?? (isMany ? [] : '');
  if (isMany) {
    const chosen = Array.isArray(value) ? value.map(String) : [];
    const offered = [
      ...new Map([
        ...chosen.map((one) => [one, one] as const),
        ...options.map((one) => [String(one.value), one.label] as const),
      ]),
    ];
    return (
      <fieldset className="field is-group" onFocus={() => void ask('')}>
        <legend>{labelOf(prop)}</legend>
        {remoteOptions === true && (
          <button type="button" className="link-button" onClick={() => void ask('')}>
            {isAsking ? T.common.loading : T.sources.loadOptions}
          </button>
        )}
        {offered.slice(0, SHOWN).map(([one, label]) => (
          <label key={one} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(one)}
              onChange={({ currentTarget: { checked } }) => {
                const next = checked ? [...chosen, one] : chosen.filter((other) => other !== one);
                set(next.length === 0 ? undefined : next.map(meant));
              }}
            />
            <span>
              <bdi>{label}</bdi>
            </span>
          </label>
        ))}
        {fault && <span className="bad">{fault}</span>}
      </fieldset>
    );
  }
  return (
    <>
      <TextInput
        label={labelOf(prop)}
        description={isAsking ? T.common.loading : String(prop.description ?? '')}
        error={fault}
        list={list}
        autoComplete="off"
        value={typeof value === 'string' ? value : JSON.stringify(value)}
        placeholder={prop.default === undefined ? '' : String(prop.default)}
        onFocus={() => void ask('')}
        onChange={({ currentTarget: { value: text } }) => {
          set(text === '' ? undefined : meant(text));
          if (takesQuery === true) void ask(text);
        }}
      />
      <datalist id={list}>
        {options.slice(0, SHOWN).map((option) => (
          <option key={String(option.value)} value={String(option.value)}>
            {option.label}
          </option>
        ))}
      </datalist>
    </>
  );
}
