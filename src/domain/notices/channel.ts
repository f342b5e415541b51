// A channel: where an owner's notices of errors go, beside the mail of the global error workflow. What the service at the
// other end expects is in formats.ts.

import { HIDDEN } from '../delivery/http-request.ts';
import type { Owner } from '../resource.ts';

export const CHANNEL_KINDS = ['slack', 'discord', 'teams', 'pagerduty', 'opsgenie', 'http', 'mail'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/** Everything but `to` may be a credential, or have one in it: the address of a chat's incoming webhook above all. */
export interface ChannelConfig {
  /** Of chats and `http`: where the request goes. Of PagerDuty and Opsgenie: the service's own address instead of the usual one. */
  readonly url?: string;
  /** PagerDuty's routing key, or Opsgenie's API key. */
  readonly key?: string;
  /** The recipient of a mail. */
  readonly to?: string;
  /** `http`: headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `http`: the body, with placeholders (template.ts). Absent: the notice as JSON. */
  readonly template?: string;
}

export interface Channel {
  readonly id: string;
  readonly ownerId: string;
  readonly kind: ChannelKind;
  readonly name: string;
  /** False: notices that come due are not sent to it. */
  readonly active: boolean;
  readonly config: ChannelConfig;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The members that each kind takes, and whether it needs them. */
export const CONFIG_OF: Readonly<Record<ChannelKind, Readonly<Partial<Record<keyof ChannelConfig, boolean>>>>> = {
  slack: { url: true },
  discord: { url: true },
  teams: { url: true },
  pagerduty: { key: true, url: false },
  opsgenie: { key: true, url: false },
  http: { url: true, headers: false, template: false },
  mail: { to: true },
};

/** Returns whether what takes the notices keeps something open from an error to its recovery: an incident, or what a program makes of it. */
export function opensIncidents(kind: ChannelKind): boolean {
  return kind === 'pagerduty' || kind === 'opsgenie' || kind === 'http';
}

/** Addresses of services that have one for all their customers. */
export const SERVICE_URL: Readonly<Partial<Record<ChannelKind, string>>> = {
  pagerduty: 'https://events.pagerduty.com',
  opsgenie: 'https://api.opsgenie.com',
};

/** Hosts of chats: each stands for those below it, too. */
const CHATS: Readonly<Partial<Record<ChannelKind, { readonly name: string; readonly hosts: readonly string[] }>>> = {
  slack: { name: 'Slack', hosts: ['hooks.slack.com', 'hooks.slack-gov.com'] },
  discord: { name: 'Discord', hosts: ['discord.com', 'discordapp.com'] },
  teams: {
    name: 'Microsoft Teams',
    hosts: [
      'logic.azure.com',
      'powerplatform.com',
      'logic.azure.us',
      'powerplatform.us',
      'office.com',
      'logic.azure.cn',
    ],
  },
};

/**
 * Returns what to say of an address that is not one of its chat's; null: nothing. It is no fault: other programs take messages in
 * the format of a chat, and proxies pass them on.
 */
export function hintOf({ kind, config }: Pick<Channel, 'kind' | 'config'>): string | null {
  const chat = CHATS[kind];
  const host = config.url === undefined ? null : new URL(config.url).hostname;
  if (!chat || host === null || chat.hosts.some((known) => host === known || host.endsWith(`.${known}`))) return null;
  return `The address is not one of ${chat.name}: see whether the message has arrived there. For other services there is the kind http.`;
}

/** The channel that each owner has without making it: the owner's mail address, for the errors of the global error workflow, of which nothing else tells. */
export const OWNER_MAIL = 'ch_mail';

/** Returns that channel of an owner; without a mail address, its mails are written to the outbox folder. */
export function ownerMail({ id, email, createdAtMs, updatedAtMs }: Omit<Owner, 'name'>): Channel {
  const config = email === null ? {} : { to: email };
  return { id: OWNER_MAIL, ownerId: id, kind: 'mail', name: 'Mail', active: true, config, createdAtMs, updatedAtMs };
}

/**
 * Returns the channels that are notified of the errors of an emitter: its own setting, else the owner's. `notify` false without
 * a setting: none. Of the global error workflow, which does not get its own errors: the owner's mail, when there is no other.
 */
export function channelsFor(
  owner: Pick<Owner, 'channelIds' | 'globalErrorWorkflowId'> | undefined,
  { emitterId, settings }: { readonly emitterId: string; readonly settings: NoticeSettings | undefined },
): readonly string[] {
  const chosen = settings?.channels ?? (settings?.notify === false ? [] : (owner?.channelIds ?? []));
  return chosen.length === 0 ? insteadOf({ owner, emitterId, settings }) : chosen;
}

/** Returns the channels in place of none, or of those that are not active: the owner's mail for the global error workflow, else none. */
export function insteadOf({ owner, emitterId, settings }: OfEmitter): readonly string[] {
  return emitterId === owner?.globalErrorWorkflowId && settings?.notify !== false ? [OWNER_MAIL] : [];
}

interface OfEmitter {
  readonly owner: Pick<Owner, 'globalErrorWorkflowId'> | undefined;
  readonly emitterId: string;
  readonly settings: NoticeSettings | undefined;
}

interface NoticeSettings {
  readonly channels?: readonly string[] | null;
  readonly notify: boolean;
}

/** Returns an address as it is shown: its path may be a credential. */
export function hiddenUrl(url: string): string {
  return `${new URL(url).origin}/${HIDDEN}`;
}
