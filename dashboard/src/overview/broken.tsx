import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { sessionQuery } from '../api/session.ts';
import { webhooksQuery } from '../api/webhooks.ts';
import { workflowQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { useChannelNotices } from '../notices/failing.ts';
import { type Asked, Badge } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago, inLocalTime } from '../parts/time.tsx';
import { type DisabledBy, useDisabled } from '../webhooks/disabled.ts';

export const SHOWN = 6;

interface Broken {
  readonly rows: readonly ReactNode[];
  readonly asked: readonly Asked[];
}

/** Rows of webhooks that fail, or that the server has disabled. */
export function useBrokenWebhooks(): Broken {
  const asked = useInfiniteQuery(webhooksQuery);
  const webhooks = asked.data?.pages[0]?.data ?? [];
  const { groupOf, asked: why } = useDisabled(webhooks);
  const broken = webhooks.filter((one) => one.health.status === 'failing' || groupOf(one) !== undefined);
  const rows = broken.slice(0, SHOWN).map((webhook) => {
    const { id, name, url, health } = webhook;
    const disabledBy = groupOf(webhook);
    return (
      <li key={id}>
        <div className="grow cut">
          <Link to="/webhooks/$webhookId" params={{ webhookId: id }}>
            <Foreign>{name || url}</Foreign>
          </Link>
          {health.failing_since_ms !== null && (
            <div className="soft">
              {T.webhooks.failing} <Ago ms={health.failing_since_ms} />
            </div>
          )}
          {disabledBy && (
            <div className="soft">
              {T.webhooks.disabledBy[disabledBy.fingerprint.code as DisabledBy]} <Ago ms={disabledBy.last_seen_ms} />
            </div>
          )}
        </div>
        <Badge state={health.status} />
      </li>
    );
  });
  return { rows, asked: [asked, ...why] };
}

/** Rows of channels whose newest notice failed. `working`: those that get their notices. */
export function useBrokenChannels(): Broken & { readonly working: readonly string[] } {
  const { failing, working, asked } = useChannelNotices();
  const rows = failing.slice(0, SHOWN).map(({ channel: { id, name }, notice: { why } }) => (
    <li key={id}>
      <div className="grow cut">
        <Link to="/notices" search={{ channel: id }}>
          <Foreign>{name}</Foreign>
        </Link>
        <div className="soft cut">{why ? inLocalTime(why) : T.channels.failing}</div>
      </div>
      <Badge state="failing" />
    </li>
  ));
  return { rows, working, asked: [asked] };
}

/** A row for a global error workflow that is switched off: nothing mails errors. */
export function useGlobalOff(): Broken {
  const id = useQuery(sessionQuery).data?.owner.global_error_workflow_id;
  const asked = useQuery({ ...workflowQuery(id ?? ''), enabled: Boolean(id) });
  if (!id) return { rows: [], asked: [] };
  const row = (
    <li key={id}>
      <div className="grow cut">
        <Link to="/workflows/$workflowId" params={{ workflowId: id }}>
          <Foreign>{asked.data?.name ?? ''}</Foreign>
        </Link>
        <div className="soft">{T.overview.globalOff}</div>
      </div>
      <Badge state="disabled" text={T.workflows.inactive} />
    </li>
  );
  return { rows: asked.data?.active === false ? [row] : [], asked: [asked] };
}
