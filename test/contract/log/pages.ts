// Every list walks alike: newest first, exclusive cursors, each record once, also while records arrive.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import { msOf } from '../../../src/domain/ids.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Page, PageQuery } from '../../../src/store/contract/records.ts';
import { all, at, defined, failed, type Harness, only, parsed, times, timesInTurn, walk } from '../fixtures.ts';
import { numbered, Stage } from '../stage.ts';

type Cursor = string | number;

/** One list under test, its items boiled down to cursors. */
interface Listed {
  /** Makes one record more; returns its cursor. */
  make(): Promise<Cursor>;
  list(page: PageQuery<Cursor>): Promise<Page<Cursor>>;
}

function cursors<T, C extends Cursor>(page: Promise<Page<T>>, cursorOf: (item: T) => C): Promise<Page<Cursor>> {
  return page.then(({ totalCount, items }) => ({ totalCount, items: items.map(cursorOf) }));
}

const byId = (item: { id: string }): string => item.id;

const LISTS: Record<string, (stage: Stage) => Promise<Listed>> = {
  workflows: async (stage) => ({
    make: async () => (await stage.workflow({ name: 'listed' })).id,
    list: (page) =>
      cursors(stage.store.listWorkflows({ ownerId: stage.owner.id, name: 'listed' }, page as PageQuery), byId),
  }),
  sources: async (stage) => ({
    make: async () => (await stage.source()).id,
    list: (page) => cursors(stage.store.listSources(stage.owner.id, page as PageQuery), byId),
  }),
  webhooks: async (stage) => ({
    make: async () => (await stage.webhook()).id,
    list: (page) => cursors(stage.store.listWebhooks(stage.owner.id, page as PageQuery), byId),
  }),
  subscriptions: async (stage) => {
    const workflow = await stage.workflow();
    return {
      make: async () => (await stage.subscribe((await stage.webhook()).id, workflow.id)).id,
      list: (page) => cursors(stage.store.listSubscriptions({ ownerId: stage.owner.id }, page as PageQuery), byId),
    };
  },
  deployments: async (stage) => {
    const { write } = await stage.hooked();
    // The first one came with the workflow, and is left out.
    return {
      make: async () => {
        const workflow = { ...write.workflow, deploymentId: stage.ids.next('d_') };
        await stage.store.updateWorkflow({ ...write, workflow, deployment: stage.make.deployment(workflow) });
        return workflow.deploymentId;
      },
      list: async (page) => {
        const first = write.workflow.deploymentId;
        const listed = await cursors(
          stage.store.listDeployments(stage.owner.id, write.workflow.id, page as PageQuery),
          byId,
        );
        return { totalCount: listed.totalCount - 1, items: listed.items.filter((id) => id !== first) };
      },
    };
  },
  runs: async (stage) => {
    const { id: runnableId } = await stage.workflow();
    return {
      make: async () => defined((await stage.appendFor(runnableId)).firstRun),
      list: (page) =>
        cursors(
          stage.store.listRuns({ ownerId: stage.owner.id, runnableId }, page as PageQuery<number>),
          (run) => run.run,
        ),
    };
  },
  deliveries: async (stage) => {
    const [source, webhook] = [await stage.source(), await stage.webhook()];
    await stage.subscribe(source.id, webhook.id);
    return {
      make: async () => only((await stage.append(source.id, {}, all())).claims.deliveries).delivery,
      list: (page) =>
        cursors(
          stage.store.listDeliveries({ ownerId: stage.owner.id, listenerId: webhook.id }, page as PageQuery<number>),
          (delivery) => delivery.delivery,
        ),
    };
  },
  emissions: async (stage) => {
    const source = await stage.source();
    const channel = { ownerId: stage.owner.id, emitterId: source.id, name: '' };
    return {
      make: async () => (await stage.append(source.id)).entry,
      list: (page) => cursors(stage.store.listEmissions(channel, page as PageQuery<number>, false), (e) => e.entry),
    };
  },
};

