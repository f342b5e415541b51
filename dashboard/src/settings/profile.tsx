import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import type { Owner, Quotas } from '../../../src/client/client.ts';
import { channelsQuery } from '../api/channels.ts';
import { quotasQuery } from '../api/keys.ts';
import { meQuery, updateMe } from '../api/me.ts';
import { signOutEverywhere } from '../api/session.ts';
import { workflowsQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { useAct, useBusy, useMay } from '../parts/act.ts';
import { Card } from '../parts/card.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { CheckField, NumberField } from '../parts/fields.tsx';
import { Unready } from '../parts/state.tsx';
import { bytesText } from '../parts/text/bytes.ts';
import { seen } from '../parts/text/foreign.tsx';
import { Ago } from '../parts/time.tsx';
import { SettingsFrame } from './frame.tsx';
import { Redaction } from './redaction.tsx';

const HOUR_MS = 3_600_000;
const words = T.settings;

export function SettingsPage() {
  const mayChange = useMay('account');
  const asked = useQuery(meQuery);
  const { data: me } = asked;
  return (
    <SettingsFrame title={words.profile}>
      {!me && <Unready of={asked} rows={8} />}
      {me && (
        <div className="columns">
          <Profile key={me.id} me={me} />
          <div className="stack-16">
            <Redaction workflowId={null} canChange={mayChange} />
            <Quota />
            <Sessions />
          </div>
        </div>
      )}
    </SettingsFrame>
  );
}

interface Typed {
  readonly name: string;
  readonly email: string;
  readonly globalId: string;
  readonly hours: number | null;
  readonly told: Owner['channels'];
}

function savedOf({ name, email, global_error_workflow_id: globalId, digest_window_ms: ms, channels }: Owner): Typed {
  return { name, email: email ?? '', globalId: globalId ?? '', hours: ms / HOUR_MS, told: channels };
}

/** What was typed and is not saved, by owner: it outlives its page, as a note does. */
const unsaved = new Map<string, Partial<Typed>>();

/** Returns what is not saved yet: what the server has by now follows the server again. */
function withoutSaved(typed: Partial<Typed>, me: Owner): Partial<Typed> {
  const saved = savedOf(me);
  const isSaved = (name: string): boolean =>
    JSON.stringify(typed[name as keyof Typed]) === JSON.stringify(saved[name as keyof Typed]);
  return Object.fromEntries(Object.entries(typed).filter(([name]) => !isSaved(name)));
}

function Profile({ me }: { me: Owner }) {
  const mayChange = useMay('account');
  // What is typed while a change is being saved stays; what is not touched follows the server.
  const [typed, setTyped] = useState(() => unsaved.get(me.id) ?? {});
  const { name, email, globalId, hours, told } = { ...savedOf(me), ...typed };
  const put = (change: Partial<Typed>): void => setTyped((before) => ({ ...before, ...change }));
  useEffect(() => setTyped((before) => withoutSaved(before, me)), [me]);
  useEffect(() => void unsaved.set(me.id, typed), [me.id, typed]);
  const listed = useQuery(channelsQuery);
  const channels = listed.data ?? [];
  const workflows = useQuery(workflowsQuery).data ?? [];
  const act = useAct(['me'], ['session']);
  const [isBusy, busy] = useBusy();
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const change = {
      name,
      email: email.trim() === '' ? null : email.trim(),
      channels: told,
      ...(hours === null ? {} : { digest_window_ms: Math.round(hours * HOUR_MS) }),
      ...(globalId === '' || globalId === me.global_error_workflow_id ? {} : { global_error_workflow_id: globalId }),
    };
    void busy(() => act(() => updateMe(change), words.saved));
  };
  return (
    <form className="card card-body stack-16" onSubmit={save}>
      <fieldset className="bare stack-16" disabled={!mayChange}>
        <TextInput
          label={words.name}
          required
          value={name}
          onChange={({ currentTarget }) => put({ name: currentTarget.value })}
        />
        <TextInput
          label={words.email}
          description={words.emailHint}
          type="email"
          value={email}
          onChange={({ currentTarget }) => put({ email: currentTarget.value })}
        />
        <label className="field">
          <span>{words.globalWorkflow}</span>
          <span className="check-hint">{words.globalHint}</span>
          <select
            className="choice is-wide"
            value={globalId}
            onChange={({ currentTarget }) => put({ globalId: currentTarget.value })}
          >
            {globalId === '' && <option value="">{words.noGlobal}</option>}
            {workflows.map(({ id, name: of }) => (
              <option key={id} value={id}>
                {seen(of)}
              </option>
            ))}
          </select>
        </label>
        <NumberField
          label={words.digest}
          hint={words.digestHint}
          min={0}
          step="any"
          value={hours}
          set={(given) => put({ hours: given })}
        />
        <fieldset className="field is-group">
          <legend>{words.channels}</legend>
          {!listed.data && <Unready of={listed} rows={1} />}
          {listed.data?.length === 0 && <span className="soft">{T.channels.none}</span>}
          {channels.map(({ id, name: of, kind }) => (
            <CheckField
              key={id}
              label={of}
              hint={T.channels.kinds[kind]}
              value={told.includes(id)}
              set={(isTold) => put({ told: isTold ? [...told, id] : told.filter((one) => one !== id) })}
            />
          ))}
        </fieldset>
        {mayChange ? (
          <div>
            <Button type="submit" size="xs" loading={isBusy}>
              {words.save}
            </Button>
          </div>
        ) : (
          <p className="soft">{words.readOnly}</p>
        )}
      </fieldset>
    </form>
  );
}

