import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { DataRecord } from '../../../src/client/client.ts';
import { dataStoreQuery, deleteDataStore, recordsQuery } from '../api/stores.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { useAct, useMay } from '../parts/act.ts';
import { BackTo } from '../parts/back.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Listed } from '../parts/listed.tsx';
import { Empty, Unready } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago } from '../parts/time.tsx';
import { RecordForm, RecordValue } from './record.tsx';

const words = T.dataStores;

export function DataStorePage() {
  const { storeId } = useParams({ from: '/shell/data-stores/$storeId' });
  const mayWrite = useMay('write');
  const navigate = useNavigate();
  const asked = useQuery(dataStoreQuery(storeId));
  const { data: store } = asked;
  const records = useInfiniteQuery(recordsQuery(storeId));
  const [isMaking, setMaking] = useState(false);
  const act = useAct(['data-stores']);
  if (!store) return <Unready of={asked} isPage />;
  const remove = async (): Promise<void> => {
    // The page asks for its record again and again, and would be told that there is none.
    await navigate({ to: '/data-stores' });
    await act(() => deleteDataStore(storeId), words.deleted);
  };
  return (
    <>
      <BackTo list="/data-stores">{words.title}</BackTo>
      <div className="page-head">
        <div className="grow">
          <Heading isRecord text={store.name}>
            <Foreign>{store.name}</Foreign>
          </Heading>
          <p className="soft">
            <code>{store.id}</code> · {words.records(store.size)}
          </p>
        </div>
        {mayWrite && (
          <div className="buttons">
            <Button size="xs" onClick={() => setMaking(true)}>
              {words.newRecord}
            </Button>
            <ConfirmButton title={words.delete} text={words.deleteText(store.name)} run={remove} />
          </div>
        )}
      </div>
      <Listed
        title={words.contents}
        of={records}
        row={(record) => <Row key={record.key} record={record} storeId={storeId} mayWrite={mayWrite} />}
        empty={<Empty icon="store" title={words.empty} text={words.emptyText} command={words.emptyCommand} />}
      />
      {isMaking && <RecordForm storeId={storeId} close={() => setMaking(false)} />}
    </>
  );
}

function Row({ record, storeId, mayWrite }: { record: DataRecord; storeId: string; mayWrite: boolean }) {
  const { key, updated_at: updatedAt, expires_at: expiresAt } = record;
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="is-block">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="row-summary">
          <code className="grow cut">
            <Foreign>{key}</Foreign>
          </code>
          {expiresAt !== null && <span className="badge">{words.expires}</span>}
          <span className="soft">
            <Ago ms={updatedAt * 1000} />
          </span>
        </summary>
        {isOpen && <RecordValue storeId={storeId} id={key} mayWrite={mayWrite} />}
      </details>
    </li>
  );
}
