import { Button, Menu } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { type ErrorGroupWhole, ProblemError } from '../../../src/client/client.ts';
import { groupErrorsQuery, groupQuery } from '../api/errors.ts';
import { useNames } from '../api/names.ts';
import { Heading } from '../app/heading.tsx';
import { useKeys } from '../app/keys.ts';
import { later } from '../app/later.tsx';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card } from '../parts/card.tsx';
import { HourChart } from '../parts/hours.tsx';
import { Icon } from '../parts/icon.tsx';
import { Listed } from '../parts/listed.tsx';
import { Badge, Empty, Loading, Unready } from '../parts/state.tsx';
import { Foreign, Said } from '../parts/text/foreign.tsx';
import { Ago, At } from '../parts/time.tsx';
import { NodeLink } from '../subscriptions/node-link.tsx';
import { type GroupActs, isReplayable, useGroupActs } from './acts.ts';
import { Ends, hasEnd } from './ends.tsx';
import { Message } from './message.tsx';
import { MuteItems } from './mute-items.tsx';
import { Note } from './note.tsx';
import { type Neighbours, neighboursOf, rememberOpened } from './place.ts';
import { BackToErrors, Receipts } from './receipts.tsx';

/** What it says is asked for, and comes later anyway. */
const WhatDiffers = later(async () => (await import('./differences.tsx')).WhatDiffers, DiffersPlace);
/** It comes when it is first asked for. */
const ReplayNewest = later(async () => (await import('./replay-newest.tsx')).ReplayNewest);

function DiffersPlace() {
  return (
    <Card title={T.differences.title}>
      <Loading />
    </Card>
  );
}

export function GroupPage() {
  const { groupId } = useParams({ from: '/shell/errors/$groupId' });
  // Its state changes also without an error: a replay that was just looked at may have resolved it.
  const asked = useQuery({ ...groupQuery(groupId), staleTime: 0 });
  const { data: group, error } = asked;
  if (!group) {
    const isGone = error instanceof ProblemError && (error.status === 404 || error.status === 400);
    if (!isGone) return <Unready of={asked} isPage />;
    return (
      <Empty isPage icon="search" title={T.group.notFound} text={T.group.notFoundText}>
        <div className="actions">
          <BackToErrors />
        </div>
      </Empty>
    );
  }
  return <Whole group={group} />;
}

function Whole({ group }: { group: ErrorGroupWhole }) {
  const acts = useGroupActs();
  const mayWrite = useMay('write');
  const navigate = useNavigate();
  const names = useNames();
  const [isReplaying, setReplaying] = useState(false);
  const { fingerprint, state } = group;
  const params = { groupId: group.id, errorId: group.last_error_id };
  const beside = neighboursOf(group.id);
  const goTo = (groupId: string | undefined): void => {
    if (groupId !== undefined) void navigate({ to: '/errors/$groupId', params: { groupId } });
  };
  useEffect(() => rememberOpened(group.id), [group.id]);
  useKeys({
    e: () => void acts.toggle(group),
    m: () => void acts.mute(group),
    r: () => acts.mayReplay(group) && setReplaying(true),
    Enter: () => void navigate({ to: '/errors/$groupId/$errorId', params }),
    j: () => goTo(beside?.after),
    k: () => goTo(beside?.before),
  });
  const message = group.samples[0]?.error.msg ?? fingerprint.template;
  return (
    <>
      {isReplaying && <ReplayNewest group={group} acts={acts} close={() => setReplaying(false)} />}
      <div className="crumbs">
        <BackToErrors />
        {beside && <Beside of={beside} />}
      </div>
      <div className="page-head">
        <div className="grow" style={{ minWidth: 0, flexBasis: 320 }}>
          <Heading isRecord text={group.rule ?? fingerprint.code}>
            <Foreign>{group.rule ?? fingerprint.code}</Foreign> <Badge state={state} text={T.errors.states[state]} />
          </Heading>
          <Message text={message} />
        </div>
        {mayWrite && <Buttons group={group} acts={acts} />}
      </div>
      <div className="columns">
        <div className="stack-16">
          <section className="card">
            <div className="card-head">
              <h2>{T.group.trend}</h2>
            </div>
            <div className="card-body">
              <HourChart hours={group.hours} label={T.group.trend} />
            </div>
          </section>
          {isReplayable(group) && <WhatDiffers groupId={group.id} emitterId={group.emitter_id} />}
        </div>
        <div className="stack-16 beside">
          <section className="card card-body">
            <Facts group={group} where={names(group.emitter_id)} />
          </section>
          <section className="card">
            <div className="card-head">
              <h2>{T.group.told}</h2>
              {group.count > 1 && <span className="soft">{T.group.toldOf}</span>}
            </div>
            <Receipts receipts={group.samples[0]?.receipts ?? []} />
          </section>
          <Note key={group.id} group={group} />
          <Deployments group={group} />
        </div>
        <div className="stack-16">
          <Members group={group} />
        </div>
      </div>
    </>
  );
}

