import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ProblemError } from '../../../src/client/client.ts';
import { deleteRecord, type ReadRecord, recordQuery, setRecord } from '../api/stores.ts';
import { T } from '../english.ts';
import { eventFault, readable, written } from '../errors/event-text.ts';
import { useAct } from '../parts/act.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { Unready } from '../parts/state.tsx';
import { toast } from '../parts/toast.tsx';

const words = T.dataStores;
/** The status of what was changed meanwhile. */
const CHANGED = 412;

interface RecordOf {
  readonly storeId: string;
  readonly id: string;
}

/** The value of a record, read by itself: the list has numbers as JavaScript rounds them. */
export function RecordValue({ storeId, id, mayWrite }: RecordOf & { mayWrite: boolean }) {
  const asked = useQuery(recordQuery(storeId, id));
  const [isEditing, setEditing] = useState(false);
  const act = useAct(['records', storeId], ['data-store', storeId], ['data-stores']);
  const { data: record } = asked;
  if (record === undefined) return <Unready of={asked} rows={1} />;
  return (
    <>
      <JsonTree value={record.value} />
      {mayWrite && (
        <div className="card-body buttons">
          <Button size="compact-xs" variant="default" onClick={() => setEditing(true)}>
            {words.changeRecord}
          </Button>
          <ConfirmButton
            size="compact-xs"
            title={words.deleteRecord}
            text={words.deleteRecordText(id)}
            run={() => act(() => deleteRecord(storeId, id), words.recordDeleted)}
          />
        </div>
      )}
      {isEditing && <RecordForm storeId={storeId} of={{ id, record }} close={() => setEditing(false)} />}
    </>
  );
}

interface RecordFormProps {
  readonly storeId: string;
  /** The record that is changed; left out: a new one is made. */
  readonly of?: { readonly id: string; readonly record: ReadRecord };
  readonly close: () => void;
}

/** The value is sent as it is typed: no number is rounded. */
export function RecordForm({ storeId, of, close }: RecordFormProps) {
  const client = useQueryClient();
  // As it was when the dialog was opened: what was changed since is not overwritten.
  const [before] = useState(of?.record);
  const [id, setId] = useState(of?.id ?? '');
  const [text, setText] = useState(() => (before ? readable(written(before.value)) : ''));
  const fault = text.trim() === '' ? null : eventFault(text);
  const save = async (): Promise<void> => {
    await setRecord(storeId, { key: id, text, before }).catch((error: unknown) => {
      throw error instanceof ProblemError && error.status === CHANGED ? new Error(words.overtaken) : error;
    });
    for (const queryKey of [['records', storeId], ['record', storeId, id], ['data-store', storeId], ['data-stores']])
      void client.invalidateQueries({ queryKey });
    toast(T.sources.saved);
  };
  return (
    <FormDialog
      title={of ? words.changeRecord : words.newRecord}
      submit={T.sources.save}
      close={close}
      run={save}
      isReady={id !== '' && text.trim() !== '' && fault === null}
    >
      <TextInput
        label={words.key}
        required
        disabled={of !== undefined}
        value={id}
        onChange={(typed) => setId(typed.currentTarget.value)}
      />
      <label className="field">
        <span>{words.value}</span>
        <span className="check-hint">
          {words.valueHint} {before != null && before.expires_at !== null && words.stillExpires}
        </span>
        <textarea
          className="editor-text is-short"
          spellCheck={false}
          value={text}
          onChange={(typed) => setText(typed.currentTarget.value)}
        />
        {fault !== null && (
          <span className="bad">
            {T.error.notJson} {fault}
          </span>
        )}
      </label>
    </FormDialog>
  );
}
