import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Trigger, UpdateWorkflowInput } from '../../../src/client/client.ts';
import type { ReadWorkflow } from '../api/workflows.ts';
import { T } from '../english.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { CheckField } from '../parts/fields.tsx';
import { StartChoice, scheduleOf, TimesFields, useTimes } from './start-fields.tsx';
import { useTriggerChange } from './trigger-change.ts';

const words = T.triggers;
const STARTS = ['http', 'interval', 'cron'] as const;
type Start = (typeof STARTS)[number];
type Sent = NonNullable<UpdateWorkflowInput['triggers']>[number];

interface DialogProps {
  readonly workflow: ReadWorkflow;
  readonly close: () => void;
}

function startOf(of: Trigger | undefined): Start {
  if (of?.type !== 'schedule') return 'http';
  return of.cron === undefined ? 'interval' : 'cron';
}

/** Adds a trigger to a workflow, or changes the trigger `of`. */
export function TriggerForm({ workflow, of, close }: DialogProps & { readonly of?: Trigger }) {
  const [start, setStart] = useState<Start>(startOf(of));
  const [times, put] = useTimes(of);
  const [isAsked, setAsked] = useState(of?.custom_response ?? false);
  const [isBearer, setBearer] = useState(of?.auth?.type === 'bearer');
  const [token, setToken] = useState('');
  const change = useTriggerChange(workflow);
  const starts = of ? STARTS.filter((one) => (one === 'http') === (of.type === 'http')) : STARTS;
  const hadToken = of?.auth?.type === 'bearer';
  const made = (): Sent => {
    const named = of ? { id: of.id } : {};
    if (start !== 'http') return { ...named, ...scheduleOf(start, times) };
    // Without another one, the trigger keeps its token.
    const given = token === '' ? {} : { token };
    const auth = isBearer ? { type: 'bearer' as const, ...given } : { type: 'none' as const };
    return { ...named, type: 'http', custom_response: isAsked, auth };
  };
  const save = (): Promise<void> =>
    change((triggers) => {
      if (of === undefined) return [...triggers.map(sentBack), made()];
      return triggers.map((one) => (one.id === of.id ? made() : sentBack(one)));
    }, words.saved);
  return (
    <FormDialog title={of ? words.change : words.add} submit={of ? T.sources.save : words.add} close={close} run={save}>
      {starts.length > 1 && <StartChoice starts={starts} value={start} set={setStart} />}
      {start === 'http' && (
        <>
          <CheckField label={words.response} hint={words.responseHint} value={isAsked} set={setAsked} />
          <CheckField label={words.bearer} hint={words.bearerHint} value={isBearer} set={setBearer} />
          {isBearer && (
            <TextInput
              required={!hadToken}
              className="break"
              label={words.token}
              description={hadToken ? words.tokenKept : words.tokenHint}
              autoComplete="off"
              value={token}
              onChange={(typed) => setToken(typed.currentTarget.value)}
            />
          )}
        </>
      )}
      <TimesFields start={start} times={times} put={put} />
    </FormDialog>
  );
}

/** Asks whether a trigger is to be removed, and removes it. */
export function RemoveTrigger({ workflow, of, close }: DialogProps & { readonly of: Trigger }) {
  const change = useTriggerChange(workflow);
  const remove = (): Promise<void> =>
    change((triggers) => triggers.filter(({ id }) => id !== of.id).map(sentBack), words.removed);
  return (
    <FormDialog title={words.remove} submit={words.remove} isBad close={close} run={remove}>
      <p>{of.endpoint_url === undefined ? words.removeText : words.removeAddress}</p>
      {of.endpoint_url !== undefined && <code className="break">{of.endpoint_url}</code>}
    </FormDialog>
  );
}

/** Returns a trigger as the server takes it: with its id, by which it keeps its address and its token. */
function sentBack(trigger: Trigger): Sent {
  return trigger as Sent;
}
