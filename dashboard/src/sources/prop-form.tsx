// A form made from the props of a component: each by its type, asked for again when one changes on which others depend.

import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ProblemError } from '../../../src/client/client.ts';
import { type ComponentOf, type Prop, propsQuery, type Values } from '../api/sources.ts';
import { T } from '../english.ts';
import { Unready } from '../parts/state.tsx';
import { toast, toastError } from '../parts/toast.tsx';
import { PropField } from './prop-field.tsx';

interface PropFormProps {
  readonly of: ComponentOf;
  readonly first: Values;
  readonly submit: string;
  readonly send: (values: Values) => Promise<void>;
}

/** Props that no person is asked for. */
const SILENT: readonly unknown[] = ['$.service.db', 'dir'];

function isAsked({ type, hidden, disabled, static: fixed }: Prop): boolean {
  return hidden !== true && disabled !== true && (fixed === undefined || fixed === null) && !SILENT.includes(type);
}

/** The field of a prop that was refused. */
const IN_RED = '[aria-invalid="true"], .field:has([role="alert"]) :is(input, select, textarea)';

/** Not what a prop had that is gone since another one changed, nor the address that the server gave. */
function isSent(name: string): (prop: Prop) => boolean {
  return (prop) => prop.name === name && prop.type !== '$.interface.http';
}

export function PropForm({ of, first, submit, send }: PropFormProps) {
  const [values, setValues] = useState<Values>(first);
  /** The values that the props depend on, as they were when the props were asked for last. */
  const [asked, setAsked] = useState<Values>({});
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const form = useQuery(propsQuery(of, asked, values));
  const element = useRef<HTMLFormElement>(null);
  // The button that was pressed has lost the focus while it was busy.
  useEffect(() => {
    if (Object.keys(faults).length > 0) element.current?.querySelector<HTMLElement>(IN_RED)?.focus();
  }, [faults]);
  const { data, error, isFetching, refetch } = form;
  if (!data) return <Unready of={form} />;
  const { configurable_props: props, additional_props_error: thrown } = data;
  const set = (prop: Prop, value: unknown): void => {
    const { [prop.name]: _, ...others } = values;
    setValues(value === undefined ? others : { ...values, [prop.name]: value });
    if (prop.reloadProps === true) setAsked({ ...asked, [prop.name]: value });
  };
  const go = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFaults({});
    try {
      await send(Object.fromEntries(Object.entries(values).filter(([name]) => props.some(isSent(name)))));
    } catch (refused) {
      const parts = refused instanceof ProblemError ? refused.errors : [];
      const named = parts.map(({ parameter, message }) => {
        const name = parameter.replace(/^configured_props\./, '');
        return [name, values[name] === undefined ? T.sources.required : message] as const;
      });
      setFaults(Object.fromEntries(named));
      // What stands beside its field needs no second place, and no name of the interface.
      const isShown =
        named.length > 0 && named.every(([name]) => props.filter(isAsked).some((prop) => prop.name === name));
      if (isShown) toast(T.sources.lookAtFields, undefined, true);
      else toastError(refused);
    }
    setBusy(false);
  };
  return (
    <form ref={element} className="stack-16" onSubmit={(event) => void go(event)} aria-busy={isFetching} noValidate>
      {props.filter(isAsked).map((prop) => (
        <PropField
          key={prop.name}
          of={of}
          prop={prop}
          values={values}
          fault={faults[prop.name]}
          set={(value) => set(prop, value)}
        />
      ))}
      {error && <p className="bad">{error.message}</p>}
      {thrown && (
        <div>
          <p className="bad">{T.sources.notAllProps(thrown.message)}</p>
          <Button variant="default" size="xs" loading={isFetching} onClick={() => void refetch()}>
            {T.sources.loadProps}
          </Button>
        </div>
      )}
      <div>
        <Button type="submit" size="xs" loading={isBusy}>
          {submit}
        </Button>
      </div>
      {props.filter(isAsked).length === 0 && <p className="soft">{T.sources.noProps}</p>}
    </form>
  );
}
