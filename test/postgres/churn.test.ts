// Two nodes on one database, everything at once: events, ends, claims, cancels, webhooks switched off and on, put off,
// ordered and not, their deliveries sent again one by one and by operations, workflows and webhooks deleted and made anew,
// retention. Whatever met whatever: no verb fails, and in the end everything adds up.

import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import type { Webhook, Workflow } from '../../src/domain/resource.ts';
import { endOf } from '../../src/domain/run/run-end.ts';
import type { Claims, Store } from '../../src/store/contract/store.ts';
import { checkPostgres } from '../../src/store/postgres/maintenance/check.ts';
import { all, anAttempt, CountingIds, failed, none, succeeded } from '../contract/fixtures.ts';
import { Maker } from '../contract/maker.ts';
import { newDatabase } from '../support/postgres/shared.ts';
import { openTestStore } from '../support/postgres/store.ts';

const EVENTS_PER_CALLER = 20;
const CALLERS = 8;
/** A webhook that is put off is claimed from again while the test lasts. */
const PAUSE_MS = 20;

class Churn {
  readonly #stores: readonly Store[];
  readonly #make: Maker;
  readonly #runs: number[] = [];
  #workflow: Workflow;
  #webhook: Webhook;
  #turn = 0;
  /** Nobody disables, or puts off for ever, what waits for its end. */
  #isSettling = false;

  constructor(stores: readonly Store[], make: Maker) {
    this.#stores = stores;
    this.#make = make;
    this.#workflow = make.workflow({ settings: { concurrency: 4 } });
    this.#webhook = make.webhook();
  }

