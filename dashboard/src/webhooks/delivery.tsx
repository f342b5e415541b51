import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Attempt, DeliveryWhole } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import { RESENDABLE_STATES, shownState } from '../api/states.ts';
import { deliveryQuery, resendDelivery } from '../api/webhooks.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { written } from '../errors/event-text.ts';
import { useMay } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card } from '../parts/card.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { Scrollable } from '../parts/scrollable.tsx';
import { Badge, Unready } from '../parts/state.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Foreign, seen } from '../parts/text/foreign.tsx';
import { At, inLocalTime } from '../parts/time.tsx';
import { toast, toastError } from '../parts/toast.tsx';
import { DeliveryFacts } from './delivery-facts.tsx';
import { Exchange } from './exchange.tsx';
import { Mail } from './mail.tsx';
import { Timing } from './timing.tsx';

export function DeliveryPage() {
  const { deliveryId } = useParams({ from: '/shell/deliveries/$deliveryId' });
  const asked = useQuery(deliveryQuery(deliveryId));
  const { data: delivery } = asked;
  if (!delivery) return <Unready of={asked} isPage />;
  return <Whole delivery={delivery} />;
}

function Whole({ delivery }: { delivery: DeliveryWhole }) {
  const client = useQueryClient();
  const names = useNames();
  const mayWrite = useMay('write');
  const { id, webhook_id: webhookId, state, why, attempts, request } = delivery;
  const resend = async (): Promise<void> => {
    try {
      await resendDelivery(id);
      toast(T.webhooks.resent);
    } catch (error) {
      toastError(error);
    }
    void client.invalidateQueries({ queryKey: ['delivery', id] });
  };
  return (
    <>
      {delivery.mail && (
        <Link to="/notices" search={delivery.channel_id ? { channel: delivery.channel_id } : {}} className="crumb">
          ‹ {T.notices.title}
        </Link>
      )}
      {webhookId && (
        <Link to="/webhooks/$webhookId" params={{ webhookId }} className="crumb">
          ‹ <Foreign>{names(webhookId)}</Foreign>
        </Link>
      )}
      <div className="page-head">
        <div className="grow" style={{ minWidth: 0, flexBasis: 320 }}>
          <Heading isRecord text={delivery.mail?.subject ?? `${names(delivery.emitter_id)} ${delivery.event_name}`}>
            <Foreign>{delivery.mail?.subject ?? `${names(delivery.emitter_id)} ${delivery.event_name}`}</Foreign>{' '}
            <Badge state={shownState(state, why)} />
          </Heading>
          <p className="soft">{why && inLocalTime(why)}</p>
          {delivery.next_attempt_at_ms !== null && (
            <p className="soft">
              {T.webhooks.next}: <At ms={delivery.next_attempt_at_ms} />
            </p>
          )}
        </div>
        {mayWrite && RESENDABLE_STATES.some((one) => one === state) && (
          <ActButton size="xs" leftSection={<Icon name="replay" size={15} />} act={resend}>
            {T.webhooks.resend}
          </ActButton>
        )}
      </div>
      <div className="columns">
        <div className="stack-16">
          {delivery.mail && <Mail id={id} mail={delivery.mail} />}
          {attempts.length === 0 && <p className="soft">{T.webhooks.noAttempts}</p>}
          {attempts.toReversed().map((attempt) => (
            <AttemptCard key={attempt.n} attempt={attempt} />
          ))}
          {'event' in delivery && (
            <Card title={T.webhooks.sent} head={<CopyEvent event={delivery.event} />}>
              <JsonTree value={delivery.event} />
            </Card>
          )}
          {request && (
            <Card
              title={T.webhooks.request}
              head={
                <>
                  <code className="soft break">
                    {request.method} {request.url}
                  </code>
                  <span className="grow" />
                  <CopyButton text={bodyText(request.body)} />
                </>
              }
            >
              <Scrollable className="raw mono" label={T.webhooks.body}>
                {seen(bodyText(request.body))}
              </Scrollable>
            </Card>
          )}
        </div>
        <div className="beside">
          <DeliveryFacts delivery={delivery} />
        </div>
      </div>
    </>
  );
}

function CopyEvent({ event }: { event: unknown }) {
  return (
    <>
      <span className="grow" />
      <CopyButton text={written(event)} />
    </>
  );
}

/** A text as it is; bytes as the JSON that stands for them. */
function bodyText(body: unknown): string {
  return typeof body === 'string' ? body : body === undefined ? '' : written(body);
}

function AttemptCard({ attempt }: { attempt: Attempt }) {
  const { n, started_at_ms: startedAtMs, took_ms: tookMs, timing, outcome, status, detail } = attempt;
  const isGood = status !== null && status < 300;
  return (
    <Card
      title={T.webhooks.attempt(n)}
      head={
        <>
          <Badge state={isGood ? 'delivered' : 'failed'} text={status === null ? outcome : String(status)} />
          <span className="soft">
            <At ms={startedAtMs} />
          </span>
          <span className="grow" />
          <span className="soft">{durationText(tookMs)}</span>
        </>
      }
    >
      <div className="card-body">
        {timing && <Timing timing={timing} tookMs={tookMs} />}
        {detail && (
          <p className="soft">
            <Foreign>{detail}</Foreign>
          </p>
        )}
      </div>
      <Exchange attempt={attempt} />
    </Card>
  );
}
