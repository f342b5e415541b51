// The promises of src/store/contract/store.ts and src/store/contract/resources.ts. A backend passes all of this, or it is no backend:
// see sqlite.test.ts for how one plugs in.

import { describe } from 'node:test';
import { setBackContract } from './clock/set-back.ts';
import { watchClockContract } from './clock/watches.ts';
import { accountsContract } from './config/accounts.ts';
import { auditContract } from './config/audit.ts';
import { changesContract } from './config/changes.ts';
import { channelsContract } from './config/channels.ts';
import { dataStoresContract } from './config/data-stores.ts';
import { deploymentsContract } from './config/deployments.ts';
import { namedWorkflowsContract } from './config/named-workflows.ts';
import { ownerDeletionsContract } from './config/owner-deletions.ts';
import { ownerPurgesContract } from './config/owner-purges.ts';
import { ownersContract } from './config/owners.ts';
import { quotasContract } from './config/quotas.ts';
import { redactionContract } from './config/redaction.ts';
import { sealingContract } from './config/sealing.ts';
import { sourceChangesContract } from './config/source-changes.ts';
import { sourcesContract } from './config/sources.ts';
import { subscriptionsContract } from './config/subscriptions.ts';
import { workflowsContract } from './config/workflows.ts';
import { deliveriesContract } from './deliveries/deliveries.ts';
import { healthContract } from './deliveries/health.ts';
import { operationOrdersContract } from './deliveries/operation-orders.ts';
import { operationsContract } from './deliveries/operations.ts';
import { pausesContract } from './deliveries/pauses.ts';
import { resendingContract } from './deliveries/resending.ts';
import { standingContract } from './deliveries/standing.ts';
import { webhooksContract } from './deliveries/webhooks.ts';
import type { Harness } from './fixtures.ts';
import { fullEmittersContract } from './groups/full-emitters.ts';
import { givenUpMailsContract } from './groups/given-up-mails.ts';
import { settledContract } from './groups/settled.ts';
import { acceptingContract } from './log/accepting.ts';
import { concurrencyContract } from './log/concurrency.ts';
import { countersContract } from './log/counters.ts';
import { crashContract } from './log/crash.ts';
import { errorGroupsContract } from './log/error-groups.ts';
import { errorsContract } from './log/errors.ts';
import { fallbacksContract } from './log/fallbacks.ts';
import { groupStatesContract } from './log/group-states.ts';
import { httpSendsContract } from './log/http-sends.ts';
import { idempotencyContract } from './log/idempotency.ts';
import { interleavingsContract } from './log/interleavings.ts';
import { laterContract } from './log/later.ts';
import { ledgerContract } from './log/ledger.ts';
import { ledgerHoursContract } from './log/ledger-hours.ts';
import { mailsContract } from './log/mails.ts';
import { noticesContract } from './log/notices.ts';
import { orderingContract } from './log/ordering.ts';
import { pagesContract } from './log/pages.ts';
import { routingContract } from './log/routing.ts';
import { schedulesContract } from './log/schedules.ts';
import { streamsContract } from './log/streams.ts';
import { ticksContract } from './log/ticks.ts';
import { replaysByHandContract } from './replays/by-hand.ts';
import { dryRunsContract } from './replays/dry-runs.ts';
import { fixedGroupsContract } from './replays/fixed-groups.ts';
import { replaysFromStepContract } from './replays/from-step.ts';
import { replayOrdersContract } from './replays/replay-orders.ts';
import { replayedBeforeContract } from './replays/replayed-before.ts';
import { replaysContract } from './replays/replays.ts';
import { sameErrorsContract } from './replays/same-errors.ts';
import { besideReadersContract } from './retention/beside-readers.ts';
import { errorRetentionContract } from './retention/errors.ts';
import { pruningContract } from './retention/pruning.ts';
import { claimingContract } from './runs/claiming.ts';
import { fairnessContract } from './runs/fairness.ts';
import { finishingContract } from './runs/finishing.ts';
import { continuationContract } from './runs/going-on.ts';
import { healthContract as runHealthContract } from './runs/health.ts';
import { longestWaitingContract } from './runs/longest-waiting.ts';
import { queuesContract } from './runs/queues.ts';
import { retriesContract } from './runs/retries.ts';
import { runTimesContract } from './runs/run-times.ts';
import { throttlesContract } from './runs/throttles.ts';
import { waitOrdersContract } from './runs/wait-orders.ts';
import { waitPlaysContract } from './runs/wait-plays.ts';
import { waitsContract } from './runs/waits.ts';
import { endedWaitsContract } from './runs/waits-ended.ts';
import { groupSearchesContract } from './searches/error-groups.ts';
import { searchesContract } from './searches/errors.ts';
import { textOfGroupsContract } from './searches/groups.ts';
import { runSearchesContract } from './searches/runs.ts';
import { heartbeatsContract } from './watches/heartbeats.ts';
import { watchesContract } from './watches/watches.ts';

const CONTRACTS: readonly ((harness: Harness) => void)[] = [
  ownersContract,
  quotasContract,
  redactionContract,
  workflowsContract,
  namedWorkflowsContract,
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
  errorGroupsContract,
  errorRetentionContract,
  fullEmittersContract,
  groupStatesContract,
  sourcesContract,
  sourceChangesContract,
  accountsContract,
  channelsContract,
  noticesContract,
  fallbacksContract,
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
  givenUpMailsContract,
  httpSendsContract,
  schedulesContract,
  settledContract,
  ticksContract,
  setBackContract,
  pagesContract,
  searchesContract,
  runSearchesContract,
  textOfGroupsContract,
  ledgerContract,
  ledgerHoursContract,
  countersContract,
  besideReadersContract,
  pruningContract,
  concurrencyContract,
  crashContract,
  waitsContract,
  endedWaitsContract,
  waitOrdersContract,
  continuationContract,
  longestWaitingContract,
  throttlesContract,
  waitPlaysContract,
  interleavingsContract,
  auditContract,
  runTimesContract,
  runHealthContract,
  groupSearchesContract,
  replaysContract,
  replayedBeforeContract,
  fixedGroupsContract,
  replaysByHandContract,
  replaysFromStepContract,
  replayOrdersContract,
  watchesContract,
  heartbeatsContract,
  watchClockContract,
  sameErrorsContract,
  dryRunsContract,
  ownerDeletionsContract,
  ownerPurgesContract,
];

/** `part`: every second one, for a backend on which all of them take long in one process. */
export function storeContract(name: string, harness: Harness, part?: 'odd' | 'even'): void {
  describe(`${name} store${part === undefined ? '' : `, ${part}`}`, () => {
    for (const [i, contract] of CONTRACTS.entries()) {
      if (part === undefined || (part === 'even') === (i % 2 === 0)) contract(harness);
    }
  });
}
