import { Button, Modal, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { NewWebhook } from '../../../src/client/client.ts';
import { createWebhook, webhooksQuery } from '../api/webhooks.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { Command } from '../parts/copy.tsx';
import { Listed } from '../parts/listed.tsx';
import { Badge, Empty } from '../parts/state.tsx';
import { toastError } from '../parts/toast.tsx';
import { SecretDialog } from './secret.tsx';

const SUBSCRIBE =
  'curl -X POST "$URL/v1/subscriptions?emitter_id=p_…&listener_id=wh_…" -H "Authorization: Bearer $KEY"';

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
          <Empty icon="webhooks" title={T.webhooks.none} text={T.webhooks.noneText}>
            <Command text={SUBSCRIBE} />
          </Empty>
        }
      />
      {isMaking && (
        <Create
          close={() => setMaking(false)}
          done={(webhook) => {
            setMaking(false);
            setMade(webhook);
          }}
        />
      )}
      {made?.secret && <SecretDialog secret={made.secret} text={T.webhooks.created} close={() => setMade(null)} />}
    </>
  );
}

function Create({ close, done }: { close: () => void; done: (webhook: NewWebhook) => void }) {
  const client = useQueryClient();
  const [url, setUrl] = useState('');
  const [name, setName] = useState('');
  const [isBusy, setBusy] = useState(false);
  const create = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      done(await createWebhook({ url, ...(name === '' ? {} : { name }) }));
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
    void client.invalidateQueries({ queryKey: ['webhooks'] });
  };
  return (
    <Modal opened onClose={close} title={T.webhooks.create} closeButtonProps={{ 'aria-label': T.help.close }}>
      <form className="stack-16" onSubmit={(event) => void create(event)}>
        <TextInput
          label={T.webhooks.url}
          type="url"
          required
          placeholder="https://example.com/hooks/errand"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <TextInput label={T.webhooks.name} value={name} onChange={(event) => setName(event.currentTarget.value)} />
        <Button type="submit" size="xs" loading={isBusy}>
          {T.webhooks.create}
        </Button>
      </form>
    </Modal>
  );
}