  /** One node after the other, so that both have a hand in everything. */
  get #store(): Store {
    return this.#stores[this.#turn++ % this.#stores.length] as Store;
  }

  async makeListeners(emitterId: string): Promise<void> {
    this.#workflow = this.#make.workflow({ settings: { concurrency: 4 } });
    this.#webhook = this.#make.webhook();
    const [workflow, webhook] = [this.#workflow, this.#webhook];
    const deployment = this.#make.deployment(workflow);
    await this.#store.createWorkflow({ workflow, deployment, triggers: [], subscriptions: [] });
    await this.#store.createWebhook(webhook);
    for (const to of [workflow.id, webhook.id]) {
      await this.#store.createSubscription(this.#make.subscription({ from: emitterId, to }));
    }
  }

  async send(emitterId: string): Promise<void> {
    for (let n = 0; n < EVENTS_PER_CALLER; n++) {
      const { firstRun, claims } = await this.#store.append(
        this.#make.emission(emitterId),
        n % 2 === 0 ? all() : none(),
      );
      if (firstRun !== null) this.#runs.push(firstRun);
      await this.end(claims);
      await this.#disturb(emitterId, n);
    }
  }

  async #disturb(emitterId: string, n: number): Promise<void> {
    if (n % 3 === 0) await this.claim(this.#store);
    if (n % 4 === 1) await this.#cancel();
    if (n % 5 === 2) await this.#toggle();
    if (n % 6 === 3) await this.#sendAgain();
    if (n % 8 === 5) await this.#store.stepOperation();
    if (n % 20 === 7) await this.#replace(emitterId);
    if (n % 20 === 13) await this.#store.prune(this.#make.clock.nowMs() - 100, 0);
  }

  /** Ends what was claimed, one way or another. */
  async end({ runs, deliveries }: Claims): Promise<void> {
    const nowMs = this.#make.clock.nowMs();
    for (const run of runs) {
      const outcome = run.run % 5 === 0 ? failed() : succeeded();
      await this.#store.finishRun(endOf(run, outcome, nowMs), none());
    }
    for (const delivery of deliveries) {
      const state = delivery.attempt < 3 && delivery.delivery % 3 === 0 ? 'retrying' : 'delivered';
      const nextAttemptAtMs = state === 'retrying' ? nowMs : null;
      const isPutOff = state === 'retrying' && delivery.delivery % 4 === 0 && !this.#isSettling;
      const pauseUntilMs = isPutOff ? nowMs + PAUSE_MS : null;
      const end = { delivery, made: anAttempt(), nextAttemptAtMs, pauseUntilMs, error: null };
      const disableWebhook = !this.#isSettling && delivery.delivery % 31 === 0;
      await this.#store.recordAttempt({ ...end, state, disableWebhook }, none());
    }
  }

  async claim(store: Store): Promise<number> {
    const runs = await store.claimRuns(10, all());
    await this.end(runs);
    const deliveries = await store.claimDeliveries(10, all());
    await this.end(deliveries);
    return runs.runs.length + deliveries.deliveries.length;
  }

  async #cancel(): Promise<void> {
    const run = this.#runs.at(-1);
    if (run !== undefined) await this.#store.cancelRun(this.#make.ownerId, run);
  }

  async #toggle(): Promise<void> {
    const [active, ordered] = [this.#turn % 3 !== 0, this.#turn % 2 === 0];
    const rateLimit = this.#turn % 5 === 0 ? { limit: 1, intervalMs: PAUSE_MS } : null;
    await this.#store.updateWebhook(this.#make.ownerId, this.#webhook.id, (before) => ({
      ...before,
      active,
      settings: { ...before.settings, ordered, rateLimit },
    }));
  }

  async #sendAgain(): Promise<void> {
    const { ownerId } = this.#make;
    const of = { ownerId, listenerId: this.#webhook.id };
    for (const { delivery } of (await this.#store.listDeliveries(of, { limit: 2 })).items) {
      await this.#store.resendDelivery(ownerId, delivery);
    }
    const states = ['delivered', 'retrying', 'cancelled'] as const;
    await this.#store.createOperation(this.#make.operation(this.#webhook.id, { states }));
  }

  /** All operations, to their end; until then, deliveries are claimed that they wait for. */
  async settle(store: Store): Promise<void> {
    this.#isSettling = true;
    // All of them: when two callers replace the listeners at once, one of the two new webhooks is in nobody's hands.
    for (const { id } of (await store.listWebhooks(this.#make.ownerId, { limit: 100 })).items) {
      await store.updateWebhook(this.#make.ownerId, id, (before) => ({
        ...before,
        url: `${before.url}/new`,
        active: true,
        settings: { ...before.settings, rateLimit: null },
      }));
    }
    while ((await this.claim(store)) + Number((await store.stepOperation()).isMore) > 0);
  }

  async #replace(emitterId: string): Promise<void> {
    const [workflow, webhook] = [this.#workflow, this.#webhook];
    await this.#store.deleteWorkflow(this.#make.ownerId, workflow.id);
    await this.#store.deleteWebhook(this.#make.ownerId, webhook.id);
    await this.makeListeners(emitterId);
  }
}

test('whatever meets whatever on two nodes adds up', async () => {
  const { url, drop } = await newDatabase();
  const stores = [await openTestStore({ url, clock: null }), await openTestStore({ url, clock: null })] as const;
  const [first] = stores;
  try {
    const make = new Maker(first.clock, new CountingIds());
    const workflow = make.workflow();
    const source = make.source();
    const parts = { triggers: [], subscriptions: [] };
    await first.createOwner({
      owner: make.owner({ globalErrorWorkflowId: workflow.id }),
      key: make.key(),
      keyHash: 'hash',
      workflow: { workflow, deployment: make.deployment(workflow), ...parts },
    });
    await first.createSource({ source, deployment: make.deployment(source), ...parts });
    const churn = new Churn(stores, make);
    await churn.makeListeners(source.id);
    await Promise.all(Array.from({ length: CALLERS }, () => churn.send(source.id)));
    await churn.settle(first);
    const { findings, figures } = await checkPostgres(url);
    deepEqual(findings, []);
    const { items: operations } = await first.listOperations({ ownerId: make.ownerId }, { limit: 100 });
    deepEqual(
      operations.filter(({ state }) => state === 'running' || state === 'paused'),
      [],
    );
    // Retention took some of them, so the ledger is asked how many there were.
    const { emissions } = await first.ledger(make.ownerId);
    deepEqual([emissions >= CALLERS * EVENTS_PER_CALLER, typeof figures], [true, 'object']);
  } finally {
    for (const store of stores) await store.close();
    await drop();
  }
});
