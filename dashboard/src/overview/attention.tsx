import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import { newestMailQuery } from '../api/channels.ts';
import { groupsQuery } from '../api/errors.ts';
import { heartbeatsQuery } from '../api/heartbeats.ts';
import { ledgerQuery } from '../api/ledger.ts';
import { useNames } from '../api/names.ts';
import { sessionQuery } from '../api/session.ts';
import { shownState } from '../api/states.ts';
import { oldestQueuedQuery } from '../api/stats.ts';
import { T } from '../english.ts';
import { messageOf } from '../errors/fingerprint.ts';
import { Sparkline } from '../parts/hours.tsx';
import { type Asked, Badge, Empty, together, Unready } from '../parts/state.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago, useNow } from '../parts/time.tsx';
import { SHOWN, useBrokenChannels, useBrokenWebhooks, useGlobalOff } from './broken.tsx';

/** Less is the ordinary time until a run begins. */
const LAG_MS = 10_000;
const SILENT = 'Silent';
export const OPEN_GROUPS = groupsQuery({ state: 'open', sort: 'count' });
const SILENCES = groupsQuery({ state: 'open', code: SILENT, sort: 'last_seen' });

/** What needs a person now: open groups with the most errors, what is silent, what cannot be delivered, and what waits. */
export function Attention() {
  const names = useNames();
  const open = useInfiniteQuery(OPEN_GROUPS);
  const silent = useInfiniteQuery(SILENCES);
  const { data } = open;
  const { rows: others, asked } = useOthers();
  // Until all is known, nothing is said of any: what comes later would push down what is read, and "nothing" might be wrong.
  const all = together([open, silent, ...asked]);
  const wasKnown = useRef(false);
  wasKnown.current ||= !all.isPending && !all.error;
  const silences = silent.data?.pages[0]?.data ?? [];
  const groups = (data?.pages[0]?.data ?? [])
    .filter(({ id }) => silences.every((one) => one.id !== id))
    .slice(0, SHOWN);
  const isCalm = groups.length === 0 && silences.length === 0 && others.length === 0;
  return (
    <section className="card">
      <div className="card-head">
        <h2>{T.overview.attention}</h2>
        <span className="grow" />
        {data && <Link to="/errors">{T.overview.openGroups(data.pages[0]?.page_info.total_count ?? 0)}</Link>}
      </div>
      {wasKnown.current ? (
        isCalm && <Empty icon="check" title={T.overview.calm} text={T.errors.noneText} />
      ) : (
        <Unready of={all} rows={SHOWN} />
      )}
      <ul className="rows">
        {wasKnown.current && others}
        {(wasKnown.current ? [...silences.slice(0, SHOWN), ...groups] : []).map((group) => (
          <li key={group.id} className="group-link">
            <div className="grow">
              <div className="two-lines">
                <Link to="/errors/$groupId" params={{ groupId: group.id }}>
                  <Foreign>{group.rule ?? group.fingerprint.code}</Foreign>
                </Link>{' '}
                <span className="soft">
                  <Foreign>{names(group.emitter_id)}</Foreign>
                </span>
              </div>
              <div className="soft cut">
                <Foreign>{messageOf(group.fingerprint)}</Foreign>
              </div>
            </div>
            {group.fingerprint.code === SILENT && <Badge state="down" text={T.overview.silent} />}
            <span className="only-wide">
              <Sparkline hours={group.hours ?? []} label={T.errors.columns.trend} />
            </span>
            <strong className="tally">{group.count.toLocaleString()}</strong>
            <span className="soft seen only-wide">
              <Ago ms={group.last_seen_ms} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Others {
  readonly rows: ReactNode[];
  readonly asked: readonly Asked[];
}

/** Rows of what is no group of errors. */
function useOthers(): Others {
  const names = useNames();
  const now = useNow();
  const webhooks = useBrokenWebhooks();
  const channels = useBrokenChannels();
  const global = useGlobalOff();
  const heartbeats = useQuery(heartbeatsQuery);
  const ledger = useQuery(ledgerQuery);
  const mail = useQuery(newestMailQuery);
  const told = useQuery(sessionQuery).data?.owner.channels ?? [];
  // Mostly nothing waits, and then nothing is looked for.
  const isQueued = (ledger.data?.runs.queued ?? 0) > 0;
  const queued = useQuery({ ...oldestQueuedQuery, enabled: isQueued });
  const oldest = isQueued ? queued.data : null;
  const down = (heartbeats.data ?? []).filter(({ status, active }) => active && status === 'down');
  const lagMs = oldest ? now - oldest.created_at_ms : 0;
  const isTold = told.some((id) => channels.working.includes(id));
  const isKept = mail.data && !isTold && shownState(mail.data.state, mail.data.why) === 'kept';
  const rows = [
    ...(isKept
      ? [
          <li key="mails">
            <div className="grow">
              <Link to="/notices">{T.overview.mailsKept}</Link>
              <div className="soft">{mail.data?.why}</div>
            </div>
            <Badge state="kept" />
          </li>,
        ]
      : []),
    ...(oldest && lagMs > LAG_MS
      ? [
          <li key="lag">
            <div className="grow">
              <Link to="/runs/$runId" params={{ runId: oldest.id }}>
                {T.overview.lag(durationText(lagMs))}
              </Link>{' '}
              <span className="soft">
                <Foreign>{names(oldest.workflow_id ?? oldest.source_id ?? '')}</Foreign>
              </span>
            </div>
            <Badge state="queued" />
          </li>,
        ]
      : []),
    ...global.rows,
    ...webhooks.rows,
    ...channels.rows,
    ...down.slice(0, SHOWN).map(({ id, name, down_since_ms: sinceMs }) => (
      <li key={id}>
        <div className="grow cut">
          <Link to="/heartbeats/$heartbeatId" params={{ heartbeatId: id }}>
            <Foreign>{name}</Foreign>
          </Link>
          {sinceMs !== null && (
            <div className="soft">
              {T.heartbeats.down} <Ago ms={sinceMs} />
            </div>
          )}
        </div>
        <Badge state="down" text={T.heartbeats.states.down} />
      </li>
    )),
  ];
  return {
    rows,
    asked: [
      ...global.asked,
      ...webhooks.asked,
      ...channels.asked,
      heartbeats,
      ledger,
      mail,
      ...(isQueued ? [queued] : []),
    ],
  };
}
