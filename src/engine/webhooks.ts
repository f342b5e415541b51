// Webhooks: making, changing, deleting.

import { Refusal } from '../domain/fault.ts';
import { PREFIX } from '../domain/ids.ts';
import type { WebhookInput } from '../domain/requests.ts';
import type { Webhook } from '../domain/resource.ts';
import type { Clock, Ids, Random } from '../ports.ts';
import type { Store } from '../store/store.ts';

export interface WebhookDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  /** Why an address may never be reached; null when it may. */
  readonly reasonAgainst: (url: string) => string | null;
  readonly newSecret: (bytes: Uint8Array) => string;
  /** Held deliveries may be due. */
  readonly wakeDeliveries: () => void;
  /** What is claimed for it and not sent yet goes back to the store. */
  readonly letGo: (webhookId: string) => void;
}

const SECRET_BYTES = 32;

export function createWebhooks(deps: WebhookDeps) {
  const { store, clock, ids, random } = deps;

  function checkUrl(url: string): void {
    const reason = deps.reasonAgainst(url);
    if (reason === null) return;
    throw new Refusal('impossible', `url cannot be delivered to: ${reason}`, {
      errors: [{ parameter: 'url', message: reason }],
    });
  }

  async function createWebhook(ownerId: string, input: WebhookInput & { url: string }): Promise<Webhook> {
    checkUrl(input.url);
    const nowMs = clock.nowMs();
    const webhook: Webhook = {
      id: ids.next(PREFIX.webhook),
      ownerId,
      url: input.url,
      name: input.name ?? null,
      description: input.description ?? null,
      active: input.active ?? true,
      secrets: [deps.newSecret(random.bytes(SECRET_BYTES))],
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await store.createWebhook(webhook);
    return webhook;
  }

  async function updateWebhook(ownerId: string, id: string, input: WebhookInput): Promise<Webhook> {
    const before = await store.getWebhook(ownerId, id);
    if (!before) throw new Refusal('not_found', `there is no webhook ${id}`);
    if (input.url !== undefined) checkUrl(input.url);
    const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
    const webhook = { ...before, ...given, updatedAtMs: clock.nowMs() };
    if (!(await store.updateWebhook(webhook))) throw new Refusal('not_found', `there is no webhook ${id}`);
    deps.letGo(id);
    deps.wakeDeliveries();
    return webhook;
  }

  async function deleteWebhook(ownerId: string, id: string): Promise<Webhook> {
    const deleted = await store.deleteWebhook(ownerId, id);
    if (!deleted) throw new Refusal('not_found', `there is no webhook ${id}`);
    deps.letGo(id);
    return deleted;
  }

  return { createWebhook, updateWebhook, deleteWebhook };
}
