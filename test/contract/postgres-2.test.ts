// The other half of the store contract on the newest Postgres, on the server that the whole run shares.

import { postgresHarness } from '../support/postgres/contract.ts';
import { sharedPostgres } from '../support/postgres/shared.ts';
import { plansTest } from './postgres-plans.ts';
import { storeContract } from './store.ts';

storeContract('postgres', postgresHarness(sharedPostgres, 0.15), 'odd');
plansTest();
