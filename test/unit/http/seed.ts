// Puts records into the store of a test, as the engine would.

import { OWNER_SCOPES, type Scope } from '../../../src/domain/keys.ts';
import type { Source, Subscription, Trigger, Webhook, Workflow } from '../../../src/domain/resource.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { apiKey, deployment, idOf, sha256, source, subscription, workflow } from './records.ts';

export interface Seed {
  workflows(...workflows: readonly Workflow[]): Promise<void>;
  /** With these triggers of theirs. */
  source(source: Source, ...triggers: readonly Trigger[]): Promise<void>;
  /** Each with a workflow or source of its own. */
  triggers(...triggers: readonly Trigger[]): Promise<void>;
  webhooks(...webhooks: readonly Webhook[]): Promise<void>;
  subscriptions(...subscriptions: readonly Subscription[]): Promise<void>;
  /** The nth key, as callers send it. */
  key(n: number, scopes?: readonly Scope[], more?: Partial<ReturnType<typeof apiKey>>): Promise<string>;
}

const numberOf = (id: string): number => Number(/_0*(\d+)/.exec(id)?.[1]);

/** What stands for a trigger. */
function linkOf(trigger: Trigger): Subscription {
  const { id, ownerId, runnableId } = trigger;
  const ends = { emitterId: id, listenerId: runnableId, eventName: '' };
  return subscription(0, { id: idOf('sub_', 8000 + numberOf(id)), ownerId, ...ends, via: 'trigger' });
}

export function seedOf(store: Store): Seed {
  async function putWorkflow(one: Workflow, triggers: readonly Trigger[] = []): Promise<void> {
    const code = deployment(numberOf(one.deploymentId), { ownerId: one.ownerId, runnableId: one.id });
    await store.createWorkflow({ workflow: one, deployment: code, triggers, subscriptions: triggers.map(linkOf) });
  }
  async function putSource(one: Source, ...triggers: readonly Trigger[]): Promise<void> {
    const code = deployment(numberOf(one.deploymentId), { ownerId: one.ownerId, runnableId: one.id });
    await store.createSource({ source: one, deployment: code, triggers, subscriptions: triggers.map(linkOf) });
  }
  return {
    workflows: async (...workflows) => void (await Promise.all(workflows.map((one) => putWorkflow(one)))),
    source: putSource,
    triggers: async (...triggers) => {
      for (const trigger of triggers) {
        const { ownerId, runnableId } = trigger;
        const n = numberOf(runnableId);
        if (runnableId.startsWith('dc_')) await putSource(source(n, { ownerId }), trigger);
        else await putWorkflow(workflow(n, { ownerId }), [trigger]);
      }
    },
    webhooks: async (...webhooks) => void (await Promise.all(webhooks.map((one) => store.createWebhook(one)))),
    subscriptions: async (...subscriptions) => {
      for (const one of subscriptions) {
        const made = await store.createSubscription(one);
        if ('missing' in made) throw new Error(`the ${made.missing} of ${one.id} is missing`);
      }
    },
    key: async (n, scopes = OWNER_SCOPES, more = {}) => {
      const text = `a-key-of-the-number-${n}`;
      await store.createKey(apiKey(n, { scopes, ...more }), sha256(text));
      return text;
    },
  };
}
