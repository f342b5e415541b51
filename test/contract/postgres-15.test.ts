// The store contract on the oldest Postgres that Errand supports, on a server of its own.

import { after } from 'node:test';
import { postgresHarness } from '../support/postgres/contract.ts';
import { startPostgres } from '../support/postgres/server.ts';
import { storeContract } from './store.ts';

const server = await startPostgres({ version: 15 });
after(() => server.dispose());

storeContract(
  'postgres 15',
  postgresHarness(() => Promise.resolve(server.databases), 0.1),
);
