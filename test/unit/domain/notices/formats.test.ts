// Notices in the formats of the services: what each documents of its members, and its limits for notices of any size.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { CHANNEL_KINDS, type ChannelConfig, type ChannelKind } from '../../../../src/domain/notices/channel.ts';
import { requestOf } from '../../../../src/domain/notices/formats.ts';
import { NOTICE_KINDS, type Notice } from '../../../../src/domain/notices/notice.ts';
import type { Json } from '../../../support/client.ts';

const NOTICE: Notice = {
  kind: 'error',
  group_id: 'eg_0Vj3aBc9dEfGhIjK',
  emitter_id: 'p_0Vj3aBc9dEfGhIjK',
  name: 'Orders',
  code: 'TypeError',
  message: 'order 7 has no "total"',
  step: 'charge',
  line: 'run (charge.ts:3:9)',
  cause: 'ECONNREFUSED: connect',
  count: 4,
  more: 1,
  groups: 1,
  reopened: null,
  replayed: null,
  closed: null,
  replayable: true,
  first_seen: '2026-01-01T00:00:00.000Z',
  last_seen: '2026-01-02T00:00:00.000Z',
  event: '{\n  "order": 7\n}',
  link: 'https://errand.example.com/v1/error_groups/eg_0Vj3aBc9dEfGhIjK',
};

/** As hostile as a notice can be: halves of characters, markup of every service, and as long as it may get. */
const HUGE: Notice = {
  ...NOTICE,
  name: '<!channel> @everyone *_~`[x](y) '.repeat(200),
  code: '😀&<>'.repeat(500),
  message: '```<&>```\ud83d😀"\\\u0000'.repeat(2000).slice(0, 2000),
  step: '`'.repeat(5000),
  line: '<'.repeat(5000),
  cause: '>'.repeat(5000),
  event: '```{"a":"&&&&"}'.repeat(500).slice(0, 2000),
  reopened: 'it was resolved, and opened by another error',
  count: Number.MAX_SAFE_INTEGER,
  more: Number.MAX_SAFE_INTEGER,
};

const CONFIG: Readonly<Record<ChannelKind, ChannelConfig>> = {
  slack: { url: 'https://hooks.slack.com/services/T/B/X' },
  discord: { url: 'https://discord.com/api/webhooks/1/x' },
  teams: { url: 'https://prod.example.com/workflows/x' },
  pagerduty: { key: 'routing' },
  opsgenie: { key: 'genie' },
  http: { url: 'https://example.com/errors' },
  mail: { to: 'ada@example.com' },
};

function sent(kind: ChannelKind, notice: Notice = NOTICE, config: ChannelConfig = CONFIG[kind]): Json {
  const request = requestOf({ kind, config }, notice);
  ok(request);
  equal(request.method, 'POST');
  return { ...request, json: JSON.parse(request.body as string) };
}

/** All texts of a message that Slack takes for markup. */
function markup(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (value.type === 'mrkdwn') return [value.text];
  return Object.values(value).flatMap((inner) => markup(inner));
}

const KINDS = CHANNEL_KINDS.filter((kind) => kind !== 'mail');

test('a mail channel makes no request', () => {
  equal(requestOf({ kind: 'mail', config: CONFIG.mail }, NOTICE), null);
});

test('every kind of notice is well-formed JSON for every service', () => {
  for (const kind of KINDS) {
    for (const notice of [NOTICE, HUGE].flatMap((base) => NOTICE_KINDS.map((word) => ({ ...base, kind: word })))) {
      const { body, headers, url } = sent(kind, notice);
      ok(body.isWellFormed(), kind);
      equal(headers['content-type'], 'application/json');
      ok(URL.canParse(url));
    }
  }
});

test('Slack gets blocks within its limits', () => {
  for (const notice of [NOTICE, HUGE]) {
    const { url, json } = sent('slack', notice);
    equal(url, CONFIG.slack.url);
    ok(json.text.length > 0 && json.text.length <= 4000);
    ok(json.blocks.length <= 50);
    const [header] = json.blocks;
    deepEqual([header.type, header.text.type], ['header', 'plain_text']);
    ok(header.text.text.length <= 150);
    for (const block of json.blocks) {
      if (block.type !== 'section') continue;
      ok((block.text?.text.length ?? 0) <= 3000);
      ok((block.fields?.length ?? 0) <= 10);
      for (const field of block.fields ?? []) ok(field.text.length <= 2000);
    }
  }
});

test('Slack is given no control characters of its markup', () => {
  const { json } = sent('slack', { ...HUGE, link: '' });
  equal(markup(json.blocks).length, 2);
  for (const text of markup(json.blocks).concat(json.text)) {
    ok(!/<|>|&(?!amp;|lt;|gt;)/.test(text), text.slice(0, 80));
    // Code ends where it began: a cut leaves none open.
    equal(text.split('```').length % 2, 1);
  }
});

