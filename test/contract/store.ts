// The promises of src/store/contract/store.ts and src/store/contract/resources.ts. A backend passes all of this, or it is no backend:
// see sqlite.test.ts for how one plugs in.

import { describe } from 'node:test';
import { acceptingContract } from './accepting.ts';
import { accountsContract } from './accounts.ts';
import { auditContract } from './audit.ts';
import { changesContract } from './changes.ts';
import { claimingContract } from './claiming.ts';
import { concurrencyContract } from './concurrency.ts';
import { countersContract } from './counters.ts';
import { crashContract } from './crash.ts';
import { dataStoresContract } from './data-stores.ts';
import { deliveriesContract } from './deliveries.ts';
import { deploymentsContract } from './deployments.ts';
import { errorsContract } from './errors.ts';
import { fairnessContract } from './fairness.ts';
import { finishingContract } from './finishing.ts';
import type { Harness } from './fixtures.ts';
import { goingOnContract } from './going-on.ts';
import { healthContract } from './health.ts';
import { httpSendsContract } from './http-sends.ts';
import { idempotencyContract } from './idempotency.ts';
import { interleavingsContract } from './interleavings.ts';
import { laterContract } from './later.ts';
import { ledgerContract } from './ledger.ts';
import { mailsContract } from './mails.ts';
import { operationOrdersContract } from './operation-orders.ts';
import { operationsContract } from './operations.ts';
import { orderingContract } from './ordering.ts';
import { ownersContract } from './owners.ts';
import { pagesContract } from './pages.ts';
import { pausesContract } from './pauses.ts';
import { pruningContract } from './pruning.ts';
import { queuesContract } from './queues.ts';
import { quotasContract } from './quotas.ts';
import { resendingContract } from './resending.ts';
import { retriesContract } from './retries.ts';
import { routingContract } from './routing.ts';
import { runTimesContract } from './run-times.ts';
import { schedulesContract } from './schedules.ts';
import { sealingContract } from './sealing.ts';
import { sourceChangesContract } from './source-changes.ts';
import { sourcesContract } from './sources.ts';
import { standingContract } from './standing.ts';
import { streamsContract } from './streams.ts';
import { subscriptionsContract } from './subscriptions.ts';
import { throttlesContract } from './throttles.ts';
import { ticksContract } from './ticks.ts';
import { waitOrdersContract } from './wait-orders.ts';
import { waitPlaysContract } from './wait-plays.ts';
import { waitsContract } from './waits.ts';
import { endedWaitsContract } from './waits-ended.ts';
import { webhooksContract } from './webhooks.ts';
import { workflowsContract } from './workflows.ts';

const CONTRACTS: readonly ((harness: Harness) => void)[] = [
  ownersContract,
  quotasContract,
  workflowsContract,
  deploymentsContract,
  webhooksContract,
  changesContract,
  sealingContract,
  subscriptionsContract,
  streamsContract,
  laterContract,
  routingContract,
  acceptingContract,
  idempotencyContract,
  claimingContract,
  finishingContract,
  errorsContract,
  sourcesContract,
  sourceChangesContract,
  accountsContract,
  dataStoresContract,
  deliveriesContract,
  retriesContract,
  pausesContract,
  healthContract,
  resendingContract,
  operationsContract,
  operationOrdersContract,
  orderingContract,
  fairnessContract,
  standingContract,
  queuesContract,
  mailsContract,
  httpSendsContract,
  schedulesContract,
  ticksContract,
  pagesContract,
  ledgerContract,
  countersContract,
  pruningContract,
  concurrencyContract,
  crashContract,
  waitsContract,
  endedWaitsContract,
  waitOrdersContract,
  goingOnContract,
  throttlesContract,
  waitPlaysContract,
  interleavingsContract,
  auditContract,
  runTimesContract,
];

/** `part`: every second one, for a backend on which all of them take long in one process. */
export function storeContract(name: string, harness: Harness, part?: 'odd' | 'even'): void {
  describe(`${name} store${part === undefined ? '' : `, ${part}`}`, () => {
    for (const [i, contract] of CONTRACTS.entries()) {
      if (part === undefined || (part === 'even') === (i % 2 === 0)) contract(harness);
    }
  });
}
