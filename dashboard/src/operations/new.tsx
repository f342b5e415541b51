import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { ReplayDryRun } from '../../../src/client/client.ts';
import { groupQuery } from '../api/errors.ts';
import { useNames } from '../api/names.ts';
import { dryRunQuery, type Replays, startReplays } from '../api/operations.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { Card } from '../parts/card.tsx';
import { Choice } from '../parts/choice.tsx';
import { CheckField, NumberField } from '../parts/fields.tsx';
import { beginOf, PERIODS, type Period } from '../parts/period.ts';
import { Empty, Unready } from '../parts/state.tsx';
import { Foreign, Said } from '../parts/text/foreign.tsx';
import { toastError } from '../parts/toast.tsx';
import { ErrorLink } from './error-link.tsx';

interface Wanted {
  readonly code: string;
  readonly step: string;
  /** `since` is as it was when the period was chosen: what the dry run counts is what is replayed. Null: all errors. */
  readonly within: { readonly period: Period; readonly since: string } | null;
  readonly canary: number | null;
  readonly rate: number | null;
  readonly stop: number | null;
  readonly fromFailed: boolean;
  readonly ordered: boolean;
  readonly again: boolean;
}

/** What the server takes when it is not told. */
const CANARY = 1;

const FIRST: Wanted = {
  code: '',
  step: '',
  within: null,
  canary: CANARY,
  rate: null,
  stop: null,
  fromFailed: false,
  ordered: false,
  again: false,
};

export function NewReplays() {
  const { group, workflow, source } = useSearch({ from: '/shell/operations/new' });
  const mayWrite = useMay('write');
  const of = group ? { group_id: group } : workflow ? { workflow_id: workflow } : source ? { source_id: source } : null;
  if (of === null) {
    return (
      <Empty isPage icon="replay" title={T.operations.choose} text={T.operations.chooseText}>
        <div className="actions">
          <Link to="/errors">{T.group.back}</Link>
        </div>
      </Empty>
    );
  }
  if (!mayWrite) return <Empty isPage icon="replay" title={T.common.forbidden} />;
  return <Form key={Object.values(of).join()} of={of} />;
}

/** What was typed when the session ended, by what is replayed: it is there again behind the sign-in. */
const kept = new Map<string, Wanted>();

type Of = Pick<Replays, 'group_id' | 'workflow_id' | 'source_id'>;

/** Leads back to what the errors are of. */
function BackToErrors({ of }: { of: Of }) {
  const { group_id: groupId, workflow_id: workflowId, source_id: sourceId } = of;
  const names = useNames();
  const { data: group, isPending } = useQuery({ ...groupQuery(groupId ?? ''), enabled: groupId !== undefined });
  if (groupId !== undefined) {
    return (
      <Link to="/errors/$groupId" params={{ groupId }} className="crumb">
        ‹ <Foreign>{group?.rule ?? group?.fingerprint.code ?? (isPending ? '…' : groupId)}</Foreign>
      </Link>
    );
  }
  if (sourceId !== undefined) {
    return (
      <Link to="/sources/$sourceId" params={{ sourceId }} className="crumb">
        ‹ <Foreign>{names(sourceId)}</Foreign>
      </Link>
    );
  }
  return (
    <Link to="/workflows/$workflowId" params={{ workflowId: workflowId ?? '' }} className="crumb">
      ‹ <Foreign>{names(workflowId ?? '')}</Foreign>
    </Link>
  );
}

