// Webhooks: creating, changing, deleting, rotating secrets.

import { PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { WebhookInput } from '../../domain/requests.ts';
import { checkVersion, nextVersion } from '../../domain/requests.ts';
import { DEFAULT_WEBHOOK_SETTINGS, type Webhook, type WebhookSettings } from '../../domain/resource.ts';
import type { Clock, Ids, Wake } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { rotated, type SecretDeps, secretsFor } from './webhook-secrets.ts';

export interface WebhookDeps extends SecretDeps {
  readonly store: Pick<Store, 'createWebhook' | 'updateWebhook' | 'deleteWebhook'>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Returns why an address may never be reached; null when it may. */
  readonly reasonAgainst: (url: string) => string | null;
  readonly wake: Wake;
  /** Releases the webhook's claimed deliveries that are not being sent. */
  readonly releaseClaimed: (webhookId: string) => void;
}

export function noWebhook(id: string): Refusal {
  return new Refusal('not_found', `there is no webhook ${id}`);
}

/** Throws `Refusal` for an address that may never be reached. */
export function checkUrl({ reasonAgainst }: Pick<WebhookDeps, 'reasonAgainst'>, url: string): void {
  const reason = reasonAgainst(url);
  if (reason === null) return;
  throw new Refusal('impossible', `url cannot be delivered to: ${reason}`, {
    errors: [{ parameter: 'url', message: reason }],
  });
}

export function createWebhooks(deps: WebhookDeps) {
  const { store, clock, ids } = deps;

  async function createWebhook(ownerId: string, input: WebhookInput & { url: string }): Promise<Webhook> {
    checkUrl(deps, input.url);
    const nowMs = clock.nowMs();
    const settings = settingsFrom(DEFAULT_WEBHOOK_SETTINGS, input.settings);
    const webhook: Webhook = {
      id: ids.next(PREFIX.webhook),
      ownerId,
      url: input.url,
      name: input.name ?? null,
      description: input.description ?? null,
      active: input.active ?? true,
      settings,
      secrets: secretsFor(deps, settings.signature, []),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await store.createWebhook(webhook);
    return webhook;
  }

  async function updateWebhook(ownerId: string, id: string, input: WebhookInput): Promise<Webhook> {
    return change(ownerId, id, (before) => {
      checkVersion(before, input.expected);
      if (input.url !== undefined) checkUrl(deps, input.url);
      const settings = settingsFrom(before.settings, input.settings);
      return {
        ...before,
        url: input.url ?? before.url,
        name: input.name === undefined ? before.name : input.name,
        description: input.description === undefined ? before.description : input.description,
        active: input.active ?? before.active,
        settings,
        secrets: secretsFor(deps, settings.signature, before.secrets),
      };
    });
  }

  async function rotateSecret(ownerId: string, id: string, overlapMs: number): Promise<Webhook> {
    return change(ownerId, id, (before) => ({
      ...before,
      secrets: rotated(deps, before, { nowMs: clock.nowMs(), overlapMs }),
    }));
  }

  /** Changes a webhook. Claimed deliveries have its old settings, so they are released. */
  async function change(ownerId: string, id: string, made: (before: Webhook) => Webhook): Promise<Webhook> {
    const after = await store.updateWebhook(ownerId, id, (before) => ({
      ...made(before),
      updatedAtMs: nextVersion(before, clock.nowMs()),
    }));
    if (!after) throw noWebhook(id);
    deps.releaseClaimed(id);
    // Held deliveries may be due, and an operation may have waited for the webhook to be enabled.
    deps.wake.notify('deliveries');
    deps.wake.notify('operations');
    return after;
  }

  async function deleteWebhook(ownerId: string, id: string): Promise<Webhook> {
    const deleted = await store.deleteWebhook(ownerId, id);
    if (!deleted) throw noWebhook(id);
    deps.releaseClaimed(id);
    return deleted;
  }

  return { createWebhook, updateWebhook, rotateSecret, deleteWebhook };
}

/** Merges member by member: absent ones stay; null restores the default. */
function settingsFrom(before: WebhookSettings, given: WebhookInput['settings'] = {}): WebhookSettings {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  const defaults: Readonly<Record<string, unknown>> = { ...DEFAULT_WEBHOOK_SETTINGS };
  return { ...before, ...Object.fromEntries(entries.map(([name, value]) => [name, value ?? defaults[name]])) };
}
