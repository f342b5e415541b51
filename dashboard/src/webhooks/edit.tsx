import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Webhook } from '../../../src/client/client.ts';
import { changedOf } from '../api/changed.ts';
import { updateWebhook } from '../api/webhooks.ts';
import { T } from '../english.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { toast } from '../parts/toast.tsx';

const words = T.webhooks;

/** Changes what a webhook is called and where it is; its other settings stay. */
export function EditWebhook({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const [before] = useState(webhook);
  const { id } = before;
  const client = useQueryClient();
  const [url, setUrl] = useState(webhook.url);
  const [name, setName] = useState(webhook.name ?? '');
  const [description, setDescription] = useState(webhook.description ?? '');
  const save = async (): Promise<void> => {
    const given = (text: string): string | null => (text.trim() === '' ? null : text.trim());
    const values = { url: url.trim(), name: given(name), description: given(description) };
    await updateWebhook(id, changedOf(values, { ...before }));
    for (const queryKey of [['webhook', id], ['webhooks']]) void client.invalidateQueries({ queryKey });
    toast(words.saved);
  };
  return (
    <FormDialog title={words.edit} submit={T.sources.save} close={close} run={save} isReady={url.trim() !== ''}>
      <TextInput
        label={words.url}
        type="url"
        required
        value={url}
        onChange={(typed) => setUrl(typed.currentTarget.value)}
      />
      <TextInput label={words.name} value={name} onChange={(typed) => setName(typed.currentTarget.value)} />
      <TextInput
        label={words.description}
        value={description}
        onChange={(typed) => setDescription(typed.currentTarget.value)}
      />
    </FormDialog>
  );
}
