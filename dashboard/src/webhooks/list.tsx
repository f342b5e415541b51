import { Button, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { NewWebhook } from '../../../src/client/client.ts';
import { createWebhook, webhooksQuery } from '../api/webhooks.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Listed } from '../parts/listed.tsx';
import { Badge, Empty } from '../parts/state.tsx';
import { SecretDialog } from './secret.tsx';

export function WebhookList() {
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<NewWebhook | null>(null);
  const canWrite = useMay('write');
  return (
    <>
      <div className="page-head">
        <h1>{T.webhooks.title}</h1>
        <span className="grow" />
        {canWrite && (
          <Button size="xs" onClick={() => setMaking(true)}>
            {T.webhooks.create}
          </Button>
        )}
      </div>
      <Listed
        isPage
        title={T.webhooks.title}
        of={useInfiniteQuery(webhooksQuery)}
        row={({ id, name, url, active, health }) => (
          <li key={id} className="group-link">
            <div className="grow">
              <Link to="/webhooks/$webhookId" params={{ webhookId: id }}>
                <bdi>{name || url}</bdi>
              </Link>
              <div className="soft cut">{url}</div>
            </div>
            <Badge state={active ? health.status : 'paused'} text={active ? undefined : T.webhooks.paused} />
          </li>
        )}
        empty={
          <Empty icon="webhooks" title={T.webhooks.none} text={T.webhooks.noneText} command={T.webhooks.command} />
        }
      />
      {isMaking && <Create close={() => setMaking(false)} done={setMade} />}
      {made?.secret && <SecretDialog secret={made.secret} text={T.webhooks.created} close={() => setMade(null)} />}
    </>
  );
}

function Create({ close, done }: { close: () => void; done: (webhook: NewWebhook) => void }) {
  const client = useQueryClient();
  const [url, setUrl] = useState('');
  const [name, setName] = useState('');
  const create = async (): Promise<void> => {
    const webhook = await createWebhook({ url, ...(name === '' ? {} : { name }) });
    await client.invalidateQueries({ queryKey: ['webhooks'] });
    done(webhook);
  };
  return (
    <FormDialog title={T.webhooks.create} submit={T.webhooks.create} run={create} close={close} isReady={url !== ''}>
      <TextInput
        label={T.webhooks.url}
        type="url"
        required
        placeholder={T.webhooks.urlExample}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <TextInput label={T.webhooks.name} value={name} onChange={(event) => setName(event.currentTarget.value)} />
    </FormDialog>
  );
}
