// A store with one owner in it, and the few moves that every test is made of.

import { equal } from 'node:assert/strict';
import { utf8 } from '../../src/domain/bytes.ts';
import type { Attempt, ClaimedDelivery } from '../../src/domain/delivery/delivery.ts';
import { EMAIL, ERRORS, HTTP, type NewEmission, RUN } from '../../src/domain/emission.ts';
import { failureOfDelivery } from '../../src/domain/failure.ts';
import type { ApiKey } from '../../src/domain/keys.ts';
import type { Owner, Runnable, Source, Subscription, Trigger, Webhook, Workflow } from '../../src/domain/resource.ts';
import { type ClaimedRun, NO_OUTCOME, type RunOutcome } from '../../src/domain/run/run.ts';
import { endOf, endOfAttempt } from '../../src/domain/run/run-end.ts';
import type { WaitAsked } from '../../src/domain/run/wait.ts';
import type { Ids } from '../../src/ports.ts';
import type { SourceWrite, WorkflowWrite } from '../../src/store/contract/resources.ts';
import type { Appended, AttemptEnd, Attempted, Finished, FreeSlots, Store } from '../../src/store/contract/store.ts';
import {
  aFault,
  all,
  anAttempt,
  at,
  CountedSlots,
  CountingIds,
  defined,
  failed,
  type Harness,
  json,
  none,
  type Opened,
  only,
  succeeded,
  TestClock,
  waits,
} from './fixtures.ts';
import { hashOf, Maker, type SourceChanges, type WebhookChanges, type WorkflowChanges } from './maker.ts';

type EndedWaits = Awaited<ReturnType<Store['endWaits']>>;

export class Stage {
  readonly clock: TestClock;
  readonly ids: Ids;
  readonly make: Maker;
  readonly owner: Owner;
  /** The owner's global error workflow. */
  readonly global: Workflow;
  readonly key: ApiKey;
  readonly keyHash: string;
  /** Whatever can emit, and by which names it did; for counting by lists. */
  readonly emitterIds: string[] = [];
  readonly runnableIds: string[] = [];
  readonly names = new Set(['', ERRORS, EMAIL, HTTP, RUN]);
  /** Entries that were answered, whoever emitted them. */
  readonly appended = new Set<number>();
  readonly #seat: { readonly opened: Opened; store: Store };

  private constructor(seat: { opened: Opened; store: Store }, clock: TestClock, ids: Ids) {
    this.#seat = seat;
    this.clock = clock;
    this.ids = ids;
    this.make = new Maker(clock, ids);
    this.global = this.make.workflow({ name: 'global errors' });
    this.owner = this.make.owner({ globalErrorWorkflowId: this.global.id });
    this.key = this.make.key();
    this.keyHash = hashOf(ids.secret());
    this.#knows(this.owner.id, this.global.id);
    this.runnableIds.push(this.global.id);
  }

  static async open(harness: Harness): Promise<Stage> {
    const clock = new TestClock();
    const opened = await harness.open({ clock });
    return Stage.#with({ opened, store: opened.store }, clock, new CountingIds());
  }

  /** On a store that is open already, and closed by somebody else. */
  static on(store: Store, clock: TestClock, ids: Ids = new CountingIds()): Promise<Stage> {
    const opened = {
      store,
      reopen: () => Promise.reject(new Error('not ours')),
      raw: () => Promise.reject(new Error('not ours')),
      execute: () => Promise.reject(new Error('not ours')),
      [Symbol.asyncDispose]: async () => {},
    };
    return Stage.#with({ opened, store }, clock, ids);
  }

