// Groups of errors: which errors are one, counted in the transaction that captures them, and how a group's state ends.

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GroupingRule } from '../../../src/domain/errors/fingerprint.ts';
import type { ErrorGroup } from '../../../src/domain/errors/group.ts';
import { DAY_MS, HOUR_MS, LIMITS } from '../../../src/domain/limits.ts';
import { DEFAULT_SETTINGS } from '../../../src/domain/resource.ts';
import type { Fault } from '../../../src/domain/run/run.ts';
import type { GroupPageQuery, GroupPlace, GroupQuery } from '../../../src/store/contract/error-groups.ts';
import { all, defined, type Harness, only, START_MS, timesInTurn } from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { change, fail, groups, muted, oneGroup, order, redeployed, whole } from './grouping.ts';

export function errorGroupsContract(harness: Harness): void {
  describe('a group of errors', () => {
    it('is made by the first error', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const entry = await fail(stage, workflow, { msg: 'order 7 has no "total"' });
      const group = only(await groups(stage));
      deepEqual(group, {
        id: group.id,
        ownerId: stage.owner.id,
        emitterId: workflow.id,
        fingerprint: {
          version: 1,
          namespace: 'code',
          code: 'TypeError',
          template: 'order {n} has no "{}"',
          frame: 'run (code.ts)',
        },
        rule: null,
        count: 1,
        firstEntry: entry,
        lastEntry: entry,
        firstDeployment: workflow.deploymentId,
        lastDeployment: workflow.deploymentId,
        state: 'open',
        untilMs: null,
        untilCount: null,
        afterDeployment: null,
        reopened: null,
        note: null,
        assignee: null,
        updatedAtMs: START_MS,
      });
      match(group.id, /^eg_[0-9A-Za-z]{16}$/);
      equal(defined(await stage.store.getEmission(stage.owner.id, entry)).groupId, group.id);
    });

    it('counts its errors by hour and deployment', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      stage.clock.advance(HOUR_MS);
      await timesInTurn(2, () => fail(stage, workflow));
      const next = await redeployed(stage, workflow);
      const last = await fail(stage, next);
      const { group: now, hours, deployments, entries } = await whole(stage, group);
      deepEqual([now.count, now.firstEntry, now.lastEntry], [4, group.firstEntry, last]);
      deepEqual([now.firstDeployment, now.lastDeployment], [workflow.deploymentId, next.deploymentId]);
      const hour = START_MS / HOUR_MS;
      deepEqual(hours, [
        { hour: hour + 1, count: 3 },
        { hour, count: 1 },
      ]);
      const ofOwner = await stage.store.groupHours(stage.owner.id, [group.id, 'eg_0000000000000000']);
      deepEqual([...ofOwner], [[group.id, hours]]);
      deepEqual(
        deployments.map(({ deploymentId, count }) => [deploymentId, count]),
        [
          [next.deploymentId, 1],
          [workflow.deploymentId, 3],
        ],
      );
      equal(entries.length, 4);
      equal(entries[0], last);
    });

    it('shows its newest errors alone', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      const made = await timesInTurn(LIMITS.groupSamples + 1, () => fail(stage, workflow));
      deepEqual((await whole(stage, group)).entries, made.toReversed().slice(0, LIMITS.groupSamples));
    });

    it('differs by workflow, step, code, message and frame', async () => {
      await using stage = await Stage.open(harness);
      const { workflow } = await oneGroup(stage);
      const same: Partial<Fault>[] = [{}, { stack: 'at run (code.ts:99:1)' }, { cellId: 'c_2' }];
      for (const fault of same) await fail(stage, workflow, fault);
      equal((await groups(stage)).length, 1);
      await fail(stage, await stage.workflow({ settings: { notify: false } }));
      for (const fault of [{ namespace: 'other' }, { code: 'X' }, { msg: 'else' }, { stack: 'at f (code.ts:3:9)' }]) {
        await fail(stage, workflow, fault);
      }
      equal((await groups(stage)).length, 6);
    });

    it('has all errors that one transaction captures', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked({ settings: { queueLimit: 1, notify: false } });
      await Promise.all(Array.from({ length: 40 }, () => stage.append(trigger.id)));
      const group = only(await groups(stage, { emitterId: workflow.id }));
      deepEqual([group.fingerprint.code, group.count], ['QueueFull', 39]);
      equal((await stage.store.ledger(stage.owner.id)).errors, 39);
    });

    it('has errors of deliveries, too', async () => {
      await using stage = await Stage.open(harness);
      const [emitter, webhook] = [await stage.source(), await stage.webhook()];
      await stage.subscribe(emitter.id, webhook.id);
      for (let n = 1; n <= 2; n++) {
        const { claims } = await stage.append(emitter.id, {}, all());
        await stage.exhausted(only(claims.deliveries));
      }
      const claimed = await groups(stage, { emitterId: webhook.id });
      deepEqual(
        claimed.map(({ fingerprint, lastDeployment }) => [fingerprint.template, lastDeployment]),
        [['Webhook not delivered: answered 500', null]],
      );
    });

    it('is found by its assignee, with or without text', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group: ada } = await oneGroup(stage);
      for (const code of ['B', 'C', 'D']) await fail(stage, workflow, { code });
      const [, c, b] = (await groups(stage)) as [ErrorGroup, ErrorGroup, ErrorGroup];
      await change(stage, ada, { assignee: 'ada@example.org' });
      await change(stage, b, { assignee: 'Ada@Example.org' });
      await order(stage, b, { state: 'resolved', inNextDeployment: false });
      await change(stage, c, { assignee: 'eve@example.org' });
      for (const sort of ['last_seen', 'count'] as const) {
        const codesOf = async (assignee: string | null, state: Partial<GroupQuery> = {}) => {
          const of = { ownerId: stage.owner.id, sort, assignee, ...state };
          const listed = (await stage.store.listErrorGroups(of, { limit: 100 })).items;
          const searched = (await stage.store.searchErrorGroups({ ...of, text: 'code.ts' }, { limit: 100 })).items;
          deepEqual(searched, listed);
          return listed.map(({ fingerprint }) => fingerprint.code).toSorted();
        };
        deepEqual(await codesOf('ADA@example.org'), ['B', 'TypeError']);
        deepEqual(await codesOf('ada@example.org', { state: 'open' }), ['TypeError']);
        deepEqual(await codesOf('da@example.org'), []);
        deepEqual(await codesOf(null), ['D']);
      }
      const [first, second] = await stage.store.groupAssignees(stage.owner.id);
      deepEqual([first?.assignee.toLowerCase(), first?.groups, first?.open], ['ada@example.org', 2, 1]);
      deepEqual(second, { assignee: 'eve@example.org', groups: 1, open: 1 });
      await order(stage, ada, muted({ untilMs: START_MS + HOUR_MS }));
      deepEqual(
        (await stage.store.groupAssignees(stage.owner.id)).map(({ open }) => open),
        [1, 0],
      );
      stage.clock.advance(2 * HOUR_MS);
      deepEqual(
        (await stage.store.groupAssignees(stage.owner.id)).map(({ open }) => open),
        [1, 1],
      );
      const stranger = await stage.neighbour();
      deepEqual(await stage.store.groupAssignees(stranger.owner.id), []);
      deepEqual(await groups(stranger, { assignee: 'ada@example.org' }), []);
    });

    it('belongs to its owner alone', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      const stranger = await stage.neighbour();
      deepEqual(await groups(stranger), []);
      equal(await stage.store.getErrorGroup(stranger.owner.id, group.id), undefined);
      equal((await stage.store.groupHours(stranger.owner.id, [group.id])).size, 0);
      const note = { note: 'mine' };
      equal(await stage.store.updateErrorGroup(stranger.owner.id, group.id, note), undefined);
      deepEqual(await groups(stranger, { emitterId: workflow.id }), []);
      equal((await whole(stage, group)).group.note, null);
    });

    it('is named by a rule of its workflow', async () => {
      await using stage = await Stage.open(harness);
      const grouping: readonly GroupingRule[] = [{ group: 'cards', code: 'Card*', message: 'never' }];
      const rules: readonly GroupingRule[] = [...grouping, { group: 'cards', message: 'card * declined' }];
      const settings = { ...DEFAULT_SETTINGS, notify: false, grouping: rules };
      const workflow = await stage.workflow({ settings });
      await fail(stage, workflow, { msg: 'card abc declined', code: 'A' });
      await fail(stage, workflow, { msg: 'card xyz declined', code: 'B', namespace: 'other' });
      await fail(stage, workflow, { msg: 'card xyz refused' });
      deepEqual(
        (await groups(stage)).map(({ rule, count }) => [rule, count]),
        [
          [null, 1],
          ['cards', 2],
        ],
      );
      const update = { workflow: { ...workflow, settings: { ...settings, grouping: [] } }, deployment: null };
      await stage.store.updateWorkflow({ ...update, triggers: [], subscriptions: [] });
      await fail(stage, workflow, { msg: 'card abc declined', code: 'A' });
      equal((await groups(stage)).length, 3);
    });

    it('keeps what its message brings, whatever it is', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ settings: { notify: false } });
      const hostile = ['\u0000', '\ud800', '%_\\', "'; DROP TABLE error_groups; --", '{n}'.repeat(9999), '\u202e', ''];
      for (const msg of hostile) await fail(stage, workflow, { msg, stack: `at ${msg} (x:1:1)` });
      const found = await groups(stage);
      equal(
        found.reduce((sum, { count }) => sum + count, 0),
        hostile.length,
      );
      for (const { fingerprint } of found) ok(fingerprint.template.length <= 256 && fingerprint.frame.length <= 256);
    });

    it('is what it was after a restart', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      const before = await change(stage, group, { note: 'see #12', assignee: 'ada@example.org' });
      await stage.reopen();
      deepEqual((await whole(stage, group)).group, before);
      await fail(stage, workflow);
      equal((await whole(stage, group)).group.count, 2);
    });
  });

  describe('lists of groups', () => {
    it('are sorted and paged by last error and by count', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ settings: { notify: false } });
      const codes = ['A', 'B', 'C', 'B', 'A', 'B'];
      for (const code of codes) await fail(stage, workflow, { code });
      for (const [sort, expected] of [
        ['last_seen', ['B', 'A', 'C']],
        ['count', ['B', 'A', 'C']],
      ] as const) {
        const place = (group: ErrorGroup): GroupPlace => ({
          value: sort === 'count' ? group.count : group.lastEntry,
          id: group.id,
        });
        const page = async (query: Omit<GroupPageQuery, 'limit'>): Promise<readonly ErrorGroup[]> => {
          const listed = await stage.store.listErrorGroups({ ownerId: stage.owner.id, sort }, { limit: 1, ...query });
          equal(listed.totalCount, 3);
          return listed.items;
        };
        const seen: ErrorGroup[] = [];
        for (let next = await page({}); next.length > 0; next = await page({ after: place(only(seen.slice(-1))) }))
          seen.push(...next);
        deepEqual(
          seen.map(({ fingerprint }) => fingerprint.code),
          expected,
        );
        deepEqual(await page({ before: place(defined(seen[1])) }), seen.slice(0, 1));
      }
    });

    it('are filtered by every member of the query', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      stage.clock.advance(HOUR_MS);
      const other = await stage.workflow({ settings: { notify: false } });
      await fail(stage, other, { code: 'Other', msg: 'a 100% _strange_ MESSAGE, ÄRGER für Ωmega' });
      const codesOf = async (of: Partial<GroupQuery>) =>
        (await groups(stage, of)).map(({ fingerprint }) => fingerprint.code);
      const found = async ({ text }: { text: string }) => {
        const search = { ownerId: stage.owner.id, sort: 'last_seen', text } as const;
        const { items } = await stage.store.searchErrorGroups(search, { limit: 100 });
        return items.map(({ fingerprint }) => fingerprint.code);
      };
      deepEqual(await codesOf({}), ['Other', 'TypeError']);
      deepEqual(await codesOf({ emitterId: workflow.id }), ['TypeError']);
      deepEqual(await codesOf({ code: 'Other' }), ['Other']);
      deepEqual(await codesOf({ sinceMs: START_MS + 1 }), ['Other']);
      deepEqual(await found({ text: '% _strange_ message' }), ['Other']);
      deepEqual(await found({ text: '%_' }), []);
      deepEqual(await found({ text: 'ärger FÜR ω' }), ['Other']);
      deepEqual(await found({ text: 'CODE.ts' }), ['Other', 'TypeError']);
      await order(stage, group, { state: 'resolved', inNextDeployment: false });
      deepEqual(await codesOf({ state: 'resolved' }), ['TypeError']);
      deepEqual(await codesOf({ state: 'open' }), ['Other']);
    });
  });

  describe('retention of groups', () => {
    it('keeps a group without errors for a while', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      await change(stage, group, { note: 'known' });
      await timesInTurn(LIMITS.listedPerEmitterAndName, () => fail(stage, workflow, { code: 'Newer' }));
      stage.clock.advance(2 * DAY_MS);
      await stage.store.prune(stage.clock.ms - DAY_MS, 0);
      const kept = await whole(stage, group);
      deepEqual([kept.entries, kept.hours, kept.deployments], [[], [], []]);
      deepEqual([kept.group.count, kept.group.note], [1, 'known']);
      const [newer] = await groups(stage, { code: 'Newer' });
      stage.clock.advance(LIMITS.groupKeptMs);
      await stage.store.prune(stage.clock.ms - DAY_MS, 0);
      equal(await stage.store.getErrorGroup(stage.owner.id, group.id), undefined);
      notEqual(await stage.store.getErrorGroup(stage.owner.id, defined(newer).id), undefined, 'its errors are kept');
      await fail(stage, workflow);
      equal((await whole(stage, group)).group.count, 1);
    });

    it('keeps a group while it is muted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ settings: { notify: false } });
      const mutes = {
        Time: muted({ untilMs: stage.clock.ms + 2 * LIMITS.groupKeptMs }),
        Count: muted({ afterCount: 3 }),
        Deployment: muted({ untilNextDeployment: true }),
        Over: muted({ untilMs: stage.clock.ms + DAY_MS }),
      };
      for (const code of Object.keys(mutes)) await fail(stage, workflow, { code });
      for (const group of await groups(stage)) {
        await order(stage, group, mutes[group.fingerprint.code as keyof typeof mutes]);
      }
      await timesInTurn(LIMITS.listedPerEmitterAndName, () => fail(stage, workflow, { code: 'Newer' }));
      stage.clock.advance(LIMITS.groupKeptMs + 2 * DAY_MS);
      await stage.store.prune(stage.clock.ms - DAY_MS, 0);
      const codes = (await groups(stage)).map(({ fingerprint }) => fingerprint.code);
      deepEqual(codes.toSorted(), ['Count', 'Deployment', 'Newer', 'Time']);
    });
  });
}
