// Everything that fails emits `$errors`; who hears of it, who does not, and that it always comes to an end.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { directEmission, ERRORS } from '../../../src/domain/emission.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { OWNER_MAIL } from '../../../src/domain/notices/channel.ts';
import { channelListener } from '../../../src/domain/notices/listener.ts';
import type { Receipt } from '../../../src/store/contract/records.ts';
import { all, defined, failed, type Harness, json, none, only, parsed, sameMembers, timesInTurn } from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { assertLedgerAddsUp, assertOneErrorPerFailure, runsOf } from './counting.ts';

async function receiptOf(stage: Stage, entry: number, listenerId: string): Promise<Receipt | undefined> {
  return (await stage.store.receipts(stage.owner.id, entry)).find((r) => r.listenerId === listenerId);
}

/** Fails every run that this node can get, until nothing is left to run. Returns how many failed. */
async function failAll(stage: Stage): Promise<number> {
  let count = 0;
  for (let runs = await stage.claim(); runs.length > 0; runs = await stage.claim()) {
    for (const run of runs) await stage.end(run, failed(`F${count++}`));
    if (count > 1000) throw new Error('it never ends');
  }
  return count;
}

export function errorsContract(harness: Harness): void {
  describe('a full queue', () => {
    it('fails the run beyond the limit', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked({ settings: { queueLimit: 2 } });
      await timesInTurn(2, () => stage.append(trigger.id));
      const { firstRun, entry } = await stage.append(trigger.id);
      const run = defined(await stage.store.getRun(stage.owner.id, defined(firstRun)));
      deepEqual([run.state, run.errorCode, run.entry], ['failed', 'QueueFull', entry]);
      const runs = await runsOf(stage, workflow.id);
      deepEqual(
        runs.map((r) => r.state),
        ['failed', 'queued', 'queued'],
      );
    });

    it('writes one error for each refused run', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked({ settings: { queueLimit: 1 } });
      await timesInTurn(4, (n) => stage.append(trigger.id, { body: Buffer.from(`{"n":${n}}`) }));
      const channel = { ownerId: stage.owner.id, emitterId: workflow.id, name: ERRORS };
      const { items } = await stage.store.listEmissions(channel, { limit: 100 }, true);
      const bodies = items.map((e) => parsed(e.body) as { original_event: { n: number }; error: { code: string } });
      deepEqual(
        bodies.map((b) => [b.original_event.n, b.error.code]),
        [3, 2, 1].map((n) => [n, 'QueueFull']),
      );
      await assertOneErrorPerFailure(stage);
      await assertLedgerAddsUp(stage);
    });

    it('tells the global error workflow at once', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked({ settings: { queueLimit: 1 } });
      await stage.append(trigger.id);
      const slots = all();
      const { claims } = await stage.append(trigger.id, {}, slots);
      const told = only(claims.runs);
      deepEqual([told.runnable.id, told.via, told.emission.code], [stage.global.id, 'global', 'QueueFull']);
      slots.assertAccountedFor(claims);
    });

    it('has room again once something was claimed', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked({ settings: { queueLimit: 1 } });
      await stage.append(trigger.id);
      await stage.append(trigger.id);
      await stage.claim(1, workflow.id);
      const { firstRun } = await stage.append(trigger.id);
      equal((await stage.store.getRun(stage.owner.id, defined(firstRun)))?.state, 'queued');
      const states = (await runsOf(stage, workflow.id)).map((r) => r.state);
      sameMembers(states, ['running', 'failed', 'queued']);
    });

    it('has room again once something was cancelled', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked({ settings: { queueLimit: 1 } });
      const { firstRun } = await stage.append(trigger.id);
      await stage.store.cancelRun(stage.owner.id, defined(firstRun));
      await stage.append(trigger.id);
      await stage.append(trigger.id);
      const states = (await runsOf(stage, workflow.id)).map((r) => r.state);
      deepEqual(states, ['failed', 'queued', 'cancelled']);
    });

    it('of others fills no queue but their own', async () => {
      await using stage = await Stage.open(harness);
      const failing = await stage.workflow({ settings: { queueLimit: 1 } });
      for (const entry of await timesInTurn(3, () => stage.failure(failing))) {
        equal((await receiptOf(stage, entry, stage.global.id))?.state, 'queued');
      }
      equal((await stage.store.ledger(stage.owner.id)).errors, 3);
    });

    it('of the global error workflow comes to rest', async () => {
      await using stage = await Stage.open(harness);
      const settings = { ...stage.global.settings, queueLimit: 1 };
      const workflow = { ...stage.global, settings };
      await stage.store.updateWorkflow({ workflow, deployment: null, triggers: [], subscriptions: [] });
      const failing = await stage.workflow();
      const [first, second] = [await stage.failure(failing), await stage.failure(failing)];
      equal((await receiptOf(stage, first, stage.global.id))?.state, 'queued');
      equal((await receiptOf(stage, second, stage.global.id))?.state, 'failed');
      equal((await stage.store.ledger(stage.owner.id)).errors, 3);
      await assertOneErrorPerFailure(stage);
      await assertLedgerAddsUp(stage);
    });
  });

  describe('the global error workflow', () => {
    it('hears the errors of every workflow', async () => {
      await using stage = await Stage.open(harness);
      for (const workflow of [await stage.workflow(), await stage.workflow()]) {
        const entry = await stage.failure(workflow);
        const receipt = only(await stage.store.receipts(stage.owner.id, entry));
        deepEqual([receipt.kind, receipt.listenerId, receipt.via], ['run', stage.global.id, 'global']);
        equal(receipt.subscriptionId, null);
      }
    });

    it('hears the errors of sources and webhooks', async () => {
      await using stage = await Stage.open(harness);
      const [source, webhook] = [await stage.source(), await stage.webhook()];
      equal((await receiptOf(stage, await stage.failure(source), stage.global.id))?.kind, 'run');
      await stage.subscribe(source.id, webhook.id);
      await stage.append(source.id);
      const { errorEntry } = await stage.exhausted(only(await stage.deliveries()));
      equal((await receiptOf(stage, defined(errorEntry), stage.global.id))?.kind, 'run');
    });

    it('runs with the flat error object', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await stage.failure(workflow, 'Boom');
      const { emission } = only(await stage.claim());
      const body = parsed(emission.body) as { error: { code: string }; original_context: { workflow_id: string } };
      deepEqual(Object.keys(body).sort(), ['error', 'original_context', 'original_event']);
      deepEqual([body.error.code, body.original_context.workflow_id], ['Boom', workflow.id]);
    });

    it('never hears its own errors, which are mailed', async () => {
      await using stage = await Stage.open(harness);
      await stage.failure(await stage.workflow());
      const { errorEntry } = await stage.end(only(await stage.claim()), failed('Own'));
      const receipts = await stage.store.receipts(stage.owner.id, defined(errorEntry));
      deepEqual(
        receipts.map(({ kind, listenerId }) => [kind, listenerId]),
        [
          ['withheld', stage.global.id],
          ['withheld', channelListener(stage.owner.id, OWNER_MAIL)],
        ],
      );
      match(String(receipts[0]?.reason), /never sent to itself/);
      equal(only(await stage.store.takeNotices(9)).group.emitterId, stage.global.id);
      const own = { ownerId: stage.owner.id, emitterId: stage.global.id, name: ERRORS };
      equal((await stage.store.listEmissions(own, { limit: 10 }, false)).totalCount, 1);
      deepEqual(await stage.claim(), []);
    });

    it('hears no own error by subscription either', async () => {
      await using stage = await Stage.open(harness);
      await stage.subscribe('*', stage.global.id, ERRORS);
      const first = await stage.failure(await stage.workflow());
      equal((await receiptOf(stage, first, stage.global.id))?.kind, 'run');
      equal(await failAll(stage), 1);
      await assertLedgerAddsUp(stage);
    });

    it('is spared where notify is false', async () => {
      await using stage = await Stage.open(harness);
      const [quiet, listener] = [await stage.workflow({ settings: { notify: false } }), await stage.webhook()];
      await stage.subscribe(quiet.id, listener.id, ERRORS);
      const entry = await stage.failure(quiet);
      equal((await receiptOf(stage, entry, listener.id))?.kind, 'delivery');
      const withheld = defined(await receiptOf(stage, entry, stage.global.id));
      deepEqual([withheld.kind, withheld.via], ['withheld', 'global']);
      match(String(withheld.reason), /notify is false/);
    });

    it('is spared when the caller was refused with the error', async () => {
      await using stage = await Stage.open(harness);
      const [source, listener] = [await stage.source(), await stage.webhook()];
      await stage.subscribe('*', listener.id, ERRORS);
      const told = [];
      for (const event of [{ hooks: ['deploy'], creates: true }, { hooks: ['deploy'] }]) {
        await stage.store.append(
          { ...directEmission(stage.owner.id, source.id, json(event)), name: '$deploy' },
          none(),
        );
        const entry = defined((await stage.end(only(await stage.claim(10, source.id)), failed())).errorEntry);
        equal((await receiptOf(stage, entry, listener.id))?.kind, 'delivery');
        told.push(defined(await receiptOf(stage, entry, stage.global.id)));
      }
      deepEqual(
        told.map(({ kind, via }) => [kind, via]),
        [
          ['withheld', 'global'],
          ['run', 'global'],
        ],
      );
      match(String(told[0]?.reason), /refused with this error/);
    });

    it('hears errors that are forwarded as well', async () => {
      await using stage = await Stage.open(harness);
      const [failing, workflow] = [await stage.workflow(), await stage.workflow()];
      const webhook = await stage.webhook();
      await stage.subscribe(failing.id, workflow.id, ERRORS);
      await stage.subscribe(failing.id, webhook.id, ERRORS);
      const entry = await stage.failure(failing);
      const receipts = await stage.store.receipts(stage.owner.id, entry);
      sameMembers(
        receipts.map((r) => `${r.kind} ${r.via} ${r.listenerId}`),
        [`run global ${stage.global.id}`, `run subscription ${workflow.id}`, `delivery subscription ${webhook.id}`],
      );
    });

    it('hears an error once, though subscribed too', async () => {
      await using stage = await Stage.open(harness);
      const failing = await stage.workflow();
      await stage.subscribe(failing.id, stage.global.id, ERRORS);
      const entry = await stage.failure(failing);
      equal(only(await stage.store.receipts(stage.owner.id, entry)).via, 'global');
    });

    it('leaves a receipt while it is inactive', async () => {
      await using stage = await Stage.open(harness);
      const workflow = { ...stage.global, active: false };
      await stage.store.updateWorkflow({ workflow, deployment: null, triggers: [], subscriptions: [] });
      const entry = await stage.failure(await stage.workflow());
      const receipt = only(await stage.store.receipts(stage.owner.id, entry));
      equal(receipt.kind, 'withheld');
      match(String(receipt.reason), /not active/);
    });

    it('is whichever the owner names', async () => {
      await using stage = await Stage.open(harness);
      const [failing, other] = [await stage.workflow(), await stage.workflow()];
      await stage.store.updateOwner({ ...stage.owner, globalErrorWorkflowId: other.id });
      const named = await stage.failure(failing);
      equal(only(await stage.store.receipts(stage.owner.id, named)).listenerId, other.id);
      await stage.store.updateOwner({ ...stage.owner, globalErrorWorkflowId: null });
      const nobody = await stage.failure(failing);
      deepEqual(await stage.store.receipts(stage.owner.id, nobody), []);
    });
  });

  describe('error loops', () => {
    it('end between workflows that hear each other', async () => {
      await using stage = await Stage.open(harness);
      const [a, b] = [await stage.workflow(), await stage.workflow()];
      await stage.subscribe(a.id, b.id, ERRORS);
      await stage.subscribe(b.id, a.id, ERRORS);
      const ofA = await stage.failure(a);
      const { errorEntry: ofB } = await stage.end(only(await stage.claim(9, b.id)), failed());
      equal((await receiptOf(stage, ofA, b.id))?.state, 'failed');
      const withheld = defined(await receiptOf(stage, defined(ofB), a.id));
      deepEqual([withheld.kind, withheld.via], ['withheld', 'subscription']);
      match(String(withheld.reason), new RegExp(`^loop: ${a.id} is already in the lineage`));
      await failAll(stage);
      equal((await runsOf(stage, a.id)).length, 1);
      await assertOneErrorPerFailure(stage);
      await assertLedgerAddsUp(stage);
    });

    it('end in a ring with wildcards', async () => {
      await using stage = await Stage.open(harness);
      const ring = await timesInTurn(4, () => stage.workflow());
      for (const { id } of ring) await stage.subscribe('p_*', id, ERRORS);
      await stage.subscribe('*', stage.global.id, ERRORS);
      await stage.failure(defined(ring[0]));
      const count = await failAll(stage);
      equal((await stage.store.ledger(stage.owner.id)).runs.failed, count + 1);
      deepEqual(await stage.claim(), []);
      await assertOneErrorPerFailure(stage);
    });

    it('end after sixteen hops without a ring', async () => {
      await using stage = await Stage.open(harness);
      const chain = await timesInTurn(LIMITS.errorHops + 3, () => stage.workflow({ settings: { notify: false } }));
      for (const [i, { id }] of chain.entries()) {
        const next = chain[i + 1];
        if (next) await stage.subscribe(id, next.id, ERRORS);
      }
      await stage.failure(defined(chain[0]));
      equal(await failAll(stage), LIMITS.errorHops);
      equal((await runsOf(stage, defined(chain[LIMITS.errorHops]).id)).length, 1);
      deepEqual(await runsOf(stage, defined(chain[LIMITS.errorHops + 1]).id), []);
    });
  });

  describe('receipts', () => {
    it('follow the state of run and delivery', async () => {
      await using stage = await Stage.open(harness);
      const [failing, webhook] = [await stage.workflow(), await stage.webhook()];
      await stage.subscribe(failing.id, webhook.id, ERRORS);
      const entry = await stage.failure(failing);
      const states = async (): Promise<(string | undefined)[]> => [
        (await receiptOf(stage, entry, stage.global.id))?.state,
        (await receiptOf(stage, entry, webhook.id))?.state,
      ];
      deepEqual(await states(), ['queued', 'pending']);
      const [run, delivery] = [only(await stage.claim()), only(await stage.deliveries())];
      deepEqual(await states(), ['running', 'sending']);
      await stage.end(run);
      await stage.retrying(delivery, 1000);
      deepEqual(await states(), ['succeeded', 'retrying']);
    });

    it('point at the run and the delivery', async () => {
      await using stage = await Stage.open(harness);
      const [failing, webhook] = [await stage.workflow(), await stage.webhook()];
      await stage.subscribe(failing.id, webhook.id, ERRORS);
      const entry = await stage.failure(failing, 'Boom', none());
      equal((await receiptOf(stage, entry, stage.global.id))?.number, only(await stage.claim()).run);
      equal((await receiptOf(stage, entry, webhook.id))?.number, only(await stage.deliveries()).delivery);
    });
  });
}