export function pagesContract(harness: Harness): void {
  for (const [noun, listOf] of Object.entries(LISTS)) {
    describe(`the list of ${noun}`, () => {
      it('is empty before the first record', async () => {
        await using stage = await Stage.open(harness);
        const { make, list } = await listOf(stage);
        deepEqual(await list({ limit: 10 }), { totalCount: 0, items: [] });
        const made = await make();
        deepEqual(await list({ limit: 10 }), { totalCount: 1, items: [made] });
      });

      it('shows the newest first, with the total', async () => {
        await using stage = await Stage.open(harness);
        const { make, list } = await listOf(stage);
        const made = await timesInTurn(7, make);
        deepEqual(await list({ limit: 3 }), { totalCount: 7, items: made.slice(-3).reverse() });
        deepEqual(await list({ limit: 100 }), { totalCount: 7, items: [...made].reverse() });
      });

      it('goes on after a cursor, itself excluded', async () => {
        await using stage = await Stage.open(harness);
        const { make, list } = await listOf(stage);
        const made = await timesInTurn(7, make);
        deepEqual(await list({ limit: 2, after: at(made, 4) }), { totalCount: 7, items: [made[3], made[2]] });
        deepEqual(await list({ limit: 2, after: at(made, 0) }), { totalCount: 7, items: [] });
      });

      it('goes back before a cursor, next to it', async () => {
        await using stage = await Stage.open(harness);
        const { make, list } = await listOf(stage);
        const made = await timesInTurn(7, make);
        deepEqual(await list({ limit: 2, before: at(made, 2) }), { totalCount: 7, items: [made[4], made[3]] });
        deepEqual((await list({ limit: 5, before: at(made, 5) })).items, [made[6]]);
        deepEqual((await list({ limit: 5, before: at(made, 6) })).items, []);
      });

      it('shows each record once, though more arrive', async () => {
        await using stage = await Stage.open(harness);
        const { make, list } = await listOf(stage);
        const made = await timesInTurn(8, make);
        const arriving = async (page: PageQuery<Cursor>): Promise<Page<Cursor>> => {
          const shown = await list(page);
          await make();
          return shown;
        };
        deepEqual(await walk(arriving, (cursor) => cursor, 3), [...made].reverse());
      });
    });
  }

  describe('the list of emissions', () => {
    it('holds the newest hundred of a channel', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const appended = await Promise.all(times(130, () => stage.append(source.id)));
      const entries = appended.map((a) => a.entry).sort((a, b) => b - a);
      const channel = { ownerId: stage.owner.id, emitterId: source.id, name: '' };
      const list = (page: PageQuery<number>) => stage.store.listEmissions(channel, page, false);
      const walked = await walk(list, (e) => e.entry, 30);
      deepEqual(
        walked.map((e) => e.entry),
        entries.slice(0, LIMITS.listedPerEmitterAndName),
      );
      const last = await list({ limit: 100, after: at(entries, 99) });
      deepEqual(last, { totalCount: LIMITS.listedPerEmitterAndName, items: [] });
    });

    it('counts each channel of an emitter apart', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, other] = [await stage.workflow(), await stage.workflow()];
      await stage.append(workflow.id);
      await timesInTurn(2, () => stage.append(workflow.id, { name: 'paid' }));
      await stage.append(other.id, { name: 'paid' });
      await stage.failure(workflow);
      const totals = ['', 'paid', ERRORS, 'else'].map(async (name) => {
        const channel = { ownerId: stage.owner.id, emitterId: workflow.id, name };
        return (await stage.store.listEmissions(channel, { limit: 1 }, false)).totalCount;
      });
      deepEqual(await Promise.all(totals), [1, 2, 1, 0]);
    });

    it('shows bodies when asked, and what sources add', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const more = { summary: 'An order', itemId: 'i-1', itemTs: 1_700_000_000_000, body: numbered(1) };
      const { entry, emitId } = await stage.append(source.id, { ...more, name: 'paid' });
      const channel = { ownerId: stage.owner.id, emitterId: source.id, name: 'paid' };
      const brief = only((await stage.store.listEmissions(channel, { limit: 9 }, false)).items);
      const { summary, itemId, itemTs } = more;
      const ofSource = { name: 'paid', summary, itemId, itemTs, code: null, groupId: null, ledBy: [] };
      const shown = { entry, emitId, emitterId: source.id, ...ofSource };
      deepEqual(brief, { ...shown, body: null });
      const whole = only((await stage.store.listEmissions(channel, { limit: 9 }, true)).items);
      deepEqual({ ...whole, body: parsed(whole.body) }, { ...shown, body: { n: 1 } });
    });
  });

  describe('filters', () => {
    it('of runs pick one state', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const runs = await timesInTurn(3, () => stage.started(workflow));
      await stage.end(at(runs, 0), failed());
      await stage.end(at(runs, 1));
      const of = async (state?: 'failed' | 'running' | 'queued' | 'succeeded'): Promise<unknown> => {
        const query = { ownerId: stage.owner.id, runnableId: workflow.id, state };
        const { totalCount, items } = await stage.store.listRuns(query, { limit: 10 });
        equal(totalCount, items.length);
        return items.map((r) => r.run);
      };
      deepEqual(await of('failed'), [at(runs, 0).run]);
      deepEqual(await of('succeeded'), [at(runs, 1).run]);
      deepEqual(await of('running'), [at(runs, 2).run]);
      deepEqual(await of('queued'), []);
      deepEqual(await of(), runs.map((r) => r.run).reverse());
    });

    it('of runs pick one owner, with what is deleted', async () => {
      await using stage = await Stage.open(harness);
      const [workflow, source, other] = [await stage.workflow(), await stage.source(), await stage.neighbour()];
      const runs = [await stage.started(workflow), await stage.started(source)];
      for (const one of runs) await stage.end(one);
      await other.started(await other.workflow());
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      const of = { ownerId: stage.owner.id };
      const page = await stage.store.listRuns(of, { limit: 1 });
      const [newest] = page.items.map((r) => r.run);
      deepEqual([page.totalCount, newest], [2, at(runs, 1).run]);
      const { items } = await stage.store.listRuns(of, { limit: 10, after: defined(newest) });
      deepEqual(
        items.map((r) => [r.run, r.runnableId]),
        [[at(runs, 0).run, workflow.id]],
      );
      deepEqual((await stage.store.listRuns({ ...of, state: 'queued' }, { limit: 10 })).items, []);
    });

    it('of deliveries pick listener and state', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const webhooks = await timesInTurn(2, () => stage.webhook());
      for (const { id } of webhooks) await stage.subscribe(source.id, id);
      const { claims } = await stage.append(source.id, {}, all());
      const [done, open] = [...claims.deliveries].sort((a, b) => a.delivery - b.delivery);
      await stage.delivered(defined(done));
      const of = async (query: object): Promise<unknown> =>
        (await stage.store.listDeliveries({ ownerId: stage.owner.id, ...query }, { limit: 10 })).items
          .map((d) => d.delivery)
          .reverse();
      deepEqual(await of({}), [done?.delivery, open?.delivery]);
      deepEqual(await of({ state: 'delivered' }), [done?.delivery]);
      deepEqual(await of({ listenerId: open?.webhook?.id }), [open?.delivery]);
      deepEqual(await of({ listenerId: open?.webhook?.id, state: 'delivered' }), []);
    });

    it('of deliveries pick the time of their acceptance', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const webhook = await stage.webhook();
      await stage.subscribe(source.id, webhook.id);
      const numbers: number[] = [];
      for (let n = 0; n < 3; n++) {
        const { claims } = await stage.append(source.id, {}, all());
        const one = defined(claims.deliveries[0]);
        await stage.delivered(one);
        numbers.push(one.delivery);
        stage.clock.advance(1000);
      }
      const ms = numbers.map(msOf);
      const within = async (sinceMs: number, untilMs: number, page: PageQuery<number> = { limit: 10 }) => {
        const of = { ownerId: stage.owner.id, listenerId: webhook.id, accepted: { sinceMs, untilMs } };
        const { items, totalCount } = await stage.store.listDeliveries(of, page);
        return [totalCount, items.map(({ delivery }) => delivery).reverse()];
      };
      const [first = 0, second = 0, third = 0] = ms;
      deepEqual(await within(first, third), [2, numbers.slice(0, 2)]);
      deepEqual(await within(second, third + 1), [2, numbers.slice(1)]);
      deepEqual(await within(first + 1, second), [0, []]);
      deepEqual(await within(0, third, { limit: 1, before: 0 }), [2, numbers.slice(0, 1)], 'the oldest');
    });

    it('of deliveries pick an event and a kind', async () => {
      await using stage = await Stage.open(harness);
      const neighbour = await stage.neighbour();
      const source = await stage.source();
      for (const { id } of await timesInTurn(2, () => stage.webhook())) await stage.subscribe(source.id, id);
      const [first, second] = await timesInTurn(2, () => stage.append(source.id, {}, all()));
      const of = async (query: object, ownerId = stage.owner.id): Promise<number> => {
        const { items, totalCount } = await stage.store.listDeliveries({ ownerId, ...query }, { limit: 10 });
        equal(items.length, totalCount);
        return totalCount;
      };
      const entry = defined(first).entry;
      deepEqual([await of({}), await of({ entry }), await of({ entry: defined(second).entry })], [4, 2, 2]);
      deepEqual([await of({ entry: entry - 1 }), await of({ entry }, neighbour.owner.id)], [0, 0]);
      await stage.delivered(defined(defined(first).claims.deliveries[0]));
      deepEqual(
        [await of({ entry }), await of({ entry, state: 'delivered' }), await of({ entry, state: 'sending' })],
        [2, 1, 1],
      );
      deepEqual(
        [await of({ kind: 'webhook' }), await of({ kind: 'http' }), await of({ entry, kind: 'mail' })],
        [4, 0, 0],
      );
      const newest = await stage.store.listDeliveries({ ownerId: stage.owner.id, entry }, { limit: 1 });
      const before = { limit: 1, after: only(newest.items).delivery };
      const older = await stage.store.listDeliveries({ ownerId: stage.owner.id, entry }, before);
      equal(only(older.items).delivery < only(newest.items).delivery, true);
    });

    it('of emissions find the id that a source gave', async () => {
      await using stage = await Stage.open(harness);
      const [source, other] = [await stage.source(), await stage.source()];
      const { entry } = await stage.append(source.id, { itemId: 'evt_109' });
      await stage.append(other.id, { itemId: 'evt_109' });
      await timesInTurn(LIMITS.listedPerEmitterAndName, (n) => stage.append(source.id, { itemId: `evt_x${n}` }));
      const of = async (itemId: string, name = '') => {
        const channel = { ownerId: stage.owner.id, emitterId: source.id, name, itemId };
        return (await stage.store.listEmissions(channel, { limit: 10 }, false)).items.map((one) => one.entry);
      };
      deepEqual([await of('evt_109'), await of('evt_10'), await of('evt_109', 'paid')], [[entry], [], []]);
    });

    it('of workflows pick name and activity', async () => {
      await using stage = await Stage.open(harness);
      const [on, off] = [await stage.workflow({ name: 'a' }), await stage.workflow({ name: 'a', active: false })];
      const other = await stage.workflow({ name: 'b' });
      const of = async (query: object): Promise<string[]> => {
        const page = await stage.store.listWorkflows({ ownerId: stage.owner.id, ...query }, { limit: 10 });
        equal(page.totalCount, page.items.length);
        return page.items.map(byId);
      };
      deepEqual(await of({}), [other.id, off.id, on.id, stage.global.id]);
      deepEqual(await of({ name: 'a' }), [off.id, on.id]);
      deepEqual(await of({ active: false }), [off.id]);
      deepEqual(await of({ active: true, name: 'a' }), [on.id]);
    });
  });
}