  static async #with(seat: { opened: Opened; store: Store }, clock: TestClock, ids: Ids): Promise<Stage> {
    const stage = new Stage(seat, clock, ids);
    const { owner, key, keyHash, global: workflow, make } = stage;
    const deployment = make.deployment(workflow);
    await seat.store.createOwner({
      owner,
      key,
      keyHash,
      workflow: { workflow, deployment, triggers: [], subscriptions: [] },
    });
    return stage;
  }

  /** A second owner in the same store. */
  neighbour(): Promise<Stage> {
    return Stage.#with(this.#seat, this.clock, this.ids);
  }

  get store(): Store {
    return this.#seat.store;
  }

  async reopen(): Promise<void> {
    this.#seat.store = await this.#seat.opened.reopen();
  }

  /** All that the store keeps, as it stands on disk or in its tables. */
  raw(): Promise<string> {
    return this.#seat.opened.raw();
  }

  /** SQL behind the store's back. */
  execute(sql: string): Promise<void> {
    return this.#seat.opened.execute(sql);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#seat.opened[Symbol.asyncDispose]();
  }

  // What owners make.

  async workflow(changes: WorkflowChanges = {}): Promise<Workflow> {
    return (await this.write({ workflow: this.make.workflow(changes) })).workflow;
  }

  /** A workflow with an HTTP trigger. */
  async hooked(changes: WorkflowChanges = {}): Promise<{ workflow: Workflow; trigger: Trigger; write: WorkflowWrite }> {
    const workflow = this.make.workflow(changes);
    const write = await this.write({ workflow, triggers: [this.make.httpTrigger(workflow.id)] });
    return { workflow, trigger: at(write.triggers, 0), write };
  }

  /** Creates a workflow; every trigger gets the subscription that stands for it. */
  async write(parts: { workflow: Workflow; triggers?: readonly Trigger[] }): Promise<WorkflowWrite> {
    const { workflow, triggers = [] } = parts;
    const subscriptions = triggers.map((t) =>
      this.make.subscription({ from: t.id, to: workflow.id }, { via: 'trigger' }),
    );
    const write = { workflow, deployment: this.make.deployment(workflow), triggers, subscriptions };
    await this.store.createWorkflow(write);
    this.#knows(workflow.id, ...triggers.map((t) => t.id));
    this.runnableIds.push(workflow.id);
    return write;
  }

  async source(changes: SourceChanges = {}): Promise<Source> {
    const source = this.make.source(changes);
    await this.store.createSource({
      source,
      deployment: this.make.deployment(source, source.componentCode),
      triggers: [],
      subscriptions: [],
    });
    this.#knows(source.id);
    this.runnableIds.push(source.id);
    return source;
  }

  /** From beginning to end; false: it is gone. */
  async updateSource(write: SourceWrite): Promise<boolean> {
    const { ownerId, id: sourceId } = write.source;
    await this.store.beginSourceChange({ ownerId, sourceId, kind: 'update' });
    return this.store.updateSource(write);
  }

  async deleteSource({ ownerId, id: sourceId }: Source): Promise<boolean> {
    await this.store.beginSourceChange({ ownerId, sourceId, kind: 'delete' });
    return this.store.deleteSource(ownerId, sourceId);
  }

  async webhook(changes: WebhookChanges = {}): Promise<Webhook> {
    const webhook = this.make.webhook(changes);
    await this.store.createWebhook(webhook);
    this.#knows(webhook.id);
    return webhook;
  }

  async subscribe(from: string, to: string, name = '', changes: Partial<Subscription> = {}): Promise<Subscription> {
    const made = await this.store.createSubscription(this.make.subscription({ from, to, name }, changes));
    if ('missing' in made) throw new Error(`missing: ${made.missing}`);
    return made.subscription;
  }

  // What happens.

  async append(emitterId: string, changes: Partial<NewEmission> = {}, slots: FreeSlots = none()): Promise<Appended> {
    this.names.add(changes.name ?? '');
    const appended = await this.store.append(this.make.emission(emitterId, changes), slots);
    this.appended.add(appended.entry);
    return appended;
  }

  /** An emission that one workflow or source alone hears. */
  appendFor(listenerId: string, changes: Partial<NewEmission> = {}, slots: FreeSlots = none()): Promise<Appended> {
    return this.append(this.owner.id, { name: RUN, onlyListenerId: listenerId, ...changes }, slots);
  }

  /** A run of that workflow or source, held by this node; nothing of it may be queued before. */
  async started(runnable: Pick<Runnable, 'id'>, changes: Partial<NewEmission> = {}): Promise<ClaimedRun> {
    const { claims } = await this.appendFor(runnable.id, changes, all());
    return only(claims.runs);
  }

  /** Claims queued runs; of these workflows only, when given. */
  async claim(limit = 100, ...runnableIds: readonly string[]): Promise<readonly ClaimedRun[]> {
    const wanted = (id: string): boolean => runnableIds.length === 0 || runnableIds.includes(id);
    return (await this.store.claimRuns(limit, new CountedSlots(limit, wanted))).runs;
  }

  tryEnd(run: ClaimedRun, outcome: RunOutcome = succeeded(), slots: FreeSlots = none()): Promise<Finished> {
    for (const { name } of outcome.outgoing) this.names.add(name);
    return this.store.finishRun(endOf(run, outcome, this.clock.nowMs()), slots);
  }

  /** Runs that were claimed and did not run. */
  async giveBack(...runs: readonly ClaimedRun[]): Promise<void> {
    for (const run of runs) await this.tryEnd(run, { ...NO_OUTCOME, end: { kind: 'returned' } });
  }

  async end(run: ClaimedRun, outcome: RunOutcome = succeeded(), slots: FreeSlots = none()): Promise<Finished> {
    const finished = await this.tryEnd(run, outcome, slots);
    equal(finished.held, true, 'the lease is ours');
    return finished;
  }

  /** A run of that workflow that has begun to wait. */
  async waiting(runnable: Pick<Runnable, 'id'>, wait: Partial<WaitAsked> = {}): Promise<ClaimedRun> {
    const run = await this.started(runnable);
    await this.end(run, waits(wait));
    return run;
  }

  /** Its attempt has failed, and is tried again. */
  tryAgain(run: ClaimedRun, inMs: number, more: Partial<RunOutcome> = {}): Promise<Finished> {
    const end = { kind: 'failed', fault: aFault() } as const;
    const nowMs = this.clock.nowMs();
    return this.store.finishRun(endOfAttempt(run, { ...NO_OUTCOME, ...more, end }, { nowMs, inMs }), none());
  }

  /** Time passes, and waits that are due by then end. */
  async pass(ms: number): Promise<EndedWaits> {
    this.clock.advance(ms);
    return this.store.endWaits(100);
  }

  /** A failed run of that workflow; the entry of its `$errors`. */
  async failure(runnable: Pick<Runnable, 'id'>, code?: string, slots: FreeSlots = none()): Promise<number> {
    return defined((await this.end(await this.started(runnable), failed(code), slots)).errorEntry);
  }

  async deliveries(limit = 100): Promise<readonly ClaimedDelivery[]> {
    return (await this.store.claimDeliveries(limit, all())).deliveries;
  }

  delivered(delivery: ClaimedDelivery, slots: FreeSlots = none()): Promise<Attempted> {
    return this.attempt({ delivery, state: 'delivered' }, slots);
  }

  retrying(
    delivery: ClaimedDelivery,
    inMs: number,
    made: Partial<Attempt> = {},
    slots: FreeSlots = none(),
  ): Promise<Attempted> {
    const nextAttemptAtMs = this.clock.nowMs() + inMs;
    const whole = anAttempt({ status: 500, detail: 'answered 500', ...made });
    return this.attempt({ delivery, state: 'retrying', nextAttemptAtMs, made: whole }, slots);
  }

  exhausted(delivery: ClaimedDelivery, more: Partial<AttemptEnd> = {}, slots: FreeSlots = none()): Promise<Attempted> {
    const made = anAttempt({ status: 500, detail: 'answered 500' });
    const error = failureOfDelivery(delivery, made, { code: 'DeliveryExhausted' });
    return this.attempt({ delivery, state: 'exhausted', made, error, ...more }, slots);
  }

  attempt(
    end: Pick<AttemptEnd, 'delivery' | 'state'> & Partial<AttemptEnd>,
    slots: FreeSlots = none(),
  ): Promise<Attempted> {
    const made = { ...anAttempt(), startedAtMs: this.clock.nowMs() };
    const rest = { made, nextAttemptAtMs: null, pauseUntilMs: null, error: null, disableWebhook: false };
    return this.store.recordAttempt({ ...rest, ...end }, slots);
  }

  #knows(...ids: readonly string[]): void {
    this.emitterIds.push(...ids);
  }
}

/** Fit for the bodies of many emissions: each different, so that a mix-up shows. */
export const numbered = (n: number): Uint8Array => json({ n });

/** JSON that no parser gives back as it was. */
export const STUBBORN = utf8('{ "b":12345678901234567890,"a" : 1e400,"a":-0.0, "z":"\\u0000\\ud800é\\/" ,"":[ ]}\n');
