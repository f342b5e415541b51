// Channels: creating, changing, deleting.

import { HIDDEN } from '../../domain/delivery/http-request.ts';
import { faultOfHeaders } from '../../domain/delivery/webhook-headers.ts';
import { PREFIX } from '../../domain/ids.ts';
import {
  type Channel,
  type ChannelConfig,
  type ChannelKind,
  CONFIG_OF,
  hiddenUrl,
} from '../../domain/notices/channel.ts';
import { NOTICE_LIMITS } from '../../domain/notices/limits.ts';
import { faultOfTemplate } from '../../domain/notices/template.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type ChannelInput, checkVersion, type Expected, nextVersion } from '../../domain/requests.ts';
import type { Workflow } from '../../domain/resource.ts';
import type { Clock, Ids } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';

export interface ChannelDeps {
  readonly store: Pick<Store, 'createChannel' | 'updateChannel' | 'getChannel' | 'deleteChannel'>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Returns why an address may never be reached; null when it may. */
  readonly reasonAgainst: (url: string) => string | null;
}

export function createChannels(deps: ChannelDeps) {
  const { store, clock, ids } = deps;

  async function createChannel(ownerId: string, input: ChannelInput & { kind: ChannelKind }): Promise<Channel> {
    const nowMs = clock.nowMs();
    const { kind } = input;
    const channel: Channel = {
      id: ids.next(PREFIX.channel),
      ownerId,
      kind,
      name: input.name ?? kind,
      active: input.active ?? true,
      config: checked(deps, kind, mergedConfig({}, input.config)),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    if (await store.createChannel(channel, NOTICE_LIMITS.channelsPerOwner)) return channel;
    throw new Refusal('impossible', `there are ${NOTICE_LIMITS.channelsPerOwner} channels already; delete one first`);
  }

  async function updateChannel(
    ownerId: string,
    id: string,
    input: ChannelInput & { expected?: Expected },
  ): Promise<Channel> {
    const after = await store.updateChannel(ownerId, id, (before) => {
      checkVersion(before, input.expected);
      return {
        ...before,
        name: input.name ?? before.name,
        active: input.active ?? before.active,
        config: input.config ? checked(deps, before.kind, mergedConfig(before.config, input.config)) : before.config,
        updatedAtMs: nextVersion(before, clock.nowMs()),
      };
    });
    if (!after) throw noChannel(id);
    return after;
  }

  async function deleteChannel(ownerId: string, id: string): Promise<Channel> {
    const deleted = await store.deleteChannel(ownerId, id, (usedBy) => {
      if (usedBy.length > 0) throw usedChannel(id, usedBy);
    });
    if (!deleted) throw noChannel(id);
    return deleted;
  }

  return { createChannel, updateChannel, deleteChannel };
}

export function noChannel(id: string): Refusal {
  return new Refusal('not_found', `there is no channel ${id}`);
}

const WORKFLOWS_NAMED = 5;

/** Returns why it is not deleted: errors of the workflows would go to channels that were not chosen for them, or to none. */
function usedChannel(id: string, usedBy: readonly Pick<Workflow, 'id' | 'name'>[]): Refusal {
  const named = usedBy.slice(0, WORKFLOWS_NAMED).map((used) => `${JSON.stringify(used.name)} (${used.id})`);
  const more = usedBy.length - named.length;
  const all = `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
  return new Refusal(
    'conflict',
    `${id} is in the setting channels of ${usedBy.length === 1 ? 'a workflow' : `${usedBy.length} workflows`}: ${all}. Name other channels there first, or null for those of the owner`,
  );
}

/** Throws `Refusal` when the owner has not all of the channels. */
export async function checkChannels(
  store: Pick<Store, 'getChannel'>,
  ownerId: string,
  { ids, parameter }: { readonly ids: readonly string[] | null | undefined; readonly parameter: string },
): Promise<void> {
  for (const id of ids ?? []) {
    if (await store.getChannel(ownerId, id)) continue;
    const message = `there is no channel ${id}`;
    throw new Refusal('impossible', `${parameter}: ${message}`, { errors: [{ parameter, message }] });
  }
}

/**
 * Merges member by member: a caller cannot send back values that are never shown, and one that sends back what is shown
 * instead of them leaves them as they are. Null deletes a member.
 */
function mergedConfig(before: ChannelConfig, given: ChannelInput['config'] = {}): ChannelConfig {
  const { url, key, headers, template } = given;
  const shown = before.url === undefined ? null : hiddenUrl(before.url);
  const kept = {
    ...(shown !== null && url === shown ? { url: before.url } : {}),
    ...(key === HIDDEN && before.key !== undefined ? { key: before.key } : {}),
    ...(template === HIDDEN && before.template !== undefined ? { template: before.template } : {}),
    ...(headers ? { headers: withKept(headers, before.headers) } : {}),
  };
  const entries = Object.entries({ ...before, ...given, ...kept }).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as ChannelConfig;
}

/** Returns headers with the values that are known where they came back as they are shown: a patch sends all that it leaves. */
function withKept(given: Headers, before: Headers = {}): Headers {
  const entries = Object.entries(given).map(([name, value]) => {
    return [name, value === HIDDEN && Object.hasOwn(before, name) ? before[name] : value];
  });
  return Object.fromEntries(entries) as Headers;
}

type Headers = Readonly<Record<string, string>>;

/** Returns the configuration; throws `Refusal` when the kind does not take it. Never quotes a value, which may be a secret. */
function checked({ reasonAgainst }: ChannelDeps, kind: ChannelKind, config: ChannelConfig): ChannelConfig {
  const members = CONFIG_OF[kind];
  for (const name of Object.keys(config)) {
    if (!Object.hasOwn(members, name))
      throw refused('malformed', name, `is nothing that a channel of the kind ${kind} has`);
  }
  for (const [name, isNeeded] of Object.entries(members)) {
    if (isNeeded && !Object.hasOwn(config, name)) {
      throw refused('malformed', name, `is missing: a channel of the kind ${kind} needs it`);
    }
  }
  const { url, headers, template } = config;
  const reason = url === undefined ? null : reasonAgainst(url);
  if (reason !== null) throw refused('impossible', 'url', `cannot be reached: ${reason}`);
  const header = headers && faultOfHeader(headers);
  if (header) throw refused('malformed', 'headers', header);
  const fault = template === undefined ? null : faultOfTemplate(template);
  if (fault !== null) throw refused('malformed', 'template', fault);
  return config;
}

function faultOfHeader(headers: Readonly<Record<string, string>>): string | null {
  const wrong = faultOfHeaders(headers);
  if (!wrong) return null;
  return wrong.name === null ? wrong.fault : `${JSON.stringify(wrong.name)} ${wrong.fault}`;
}

function refused(code: 'malformed' | 'impossible', member: string, message: string): Refusal {
  const parameter = `config.${member}`;
  return new Refusal(code, `${parameter} ${message}`, { errors: [{ parameter, message }] });
}
