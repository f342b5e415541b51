import { Button } from '@mantine/core';
import { usePrefetchInfiniteQuery, usePrefetchQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Ledger as LedgerCounts } from '../../../src/client/client.ts';
import { ledgerQuery } from '../api/ledger.ts';
import { sessionQuery } from '../api/session.ts';
import { DELIVERY_STATES, RUN_STATES } from '../api/states.ts';
import { createWorkflow, workflowsQuery } from '../api/workflows.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { Command } from '../parts/copy.tsx';
import { Unready } from '../parts/state.tsx';
import { toast, toastError } from '../parts/toast.tsx';
import { Attention, OPEN_GROUPS } from './attention.tsx';
import { Charts } from './charts.tsx';
import { EXAMPLES, type Example, sendFirstEvent } from './examples.ts';

export function Overview() {
  const asked = useQuery(workflowsQuery);
  const { data: workflows } = asked;
  const { data: session } = useQuery(sessionQuery);
  const mayWrite = useMay('write');
  // All is asked for at once, though the page begins when it is known whether its owner is new.
  usePrefetchQuery(ledgerQuery);
  usePrefetchInfiniteQuery(OPEN_GROUPS);
  if (!workflows || !session) {
    return (
      <>
        <div className="page-head">
          <Heading text={T.overview.title} />
        </div>
        <Unready of={asked} isPage />
      </>
    );
  }
  // A new owner has one workflow: the one that gets every error.
  const isNew = workflows.every(({ id }) => id === session.owner.global_error_workflow_id);
  return (
    <>
      <div className="page-head">
        <Heading text={T.overview.title} />
      </div>
      <div className="stack-16">
        {isNew && mayWrite && <FirstMinute />}
        <Attention />
        {!isNew && <Charts />}
        <Ledger />
        {!isNew && mayWrite && <Examples />}
      </div>
    </>
  );
}

function FirstMinute() {
  return (
    <section className="card">
      <div className="card-body">
        <h2 style={{ fontSize: 16 }}>{T.overview.hello}</h2>
        <p className="soft">{T.overview.helloText}</p>
      </div>
      <ExampleCards />
      <div className="card-body soft">
        {T.overview.orCommand}
        <br />
        <Command text={T.overview.command} />
      </div>
    </section>
  );
}

function Examples() {
  return (
    <details className="card">
      <summary className="card-body soft">{T.overview.helloText}</summary>
      <ExampleCards />
    </details>
  );
}

function ExampleCards() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState<string | null>(null);
  const deploy = async (example: Example): Promise<void> => {
    setBusy(example.id);
    try {
      const workflow = await createWorkflow(example.workflow);
      await sendFirstEvent(example, workflow);
      toast(T.overview.deployed);
      if (example.needsWebhook) void navigate({ to: '/webhooks', search: { hears: workflow.id } });
    } catch (error) {
      toastError(error);
    }
    setBusy(null);
    void client.invalidateQueries();
  };
  return (
    <ul className="examples">
      {EXAMPLES.map((example) => (
        <li key={example.id}>
          <h3>{example.name}</h3>
          <p className="soft">{example.text}</p>
          <Button
            size="xs"
            variant="light"
            loading={busy === example.id}
            disabled={busy !== null}
            onClick={() => void deploy(example)}
            aria-label={`${T.overview.deploy}: ${example.name}`}
          >
            {T.overview.deploy}
          </Button>
        </li>
      ))}
    </ul>
  );
}

function Ledger() {
  const asked = useQuery(ledgerQuery);
  return (
    <section className="card">
      <div className="card-head">
        <h2>{T.overview.ledger}</h2>
        <span className="soft">{T.overview.ledgerText}</span>
      </div>
      {asked.data ? <AllCounts of={asked.data} /> : <Unready of={asked} rows={4} />}
    </section>
  );
}

function AllCounts({ of: { runs, deliveries, emissions, errors } }: { of: LedgerCounts }) {
  return (
    <div className="card-body ledger">
      <Counts name={T.overview.emissions} counts={{ total: emissions }} />
      <Counts name={T.overview.runs} counts={runs} linkOf={toRuns} />
      <Counts name={T.overview.deliveries} counts={deliveries} linkOf={toDeliveries} />
      <Counts name={T.overview.errors} counts={{ total: errors.captured }} />
    </div>
  );
}

/** The list of the runs in a state. */
function toRuns(state: string): ReactNode {
  const known = RUN_STATES.find((one) => one === state);
  return (
    <Link to="/runs" search={known === undefined ? {} : { state: known }}>
      {T.states[state] ?? state}
    </Link>
  );
}

function toDeliveries(state: string): ReactNode {
  const known = DELIVERY_STATES.find((one) => one === state);
  return (
    <Link to="/deliveries" search={known === undefined ? {} : { state: known }}>
      {T.states[state] ?? state}
    </Link>
  );
}

interface CountsProps {
  readonly name: string;
  readonly counts: Readonly<Record<string, number>>;
  /** What leads to all that is in a state. */
  readonly linkOf?: (state: string) => ReactNode;
}

/** A total, and the states that make it up. */
function Counts({ name, counts, linkOf }: CountsProps) {
  const { total = 0, ...states } = counts;
  return (
    <div>
      <h3 className="soft">{name}</h3>
      <p className="big">{total.toLocaleString()}</p>
      <dl className="facts">
        {Object.entries(states)
          .filter(([, count]) => count > 0)
          .map(([state, count]) => (
            <div key={state} style={{ display: 'contents' }}>
              <dt>{linkOf?.(state) ?? T.states[state] ?? state}</dt>
              <dd>{count.toLocaleString()}</dd>
            </div>
          ))}
      </dl>
    </div>
  );
}