/** Leads to the groups beside it in the inbox. */
function Beside({ of: { place, of, before, after } }: { of: Neighbours }) {
  const { previous, next, placed } = T.group;
  return (
    <nav aria-label={T.group.beside} className="beside-links">
      {before !== undefined && (
        <Link to="/errors/$groupId" params={{ groupId: before }} aria-label={previous} title={`${previous} (k)`}>
          ‹
        </Link>
      )}
      <span>{placed(place, of)}</span>
      {after !== undefined && (
        <Link to="/errors/$groupId" params={{ groupId: after }} aria-label={next} title={`${next} (j)`}>
          ›
        </Link>
      )}
    </nav>
  );
}

function Buttons({ group, acts }: { group: ErrorGroupWhole; acts: GroupActs }) {
  const isOpen = group.state === 'open';
  const { change } = acts;
  return (
    <div className="buttons">
      <ActButton
        size="xs"
        leftSection={<Icon name={isOpen ? 'check' : 'replay'} size={15} />}
        act={() => acts.toggle(group)}
      >
        {isOpen ? T.errors.resolve : T.errors.reopen}
      </ActButton>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default" rightSection={<Icon name="down" size={14} />}>
            {T.errors.mute}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <MuteItems groups={[group]} change={(wanted, said) => change(group, wanted, said)} />
        </Menu.Dropdown>
      </Menu>
      {isReplayable(group) && (
        <ActButton
          size="xs"
          variant="default"
          leftSection={<Icon name="replay" size={15} />}
          act={() => acts.replay(group)}
        >
          {T.errors.replay}
        </ActButton>
      )}
      {isReplayable(group) && (
        <Link to="/operations/new" search={{ group: group.id }} className="button-link">
          {T.operations.replayAll}
        </Link>
      )}
    </div>
  );
}

function Facts({ group, where }: { group: ErrorGroupWhole; where: string }) {
  const { fingerprint } = group;
  return (
    <dl className="facts">
      <dt>{T.group.count}</dt>
      <dd>
        <strong>{group.count.toLocaleString()}</strong>
      </dd>
      <dt>{T.group.first}</dt>
      <dd>
        <Ago ms={group.first_seen_ms} />
      </dd>
      <dt>{T.group.last}</dt>
      <dd>
        <Ago ms={group.last_seen_ms} />
      </dd>
      <dt>{T.errors.columns.where}</dt>
      <dd>
        <NodeLink id={group.emitter_id} name={where} />
        {fingerprint.namespace !== '' && (
          <>
            , <code>{fingerprint.namespace}</code>
          </>
        )}
      </dd>
      {hasEnd(group) && (
        <>
          <dt>{group.state === 'muted' ? T.group.mutedUntil : T.group.resolvedUntil}</dt>
          <dd>
            <Ends group={group} />
          </dd>
        </>
      )}
      <dt className="is-whole">{T.group.why}</dt>
      <dd className="is-whole">
        <Foreign>{group.why.replaceAll('`', '')}</Foreign>
        {group.reopened && <div>{T.group.reopenedBy(group.reopened.by)}</div>}
      </dd>
    </dl>
  );
}

function Members({ group }: { group: ErrorGroupWhole }) {
  const listed = useInfiniteQuery(groupErrorsQuery(group.id));
  const count = listed.data?.pages.reduce((sum, page) => sum + page.data.length, 0) ?? 0;
  return (
    <>
      <Listed
        title={T.group.errors}
        of={listed}
        empty={null}
        row={({ id, indexed_at_ms, error: fault, told, replay }) => (
          <li key={id} className="group-link">
            <div className="grow">
              <Link to="/errors/$groupId/$errorId" params={{ groupId: group.id, errorId: id }}>
                <At ms={indexed_at_ms} />
              </Link>
              <div className="soft cut">
                <Said>{fault.msg || T.errors.noMessage}</Said>
              </div>
            </div>
            {replay && <Badge state={replay.state} text={`↻ ${T.states[replay.state] ?? replay.state}`} />}
            <Badge state={told} text={T.told[told]} />
          </li>
        )}
      />
      {listed.data && !listed.hasNextPage && count < group.count && <p className="soft">{T.group.kept}</p>}
    </>
  );
}

function Deployments({ group: { deployments } }: { group: ErrorGroupWhole }) {
  if (deployments.length === 0) return null;
  return (
    <section className="card">
      <div className="card-head">
        <h2>{T.group.deployments}</h2>
      </div>
      <ul className="rows">
        {deployments.map(({ id, count, last_seen_ms }) => (
          <li key={id}>
            <div className="grow">
              <code>{id}</code>
              <div className="soft">
                {T.group.last} <Ago ms={last_seen_ms} />
              </div>
            </div>
            <strong>{count.toLocaleString()}</strong>
          </li>
        ))}
      </ul>
    </section>
  );
}
