import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Named, useNamed } from '../api/names.ts';
import { createSubscription } from '../api/subscriptions.ts';
import { T } from '../english.ts';
import { Choice } from '../parts/choice.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { seen } from '../parts/text/foreign.tsx';
import { toast } from '../parts/toast.tsx';

const words = T.subscriptions;
const WHICH = ['default', 'errors', 'every', 'named'] as const;

/** The two that are linked, when they are known before. */
export interface Ends {
  readonly emitter: string;
  readonly listener: string;
}

export function Subscribe({ ends, close }: { ends: Ends | null; close: () => void }) {
  const client = useQueryClient();
  const { workflows, sources, webhooks, heartbeats } = useNamed();
  const [emitter, setEmitter] = useState(ends?.emitter ?? '');
  const [listener, setListener] = useState(ends?.listener ?? '');
  const [which, setWhich] = useState<(typeof WHICH)[number]>('default');
  const [name, setName] = useState('');
  const event = { default: '', errors: '$errors', every: '*', named: name.trim() }[which];
  const isReady = emitter !== '' && listener !== '' && (which !== 'named' || event !== '');
  const create = async (): Promise<void> => {
    await createSubscription({
      emitter_id: emitter,
      listener_id: listener,
      ...(event === '' ? {} : { event_name: event }),
    });
    await client.invalidateQueries({ queryKey: ['subscriptions'] });
    toast(words.created);
  };
  const wildcards: Named[] = Object.entries(words.wildcards).map(([id, text]) => ({ id, name: text }));
  return (
    <FormDialog title={words.create} submit={words.create} close={close} run={create} isReady={isReady}>
      <Picker
        label={words.emitter}
        value={emitter}
        set={setEmitter}
        groups={[
          [T.nav.workflows, workflows],
          [T.nav.sources, sources],
          [T.nav.webhooks, webhooks],
          [T.nav.heartbeats, heartbeats],
          [words.all, wildcards],
        ]}
      />
      <div className="field">
        <span aria-hidden="true">{words.events}</span>
        <Choice
          label={words.events}
          options={WHICH}
          textOf={(one) => words.which[one]}
          value={which}
          choose={(one) => setWhich(one ?? 'default')}
        />
      </div>
      {which === 'named' && (
        <TextInput label={words.name} value={name} onChange={(typed) => setName(typed.currentTarget.value)} />
      )}
      <Picker
        label={words.listener}
        value={listener}
        set={setListener}
        groups={[
          [T.nav.workflows, workflows],
          [T.nav.webhooks, webhooks],
          [T.nav.sources, sources],
        ]}
      />
    </FormDialog>
  );
}

interface PickerProps {
  readonly label: string;
  readonly value: string;
  readonly groups: readonly (readonly [string, readonly Named[]])[];
  readonly set: (id: string) => void;
}

function Picker({ label, value, groups, set }: PickerProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select className="choice is-wide" value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
        <option value="">{words.pick}</option>
        {groups
          .filter(([, members]) => members.length > 0)
          .map(([group, members]) => (
            <optgroup key={group} label={group}>
              {members.map(({ id, name, url }) => (
                <option key={id} value={id}>
                  {seen(name ?? url ?? id)}
                </option>
              ))}
            </optgroup>
          ))}
      </select>
    </label>
  );
}
