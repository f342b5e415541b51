import { Button, Modal, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { sessionQuery } from '../api/session.ts';
import { createWebhook, type Webhook, webhooksQuery } from '../api/webhooks.ts';
import { T } from '../english.ts';
import { Command } from '../parts/copy.tsx';
import { Badge, Empty, Failed, Loading } from '../parts/state.tsx';
import { toastError } from '../parts/toast.tsx';
import { SecretDialog } from './secret.tsx';

const SUBSCRIBE =
  'curl -X POST "$URL/v1/subscriptions?emitter_id=p_…&listener_id=wh_…" -H "Authorization: Bearer $KEY"';

export function WebhookList() {
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<Webhook | null>(null);
  const canWrite = useQuery(sessionQuery).data?.key.scopes.includes('write') ?? false;
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(webhooksQuery);
  const all = data?.pages.flatMap((page) => page.data) ?? [];
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
      <section className="card" aria-label={T.webhooks.title}>
        {isPending && <Loading />}
        {error && <Failed error={error} again={() => void refetch()} />}
        {data && all.length === 0 && (
          <Empty icon="webhooks" title={T.webhooks.none} text={T.webhooks.noneText}>
            <Command text={SUBSCRIBE} />
          </Empty>
        )}
        <ul className="rows">
          {all.map(({ id, name, url, active, health }) => (
            <li key={id} className="group-link">
              <div className="grow">
                <Link to="/webhooks/$webhookId" params={{ webhookId: id }}>
                  <bdi>{name || url}</bdi>
                </Link>
                <div className="soft cut">{url}</div>
              </div>
              <Badge state={active ? health.status : 'paused'} text={active ? undefined : T.webhooks.paused} />
            </li>
          ))}
        </ul>
        {hasNextPage && (
          <div className="card-body">
            <Button size="compact-sm" variant="default" onClick={() => void fetchNextPage()}>
              {T.errors.more}
            </Button>
          </div>
        )}
      </section>
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

function Create({ close, done }: { close: () => void; done: (webhook: Webhook) => void }) {
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
