import { Link } from '@tanstack/react-router';
import type { DeliveryWhole } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { Card, Fact } from '../parts/card.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { At } from '../parts/time.tsx';
import { NodeLink, useNodeNames } from '../subscriptions/node-link.tsx';

const words = T.webhooks.delivery;

/** What a delivery is of, and when it came. */
export function DeliveryFacts({ delivery }: { delivery: DeliveryWhole }) {
  const names = useNodeNames();
  const { id, emitter_id: emitterId, event_name: event, emission_id: emissionId, channel_id: channelId } = delivery;
  return (
    <Card title={words.title}>
      <dl className="facts card-body">
        <Fact name={words.emitter}>
          <NodeLink id={emitterId} name={names(emitterId)} />
        </Fact>
        {event !== '' && (
          <Fact name={words.event}>
            <code>
              <Foreign>{event}</Foreign>
            </code>
          </Fact>
        )}
        {channelId !== undefined && (
          <Fact name={words.channel}>
            <Link to="/notices" search={{ channel: channelId }}>
              <Foreign>{names(channelId)}</Foreign>
            </Link>
          </Fact>
        )}
        <Fact name={words.accepted}>
          <At ms={delivery.created_at_ms} />
        </Fact>
        {delivery.ended_at_ms !== null && (
          <Fact name={words.ended}>
            <At ms={delivery.ended_at_ms} />
          </Fact>
        )}
        <Fact name={words.attempts}>{delivery.attempts_made.toLocaleString()}</Fact>
        <Fact name={words.id}>
          <code>{id}</code>
        </Fact>
        <Fact name={words.emission}>
          <code>{emissionId}</code>
        </Fact>
      </dl>
    </Card>
  );
}
