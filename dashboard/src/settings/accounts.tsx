import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Account } from '../../../src/client/client.ts';
import { changedOf } from '../api/changed.ts';
import { accountsQuery, createAccount, deleteAccount, renewAccount, updateAccount } from '../api/stores.ts';
import { T } from '../english.ts';
import { eventFault } from '../errors/event-text.ts';
import { useAct, useMay } from '../parts/act.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { Empty } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago } from '../parts/time.tsx';
import { toast } from '../parts/toast.tsx';
import { ListPage } from './list-page.tsx';

const words = T.accounts;

export function AccountsPage() {
  const mayWrite = useMay('write');
  return (
    <ListPage
      title={words.title}
      create={mayWrite ? words.create : undefined}
      dialog={(close) => <NewAccount close={close} />}
      of={useQuery(accountsQuery)}
      empty={<Empty icon="key" title={words.none} text={words.noneText} command={words.command} />}
      row={(account) => <Row key={account.id} account={account} mayWrite={mayWrite} />}
    />
  );
}

function Row({ account, mayWrite }: { account: Account; mayWrite: boolean }) {
  const { id, app, name, field_names: fields, oauth, updated_at: updatedAt } = account;
  const act = useAct(['accounts']);
  const [isEditing, setEditing] = useState(false);
  return (
    <li>
      <div className="grow">
        <strong>
          <Foreign>{name}</Foreign>
        </strong>{' '}
        <span className="soft">{app}</span>
        <div className="soft cut">
          <Foreign>{fields.join(', ')}</Foreign>
        </div>
        {oauth?.failure && <div className="bad">{words.renewFailed(oauth.failure)}</div>}
        {oauth?.expires_at && !oauth.failure && (
          <div className="soft">
            {words.expires} <Ago ms={oauth.expires_at * 1000} />
          </div>
        )}
      </div>
      <code className="soft only-wide">{id}</code>
      <span className="soft">
        <Ago ms={updatedAt * 1000} />
      </span>
      {mayWrite && (
        <div className="buttons">
          {oauth && (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={words.renewOf(name)}
              onClick={() => act(() => renewAccount(id), words.renewed)}
            >
              {words.renew}
            </Button>
          )}
          <Button size="compact-xs" variant="default" aria-label={words.editOf(name)} onClick={() => setEditing(true)}>
            {words.edit}
          </Button>
          <ConfirmButton
            title={words.delete}
            text={words.deleteText(name)}
            label={words.deleteOf(name)}
            size="compact-xs"
            run={() => act(() => deleteAccount(id), words.deleted)}
          >
            <Icon name="trash" size={14} />
          </ConfirmButton>
        </div>
      )}
      {isEditing && <EditAccount account={account} close={() => setEditing(false)} />}
    </li>
  );
}

function NewAccount({ close }: { close: () => void }) {
  const client = useQueryClient();
  const [app, setApp] = useState('');
  const [name, setName] = useState('');
  const [fields, setFields] = useState('{\n  "api_key": ""\n}');
  const [oauth, setOauth] = useState('');
  const fault = eventFault(fields);
  const oauthFault = optionalFault(oauth);
  const create = async (): Promise<void> => {
    const given = name.trim() === '' ? {} : { name: name.trim() };
    await createAccount({ app: app.trim(), ...given, fields: JSON.parse(fields) as Fields, ...oauthIn(oauth) });
    await client.invalidateQueries({ queryKey: ['accounts'] });
    toast(words.created);
  };
  return (
    <FormDialog
      title={words.create}
      submit={words.create}
      close={close}
      run={create}
      isReady={app.trim() !== '' && fault === null && oauthFault === null}
    >
      <TextInput
        label={words.app}
        description={words.appHint}
        required
        value={app}
        onChange={(typed) => setApp(typed.currentTarget.value)}
      />
      <TextInput label={words.name} value={name} onChange={(typed) => setName(typed.currentTarget.value)} />
      <FieldsField label={words.fields} hint={words.fieldsHint} value={fields} fault={fault} set={setFields} />
      <FieldsField label={words.oauth} hint={words.oauthHint} value={oauth} fault={oauthFault} set={setOauth} />
    </FormDialog>
  );
}

interface FieldsFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly fault: string | null;
  readonly set: (text: string) => void;
}

function FieldsField({ label, hint, value, fault, set }: FieldsFieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <span className="check-hint">{hint}</span>
      <textarea
        className="editor-text is-short"
        spellCheck={false}
        value={value}
        onChange={(typed) => set(typed.currentTarget.value)}
      />
      {fault !== null && (
        <span className="bad">
          {T.error.notJson} {fault}
        </span>
      )}
    </label>
  );
}

type Fields = Readonly<Record<string, unknown>>;

function optionalFault(text: string): string | null {
  return text.trim() === '' ? null : eventFault(text);
}

function oauthIn(text: string): { oauth?: Parameters<typeof createAccount>[0]['oauth'] } {
  return text.trim() === '' ? {} : { oauth: JSON.parse(text) };
}

/** What is sealed is never shown: fields that are left out stay. */
function EditAccount({ account, close }: { account: Account; close: () => void }) {
  const client = useQueryClient();
  const [before] = useState({ name: account.name });
  const [name, setName] = useState(account.name);
  const [fields, setFields] = useState('');
  const [oauth, setOauth] = useState('');
  const fault = optionalFault(fields);
  const oauthFault = optionalFault(oauth);
  const save = async (): Promise<void> => {
    const given = fields.trim() === '' ? {} : { fields: JSON.parse(fields) as Fields };
    await updateAccount(account.id, { ...changedOf({ name: name.trim() }, before), ...given, ...oauthIn(oauth) });
    await client.invalidateQueries({ queryKey: ['accounts'] });
    toast(words.saved);
  };
  return (
    <FormDialog
      title={words.edit}
      submit={T.sources.save}
      close={close}
      run={save}
      isReady={name.trim() !== '' && fault === null && oauthFault === null}
    >
      <TextInput label={words.name} required value={name} onChange={(typed) => setName(typed.currentTarget.value)} />
      <FieldsField label={words.fields} hint={words.fieldsKept} value={fields} fault={fault} set={setFields} />
      <FieldsField label={words.oauth} hint={words.oauthKept} value={oauth} fault={oauthFault} set={setOauth} />
    </FormDialog>
  );
}
