// The promises of src/store/store.ts and src/store/resources.ts. A backend passes all of this, or it is no backend:
// see sqlite.test.ts for how one plugs in.

import { describe } from 'node:test';
import { acceptingContract } from './accepting.ts';
import { accountsContract } from './accounts.ts';
import { changesContract } from './changes.ts';
import { claimingContract } from './claiming.ts';
import { concurrencyContract } from './concurrency.ts';
import { crashContract } from './crash.ts';
import { deliveriesContract } from './deliveries.ts';
import { errorsContract } from './errors.ts';
import { fairnessContract } from './fairness.ts';
import { finishingContract } from './finishing.ts';
import type { Harness } from './fixtures.ts';
import { healthContract } from './health.ts';
import { idempotencyContract } from './idempotency.ts';
import { interleavingsContract } from './interleavings.ts';
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
import { resendingContract } from './resending.ts';
import { retriesContract } from './retries.ts';
import { routingContract } from './routing.ts';
import { schedulesContract } from './schedules.ts';
import { sealingContract } from './sealing.ts';
import { sourcesContract } from './sources.ts';
import { standingContract } from './standing.ts';
import { streamsContract } from './streams.ts';
import { subscriptionsContract } from './subscriptions.ts';
import { webhooksContract } from './webhooks.ts';
import { workflowsContract } from './workflows.ts';

export function storeContract(name: string, harness: Harness): void {
  describe(`${name} store`, () => {
    ownersContract(harness);
    workflowsContract(harness);
    webhooksContract(harness);
    changesContract(harness);
    sealingContract(harness);
    subscriptionsContract(harness);
    streamsContract(harness);
    routingContract(harness);
    acceptingContract(harness);
    idempotencyContract(harness);
    claimingContract(harness);
    finishingContract(harness);
    errorsContract(harness);
    sourcesContract(harness);
    accountsContract(harness);
    deliveriesContract(harness);
    retriesContract(harness);
    pausesContract(harness);
    healthContract(harness);
    resendingContract(harness);
    operationsContract(harness);
    operationOrdersContract(harness);
    orderingContract(harness);
    fairnessContract(harness);
    standingContract(harness);
    queuesContract(harness);
    mailsContract(harness);
    schedulesContract(harness);
    pagesContract(harness);
    ledgerContract(harness);
    pruningContract(harness);
    concurrencyContract(harness);
    crashContract(harness);
    interleavingsContract(harness);
  });
}
