import { TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '../../../src/client/client.ts';
import { createKey, keysQuery, revokeKey, SCOPES, type Scope } from '../api/keys.ts';
import { sessionQuery } from '../api/session.ts';
import { T } from '../english.ts';
import { useAct, useMay } from '../parts/act.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { CheckField, NumberField } from '../parts/fields.tsx';
import { Badge, Empty } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago, At, useNow } from '../parts/time.tsx';
import { SecretDialog } from '../webhooks/secret.tsx';
import { ListPage } from './list-page.tsx';

const words = T.keys;
const DAY_S = 86_400;
const FIRST: readonly Scope[] = ['read', 'write'];

export function KeysPage() {
  const mayKeys = useMay('keys');
  const [made, setMade] = useState<string | null>(null);
  const keys = useQuery({ ...keysQuery, enabled: mayKeys });
  return (
    <>
      <ListPage
        title={words.title}
        create={mayKeys ? words.create : undefined}
        dialog={(close) => <NewKey close={close} done={setMade} />}
        of={mayKeys ? keys : null}
        empty={<Empty icon="key" title={words.forbidden} />}
        row={(key) => <Row key={key.id} of={key} />}
      />
      {made !== null && (
        <SecretDialog title={words.key} secret={made} text={words.created} close={() => setMade(null)} />
      )}
    </>
  );
}

function Row({ of }: { of: ApiKey }) {
  const { id, label, scopes, last_used_at: usedAt, expires_at: endsAt, revoked_at: revokedAt } = of;
  const own = useQuery(sessionQuery).data?.key.id === id;
  const act = useAct(['keys']);
  const now = useNow();
  const isOver = endsAt !== null && endsAt * 1000 <= now;
  return (
    <li>
      <div className="grow">
        <strong>
          <Foreign>{label}</Foreign>
        </strong>{' '}
        {own && <Badge state="active" text={words.own} />}{' '}
        {revokedAt !== null && <Badge state="failed" text={words.revoked} />}
        {revokedAt === null && isOver && <Badge state="paused" text={words.expired} />}
        <div className="soft break">
          {scopes.join(', ')} · {usedAt === null ? words.unused : words.used}{' '}
          {usedAt !== null && <Ago ms={usedAt * 1000} />}
          {endsAt !== null && (
            <>
              {' · '}
              {isOver ? words.expired : words.ends} <At ms={endsAt * 1000} />
            </>
          )}
        </div>
      </div>
      {revokedAt === null && !own && (
        <ConfirmButton
          title={words.revoke}
          text={words.revokeText(label)}
          label={words.revokeOf(label)}
          size="compact-sm"
          run={() => act(() => revokeKey(id), words.wasRevoked)}
        />
      )}
    </li>
  );
}

function NewKey({ close, done }: { close: () => void; done: (key: string) => void }) {
  const client = useQueryClient();
  const grantable = useQuery(sessionQuery).data?.key.scopes ?? [];
  const [label, setLabel] = useState('');
  const [scopes, setScopes] = useState(FIRST.filter((scope) => grantable.includes(scope)));
  const [days, setDays] = useState<number | null>(null);
  const create = async (): Promise<void> => {
    const expires = days === null ? {} : { expires_at: Math.floor(Date.now() / 1000 + days * DAY_S) };
    const made = await createKey({ label, scopes, ...expires });
    await client.invalidateQueries({ queryKey: ['keys'] });
    done(made.api_key);
  };
  return (
    <FormDialog
      title={words.create}
      submit={words.create}
      close={close}
      run={create}
      isReady={label.trim() !== '' && scopes.length > 0}
    >
      <TextInput
        label={words.label}
        description={words.labelHint}
        required
        value={label}
        onChange={(typed) => setLabel(typed.currentTarget.value)}
      />
      <fieldset className="field is-group">
        <legend>{words.scopes}</legend>
        {SCOPES.filter((scope) => grantable.includes(scope)).map((scope) => (
          <CheckField
            key={scope}
            label={scope}
            hint={words.scopeHints[scope]}
            value={scopes.includes(scope)}
            set={(isIn) => setScopes(isIn ? [...scopes, scope] : scopes.filter((one) => one !== scope))}
          />
        ))}
      </fieldset>
      <NumberField label={words.days} hint={words.daysHint} min={1} value={days} set={setDays} />
    </FormDialog>
  );
}
