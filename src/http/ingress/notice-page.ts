// The pages behind the link of a notice: the group with its newest error, a question, and what was done. A form sends POST; no
// script, and of the error little more than the notice said: no header of a request, and the beginning of its event.

import type { ErrorGroup } from '../../domain/errors/group.ts';
import { msOf, PREFIX, prefixOf } from '../../domain/ids.ts';
import type { ShownError } from '../../domain/notices/notice.ts';
import type { LinkAction } from '../../domain/requests.ts';
import { escapeHtml, HTML_HEADERS, htmlPage } from '../docs/html.ts';
import type { Problem } from '../problem.ts';

type Page = Pick<Problem, 'headers' | 'body'>;

const HEADERS = {
  ...HTML_HEADERS,
  // These pages have forms, which go to this server alone.
  'content-security-policy': HTML_HEADERS['content-security-policy'].replace(
    "form-action 'none'",
    "form-action 'self'",
  ),
  'content-type': 'text/html; charset=utf-8',
};

const ASKED: Readonly<Record<LinkAction, string>> = {
  mute: 'Mute these errors for a day',
  resolve: 'Mark these errors as resolved',
  replay: 'Replay the newest of these errors',
};

const DONE: Readonly<Record<LinkAction, string>> = {
  mute: 'The errors are muted for a day.',
  resolve: 'The errors are resolved. The next one opens their group again.',
  replay: 'The event runs again, with the code that is active now.',
};

interface ShownGroup {
  readonly group: ErrorGroup;
  readonly newest: ShownError;
}

export function groupPage(shown: ShownGroup, path: string): Page {
  const actions: readonly LinkAction[] =
    shown.newest.whyNoReplay === null ? ['replay', 'mute', 'resolve'] : ['mute', 'resolve'];
  const forms = actions.map((action) => formOf(path, action)).join('\n');
  const { stack, event } = shown.newest;
  const parts = [aboutOf(shown), codeOf('Where', stack), codeOf('The event begins', event)];
  return pageOf(`${shown.newest.name} failed`, `${parts.join('\n')}\n${forms}`);
}

export function askPage(shown: ShownGroup, path: string, action: LinkAction): Page {
  return pageOf(`${ASKED[action]}?`, `${aboutOf(shown)}\n${formOf(path, action)}`);
}

export function donePage(action: LinkAction): Page {
  return pageOf('Done', `<p>${shownText(DONE[action])} You can close this page.</p>`);
}

const KINDS: Readonly<Record<string, string>> = {
  [PREFIX.workflow]: 'Workflow',
  [PREFIX.source]: 'Source',
  [PREFIX.webhook]: 'Webhook',
  [PREFIX.heartbeat]: 'Heartbeat',
};

function aboutOf({ group, newest }: ShownGroup): string {
  const { id, fingerprint, count, state, firstEntry, lastEntry } = group;
  const facts = [
    [KINDS[prefixOf(group.emitterId)] ?? 'From', `${newest.name} (${group.emitterId})`],
    ['Code', fingerprint.code],
    ['Cause', newest.cause],
    ['Step', newest.step],
    ['Line', newest.line],
    ['Errors', String(count)],
    ['First seen', isoOf(firstEntry)],
    ['Last seen', isoOf(lastEntry)],
    ['State', state],
    ['Group', id],
  ] as const;
  const rows = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<tr><th scope="row">${name}</th><td>${shownText(value)}</td></tr>`);
  return `${codeOf('', newest.message)}\n<table>${rows.join('')}</table>`;
}

function codeOf(title: string, code: string): string {
  if (code === '') return '';
  const heading = title === '' ? '' : `<h4>${title}</h4>\n`;
  return `${heading}<pre class="wrapped"><code>${shownText(code)}</code></pre>`;
}

function isoOf(entry: number): string {
  return new Date(msOf(entry)).toISOString();
}

/**
 * Returns text with its invisible characters replaced. What code has thrown may hold anything: a character that is not shown,
 * or turns the direction of others, is replaced.
 */
function shownText(text: string): string {
  return escapeHtml(text.replace(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu, '\ufffd').toWellFormed());
}

function formOf(path: string, action: LinkAction): string {
  const to = escapeHtml(`${path}/${action}`);
  return `<form method="post" action="${to}"><button class="button" type="submit">${escapeHtml(ASKED[action])}</button></form>`;
}

function pageOf(title: string, content: string): Page {
  const body = htmlPage(title, `<main class="page"><h1>${shownText(title)}</h1>\n${content}</main>`);
  return { headers: HEADERS, body };
}
