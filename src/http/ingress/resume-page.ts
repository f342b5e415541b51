// The page for people who follow the link of a waiting run: one sentence.

import type { RunState } from '../../domain/run/run.ts';
import { escapeHtml, HTML_HEADERS, htmlPage } from '../docs/html.ts';
import type { Problem } from '../problem.ts';

const HTML = 'text/html';
const JSON_TYPES = ['application/json', 'application/problem+json'];

/** Returns whether the caller prefers a page to JSON. A request without an Accept header gets JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(HTML)) return false;
  const quality = new Map(accept.split(',').map(readRange));
  const html = quality.get(HTML) ?? 0;
  return html > 0 && JSON_TYPES.every((type) => html >= (quality.get(type) ?? 0));
}

/** Reads a media range, as in `text/html;q=0.8`. */
function readRange(range: string): [type: string, quality: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  return [type, q === undefined ? 1 : Number(q.slice(2)) || 0];
}

interface EndedWait {
  readonly run: string;
  readonly order: 'resume' | 'cancel';
  readonly state: RunState;
}

/** Returns a page that says what the request has done. */
export function endedPage({ run, order, state }: EndedWait): Pick<Problem, 'headers' | 'body'> {
  const isCancel = order === 'cancel';
  const title = isCancel ? 'Cancelled' : 'Thank you';
  const done = state === 'cancelled' ? 'has been cancelled' : 'will be cancelled';
  const said = isCancel ? `The workflow ${done}.` : 'The workflow goes on.';
  return { headers: PAGE_HEADERS, body: pageOf(title, `${said} You can close this page.`, run) };
}

/** What 404 and 409 mean here, for people. */
const TITLES: Readonly<Record<number, string>> = { 404: 'Nothing waits here', 409: 'No longer needed' };

/** Returns the same refusal as a page. */
export function problemPage({ status, headers, body }: Problem): Problem {
  const { title, detail } = JSON.parse(body) as { title: string; detail: string };
  const said = detail.endsWith('.') ? detail : `${detail}.`;
  return { status, headers: { ...headers, ...PAGE_HEADERS }, body: pageOf(TITLES[status] ?? title, said, '') };
}

const PAGE_HEADERS = { ...HTML_HEADERS, 'content-type': 'text/html; charset=utf-8' };

function pageOf(title: string, said: string, quiet: string): string {
  const last = quiet === '' ? '' : `\n<p class="quiet">Run <code>${escapeHtml(quiet)}</code></p>`;
  return htmlPage(title, `<main class="front"><h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(said)}</p>${last}</main>`);
}
