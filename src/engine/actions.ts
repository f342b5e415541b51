// Everything that callers may ask for, as one object.

import type { Clock, Ids, Random } from '../ports.ts';
import type { Runner } from '../runner/runner.ts';
import type { Store } from '../store/store.ts';
import { createDirects } from './directs.ts';
import type { Emit } from './emit.ts';
import { createOwners } from './owners.ts';
import { createSources } from './sources.ts';
import { createSubscriptions } from './subscriptions.ts';
import type { Waiters } from './waiters.ts';
import { createWebhooks } from './webhooks.ts';
import { createWorkflows } from './workflows.ts';

export interface ActionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly runner: Runner;
  readonly waiters: Waiters;
  readonly emit: Emit;
  readonly reasonAgainst: (url: string) => string | null;
  readonly newSecret: (bytes: Uint8Array) => string;
  readonly wakeTimes: () => void;
  readonly wakeDeliveries: () => void;
  readonly letGo: (webhookId: string) => void;
}

export type Actions = ReturnType<typeof createActions>;

export function createActions(deps: ActionDeps) {
  return {
    accept: deps.emit,
    ...createWorkflows(deps),
    ...createDirects(deps),
    ...createSources(deps),
    ...createWebhooks(deps),
    ...createSubscriptions(deps),
    ...createOwners(deps),
  };
}
