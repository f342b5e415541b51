import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Delivery } from '../../../src/client/client.ts';
import { channelsQuery, noticesQuery } from '../api/channels.ts';
import { useNames } from '../api/names.ts';
import { DELIVERY_STATES, shownState } from '../api/states.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { Choice } from '../parts/choice.tsx';
import { Listed } from '../parts/listed.tsx';
import { Badge, Empty } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago, inLocalTime } from '../parts/time.tsx';
import { Channels } from './channels.tsx';

export function NoticesPage() {
  return (
    <>
      <div className="page-head">
        <Heading text={T.notices.title} />
      </div>
      <div className="stack-16">
        <Channels />
        <Sent />
      </div>
    </>
  );
}

/** What was sent, or waits to be. */
function Sent() {
  const { channel, state } = useSearch({ from: '/shell/notices' });
  const navigate = useNavigate({ from: '/notices' });
  const channels = useQuery(channelsQuery).data ?? [];
  const put = (change: { channel?: string | undefined; state?: Delivery['state'] | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const names = useNames();
  return (
    <Listed
      title={T.notices.sent}
      of={useInfiniteQuery(noticesQuery(channel, state))}
      head={
        <>
          <span className="grow" />
          <div className="buttons">
            <Choice
              label={T.notices.to}
              all={T.notices.mails}
              options={[...new Set([...channels.map(({ id }) => id), ...(channel === undefined ? [] : [channel])])]}
              textOf={names}
              value={channel}
              choose={(one) => put({ channel: one })}
            />
            <Choice
              label={T.notices.state}
              all={T.notices.all}
              options={DELIVERY_STATES}
              textOf={(one) => T.states[one] ?? one}
              value={state}
              choose={(one) => put({ state: one })}
            />
          </div>
        </>
      }
      row={(delivery) => <Row key={delivery.id} delivery={delivery} />}
      empty={<Empty icon="mail" title={T.notices.none} text={T.notices.noneText} command={T.notices.command} />}
    />
  );
}

function Row({ delivery }: { delivery: Delivery }) {
  const names = useNames();
  const { id, kind, emitter_id: emitterId, subject, state, why, attempts_made: made } = delivery;
  const what = (
    <>
      {kind === 'mail' ? T.notices.mail : T.notices.notice}{' '}
      {/^(p|dc|wh|hb)_/.test(emitterId) && <Foreign>{T.notices.of(names(emitterId))}</Foreign>}
    </>
  );
  return (
    <li className="group-link">
      <div className="grow">
        <Link to="/deliveries/$deliveryId" params={{ deliveryId: id }}>
          {subject ? <Foreign>{subject}</Foreign> : what}
        </Link>
        {subject && <div className="soft cut">{what}</div>}
        {why && <div className="soft cut">{inLocalTime(why)}</div>}
      </div>
      <span className="soft nowrap only-wide">{T.webhooks.attempts(made)}</span>
      <Badge state={shownState(state, why)} />
      <span className="soft">
        <Ago ms={delivery.created_at_ms} />
      </span>
    </li>
  );
}
