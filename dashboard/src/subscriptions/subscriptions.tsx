import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import { deleteSubscription, type Link, subscriptionsQuery } from '../api/subscriptions.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { useAct, useMay } from '../parts/act.ts';
import { useText } from '../parts/address.ts';
import { Card } from '../parts/card.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { Rows } from '../parts/lists/rows.tsx';
import { Empty, Loading, Unready } from '../parts/state.tsx';
import { NodeLink, useNodeNames } from './node-link.tsx';
import { type Ends, Subscribe } from './subscribe.tsx';

/** The layout is a library of its own: it comes when there is something to draw. */
const Graph = lazy(async () => {
  const loaded = await import('./graph.tsx').catch(() => null);
  return { default: loaded?.Graph ?? NoGraph };
});

/** The list below says the same in words. */
function NoGraph() {
  return <p className="card-body soft">{T.common.failed}</p>;
}

/** A picture of more says nothing, and takes seconds to lay out. */
const DRAWN = 150;

const words = T.subscriptions;

export function SubscriptionsPage() {
  const mayWrite = useMay('write');
  const names = useNodeNames();
  const [text, setText] = useText('q');
  /** Null: nothing is made; `any`: what is to be linked is still to be picked. */
  const [making, setMaking] = useState<Ends | 'any' | null>(null);
  const asked = useQuery(subscriptionsQuery);
  const { data: all } = asked;
  const wanted = text.trim().toLowerCase();
  const said = ({ emitter_id, listener_id, event_name }: Link): string =>
    `${names(emitter_id)} ${names(listener_id)} ${event_name} ${emitter_id} ${listener_id}`.toLowerCase();
  const found = (all ?? []).filter((one) => said(one).includes(wanted));
  const key = found.map(({ id }) => id).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the layout changes with what is found alone
  const drawn = useMemo(() => found.slice(0, DRAWN), [key]);
  return (
    <>
      <div className="page-head">
        <Heading text={words.title} />
        <span className="grow" />
        <TextInput
          size="xs"
          type="search"
          aria-label={words.search}
          placeholder={words.search}
          leftSection={<Icon name="search" size={15} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {mayWrite && (
          <Button size="xs" onClick={() => setMaking('any')}>
            {words.create}
          </Button>
        )}
      </div>
      {!all && <Unready of={asked} rows={8} />}
      {all?.length === 0 && (
        <div className="card">
          <Empty icon="subscriptions" title={words.none} text={words.noneText} command={words.command} />
        </div>
      )}
      {all && all.length > 0 && (
        // The list stands below the graph, whose height is known when it is there.
        <Suspense fallback={<Loading />}>
          <div className="stack-16">
            {drawn.length > 0 && (
              <section className="card">
                <Graph edges={drawn} names={names} link={mayWrite ? setMaking : null} />
                {mayWrite && <p className="card-body soft only-wide">{words.graphHint}</p>}
                {found.length > DRAWN && <p className="card-body soft">{words.part(DRAWN, found.length)}</p>}
              </section>
            )}
            <Card title={words.list}>
              {found.length === 0 && <Empty icon="search" title={words.noMatch} />}
              <Rows
                all={found}
                row={(one) => <Row key={one.id} subscription={one} names={names} mayWrite={mayWrite} />}
              />
            </Card>
          </div>
        </Suspense>
      )}
      {making !== null && <Subscribe ends={making === 'any' ? null : making} close={() => setMaking(null)} />}
    </>
  );
}

interface RowProps {
  readonly subscription: Link;
  readonly names: (id: string) => string;
  readonly mayWrite: boolean;
}

function Row({ subscription, names, mayWrite }: RowProps) {
  const { id, emitter_id: emitterId, listener_id: listenerId, event_name: event, active, isTrigger } = subscription;
  const [isDeleting, setDeleting] = useState(false);
  const act = useAct(['subscriptions']);
  const [emitter, listener] = [names(emitterId), names(listenerId)];
  return (
    <li>
      <div className="grow cut hears">
        <NodeLink id={listenerId} name={listener} /> {words.hears(event)} <NodeLink id={emitterId} name={emitter} />
      </div>
      {!active && <span className="badge">{T.workflows.inactive}</span>}
      {isTrigger && <span className="badge">{words.trigger}</span>}
      {mayWrite && !isTrigger && (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={words.deleteOf(listener, emitter)}
          onClick={() => setDeleting(true)}
        >
          <Icon name="trash" size={14} />
        </Button>
      )}
      {isDeleting && (
        <FormDialog
          title={words.delete}
          submit={words.delete}
          isBad
          close={() => setDeleting(false)}
          run={() => act(() => deleteSubscription(id), words.deleted)}
        >
          <p>{words.deleteText(listener, emitter)}</p>
        </FormDialog>
      )}
    </li>
  );
}
