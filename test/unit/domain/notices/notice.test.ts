// What a notice says, as title, facts and mail.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { text, utf8 } from '../../../../src/domain/bytes.ts';
import { digestBody } from '../../../../src/domain/delivery/digest.ts';
import { channelsFor, OWNER_MAIL } from '../../../../src/domain/notices/channel.ts';
import { headOf } from '../../../../src/domain/notices/event-head.ts';
import { requestOf } from '../../../../src/domain/notices/formats.ts';
import { channelListener, channelOfListener } from '../../../../src/domain/notices/listener.ts';
import { mailOf, SUBJECT_BYTES, subjectAtStart } from '../../../../src/domain/notices/mail.ts';
import { type Notice, sampleOf, shortened, titleOf } from '../../../../src/domain/notices/notice.ts';
import { faultOfTemplate } from '../../../../src/domain/notices/template.ts';

const NOTICE: Notice = {
  kind: 'error',
  group_id: 'eg_0Vj3aBc9dEfGhIjK',
  emitter_id: 'p_0Vj3aBc9dEfGhIjK',
  name: 'Orders',
  code: 'TypeError',
  message: 'first line\nsecond line',
  step: '',
  line: '',
  count: 4,
  more: 3,
  groups: 1,
  reopened: null,
  replayed: null,
  closed: null,
  replayable: true,
  first_seen: '2026-01-01T00:00:00.000Z',
  last_seen: '2026-01-02T00:00:00.000Z',
  event: '',
  link: '',
};

test('a title says what happened in one line', () => {
  equal(titleOf(NOTICE), 'Orders failed: TypeError first line');
  equal(titleOf({ ...NOTICE, reopened: 'it was resolved' }), 'Orders failed again: TypeError first line');
  equal(titleOf({ ...NOTICE, kind: 'digest' }), 'Orders: 3 more TypeError first line');
  const summary = { ...NOTICE, kind: 'summary' } as const;
  equal(titleOf(summary), 'Orders: 1 more group of errors, the newest TypeError first line');
  equal(titleOf({ ...summary, groups: 2 }), 'Orders: 2 more groups of errors, the newest TypeError first line');
  equal(titleOf({ ...NOTICE, kind: 'recovered' }), 'Orders recovered: TypeError first line');
  const replayed = { succeeded: 213, of: 214 };
  const title = titleOf({ ...NOTICE, kind: 'recovered', replayed });
  equal(title, 'Orders recovered (213 of 214 replayed): TypeError first line');
  const closed = { ...NOTICE, kind: 'recovered', closed: 'deleted' } as const;
  equal(titleOf(closed), 'Orders closed, since the workflow was deleted: TypeError first line');
  const source = { ...closed, emitter_id: 'dc_0Vj3aBc9dEfGhIjK' };
  equal(titleOf(source), 'Orders closed, since the source was deleted: TypeError first line');
  equal(titleOf({ ...NOTICE, name: 'a\r\nBcc: b' }), 'a Bcc: b failed: TypeError first line');
});

test('the line is the first own frame, if there is one', () => {
  const context = { deployment_id: null, workflow_name: null };
  const lineOf = (stack: string) =>
    sampleOf({ context, error: { code: 'E', msg: 'm', cellId: '', ts: '', stack } }).line;
  const own = '    at note_default (note.ts:3:16)';
  equal(lineOf(`    at JSON.parse (<anonymous>)\n${own}`), 'note_default (note.ts:3:16)');
  equal(
    lineOf(`    at [cause: ECONNREFUSED: connect]\n    at connect (node:net:1:1)\n${own}`),
    'note_default (note.ts:3:16)',
  );
  equal(lineOf('    at JSON.parse (<anonymous>)'), 'JSON.parse (<anonymous>)');
  equal(lineOf(''), '');
});

test('a text is shortened between characters', () => {
  equal(shortened('abc', 3), 'abc');
  equal(shortened('abcd', 3), 'ab…');
  equal(shortened('a😀b', 3), 'a…');
  ok(shortened('\ud83d'.repeat(9), 3).isWellFormed());
});

test('the head of a request is its body alone', () => {
  const event = { method: 'POST', headers: { authorization: 'Bearer secret' }, body: { order: 7 } };
  equal(headOf(utf8(JSON.stringify(event))), '{\n  "order": 7\n}');
  equal(headOf(utf8(JSON.stringify({ method: 'POST', headers: { authorization: 'x' } }))), 'null');
  const forwarded = { original_event: { ...event, url: 'https://e.example/e/key' }, error: { code: 'E' } };
  deepEqual(JSON.parse(headOf(utf8(JSON.stringify(forwarded)))), {
    original_event: { order: 7 },
    error: { code: 'E' },
  });
  // As a webhook sends it that hears an HTTP trigger, to another one.
  equal(headOf(utf8(JSON.stringify({ method: 'POST', headers: {}, body: event }))), '{\n  "order": 7\n}');
  const often = Array.from({ length: 100 }).reduce((body) => ({ ...event, body }), event);
  equal(headOf(utf8(JSON.stringify({ often }))), '{\n  "often": null\n}');
});

