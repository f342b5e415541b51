import { TextInput } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { resendMany, stateCountQuery } from '../api/webhooks.ts';
import { T } from '../english.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { CheckField } from '../parts/fields.tsx';

const STATES = ['exhausted', 'cancelled', 'retrying', 'delivered'] as const;

type State = (typeof STATES)[number];

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
  const [states, setStates] = useState<readonly State[]>(['exhausted']);
  const counts = useQueries({ queries: STATES.map((state) => stateCountQuery(webhookId, state)) });
  const resend = async (): Promise<void> => {
    const { id } = await resendMany(webhookId, {
      since: new Date(since).getTime(),
      ...(until === '' ? {} : { until: new Date(until).getTime() }),
      state: states,
    });
    await navigate({ to: '/operations/$operationId', params: { operationId: id } });
  };
  return (
    <FormDialog
      title={T.webhooks.resendManyTitle}
      submit={T.webhooks.resend}
      close={close}
      run={resend}
      isReady={since !== '' && states.length > 0}
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
        {STATES.map((state, at) => (
          <CheckField
            key={state}
            label={T.states[state] ?? state}
            hint={T.operations.of('resend', counts[at]?.data ?? 0)}
            value={states.includes(state)}
            set={(isIn) => setStates(isIn ? [...states, state] : states.filter((one) => one !== state))}
          />
        ))}
      </fieldset>
    </FormDialog>
  );
}
