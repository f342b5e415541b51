import { PasswordInput, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { accountsQuery, dataStoresQuery } from '../api/stores.ts';
import { T } from '../english.ts';
import { CheckField, NumberField } from '../parts/fields.tsx';
import { seen } from '../parts/text/foreign.tsx';
import { OptionField } from './option-field.tsx';
import { Fault, Hint, labelOf, meant, type PropFieldProps, textOf } from './prop.tsx';
import { TimerField } from './timer-field.tsx';

export function PropField(props: PropFieldProps) {
  const { prop, values, fault, set } = props;
  const { name, type = 'string', description, default: first } = prop;
  const value = values[name];
  const label = labelOf(prop);
  const hint = textOf(description);
  if (type === 'alert') return <p className="card card-body">{textOf(prop.content)}</p>;
  if (type === '$.interface.http') return <p className="soft">{T.sources.hasAddress}</p>;
  if (type === '$.interface.timer') return <TimerField {...props} />;
  if (type === 'app') return <AccountField {...props} />;
  if (type === 'data_store') return <StoreField {...props} />;
  if (type === 'boolean')
    return <CheckField label={label} hint={fault ?? hint} value={(value ?? first) === true} set={set} />;
  if (Array.isArray(prop.options) || prop.remoteOptions === true) return <OptionField {...props} />;
  if (type === 'integer') {
    const [min, max] = [prop.min, prop.max].map((bound) => (typeof bound === 'number' ? bound : undefined));
    const shown = typeof value === 'number' ? value : null;
    return (
      <NumberField
        label={label}
        hint={hint}
        error={fault}
        placeholder={textOf(first)}
        min={min}
        max={max}
        value={shown}
        set={(n) => set(n ?? undefined)}
      />
    );
  }
  if (type === 'string') {
    const given = {
      label,
      description: hint,
      error: fault,
      placeholder: textOf(first),
      value: textOf(value),
      onChange: (text: string) => set(text === '' ? undefined : text),
    };
    return <TextField isSecret={prop.secret === true} {...given} />;
  }
  if (type === 'string[]' || type === 'integer[]') return <LinesField {...props} />;
  return <JsonField {...props} />;
}

interface TextFieldProps {
  readonly isSecret: boolean;
  readonly label: string;
  readonly description: string;
  readonly error: string | undefined;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function TextField({ isSecret, onChange, ...given }: TextFieldProps) {
  const Field = isSecret ? PasswordInput : TextInput;
  return <Field {...given} autoComplete="off" onChange={(event) => onChange(event.currentTarget.value)} />;
}

function AccountField({ prop, values, fault, set }: PropFieldProps) {
  const accounts = useQuery(accountsQuery).data ?? [];
  const app = textOf(prop.app);
  const chosen = values[prop.name] as { authProvisionId?: string } | undefined;
  return (
    <label className="field">
      <span>{labelOf(prop)}</span>
      <Hint prop={prop} />
      <select
        className="choice is-wide"
        value={chosen?.authProvisionId ?? ''}
        onChange={({ currentTarget: { value } }) => set(value === '' ? undefined : { authProvisionId: value })}
      >
        <option value="">{T.sources.noAccount(app)}</option>
        {accounts
          .filter((account) => account.app === app)
          .map(({ id, name }) => (
            <option key={id} value={id}>
              {seen(name)}
            </option>
          ))}
      </select>
      <Fault fault={fault} />
      <Link to="/accounts">{T.sources.makeAccount}</Link>
    </label>
  );
}

function StoreField({ prop, values, fault, set }: PropFieldProps) {
  const stores = useQuery(dataStoresQuery).data ?? [];
  return (
    <label className="field">
      <span>{labelOf(prop)}</span>
      <Hint prop={prop} />
      <select
        className="choice is-wide"
        value={textOf(values[prop.name])}
        onChange={({ currentTarget: { value } }) => set(value === '' ? undefined : value)}
      >
        <option value="">{T.sources.noStore}</option>
        {stores.map(({ id, name }) => (
          <option key={id} value={id}>
            {seen(name)}
          </option>
        ))}
      </select>
      <Fault fault={fault} />
    </label>
  );
}

/** A list as lines. */
function LinesField({ prop, values, fault, set }: PropFieldProps) {
  const value = values[prop.name];
  const [text, setText] = useState(Array.isArray(value) ? value.map(textOf).join('\n') : '');
  return (
    <label className="field">
      <span>{labelOf(prop)}</span>
      <Hint prop={prop} />
      <span className="check-hint">{T.sources.lines}</span>
      <textarea
        className="editor-text is-short"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          const lines = event.currentTarget.value.split('\n').filter((line) => line.trim() !== '');
          set(lines.length === 0 ? undefined : lines.map((line) => meant(line.trim(), prop.type)));
        }}
      />
      <Fault fault={fault} />
    </label>
  );
}

/** What has no field of its own, as JSON. */
function JsonField({ prop, values, fault, set }: PropFieldProps) {
  const value = values[prop.name];
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  const [isWrong, setWrong] = useState(false);
  const change = (typed: string): void => {
    setText(typed);
    try {
      set(typed.trim() === '' ? undefined : (JSON.parse(typed) as unknown));
      setWrong(false);
    } catch {
      setWrong(true);
    }
  };
  return (
    <label className="field">
      <span>{labelOf(prop)}</span>
      <span className="check-hint">{textOf(prop.description) || T.sources.asJson}</span>
      <textarea
        className="editor-text is-short"
        spellCheck={false}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
      />
      <Fault fault={isWrong ? T.sources.notJson : fault} />
    </label>
  );
}
