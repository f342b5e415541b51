// What unit tests of the engine stand on: ports that are set, and claimed rows that are only as whole as the test needs.

import type { Attempt, ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { PLAIN_EMISSION } from '../../../src/domain/emission.ts';
import {
  DEFAULT_SETTINGS,
  DEFAULT_WEBHOOK_SETTINGS,
  type Runnable,
  type Webhook,
  type WebhookSettings,
} from '../../../src/domain/resource.ts';
import type { ClaimedRun } from '../../../src/domain/run/run.ts';
import { type PropStores, propStoresOf } from '../../../src/engine/components/prop-stores.ts';
import { WakeUps } from '../../../src/engine/wake-ups.ts';
import type { Log, Random, WakeTopic } from '../../../src/ports.ts';
import type { Appended, Claims } from '../../../src/store/contract/store.ts';

/** Jitter in the middle: none. */
export const random: Random = { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 };

export interface Line {
  readonly level: string;
  readonly name: string;
  readonly fields: object;
}

export function createLog(): { log: Log; lines: Line[] } {
  const lines: Line[] = [];
  const keep = (level: string) => (fields: object, name: string) => void lines.push({ level, name, fields });
  return { log: { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }, lines };
}

/** Wake-ups, and the topics that they were about so far. */
export function createWake(): { wake: WakeUps; woken: WakeTopic[] } {
  const wake = new WakeUps();
  const woken: WakeTopic[] = [];
  const notify = wake.notify.bind(wake);
  wake.notify = (topic, inMs) => {
    woken.push(topic);
    notify(topic, inMs);
  };
  return { wake, woken };
}

const none = async (): Promise<undefined> => undefined;

/** Of an owner with neither accounts nor data stores. */
export const NO_PROP_STORES: PropStores = propStoresOf(
  {
    getAccount: none,
    getDataStore: none,
    getRecord: none,
    hasRecord: none,
    listRecordKeys: none,
    listRecords: none,
  },
  { usable: none },
);

export const NOTHING: Claims = { runs: [], deliveries: [], runsWaiting: false, deliveriesWaiting: false };

export const runnable: Runnable = {
  id: 'p_1',
  ownerId: 'u_1',
  name: 'orders',
  active: true,
  deploymentId: 'd_1',
  settings: DEFAULT_SETTINGS,
};

export const emission = {
  ...PLAIN_EMISSION,
  ownerId: 'u_1',
  emitterId: 'hi_1',
  originId: 'hi_1',
  sourceType: 'HTTP' as const,
  body: Buffer.from('{}'),
};

export function claimedRun(run: number, more: Partial<ClaimedRun> = {}): ClaimedRun {
  return {
    run,
    fence: 1,
    runnable,
    emission: { ...emission, entry: run, emitId: `e${run}`, traceId: `e${run}` },
    via: 'trigger',
    subscriptionId: null,
    attempt: 1,
    alone: false,
    isAwaitedElsewhere: false,
    checkpoint: null,
    resumed: null,
    ...more,
  };
}

export function appended(firstRun: number | null, more: Partial<Appended> = {}): Appended {
  return { entry: 1, emitId: 'e1', claims: NOTHING, firstRun, firstRunRefused: false, repeated: null, ...more };
}

export function webhook(settings: Partial<WebhookSettings> = {}, more: Partial<Webhook> = {}): Webhook {
  return {
    id: 'wh_1',
    ownerId: 'u_1',
    url: 'https://example.com/hook',
    name: null,
    description: null,
    active: true,
    settings: { ...DEFAULT_WEBHOOK_SETTINGS, ...settings },
    secrets: [{ secret: 'whsec_1', publicKey: null, untilMs: null }],
    createdAtMs: 0,
    updatedAtMs: 0,
    ...more,
  };
}

export function claimedDelivery(delivery: number, more: Partial<ClaimedDelivery> = {}): ClaimedDelivery {
  return {
    delivery,
    fence: 1,
    kind: 'webhook',
    emission: { ...emission, entry: delivery, emitId: `e${delivery}`, traceId: `e${delivery}` },
    subscriptionId: 'sub_1',
    via: 'subscription',
    webhook: webhook(),
    mailTo: null,
    attempt: 1,
    tries: 0,
    trigger: 'event',
    ...more,
  };
}

/** Answered with this status. */
export function answered(status: number, more: Partial<Attempt> = {}): Attempt {
  return {
    startedAtMs: 0,
    tookMs: 5,
    timing: { dnsMs: null, connectMs: null, firstByteMs: null },
    outcome: 'answered',
    status,
    responseHeaders: {},
    responseBody: '',
    detail: `The receiver answered ${status}.`,
    permanent: false,
    ...more,
  };
}