test('Discord gets an embed within its limits, and calls no one', () => {
  // It refuses fields with blanks alone.
  for (const notice of [NOTICE, HUGE, { ...NOTICE, code: ' ', step: '\t', line: '\n' }]) {
    const { json } = sent('discord', notice);
    deepEqual(json.allowed_mentions, { parse: [] });
    equal(json.embeds.length, 1);
    const [embed] = json.embeds;
    ok(embed.title.length <= 256);
    ok(embed.description.length <= 4096);
    ok(embed.fields.length <= 25);
    for (const field of embed.fields) {
      ok(field.name.length <= 256 && field.value.trim().length > 0 && field.value.length <= 1024);
    }
    const texts = [embed.title, embed.description, ...embed.fields.flatMap(({ name, value }: Json) => [name, value])];
    ok(texts.join('').length <= 6000, String(texts.join('').length));
    equal(embed.description.split('```').length % 2, 1);
  }
});

test('Teams gets an Adaptive Card within its limit', () => {
  for (const notice of [NOTICE, HUGE]) {
    const { json, body } = sent('teams', notice);
    equal(json.type, 'message');
    equal(json.attachments[0].contentType, 'application/vnd.microsoft.card.adaptive');
    equal(json.attachments[0].content.type, 'AdaptiveCard');
    ok(Buffer.byteLength(body) <= 28 * 1024, String(Buffer.byteLength(body)));
    // Text that is Markdown would show links of the event's choice.
    for (const block of json.attachments[0].content.body) equal(block.type, 'RichTextBlock');
  }
});

test('PagerDuty opens an incident by the group, and ends it', () => {
  for (const notice of [NOTICE, HUGE, { ...HUGE, kind: 'digest' as const }]) {
    const { json, url } = sent('pagerduty', notice);
    equal(url, 'https://events.pagerduty.com/v2/enqueue');
    deepEqual([json.event_action, json.dedup_key, json.routing_key], ['trigger', NOTICE.group_id, 'routing']);
    ok(json.payload.summary.length <= 1024 && json.payload.source.length > 0);
    equal(json.payload.severity, 'error');
    equal(json.payload.timestamp, NOTICE.last_seen);
  }
  for (const kind of ['recovered', 'test'] as const) {
    deepEqual(sent('pagerduty', { ...NOTICE, kind }).json, {
      routing_key: 'routing',
      dedup_key: NOTICE.group_id,
      event_action: 'resolve',
    });
  }
});

test('Opsgenie opens an alert by the group, and closes it', () => {
  for (const notice of [NOTICE, HUGE]) {
    const { json, url, headers } = sent('opsgenie', notice);
    equal(url, 'https://api.opsgenie.com/v2/alerts');
    equal(headers.authorization, 'GenieKey genie');
    equal(json.alias, NOTICE.group_id);
    ok(json.message.length <= 130);
    ok(json.description.length <= 15_000 && json.entity.length <= 512);
    for (const tag of json.tags) ok(tag.length <= 50);
    ok(Object.entries(json.details).flat().join('').length <= 8000);
  }
  const closed = sent('opsgenie', { ...NOTICE, kind: 'recovered' });
  equal(closed.url, `https://api.opsgenie.com/v2/alerts/${NOTICE.group_id}/close?identifierType=alias`);
  ok(closed.json.note.length <= 25_000);
});

test('a service is reached at another address when one is given', () => {
  const config = { key: 'genie', url: 'https://api.eu.opsgenie.com/' };
  equal(sent('opsgenie', NOTICE, config).url, 'https://api.eu.opsgenie.com/v2/alerts');
});

test('an own address gets the notice as it is', () => {
  const { json, headers } = sent('http', NOTICE, { ...CONFIG.http, headers: { authorization: 'Bearer x' } });
  deepEqual(json, NOTICE);
  equal(headers.authorization, 'Bearer x');
});

test('a template of JSON stays JSON whatever the message', () => {
  const template = '{"text": "{{title}}: {{ message }}", "all": {{json}}, "n": {{count}}}';
  const notice = { ...NOTICE, message: 'a "quote"\\\n\u0000{{code}}' };
  const { json } = sent('http', notice, { ...CONFIG.http, template });
  equal(json.text, 'Orders failed: TypeError a "quote"\\: a "quote"\\\n\u0000{{code}}');
  deepEqual([json.all, json.n], [notice, 4]);
});

test('a template of text is sent as text', () => {
  const request = requestOf({ kind: 'http', config: { ...CONFIG.http, template: 'Oops: {{message}}' } }, NOTICE);
  equal(request?.body, 'Oops: order 7 has no "total"');
  match(request?.headers['content-type'] ?? '', /^text\/plain/);
});
