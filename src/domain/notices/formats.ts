// A notice as the request that a channel's service expects. Pure: the same notice always makes the same request. Limits are
// those that the services document; what is longer is shortened here, since they refuse it, and a notice that is
// refused is lost.

import type { AskedRequest } from '../delivery/http-request.ts';
import { type Channel, SERVICE_URL } from './channel.ts';
import { factsOf, type Notice, shortened, titleOf } from './notice.ts';
import { plainNotice } from './plain.ts';
import { filled, isJsonTemplate } from './template.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** Returns the request of a notice; null: the channel sends mails. */
export function requestOf({ kind, config }: Pick<Channel, 'kind' | 'config'>, whole: Notice): AskedRequest | null {
  // Programs get what was thrown, people what can be read.
  const notice = kind === 'http' ? whole : plainNotice(whole);
  const { url = SERVICE_URL[kind] ?? '', key = '' } = config;
  const post = (body: unknown, headers = {}, path = ''): AskedRequest => {
    const to = path === '' ? url : `${url.replace(/\/+$/, '')}${path}`;
    return { method: 'POST', url: to, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
  };
  switch (kind) {
    case 'slack':
      return post(slack(notice));
    case 'discord':
      return post(discord(notice));
    case 'teams':
      return post(teams(notice));
    case 'pagerduty':
      return post(pagerDuty(notice, key), {}, '/v2/enqueue');
    case 'opsgenie':
      return post(opsgenie(notice), { authorization: `GenieKey ${key}` }, opsgeniePath(notice));
    case 'http':
      return own(config, notice);
    case 'mail':
      return null;
  }
}

// Slack, https://docs.slack.dev/reference/block-kit/blocks: a header has at most 150 characters, a section's text 3,000, a
// field 2,000, a section 10 fields. `&`, `<` and `>` are control characters of its markup, also within code; plain text has none.

function slack(notice: Notice): object {
  const title = titleOf(notice);
  const section = (markup: string): object => ({
    type: 'section',
    text: { type: 'mrkdwn', text: shortened(markup, 3000) },
  });
  const fields = factsOf(notice)
    .slice(0, 10)
    .map(([name, value]) => ({ type: 'plain_text', text: `${name}\n${shortened(value, 300)}`, emoji: false }));
  return {
    // Shown in notifications, and by clients without blocks.
    text: slackText(shortened(title, 300)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: shortened(title, 150), emoji: false } },
      ...(notice.message === '' ? [] : [section(slackCode(notice.message))]),
      { type: 'section', fields },
      ...(notice.event === '' ? [] : [section(`The event begins:\n${slackCode(notice.event)}`)]),
      ...(notice.link === '' ? [] : [section(`<${notice.link}|Show the errors>`)]),
    ],
  };
}

