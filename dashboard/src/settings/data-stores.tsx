import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { createDataStore, dataStoresQuery } from '../api/stores.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Empty, Failed, Loading } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { SettingsFrame } from './frame.tsx';

const words = T.dataStores;

export function DataStoresPage() {
  const mayWrite = useMay('write');
  const [isMaking, setMaking] = useState(false);
  const { data: all, error, isPending, refetch } = useQuery(dataStoresQuery);
  return (
    <SettingsFrame
      title={words.title}
      head={
        mayWrite && (
          <Button size="xs" onClick={() => setMaking(true)}>
            {words.create}
          </Button>
        )
      }
    >
      <section className="card" aria-label={words.title}>
        {isPending && <Loading />}
        {error && <Failed error={error} again={() => void refetch()} />}
        {all?.length === 0 && <Empty icon="store" title={words.none} text={words.noneText} />}
        <ul className="rows">
          {all?.map(({ id, name, size, updated_at: updatedAt }) => (
            <li key={id} className="group-link">
              <div className="grow cut">
                <Link to="/data-stores/$storeId" params={{ storeId: id }}>
                  <bdi>{name}</bdi>
                </Link>
              </div>
              <span className="soft">{words.records(size)}</span>
              <span className="soft">
                <Ago ms={updatedAt * 1000} />
              </span>
            </li>
          ))}
        </ul>
      </section>
      {isMaking && <NewStore close={() => setMaking(false)} />}
    </SettingsFrame>
  );
}

function NewStore({ close }: { close: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const create = async (): Promise<void> => {
    await createDataStore(name.trim());
    await client.invalidateQueries({ queryKey: ['data-stores'] });
  };
  return (
    <FormDialog title={words.create} submit={words.create} close={close} run={create} isReady={name.trim() !== ''}>
      <TextInput label={words.name} required value={name} onChange={(typed) => setName(typed.currentTarget.value)} />
    </FormDialog>
  );
}