function Form({ of }: { of: Of }) {
  const navigate = useNavigate();
  const key = Object.values(of).join();
  const [wanted, setWanted] = useState(() => kept.get(key) ?? FIRST);
  const last = useRef(wanted);
  last.current = wanted;
  useEffect(() => {
    kept.delete(key);
    return () => {
      if (window.location.pathname === '/sign-in') kept.set(key, last.current);
    };
  }, [key]);

  const [isBusy, setBusy] = useState(false);
  const { code, step, within, canary, rate, stop, fromFailed, ordered, again } = wanted;
  const replays: Replays = {
    ...of,
    ...(code === '' ? {} : { code }),
    ...(step === '' ? {} : { step }),
    ...(within === null ? {} : { since: within.since }),
    ...(fromFailed ? { from: 'failed_step' as const } : {}),
    ...(again ? { again } : {}),
  };
  const dryRun = useQuery(dryRunQuery(replays));
  const put = (change: Partial<Wanted>): void => setWanted({ ...wanted, ...change });
  const start = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      const { id } = await startReplays({
        ...replays,
        ordered,
        ...(canary === null ? {} : { canary }),
        ...(rate === null ? {} : { rate }),
        ...(stop === null ? {} : { stop_on_failures: stop }),
      });
      await navigate({ to: '/operations/$operationId', params: { operationId: id } });
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  const words = T.operations;
  return (
    <>
      <BackToErrors of={of} />
      <div className="page-head">
        <div className="grow">
          <Heading text={words.new} />
          <p className="soft">{words.newText}</p>
        </div>
      </div>
      <div className="columns is-form">
        <form className="card card-body stack-16" onSubmit={(event) => void start(event)}>
          {of.group_id === undefined && (
            <TextInput
              label={words.code}
              description={words.codeHint}
              value={code}
              onChange={(event) => put({ code: event.currentTarget.value.trim() })}
            />
          )}
          {of.workflow_id !== undefined && (
            <TextInput
              label={words.step}
              description={words.stepHint}
              value={step}
              onChange={(event) => put({ step: event.currentTarget.value.trim() })}
            />
          )}
          <div className="field">
            <span aria-hidden="true">{words.within}</span>
            <Choice
              label={words.within}
              all={words.anyTime}
              value={within?.period}
              options={PERIODS}
              textOf={(one) => T.common.periods[one]}
              choose={(period) => put({ within: period === undefined ? null : { period, since: beginOf(period) } })}
            />
          </div>
          <NumberField
            label={words.canary}
            hint={words.canaryHint}
            min={1}
            max={1000}
            value={canary}
            set={(value) => put({ canary: value })}
          />
          <NumberField
            label={words.stop}
            hint={words.stopHint}
            min={1}
            value={stop}
            set={(value) => put({ stop: value })}
          />
          <NumberField
            label={words.rate}
            hint={words.rateHint}
            min={0.001}
            max={1000}
            step="any"
            value={rate}
            set={(value) => put({ rate: value })}
          />
          <CheckField
            label={words.fromFailed}
            hint={words.fromFailedHint}
            value={fromFailed}
            set={(value) => put({ fromFailed: value })}
          />
          <CheckField
            label={words.ordered}
            hint={words.orderedHint}
            value={ordered}
            set={(value) => put({ ordered: value })}
          />
          <CheckField label={words.again} hint={words.againHint} value={again} set={(value) => put({ again: value })} />
          <Button type="submit" loading={isBusy} disabled={dryRun.isPlaceholderData || !hasReplays(dryRun.data)}>
            {dryRun.data && hasReplays(dryRun.data) ? words.start(dryRun.data) : words.startNone}
          </Button>
        </form>
        <Card title={words.dryRun}>
          {dryRun.data ? (
            <DryRun dryRun={dryRun.data} groupId={of.group_id ?? null} canary={canary ?? CANARY} />
          ) : (
            <Unready of={dryRun} />
          )}
        </Card>
      </div>
    </>
  );
}

/** Returns whether errors would be replayed, or it is not known of all. */
function hasReplays(dryRun: ReplayDryRun | undefined): boolean {
  return dryRun !== undefined && (dryRun.to_replay > 0 || dryRun.at_least);
}

interface DryRunProps {
  readonly dryRun: ReplayDryRun;
  readonly groupId: string | null;
  /** How many errors go first. */
  readonly canary: number;
}

function DryRun({ dryRun, groupId, canary }: DryRunProps) {
  const { count, at_least: isPart, to_replay: n, reasons, by_workflow: byWorkflow, sample } = dryRun;
  const first = isPart ? canary : Math.min(canary, n);
  const names = useNames();
  const words = T.operations;
  if (count === 0) return <p className="card-body soft">{words.nothing}</p>;
  return (
    <>
      <div className="card-body">
        <p className="big">{words.toReplay(dryRun)}</p>
        {reasons.map(({ reason, count: passedOver }) => (
          <p key={reason} className="warn">
            {words.passedOver(passedOver, isPart)} {reason}
          </p>
        ))}
        {byWorkflow.map(({ id, count: ofOne }) => (
          <p key={id} className="soft">
            <Foreign>{names(id)}</Foreign>: {ofOne.toLocaleString()}
          </p>
        ))}
      </div>
      <h3 className="card-body soft">
        {words.oldest(sample.length)}
        {first > 0 && words.goFirst(first)}
      </h3>
      <ul className="rows">
        {sample.map(({ id, emitter_id: emitterId, code, msg, reason }) => (
          <li key={id}>
            <div className="grow">
              <ErrorLink id={id} emitterId={emitterId} groupId={groupId} text={<Foreign>{code ?? id}</Foreign>} />
              <div className="soft cut">
                <Said>{msg ?? ''}</Said>
              </div>
              {reason && <div className="warn">{reason}</div>}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
