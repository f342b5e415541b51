// The store contract on the newest Postgres, on the server that the whole run shares.

import { postgresHarness } from '../support/postgres/contract.ts';
import { sharedPostgres } from '../support/postgres/shared.ts';
import { storeContract } from './store.ts';

storeContract('postgres', postgresHarness(sharedPostgres));
