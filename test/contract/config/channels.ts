// Channels: their configuration comes back as written to their owner alone, and cannot be read where it is kept.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PREFIX } from '../../../src/domain/ids.ts';
import type { Channel } from '../../../src/domain/notices/channel.ts';
import { type Harness, timesInTurn } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const SECRET = 'https://hooks.example.com/services/very-private-part';

async function created(stage: Stage, changes: Partial<Channel> = {}): Promise<Channel> {
  const nowMs = stage.clock.nowMs();
  const made: Channel = {
    id: stage.ids.next(PREFIX.channel),
    ownerId: stage.owner.id,
    kind: 'slack',
    name: 'may-be-read',
    active: true,
    config: { url: SECRET },
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...changes,
  };
  equal(await stage.store.createChannel(made, 100), true);
  return made;
}

export function channelsContract(harness: Harness): void {
  describe('a channel', () => {
    it('is given back as it was made', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage, { active: false, config: { url: SECRET, headers: { 'x-key': 'ä' } } });
      deepEqual(await stage.store.getChannel(stage.owner.id, made.id), made);
      await stage.reopen();
      deepEqual(await stage.store.getChannel(stage.owner.id, made.id), made);
    });

    it('cannot be read where it is kept', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage);
      await stage.store.updateChannel(stage.owner.id, made.id, (before) => ({ ...before, name: 'still-readable' }));
      const raw = await stage.raw();
      ok(raw.includes('still-readable'), 'this is where it is kept');
      for (const spelt of ['very-private-part', Buffer.from(SECRET).toString('base64')]) ok(!raw.includes(spelt));
    });

    it('is its owner’s alone', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage);
      const { owner, store } = await stage.neighbour();
      equal(await store.getChannel(owner.id, made.id), undefined);
      equal(await store.updateChannel(owner.id, made.id, (before) => ({ ...before, config: {} })), undefined);
      equal(await store.deleteChannel(owner.id, made.id), undefined);
      equal((await store.listChannels(owner.id, { limit: 9 })).totalCount, 0);
      deepEqual(await stage.store.getChannel(stage.owner.id, made.id), made);
    });

    it('keeps its kind when it is changed', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage);
      const change = (before: Channel): Channel => ({ ...before, kind: 'mail', name: 'new', active: false });
      deepEqual(await stage.store.updateChannel(stage.owner.id, made.id, change), {
        ...made,
        name: 'new',
        active: false,
      });
    });

    it('is not made beyond the most', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage);
      const more = { ...made, id: stage.ids.next(PREFIX.channel) };
      equal(await stage.store.createChannel(more, 1), false);
      equal((await stage.store.listChannels(stage.owner.id, { limit: 9 })).totalCount, 1);
    });

    it('is taken from its owner’s when it is deleted', async () => {
      await using stage = await Stage.open(harness);
      const [a, b] = await timesInTurn(2, () => created(stage));
      const channelIds = [a, b].map((channel) => channel?.id ?? '');
      await stage.store.updateOwner({ ...stage.owner, channelIds });
      deepEqual((await stage.store.getOwner(stage.owner.id))?.channelIds, channelIds);
      deepEqual(await stage.store.deleteChannel(stage.owner.id, channelIds[0] ?? ''), a);
      deepEqual((await stage.store.getOwner(stage.owner.id))?.channelIds, channelIds.slice(1));
    });

    it('that workflows name is deleted only if the caller allows it', async () => {
      await using stage = await Stage.open(harness);
      const [a, b] = await timesInTurn(2, () => created(stage));
      if (!a || !b) throw new Error('two are made');
      const workflow = await stage.workflow({ settings: { channels: [b.id, a.id] } });
      await stage.workflow({ settings: { channels: [b.id] } });
      const neighbour = await stage.neighbour();
      const named: unknown[] = [];
      const refuse = (usedBy: readonly { id: string }[]): void => {
        named.push(usedBy.map(({ id }) => id));
        throw new Error('used');
      };
      await rejects(stage.store.deleteChannel(stage.owner.id, a.id, refuse), /^Error: used$/);
      await rejects(neighbour.store.deleteChannel(neighbour.owner.id, a.id, refuse), /^Error: used$/);
      deepEqual(named, [[workflow.id], []]);
      deepEqual(await stage.store.getChannel(stage.owner.id, a.id), a);
      deepEqual(await stage.store.deleteChannel(stage.owner.id, a.id, () => undefined), a);
    });

    it('is listed newest first', async () => {
      await using stage = await Stage.open(harness);
      const ids = (await timesInTurn(3, () => created(stage))).map(({ id }) => id);
      const page = await stage.store.listChannels(stage.owner.id, { limit: 2 });
      deepEqual([page.totalCount, page.items.map(({ id }) => id)], [3, [ids[2], ids[1]]]);
    });
  });
}
