import { TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { createDataStore, dataStoresQuery } from '../api/stores.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Empty } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago } from '../parts/time.tsx';
import { ListPage } from './list-page.tsx';

const words = T.dataStores;

export function DataStoresPage() {
  const mayWrite = useMay('write');
  return (
    <ListPage
      title={words.title}
      create={mayWrite ? words.create : undefined}
      dialog={(close) => <NewStore close={close} />}
      of={useQuery(dataStoresQuery)}
      empty={<Empty icon="store" title={words.none} text={words.noneText} command={words.command} />}
      row={({ id, name, size, updated_at: updatedAt }) => (
        <li key={id} className="group-link">
          <div className="grow cut">
            <Link to="/data-stores/$storeId" params={{ storeId: id }}>
              <Foreign>{name}</Foreign>
            </Link>
          </div>
          <span className="soft">{words.records(size)}</span>
          <span className="soft">
            <Ago ms={updatedAt * 1000} />
          </span>
        </li>
      )}
    />
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