test('the head of an event is short, whatever the event', () => {
  equal(headOf(utf8('not json')), 'null');
  const exact = '{\n  "order": 12345678901234567890,\n  "total": 1.10,\n  "ratio": 1e400\n}';
  equal(headOf(utf8(exact)), exact, 'numbers are as they came');
  equal(headOf(utf8(JSON.stringify({ headers: { a: 'x' }, method: 'x', body: 'y'.repeat(70_000) }))), '');
  const long = headOf(utf8(JSON.stringify(Array.from({ length: 60 }, () => 'z'.repeat(900)))));
  ok(long.length <= 2000);
  const lines = ['{', '  "a": [],', '  "b": {},', '  "c": [', '    null,', '    "\\n"', '  ]', '}'];
  equal(headOf(utf8('{"a":[ ],"b":{},"c":[null,"\\u000a"]}')), lines.join('\n'));
  const twelve = `[\n${Array.from({ length: 10 }, () => '  0').join(',\n')}\n]`;
  equal(headOf(utf8(twelve)), twelve);
  equal(headOf(utf8(`[${'0,'.repeat(10)}0]`)), `${twelve.slice(0, -2)},\n  0\n…`);
});

test('the head of a deep event is that of its outer levels', () => {
  const deep = utf8(`${'['.repeat(250)}${'0,'.repeat(31_000)}0${']'.repeat(250)}`);
  equal(headOf(deep), `${Array.from({ length: 12 }, (_, level) => `${'  '.repeat(level)}[`).join('\n')}\n…`);
});

test('a mail has the same in text and HTML, escaped', () => {
  const notice = { ...NOTICE, message: '<script>alert("x")</script>', link: 'https://e.example/?a=1&b="2"' };
  const { subject, text: plain, html } = mailOf(notice);
  match(subject, /^\[Errand\] Orders failed: TypeError <script>/);
  ok(plain.includes(notice.message) && plain.includes(notice.link));
  ok(!html.includes('<script>') && html.includes('&lt;script&gt;alert(&quot;x&quot;)'));
  ok(html.includes('href="https://e.example/?a=1&amp;b=&quot;2&quot;"'));
  for (const action of ['replay', 'mute'])
    ok(plain.includes(`${notice.link}/${action}`) && html.includes(`/${action}"`));
  ok(!mailOf({ ...notice, kind: 'recovered' }).text.includes('/mute'));
  ok(!mailOf({ ...notice, replayable: false }).text.includes('/replay'));
  ok(!/<(?:img|link|style)/.test(html), 'nothing is loaded from elsewhere');
});

test('a message neither turns, ends nor begins a line of its mail', () => {
  const message = 'first\u202e\u0000\u001b[2J\r\nCode:        Forged\n\nGroup:       eg_forged\u2028next';
  const { subject, text: plain, html } = mailOf({ ...NOTICE, name: 'Or\u2066ders', message, event: '"\u202e"' });
  for (const part of [subject, plain, html]) ok(!/(?![\n\t])[\p{Cc}\p{Cf}\u2028]/u.test(part), part);
  match(subject, /^\[Errand\] Orders failed: TypeError first/);
  deepEqual(plain.match(/^(?:Code|Group):.*$/gm), ['Code:        TypeError', `Group:       ${NOTICE.group_id}`]);
  const [chat, own] = (['slack', 'http'] as const).map((kind) =>
    String(requestOf({ kind, config: { url: 'https://e.example' } }, { ...NOTICE, message })?.body),
  );
  ok(!/[\u202a-\u202e]/.test(`${chat}`), `${chat}`);
  equal(JSON.parse(own ?? '').message, message);
});

test('colours of a terminal are left out of mails and chats, and kept for programs', () => {
  const message = 'Timeout \u001b[31m30000ms\u001b[39m';
  const { text: plain, html, subject } = mailOf({ ...NOTICE, message });
  for (const part of [plain, html, subject]) ok(part.includes('Timeout 30000ms') && !part.includes('[31m'), part);
  const [chat, own] = (['slack', 'http'] as const).map((kind) =>
    String(requestOf({ kind, config: { url: 'https://e.example' } }, { ...NOTICE, message })?.body),
  );
  ok(chat?.includes('Timeout 30000ms'), String(chat));
  equal(JSON.parse(own ?? '').message, message);
});

test('a digest says how many there were within the page of the mail', () => {
  const window = { openedAtMs: 0, closesAtMs: 60_000, repeats: 3 };
  const digestOf = (html: string): string => {
    const body = utf8(JSON.stringify({ subject: 's', text: 't', html }));
    return JSON.parse(text(digestBody('p_1 eg_1 0', window, { body, causeRun: 1 }))).html;
  };
  const lead = String.raw`<p>\+3 more since 00:00 UTC [^<]*</p>`;
  match(digestOf(mailOf(NOTICE).html), new RegExp(`^<!doctype html><html><body [^>]*>${lead}\\s*<div `));
  match(digestOf('<b>own</b>'), new RegExp(`^${lead}\\s*<b>own</b>$`));
});

test('text outside a string of a JSON template is refused', () => {
  match(String(faultOfTemplate('{"m": {{message}}}')), /\{\{message\}\}, which is text, outside a JSON string/);
  match(String(faultOfTemplate('["{{title}}", {{ code }}]')), /\{\{code\}\}/);
  equal(faultOfTemplate('{"m": "{{message}}", "n": {{count}}, "more": {{more}}, "all": {{json}}}'), null);
  for (const text of ['{{title}}: {{message}}', '{{title}}', ' {{message}} ']) equal(faultOfTemplate(text), null);
});

test('a template with unknown or too many placeholders is refused', () => {
  equal(faultOfTemplate('{{title}} {{ json }} {not one} {{}}'), null);
  match(faultOfTemplate('{{titel}}') ?? '', /no value for \{\{titel\}\}; there are title, kind/);
  match(faultOfTemplate('{{title}}'.repeat(51)) ?? '', /51 placeholders, but at most 50/);
});

test('a workflow’s own channels go before those of its owner', () => {
  const owner = { channelIds: ['ch_owner'], globalErrorWorkflowId: 'p_global' };
  const of = (settings?: { notify: boolean; channels?: string[] | null }) => ({ emitterId: 'p_one', settings });
  deepEqual(channelsFor(owner, of()), ['ch_owner']);
  deepEqual(channelsFor(owner, of({ notify: true, channels: null })), ['ch_owner']);
  deepEqual(channelsFor(owner, of({ notify: true, channels: [] })), []);
  deepEqual(channelsFor(owner, of({ notify: false, channels: null })), []);
  deepEqual(channelsFor(owner, of({ notify: false, channels: ['ch_own'] })), ['ch_own']);
  deepEqual(channelsFor(undefined, of()), []);
});

test('errors of the global error workflow are mailed where no channel is', () => {
  const owner = { channelIds: [], globalErrorWorkflowId: 'p_global' };
  const of = (notify: boolean, channels?: string[]) => ({ emitterId: 'p_global', settings: { notify, channels } });
  deepEqual(channelsFor(owner, of(true)), [OWNER_MAIL]);
  deepEqual(channelsFor(owner, of(true, [])), [OWNER_MAIL]);
  deepEqual(channelsFor(owner, of(false)), []);
  deepEqual(channelsFor(owner, of(true, ['ch_own'])), ['ch_own']);
  deepEqual(channelsFor({ ...owner, channelIds: ['ch_owner'] }, of(true)), ['ch_owner']);
  deepEqual(channelsFor(owner, { ...of(true), emitterId: 'p_one' }), []);
  deepEqual(channelsFor({ ...owner, globalErrorWorkflowId: null }, of(true)), []);
});

test('a listener names its channel, and no other does', () => {
  equal(channelOfListener(channelListener('u_1', 'ch_0Vj3aBc9dEfGhIjK')), 'ch_0Vj3aBc9dEfGhIjK');
  for (const other of ['mail', 'wh_1', 'http:u_1:https://ch_1:443', 'http:u_1:https://a.example:443', null]) {
    equal(channelOfListener(other), null);
  }
});

test('the start of a mail gives the start of its subject', () => {
  const startOf = (subject: unknown) =>
    subjectAtStart(utf8(JSON.stringify({ subject, text: 'below' })).subarray(0, SUBJECT_BYTES));
  for (const subject of ['', 'Grüße "an" \\ alle 🎉', '\u202eabc\n</b>', '\ud800'.toWellFormed()])
    equal(startOf(subject), subject);
  equal(startOf('é'.repeat(200)), 'é'.repeat(200));
  equal(startOf('é'.repeat(201)), `${'é'.repeat(199)}…`);
  // The end of what is read lies within a character, or within an escape.
  for (const letter of ['é', '€', '🎉', '\u0000', '"'])
    for (const before of ['', 'a', 'ab', 'abc', 'abcd', 'abcde']) {
      const long = before + letter.repeat(1200);
      const start = utf8(JSON.stringify({ subject: long })).subarray(0, 100);
      const shown = subjectAtStart(start) ?? '';
      match(shown, /…$/);
      ok(long.startsWith(shown.slice(0, -1)) && shown.length > 10, shown);
    }
  for (const body of [
    '',
    '{}',
    '[]',
    '{"subject":7}',
    '{"subject":null,"text":""}',
    '{"text":"","subject":"late"}',
    '{"subj',
  ])
    equal(subjectAtStart(utf8(body)), null, body);
  equal(subjectAtStart(Uint8Array.of(0xff, 0xfe)), null);
});
