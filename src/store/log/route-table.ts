// What routing reads of one emission, from the writer of its transaction.

import type { NewEmission } from '../../domain/emission.ts';
import type { RouteTable } from '../../domain/route.ts';
import type { LogWriter } from './port.ts';

type Reads = Pick<LogWriter, 'owner' | 'runnable' | 'webhook' | 'subscriptionsTo'>;

export function routeTableOf({ ownerId, emitterId, onlyListenerId }: NewEmission, log: Reads): RouteTable {
  const runnable = (id: string) => (/^(p|dc)_/.test(id) ? log.runnable(ownerId, id) : undefined);
  const webhook = (id: string) => (id.startsWith('wh_') ? log.webhook(ownerId, id) : undefined);
  const listeners = { runnables: { get: runnable }, webhooks: { get: webhook } };
  if (onlyListenerId !== null) {
    return { ...listeners, subscriptions: [], globalWorkflow: null, notify: true, isFallback: false };
  }
  const settings = runnable(emitterId)?.settings;
  const globalId = log.owner(ownerId)?.globalErrorWorkflowId ?? null;
  return {
    ...listeners,
    subscriptions: log.subscriptionsTo(ownerId, emitterId),
    globalWorkflow: globalId === null ? null : (log.runnable(ownerId, globalId) ?? null),
    notify: settings?.notify ?? true,
    isFallback: settings?.globalErrors === 'fallback',
  };
}
