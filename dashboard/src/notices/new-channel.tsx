import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Channel } from '../../../src/client/client.ts';
import { CHANNEL_KINDS, createChannel } from '../api/channels.ts';
import { meQuery, updateMe } from '../api/me.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { Choice } from '../parts/choice.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { CheckField } from '../parts/fields.tsx';
import { toast } from '../parts/toast.tsx';

type Kind = Channel['kind'];

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
      {kind === 'http' && (
        <label className="field">
          <span>{T.channels.template}</span>
          <textarea
            className="editor-text is-short"
            placeholder={T.channels.templateExample}
            spellCheck={false}
            value={template}
            onChange={(event) => setTemplate(event.currentTarget.value)}
          />
        </label>
      )}
      {mayAccount && <CheckField label={T.channels.hear} value={isTold} set={setTold} />}
    </FormDialog>
  );
}
