import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ErrorGroup, Webhook } from '../../../src/client/client.ts';
import { DELIVERY_STATES } from '../api/states.ts';
import { deliveriesQuery, webhookQuery } from '../api/webhooks.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { useChoice } from '../parts/address.ts';
import { BackTo } from '../parts/back.tsx';
import { Choice } from '../parts/choice.tsx';
import { Listed } from '../parts/listed.tsx';
import { Badge, Empty, Unready } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago } from '../parts/time.tsx';
import { Links } from '../workflows/links.tsx';
import { Acts } from './acts.tsx';
import { DeliveryRow } from './delivery-row.tsx';
import { type DisabledBy, useDisabled } from './disabled.ts';
import { WebhookFacts } from './facts.tsx';

export function WebhookPage() {
  const { webhookId } = useParams({ from: '/shell/webhooks/$webhookId' });
  const asked = useQuery(webhookQuery(webhookId));
  const { data: webhook } = asked;
  if (!webhook) return <Unready of={asked} isPage />;
  return <Whole webhook={webhook} />;
}

function Whole({ webhook }: { webhook: Webhook }) {
  const { id, name, url, active, health, description } = webhook;
  const mayWrite = useMay('write');
  const disabledBy = useDisabled([webhook]).groupOf(webhook);
  return (
    <>
      <BackTo list="/webhooks">{T.webhooks.title}</BackTo>
      <div className="page-head">
        <div className="grow" style={{ minWidth: 0, flexBasis: 320 }}>
          <Heading isRecord text={name || url}>
            <Foreign>{name || url}</Foreign>{' '}
            <Badge state={active ? health.status : 'paused'} text={active ? undefined : T.webhooks.disabled} />
          </Heading>
          <p className="soft break">
            {url} ·{' '}
            <Link to="/errors" search={{ emitter: id, state: 'all' }}>
              {T.workflows.errors}
            </Link>
          </p>
          {description && (
            <p>
              <Foreign>{description}</Foreign>
            </p>
          )}
          {health.failing_since_ms !== null && (
            <p className="bad">
              {T.webhooks.failing} <Ago ms={health.failing_since_ms} />
            </p>
          )}
          {disabledBy && <Disabled by={disabledBy} />}
        </div>
        {mayWrite && <Acts webhook={webhook} />}
      </div>
      <div className="columns">
        <div className="stack-16 beside">
          <WebhookFacts webhook={webhook} />
          <Links id={id} />
        </div>
        <Deliveries id={id} />
      </div>
    </>
  );
}

/** Why the server disabled it, and when. */
function Disabled({ by }: { by: ErrorGroup }) {
  return (
    <p>
      <Link to="/errors/$groupId" params={{ groupId: by.id }} className="bad">
        {T.webhooks.disabledBy[by.fingerprint.code as DisabledBy]}
      </Link>{' '}
      <Ago ms={by.last_seen_ms} />
    </p>
  );
}

function Deliveries({ id }: { id: string }) {
  const [state, setState] = useChoice('state', DELIVERY_STATES);
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
            options={DELIVERY_STATES}
            textOf={(one) => T.states[one] ?? one}
            value={state}
            choose={setState}
          />
        </>
      }
      row={(delivery) => <DeliveryRow key={delivery.id} delivery={delivery} />}
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