function Sessions() {
  const of = useMay('account') ? 'owner' : 'key';
  const [isAsking, setAsking] = useState(false);
  const end = async (): Promise<void> => {
    await signOutEverywhere(of);
    // A new page: nothing of this owner stays in memory.
    window.location.assign('/sign-in');
  };
  return (
    <Card title={words.sessions}>
      <div className="card-body">
        <Button size="xs" variant="default" onClick={() => setAsking(true)}>
          {words.everywhere}
        </Button>
      </div>
      {isAsking && (
        <FormDialog title={words.everywhere} submit={words.everywhere} isBad close={() => setAsking(false)} run={end}>
          <p>{words.sessionsText[of]}</p>
          <p className="soft">{words.sessionsKeys}</p>
        </FormDialog>
      )}
    </Card>
  );
}

type Measure = 'processes' | 'cpu_seconds_per_minute' | 'requests_per_second' | 'stored_bytes';

const MEASURES: readonly Measure[] = ['processes', 'cpu_seconds_per_minute', 'requests_per_second', 'stored_bytes'];

function Quota() {
  const asked = useQuery(quotasQuery);
  const { data: quotas } = asked;
  return (
    <Card title={words.quotas}>
      {!quotas && <Unready of={asked} rows={MEASURES.length} />}
      {quotas && (
        <div className="card-body">
          <dl className="facts">
            {MEASURES.map((measure) => (
              <div key={measure} style={{ display: 'contents' }}>
                <dt>{words.measures[measure]}</dt>
                <dd>{usedText(quotas, measure)}</dd>
              </div>
            ))}
          </dl>
          <Measured atMs={quotas.use.stored_bytes_at_ms} />
        </div>
      )}
    </Card>
  );
}

/** What was deleted since still counts. */
function Measured({ atMs }: { atMs: number | null }) {
  return (
    <span className="check-hint">
      {atMs === null ? (
        words.notMeasured
      ) : (
        <>
          {words.measured} <Ago ms={atMs} />.
        </>
      )}{' '}
      {words.measuredOften}
    </span>
  );
}

function usedText({ use, limits }: Quotas, measure: Measure): string {
  const shown = (value: number | null): string =>
    value === null ? '–' : measure === 'stored_bytes' ? bytesText(value) : value.toLocaleString();
  const limit = limits[measure];
  return limit === null ? shown(use[measure]) : words.usedOf(shown(use[measure]), shown(limit));
}
