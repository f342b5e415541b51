import { Link } from '@tanstack/react-router';
import type { Delivery } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import { shownState } from '../api/states.ts';
import { T } from '../english.ts';
import { Badge } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago, inLocalTime } from '../parts/time.tsx';

interface DeliveryRowProps {
  readonly delivery: Delivery;
  /** In a list of several receivers. */
  readonly hasReceiver?: boolean;
}

/** A delivery by what it tells of, and why it is due. */
export function DeliveryRow({ delivery, hasReceiver = false }: DeliveryRowProps) {
  const names = useNames();
  const { id, kind, webhook_id: webhookId, channel_id: channelId, origin, state, why } = delivery;
  const receiver = webhookId ?? channelId;
  return (
    <li className="group-link">
      <Badge state={shownState(state, why)} />
      <div className="grow">
        <Link to="/deliveries/$deliveryId" params={{ deliveryId: id }}>
          <Foreign>{delivery.subject || names(delivery.emitter_id)}</Foreign>{' '}
          {kind === 'webhook' && delivery.event_name !== '' && <code className="soft">{delivery.event_name}</code>}
        </Link>
        {hasReceiver && (
          <div className="soft cut">
            {T.webhooks.kinds[kind]}{' '}
            <Foreign>{receiver === null || receiver === undefined ? (origin ?? '') : names(receiver)}</Foreign>
          </div>
        )}
        <div className="soft cut">{why && inLocalTime(why)}</div>
      </div>
      <span className="soft nowrap only-wide">{T.webhooks.attempts(delivery.attempts_made)}</span>
      <span className="soft">
        <Ago ms={delivery.created_at_ms} />
      </span>
    </li>
  );
}
