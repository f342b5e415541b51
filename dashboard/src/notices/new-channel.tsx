import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Channel } from '../../../src/client/client.ts';
import { changedOf } from '../api/changed.ts';
import { CHANNEL_KINDS, createChannel, updateChannel } from '../api/channels.ts';
import { meQuery, updateMe } from '../api/me.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { Choice } from '../parts/choice.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { CheckField } from '../parts/fields.tsx';
import { toast } from '../parts/toast.tsx';

type Kind = Channel['kind'];

/** What a change leaves out stays as it is; addresses and keys are never shown, so an empty field is left out. */
export function EditChannel({ channel, close }: { channel: Channel; close: () => void }) {
  const { id, kind, config } = channel;
  const client = useQueryClient();
  const [before] = useState({ name: channel.name });
  const [name, setName] = useState(channel.name);
  const field = mainField(kind);
  const isSecret = field !== 'to';
  const [value, setValue] = useState(config.to ?? '');
  const [template, setTemplate] = useState(config.template ?? '');
  const save = async (): Promise<void> => {
    const changed = {
      ...(value.trim() === '' ? {} : { [field]: value.trim() }),
      ...(kind === 'http' && template !== (config.template ?? '')
        ? { template: template === '' ? null : template }
        : {}),
    };
    await updateChannel(id, {
      ...changedOf({ name }, before),
      ...(Object.keys(changed).length === 0 ? {} : { config: changed }),
    });
    await client.invalidateQueries({ queryKey: ['channels'] });
    toast(T.channels.saved);
  };
  return (
    <FormDialog title={T.channels.edit} submit={T.sources.save} close={close} run={save} isReady={name.trim() !== ''}>
      <TextInput
        label={T.channels.name}
        required
        value={name}
        onChange={(typed) => setName(typed.currentTarget.value)}
      />
      <TextInput
        label={T.channels.fields[field]}
        description={isSecret ? T.channels.secretHint : T.channels.hints[kind]}
        type={field === 'to' ? 'email' : field === 'url' ? 'url' : 'text'}
        required={!isSecret}
        autoComplete="off"
        value={value}
        onChange={(typed) => setValue(typed.currentTarget.value)}
      />
      {kind === 'http' && <Template value={template} set={setTemplate} />}
    </FormDialog>
  );
}

function Template({ value, set }: { value: string; set: (value: string) => void }) {
  return (
    <label className="field">
      <span>{T.channels.template}</span>
      <textarea
        className="editor-text is-short"
        placeholder={T.channels.templateExample}
        spellCheck={false}
        value={value}
        onChange={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
}

/** The one thing that a kind cannot do without. */
function mainField(kind: Kind): 'to' | 'key' | 'url' {
  return kind === 'mail' ? 'to' : kind === 'pagerduty' || kind === 'opsgenie' ? 'key' : 'url';
}

export function NewChannel({ close }: { close: () => void }) {
  const client = useQueryClient();
  const mayAccount = useMay('account');
  const [kind, setKind] = useState<Kind>('mail');
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const [template, setTemplate] = useState('');
  const [isTold, setTold] = useState(true);
  const field = mainField(kind);
  const create = async (): Promise<void> => {
    const config = { [field]: value.trim(), ...(kind === 'http' && template !== '' ? { template } : {}) };
    const { id } = await createChannel({ kind, config, ...(name === '' ? {} : { name }) });
    await client.invalidateQueries({ queryKey: ['channels'] });
    if (isTold && mayAccount) {
      const { channels } = await client.fetchQuery({ ...meQuery, staleTime: 0 });
      client.setQueryData(meQuery.queryKey, await updateMe({ channels: [...channels, id] }));
    }
    toast(T.channels.created);
  };
  return (
    <FormDialog title={T.channels.create} submit={T.channels.create} close={close} run={create}>
      <div className="field">
        <span aria-hidden="true">{T.channels.kind}</span>
        <Choice
          label={T.channels.kind}
          options={CHANNEL_KINDS}
          textOf={(one) => T.channels.kinds[one]}
          value={kind}
          choose={(one) => {
            setKind(one ?? 'mail');
            setValue('');
          }}
        />
      </div>
      <TextInput
        label={T.channels.fields[field]}
        description={T.channels.hints[kind]}
        type={field === 'to' ? 'email' : field === 'url' ? 'url' : 'text'}
        required
        autoComplete="off"
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
      <TextInput label={T.channels.name} value={name} onChange={(event) => setName(event.currentTarget.value)} />
      {kind === 'http' && <Template value={template} set={setTemplate} />}
      {mayAccount && <CheckField label={T.channels.hear} value={isTold} set={setTold} />}
    </FormDialog>
  );
}