function slackText(plain: string): string {
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Cuts the text to half of what a section takes: escaping makes text longer, and a cut must not leave the code open. */
function slackCode(plain: string): string {
  let escaped = slackText(shortened(plain, 1200)).replaceAll('```', "'''");
  if (escaped.length > 2900) escaped = slackText(shortened(plain, 500)).replaceAll('```', "'''");
  return `\`\`\`${escaped}\`\`\``;
}

// Discord, https://discord.com/developers/docs/resources/message#embed-object: an embed's title has at most 256 characters,
// its description 4,096, a field's value 1,024, all of it together 6,000. Without `allowed_mentions` a message in which
// an at sign stands before the name of a role would call all its members.

const COLOURS = { error: 0xc92a2a, digest: 0xe8590c, summary: 0xe8590c, recovered: 0x2b8a3e, test: 0x1864ab };
const CLOSED_COLOUR = 0x868e96;

function discord(notice: Notice): object {
  const code = (plain: string): string => `\`\`\`\n${shortened(plain, 1500).replaceAll('```', "'''")}\n\`\`\``;
  const parts = [
    ...(notice.message === '' ? [] : [code(notice.message)]),
    ...(notice.event === '' ? [] : [`The event begins:\n${code(notice.event)}`]),
  ];
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: shortened(titleOf(notice), 256),
        ...(notice.link === '' ? {} : { url: notice.link }),
        color: notice.closed ? CLOSED_COLOUR : COLOURS[notice.kind],
        ...(parts.length === 0 ? {} : { description: parts.join('\n') }),
        fields: factsOf(notice).map(([name, value]) => ({
          name,
          value: shortened(value.replace(/[\\*_~`|>[\]]/g, '\\$&'), 200),
          inline: true,
        })),
      },
    ],
  };
}

// Teams, https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors: an Adaptive Card in a message of at most
// 28 KB. Runs of text (RichTextBlock) are shown as they are; other text is Markdown.

function teams(notice: Notice): object {
  const run = (text: string, more = {}): object => ({ type: 'TextRun', text, ...more });
  const rich = (...inlines: object[]): object => ({ type: 'RichTextBlock', inlines });
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            rich(run(shortened(titleOf(notice), 250), { weight: 'Bolder', size: 'Medium' })),
            ...(notice.message === '' ? [] : [rich(run(notice.message, { fontType: 'Monospace' }))]),
            ...factsOf(notice).map(([name, value]) =>
              rich(run(`${name}: `, { weight: 'Bolder' }), run(shortened(value, 300))),
            ),
            ...(notice.event === '' ? [] : [rich(run(notice.event, { fontType: 'Monospace', isSubtle: true }))]),
          ],
          ...(notice.link === ''
            ? {}
            : { actions: [{ type: 'Action.OpenUrl', title: 'Show the errors', url: notice.link }] }),
        },
      },
    ],
  };
}

// PagerDuty, Events API v2: summary at most 1,024 characters, dedup_key 255. `resolve` closes what `trigger` with the same key
// has opened; a key that is not open is no error. A test opens nothing: it resolves a key that was never triggered.

function pagerDuty(notice: Notice, routingKey: string): object {
  const base = { routing_key: routingKey, dedup_key: notice.group_id };
  if (notice.kind === 'recovered' || notice.kind === 'test') return { ...base, event_action: 'resolve' };
  return {
    ...base,
    event_action: 'trigger',
    client: 'Errand',
    ...(notice.link === '' ? {} : { client_url: notice.link, links: [{ href: notice.link, text: 'Show the errors' }] }),
    payload: {
      summary: shortened(titleOf(notice), 1024),
      source: shortened(notice.name, 255),
      severity: 'error',
      timestamp: notice.last_seen,
      component: shortened(notice.step === '' ? notice.name : notice.step, 255),
      group: notice.emitter_id,
      class: shortened(notice.code, 255),
      custom_details: { ...Object.fromEntries(factsOf(notice)), Message: notice.message, Event: notice.event },
    },
  };
}

// Opsgenie, Alert API: message at most 130 characters, alias 512, description 15,000, entity 512, details 8,000 together, at
// most 20 tags of 50, note 25,000. An alert with an open alias is counted, not made again; `close` by that alias closes it.

function opsgenie(notice: Notice): object {
  const source = 'Errand';
  if (closes(notice)) return { source, note: shortened(titleOf(notice), 1000) };
  const facts = factsOf(notice).map(([name, value]) => [name, shortened(value, 500)]);
  const parts = [notice.message, notice.event === '' ? '' : `The event begins:\n${notice.event}`, notice.link];
  return {
    message: shortened(titleOf(notice), 130),
    alias: notice.group_id,
    description: shortened(parts.filter((part) => part !== '').join('\n\n'), 15_000),
    entity: shortened(notice.name, 512),
    source,
    tags: [shortened(notice.code, 50)].filter((tag) => tag.trim() !== ''),
    details: Object.fromEntries(facts),
  };
}

function opsgeniePath(notice: Notice): string {
  if (!closes(notice)) return '/v2/alerts';
  return `/v2/alerts/${encodeURIComponent(notice.group_id)}/close?identifierType=alias`;
}

function closes({ kind }: Notice): boolean {
  return kind === 'recovered' || kind === 'test';
}

function own({ url = '', headers = {}, template }: Channel['config'], notice: Notice): AskedRequest {
  const body = template === undefined ? JSON.stringify(notice) : filled(template, notice);
  const isJson = template === undefined || isJsonTemplate(template);
  const type = isJson ? JSON_TYPE : { 'content-type': 'text/plain; charset=utf-8' };
  return { method: 'POST', url, headers: { ...type, ...headers }, body };
}
