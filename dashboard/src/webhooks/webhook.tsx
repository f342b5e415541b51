import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Delivery, Webhook } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import { sessionQuery } from '../api/session.ts';
import { deliveriesQuery, rotateSecret, setWebhookActive, testWebhook, webhookQuery } from '../api/webhooks.ts';
import { T } from '../english.ts';
import { ActButton } from '../parts/act-button.tsx';
import { useChoice } from '../parts/address.ts';
import { Choice } from '../parts/choice.tsx';
import { Listed } from '../parts/listed.tsx';
import { Badge, Empty, Unready } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { toast, toastError } from '../parts/toast.tsx';
import { Links } from '../workflows/links.tsx';
import { ResendMany } from './resend.tsx';
import { SecretDialog } from './secret.tsx';

const STATES = ['delivered', 'retrying', 'exhausted', 'pending', 'sending', 'held', 'cancelled'] as const;

export function WebhookPage() {
  const { webhookId } = useParams({ from: '/shell/webhooks/$webhookId' });
  const asked = useQuery(webhookQuery(webhookId));
  const { data: webhook } = asked;
  if (!webhook) return <Unready of={asked} isPage />;
  return <Whole webhook={webhook} />;
}

function Whole({ webhook }: { webhook: Webhook }) {
  const { id, name, url, active, health, description } = webhook;
  const canWrite = useQuery(sessionQuery).data?.key.scopes.includes('write') ?? false;
  return (
    <>
      <Link to="/webhooks" className="crumb">
        ‹ {T.webhooks.title}
      </Link>
      <div className="page-head">
        <div className="grow" style={{ minWidth: 0, flexBasis: 320 }}>
          <h1 className="fault-title">
            <bdi>{name || url}</bdi>{' '}
            <Badge state={active ? health.status : 'paused'} text={active ? undefined : T.webhooks.paused} />
          </h1>
          <p className="soft break">{url}</p>
          {description && (
            <p>
              <bdi>{description}</bdi>
            </p>
          )}
          {health.failing_since_ms !== null && (
            <p className="bad">
              {T.webhooks.failing} <Ago ms={health.failing_since_ms} />
            </p>
          )}
        </div>
        {canWrite && <Acts webhook={webhook} />}
      </div>
      <div className="columns">
        <div className="stack-16 beside">
          <Links id={id} />
        </div>
        <Deliveries id={id} />
      </div>
    </>
  );
}

function Acts({ webhook: { id, active } }: { webhook: Webhook }) {
  const client = useQueryClient();
  const [secret, setSecret] = useState<string | null>(null);
  const [isResending, setResending] = useState(false);
  const act = async (what: () => Promise<void>): Promise<void> => {
    try {
      await what();
    } catch (error) {
      toastError(error);
    }
    for (const key of [['webhook', id], ['webhooks']]) void client.invalidateQueries({ queryKey: key });
  };
  const test = (): Promise<void> =>
    act(async () => {
      const { delivered, attempt } = await testWebhook(id);
      toast(T.webhooks.tested(delivered, attempt.detail ?? ''), undefined, !delivered);
    });
  return (
    <div className="buttons">
      <ActButton size="xs" act={test}>
        {T.webhooks.test}
      </ActButton>
      <ActButton size="xs" variant="default" act={() => act(() => setWebhookActive(id, !active))}>
        {active ? T.webhooks.pause : T.webhooks.resume}
      </ActButton>
      <ActButton size="xs" variant="default" act={() => act(async () => setSecret((await rotateSecret(id)).secret))}>
        {T.webhooks.rotate}
      </ActButton>
      <Button size="xs" variant="default" onClick={() => setResending(true)}>
        {T.webhooks.resendMany}
      </Button>
      {isResending && <ResendMany webhookId={id} close={() => setResending(false)} />}
      {secret !== null && <SecretDialog secret={secret} text={T.webhooks.rotated} close={() => setSecret(null)} />}
    </div>
  );
}

function Deliveries({ id }: { id: string }) {
  const names = useNames();
  const [state, setState] = useChoice<Delivery['state']>('state', STATES);
  return (
    <Listed
      title={T.webhooks.deliveries}
      of={useInfiniteQuery(deliveriesQuery(id, state))}
      head={
        <>
          <span className="grow" />
          <Choice
            label={T.webhooks.deliveries}
            all={T.webhooks.all}
            options={STATES}
            textOf={(one) => T.states[one] ?? one}
            value={state}
            choose={setState}
          />
        </>
      }
      row={(delivery) => (
        <li key={delivery.id} className="group-link">
          <Badge state={delivery.state} />
          <div className="grow">
            <Link to="/deliveries/$deliveryId" params={{ deliveryId: delivery.id }}>
              <bdi>{names(delivery.emitter_id)}</bdi>{' '}
              {delivery.event_name !== '' && <code className="soft">{delivery.event_name}</code>}
            </Link>
            <div className="soft cut">{delivery.why}</div>
          </div>
          <span className="soft nowrap only-wide">{T.webhooks.attempts(delivery.attempts_made)}</span>
          <span className="soft">
            <Ago ms={delivery.created_at_ms} />
          </span>
        </li>
      )}
      empty={
        <Empty
          icon="mail"
          title={T.webhooks.noDeliveries}
          text={T.webhooks.noDeliveriesText}
          command={T.webhooks.subscribeIt(id)}
        />
      }
    />
  );
}
