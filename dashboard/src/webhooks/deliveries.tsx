import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useNamed, useNames } from '../api/names.ts';
import { DELIVERY_STATES } from '../api/states.ts';
import { allDeliveriesQuery } from '../api/webhooks.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { BackTo } from '../parts/back.tsx';
import { Choice } from '../parts/choice.tsx';
import { NoMatch } from '../parts/filters/no-match.tsx';
import { Listed } from '../parts/listed.tsx';
import { Empty } from '../parts/state.tsx';
import { DeliveryRow } from './delivery-row.tsx';
import { type DeliverySearch, isKind, KINDS } from './search.ts';

/** What goes to all webhooks, mail addresses and channels, and requests of code, newest first. */
export function DeliveryList() {
  const search = useSearch({ from: '/shell/deliveries' });
  const { to, state } = search;
  const navigate = useNavigate({ from: '/deliveries' });
  const names = useNames();
  const { webhooks, channels } = useNamed();
  const put = (change: { readonly [Name in keyof DeliverySearch]?: DeliverySearch[Name] | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...change }) as DeliverySearch, replace: true });
  const receivers = [...KINDS, ...webhooks.map(({ id }) => id), ...channels.map(({ id }) => id)];
  return (
    <>
      <BackTo list="/webhooks">{T.webhooks.title}</BackTo>
      <div className="page-head">
        <Heading text={T.webhooks.deliveries} />
      </div>
      <search className="filters">
        <Choice
          label={T.webhooks.to}
          all={T.webhooks.toAll}
          options={to === undefined || receivers.includes(to) ? receivers : [to, ...receivers]}
          textOf={(one) => (isKind(one) ? T.webhooks.allOf[one] : names(one))}
          value={to}
          choose={(one) => put({ to: one })}
        />
        <Choice
          label={T.webhooks.state}
          all={T.webhooks.allStates}
          options={DELIVERY_STATES}
          textOf={(one) => T.states[one] ?? one}
          value={state}
          choose={(one) => put({ state: one })}
        />
      </search>
      <Listed
        isPage
        title={T.webhooks.deliveries}
        of={useInfiniteQuery(allDeliveriesQuery(search))}
        row={(delivery) => <DeliveryRow key={delivery.id} delivery={delivery} hasReceiver />}
        empty={<NoDeliveries isFiltered={Object.keys(search).length > 0} />}
      />
    </>
  );
}

function NoDeliveries({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered)
    return (
      <Empty icon="mail" title={T.webhooks.noDeliveries} text={T.webhooks.noneText} command={T.webhooks.command} />
    );
  return <NoMatch title={T.webhooks.noneMatch} list="/deliveries" />;
}
