import { Button, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { NewWebhook } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import { createSubscription } from '../api/subscriptions.ts';
import { createWebhook, webhooksQuery } from '../api/webhooks.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Listed } from '../parts/listed.tsx';
import { Badge, Empty } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { SecretDialog } from './secret.tsx';

export function WebhookList() {
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<NewWebhook | null>(null);
  const canWrite = useMay('write');
  const { hears } = useSearch({ from: '/shell/webhooks' });
  const navigate = useNavigate({ from: '/webhooks' });
  const close = (): void => {
    setMaking(false);
    void navigate({ search: {}, replace: true });
  };
  return (
    <>
      <div className="page-head">
        <Heading text={T.webhooks.title} />
        <span className="grow" />
        <Link to="/deliveries">{T.webhooks.allDeliveries}</Link>
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
                <Foreign>{name || url}</Foreign>
              </Link>
              <div className="soft cut">{url}</div>
            </div>
            <Badge state={active ? health.status : 'paused'} text={active ? undefined : T.webhooks.disabled} />
          </li>
        )}
        empty={
          <Empty icon="webhooks" title={T.webhooks.none} text={T.webhooks.noneText} command={T.webhooks.command} />
        }
      />
      {(isMaking || (hears !== undefined && canWrite)) && (
        <Create key={hears} hears={hears} close={close} done={setMade} />
      )}
      {made?.secret && <SecretDialog secret={made.secret} text={T.webhooks.created} close={() => setMade(null)} />}
    </>
  );
}

interface CreateProps {
  /** The workflow or source that it is to hear. */
  readonly hears: string | undefined;
  readonly close: () => void;
  readonly done: (webhook: NewWebhook) => void;
}

function Create({ hears, close, done }: CreateProps) {
  const client = useQueryClient();
  const [url, setUrl] = useState('');
  const names = useNames();
  const emitter = hears === undefined ? undefined : names(hears);
  const [typed, setName] = useState<string>();
  const name = typed ?? (emitter === undefined ? '' : T.webhooks.nameOf(emitter));
  const create = async (): Promise<void> => {
    const webhook = await createWebhook({ url, ...(name === '' ? {} : { name }) });
    // The secret is shown whatever follows: it is nowhere to be read again.
    done(webhook);
    await client.invalidateQueries({ queryKey: ['webhooks'] });
    if (hears === undefined) return;
    await createSubscription({ emitter_id: hears, listener_id: webhook.id });
    await client.invalidateQueries({ queryKey: ['subscriptions'] });
  };
  return (
    <FormDialog title={T.webhooks.create} submit={T.webhooks.create} run={create} close={close} isReady={url !== ''}>
      {emitter !== undefined && <p className="soft">{T.webhooks.hearsText(emitter)}</p>}
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
