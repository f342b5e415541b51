// Heartbeats: creating, changing, deleting.

import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { HeartbeatInput } from '../../domain/requests.ts';
import { checkVersion, nextVersion } from '../../domain/requests.ts';
import type { Schedule } from '../../domain/resource.ts';
import { type Heartbeat, rewatched, type WatchedHeartbeat } from '../../domain/watch/heartbeat.ts';
import { NO_PINGS } from '../../domain/watch/watch.ts';
import type { Clock, Ids, Wake } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { checkSchedule, firstTickMs } from '../schedule/cron.ts';

export interface HeartbeatDeps {
  readonly store: Pick<Store, 'createHeartbeat' | 'updateHeartbeat' | 'deleteHeartbeat'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly wake: Wake;
}

export function createHeartbeats({ store, clock, ids, wake }: HeartbeatDeps) {
  async function createHeartbeat(
    ownerId: string,
    input: HeartbeatInput & { schedule: Schedule },
  ): Promise<WatchedHeartbeat> {
    const nowMs = clock.nowMs();
    const id = ids.next(PREFIX.heartbeat);
    const { schedule, graceMs = LIMITS.heartbeatGraceMs } = input;
    check(schedule, nowMs);
    const heartbeat: Heartbeat = {
      id,
      ownerId,
      name: input.name ?? id,
      active: input.active ?? true,
      key: ids.secret(),
      postOnly: input.postOnly ?? false,
      schedule,
      graceMs,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const made: WatchedHeartbeat = {
      heartbeat,
      watch: {
        ownerId,
        id,
        kind: 'heartbeat',
        version: 1,
        heard: 0,
        rule: { schedule, graceMs },
        watchedAtMs: nowMs,
        lastAtMs: null,
        excusedMs: 0,
        expectedAtMs: null,
        dueAtMs: null,
        open: [],
        counts: NO_PINGS,
      },
    };
    if (!(await store.createHeartbeat(made, LIMITS.heartbeatsPerOwner))) {
      throw new Refusal(
        'impossible',
        `there are ${LIMITS.heartbeatsPerOwner} heartbeats already, and no room for more`,
      );
    }
    return made;
  }

  async function updateHeartbeat(ownerId: string, id: string, input: HeartbeatInput): Promise<WatchedHeartbeat> {
    const nowMs = clock.nowMs();
    if (input.schedule) check(input.schedule, nowMs);
    const after = await store.updateHeartbeat(ownerId, id, (before) => {
      checkVersion(before.heartbeat, input.expected);
      const heartbeat: Heartbeat = {
        ...before.heartbeat,
        name: input.name ?? before.heartbeat.name,
        active: input.active ?? before.heartbeat.active,
        postOnly: input.postOnly ?? before.heartbeat.postOnly,
        schedule: input.schedule ?? before.heartbeat.schedule,
        graceMs: input.graceMs ?? before.heartbeat.graceMs,
        updatedAtMs: nextVersion(before.heartbeat, nowMs),
      };
      return { heartbeat, watch: rewatched(before, heartbeat, { nowMs, nextTick: firstTickMs }) };
    });
    if (!after) throw noHeartbeat(id);
    wake.notify('schedules');
    return after;
  }

  async function deleteHeartbeat(ownerId: string, id: string): Promise<WatchedHeartbeat> {
    const deleted = await store.deleteHeartbeat(ownerId, id);
    if (!deleted) throw noHeartbeat(id);
    return deleted;
  }

  return { createHeartbeat, updateHeartbeat, deleteHeartbeat };
}

function check(schedule: Schedule, nowMs: number): void {
  checkSchedule(schedule, { nowMs, parameter: '' });
}

function noHeartbeat(id: string): Refusal {
  return new Refusal('not_found', `there is no heartbeat ${id}`);
}
