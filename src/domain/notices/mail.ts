// A notice as a mail: text, and the same as HTML in a form that every client shows: one column, inline styles, a table for the
// facts, nothing that is loaded from elsewhere.

import { text, utf8 } from '../bytes.ts';
import { EMAIL, type NewEmission, PLAIN_EMISSION } from '../emission.ts';
import { factsOf, type Notice, shortened, titleOf } from './notice.ts';
import { plainNotice } from './plain.ts';

export interface NoticeMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Returns a mail to the owner, who emits it: it has no run, and repeats no other mail. `lineage`: of the error that it is about. */
export function mailEmission(
  notice: Notice,
  { ownerId, lineage }: { readonly ownerId: string; readonly lineage: readonly string[] },
): NewEmission {
  const body = utf8(JSON.stringify(mailOf(notice)));
  const emitter = { ownerId, emitterId: ownerId, originId: ownerId, name: EMAIL, sourceType: 'API' } as const;
  // By the group that it names, the mail joins the others about that group.
  return { ...PLAIN_EMISSION, ...emitter, body, lineage, summary: `${notice.kind} of ${notice.group_id}` };
}

export function mailOf(told: Notice): NoticeMail {
  const notice = plainNotice(told);
  const title = shortTitle(notice);
  return { subject: `[Errand] ${title}`, text: textOf(notice, title), html: htmlOf(notice, title) };
}

export function noticeSubject(notice: Notice): string {
  return `[Errand] ${shortTitle(plainNotice(notice))}`;
}

/** Returns the title without the end of a long message, which stands below it in full. */
function shortTitle(notice: Notice): string {
  return shortened(titleOf(notice), TITLE_CHARS);
}

const TITLE_CHARS = 150;
/** How much of a mail's body lists read, and how much of its subject they show. */
export const SUBJECT_BYTES = 1024;
const SUBJECT_CHARS = 200;
const SUBJECT = /^\{"subject":("(?:[^"\\\p{Cc}]|\\u[\da-fA-F]{4}|\\["\\/bfnrt])*)("?)/u;

/** Returns the beginning of the subject of a mail, given the beginning of its JSON text; null when it does not begin with one. */
export function subjectAtStart(start: Uint8Array): string | null {
  const [, quoted, end] = SUBJECT.exec(text(start)) ?? [];
  if (quoted === undefined) return null;
  const subject = JSON.parse(`${quoted}"`) as string;
  // The start may end within a character.
  return shortened(end === '"' ? subject : `${subject.replace(/\ufffd$/, '')}…`, SUBJECT_CHARS);
}

/** Returns the links of a mail. Each asks for a confirmation: a program that scans the mail follows its links. */
function linksOf({ kind, link, replayable }: Notice): readonly (readonly [name: string, link: string])[] {
  if (link === '') return [];
  const shown = ['Show the errors', link] as const;
  if (kind === 'test' || kind === 'recovered') return [shown];
  const mute = ['Mute these errors for a day', `${link}/mute`] as const;
  return replayable ? [shown, ['Replay the newest error', `${link}/replay`], mute] : [shown, mute];
}

/** Indents what senders wrote: no line of it looks like one of the mail's own. */
function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}

function textOf(notice: Notice, title: string): string {
  const facts = factsOf(notice).map(([name, value]) => `${`${name}:`.padEnd(13)}${value}`);
  return [
    title,
    '',
    ...(notice.message === '' ? [] : [indented(notice.message), '']),
    ...(notice.note === undefined ? [] : [notice.note, '']),
    ...facts,
    ...(notice.event === '' ? [] : ['', 'The event begins:', indented(notice.event)]),
    ...linksOf(notice).flatMap(([name, link]) => ['', `${name}:`, link]),
    '',
  ].join('\n');
}

const FONT = 'font-family:system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif';
const CODE =
  'font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px;white-space:pre-wrap;word-break:break-word;' +
  'background:#f1f3f5;color:#212529;padding:10px;margin:0 0 16px';

function htmlOf(notice: Notice, title: string): string {
  const rows = factsOf(notice).map(
    ([name, value]) =>
      `<tr><td style="padding:2px 16px 2px 0;color:#495057;vertical-align:top">${escaped(name)}</td>` +
      `<td style="padding:2px 0;word-break:break-word">${escaped(value)}</td></tr>`,
  );
  const code = (plain: string): string => `<pre style="${CODE}">${escaped(plain)}</pre>`;
  return [
    '<!doctype html><html><body style="margin:0;padding:24px;background:#ffffff;color:#212529">',
    `<div style="max-width:640px;${FONT};font-size:15px;line-height:1.5">`,
    `<h1 style="font-size:18px;margin:0 0 16px;overflow-wrap:anywhere">${escaped(title)}</h1>`,
    notice.message === '' ? '' : code(notice.message),
    notice.note === undefined ? '' : `<p style="margin:0 0 16px">${escaped(notice.note)}</p>`,
    `<table role="presentation" style="border-collapse:collapse;margin:0 0 16px;font-size:14px">${rows.join('')}</table>`,
    notice.event === '' ? '' : `<p style="margin:0 0 4px">The event begins:</p>${code(notice.event)}`,
    ...linksOf(notice).map(
      ([name, link]) => `<p style="margin:0 0 8px"><a href="${escaped(link)}">${escaped(name)}</a></p>`,
    ),
    '</div></body></html>',
  ].join('\n');
}

function escaped(plain: string): string {
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
