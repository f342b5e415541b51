import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResendDryRun } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import { RESENDABLE_STATES, type ResendableState } from '../api/states.ts';
import { type Resend, resendDryRunQuery, resendMany } from '../api/webhooks.ts';
import { T } from '../english.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { CheckField } from '../parts/fields.tsx';
import { Unready } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { At } from '../parts/time.tsx';

const DAY_MS = 86_400_000;

/** A local time as a field for one has it. */
function localText(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Begins an operation, whose page shows how it goes on. */
export function ResendMany({ webhookId, close }: { webhookId: string; close: () => void }) {
  const navigate = useNavigate();
  const [since, setSince] = useState(localText(Date.now() - DAY_MS));
  const [until, setUntil] = useState('');
  const [states, setStates] = useState<readonly ResendableState[]>(['exhausted']);
  const timeOf = (text: string): number => new Date(text).getTime();
  const isAskable = !Number.isNaN(timeOf(since)) && states.length > 0;
  const asked: Resend = {
    since: timeOf(since),
    ...(until === '' ? {} : { until: timeOf(until) }),
    state: states,
  };
  const dryRun = useQuery({ ...resendDryRunQuery(webhookId, asked), enabled: isAskable });
  const resend = async (): Promise<void> => {
    const { id } = await resendMany(webhookId, asked);
    await navigate({ to: '/operations/$operationId', params: { operationId: id } });
  };
  return (
    <FormDialog
      title={T.webhooks.resendManyTitle}
      submit={T.webhooks.resend}
      close={close}
      run={resend}
      isReady={isAskable && (dryRun.data?.count ?? 0) > 0}
    >
      <p className="soft">{T.webhooks.resendManyText}</p>
      <TextInput
        label={T.webhooks.since}
        type="datetime-local"
        required
        value={since}
        onChange={(typed) => setSince(typed.currentTarget.value)}
      />
      <TextInput
        label={T.webhooks.until}
        description={T.webhooks.untilHint}
        type="datetime-local"
        value={until}
        onChange={(typed) => setUntil(typed.currentTarget.value)}
      />
      <fieldset className="field is-group">
        <legend>{T.webhooks.states}</legend>
        {RESENDABLE_STATES.map((state) => (
          <CheckField
            key={state}
            label={T.states[state] ?? state}
            value={states.includes(state)}
            set={(isIn) => setStates(isIn ? [...states, state] : states.filter((one) => one !== state))}
          />
        ))}
      </fieldset>
      <section aria-label={T.webhooks.dryRun} aria-live="polite">
        {isAskable && (dryRun.data ? <DryRun dryRun={dryRun.data} /> : <Unready of={dryRun} />)}
      </section>
    </FormDialog>
  );
}

/** How many deliveries would be sent, and those that would go first. */
function DryRun({ dryRun: { count, at_least: isPart, by_state: byState, sample } }: { dryRun: ResendDryRun }) {
  const names = useNames();
  if (count === 0) return <p className="soft">{T.webhooks.dryRunNone}</p>;
  return (
    <>
      <p>
        <strong>{T.operations.of('resend', count, isPart)}</strong>{' '}
        <span className="soft">
          {byState
            .map(({ state, count: ofOne }) => `${T.states[state] ?? state} ${ofOne.toLocaleString()}`)
            .join(' · ')}
        </span>
      </p>
      <p className="soft">{T.operations.first(sample.length)}</p>
      <ul className="rows">
        {sample.map(({ id, emitter_id: emitterId, event_name: name, created_at_ms: createdAtMs }) => (
          <li key={id}>
            <div className="grow cut">
              <Link to="/deliveries/$deliveryId" params={{ deliveryId: id }}>
                <Foreign>{names(emitterId)}</Foreign> {name}
              </Link>
            </div>
            <span className="soft">
              <At ms={createdAtMs} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
