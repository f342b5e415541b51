import { useInfiniteQuery } from '@tanstack/react-query';
import type { ErrorGroup, Webhook } from '../../../src/client/client.ts';
import { groupsQuery } from '../api/errors.ts';
import { type Asked, together } from '../parts/state.tsx';

/** Why the server disables a webhook. */
export type DisabledBy = 'WebhookGone' | 'WebhookDisabled';

interface Disabled {
  /** Returns the errors with which the server disabled a webhook. Undefined: the webhook is active, or a person disabled it. */
  readonly groupOf: (webhook: Webhook) => ErrorGroup | undefined;
  readonly asked: Asked[];
}

/** Tells which of some webhooks the server disabled. Asks for nothing while all are active. */
export function useDisabled(webhooks: readonly Webhook[]): Disabled {
  const enabled = webhooks.some(({ active }) => !active);
  const emitter = webhooks.length === 1 ? webhooks[0]?.id : undefined;
  const of = (code: DisabledBy) => ({ ...groupsQuery({ code, emitter, sort: 'last_seen' }), enabled });
  const gone = useInfiniteQuery(of('WebhookGone'));
  const failed = useInfiniteQuery(of('WebhookDisabled'));
  const groups = [gone, failed].flatMap(({ data }) => data?.pages.flatMap((page) => page.data) ?? []);
  return {
    // The error comes with the change. What a person changes later has a later time.
    groupOf: ({ id, active, updated_at: updatedAt }) =>
      active
        ? undefined
        : groups.find((one) => one.emitter_id === id && Math.floor(one.last_seen_ms / 1000) >= updatedAt),
    asked: enabled ? [together([gone, failed])] : [],
  };
}
