// Which channels get a notice that is taken again, since its process was lost.

import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { OPEN } from '../../../../src/domain/errors/group.ts';
import type { Channel } from '../../../../src/domain/notices/channel.ts';
import { channelListener } from '../../../../src/domain/notices/listener.ts';
import { DEFAULT_SETTINGS, type Owner, type Workflow } from '../../../../src/domain/resource.ts';
import type { Emit, Emitted } from '../../../../src/engine/accept/emit.ts';
import { createNotices, type NoticesDeps } from '../../../../src/engine/notices/notices.ts';
import type { TakenNotice } from '../../../../src/store/contract/channels.ts';
import { createLog } from '../parts.ts';

const OF_OWNER = 'ch_owner';
const OF_WORKFLOW = 'ch_workflow';

const taken: TakenNotice = {
  group: {
    ...{ ...OPEN, id: 'eg_1', ownerId: 'u_1', emitterId: 'p_1', rule: null, count: 1, firstEntry: 1, lastEntry: 1 },
    fingerprint: { version: 1, namespace: 'step', code: 'E', template: 'broken', frame: '' },
    ...{ firstDeployment: null, lastDeployment: null, reopened: null, note: null, assignee: null, updatedAtMs: 1 },
  },
  ...{ kind: 'error', sequence: 1, more: 1, wasTold: false, wasMailed: false, summaries: null, folded: null },
  told: [{ listenerId: channelListener('u_1', OF_WORKFLOW), heard: true }],
};

/** Returns the channels that the first notice of the group is sent to. */
async function sentTo(workflow: Pick<Workflow, 'settings'> | undefined): Promise<string[]> {
  const sent: string[] = [];
  const store = {
    takeNotices: async () => [taken],
    endNotice: async () => {},
    getOwner: async () => ({ id: 'u_1', channelIds: [OF_OWNER] }) as unknown as Owner,
    getWorkflow: async () => workflow as Workflow | undefined,
    getSource: async () => undefined,
    getWebhook: async () => undefined,
    getHeartbeat: async () => undefined,
    getChannel: async (_, id) => ({ id, kind: 'pagerduty', active: true }) as Channel,
    getEmission: async () => undefined,
    countReplayed: async () => null,
  } satisfies NoticesDeps['store'];
  const emit: Emit = async (_made, options) => {
    sent.push(options?.idempotency?.key ?? '');
    return {} as unknown as Emitted;
  };
  await createNotices({ store, emit, log: createLog().log, linkOf: () => '' })();
  return sent;
}

test('a notice goes to the channels of its workflow', async () => {
  deepEqual(await sentTo({ settings: { ...DEFAULT_SETTINGS, channels: [OF_WORKFLOW] } }), [`1 ${OF_WORKFLOW}`]);
  deepEqual(await sentTo({ settings: DEFAULT_SETTINGS }), [`1 ${OF_OWNER}`]);
});

test('of a workflow that was deleted meanwhile it goes where it went before', async () => {
  deepEqual(await sentTo(undefined), [`1 ${OF_WORKFLOW}`]);
});
