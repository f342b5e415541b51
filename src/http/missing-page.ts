// What a person gets who opens an address in a browser at which there is nothing: a page that leads on. Programs get the problem.

import { escapeHtml, HTML_HEADERS, htmlPage } from './docs/html.ts';
import { prefersHtml } from './ingress/resume-page.ts';
import type { Problem } from './problem.ts';
import { pathOf } from './server/target.ts';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly accept?: string | undefined };
}

/** Addresses of programs, and of files. */
const OF_PROGRAMS = /^\/(v1|e|sse|mcp|assets|metrics|healthz|readyz)(\/|$)/;

/** Returns a 404 as a page when a browser asks for a page; any other problem as it is. */
export function asPage(problem: Problem, { method, url, headers }: Asked): Problem {
  const isPerson = method === 'GET' && prefersHtml(headers.accept) && !OF_PROGRAMS.test(pathOf(url));
  if (problem.status !== 404 || !isPerson) return problem;
  const { title, detail } = JSON.parse(problem.body) as { readonly title: string; readonly detail: string };
  const body = htmlPage(
    `${title} · Errand`,
    `<main class="front"><h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(detail)}.</p>
<p><a class="button" href="/">Go to the dashboard</a></p>
<p class="quiet">The <a href="/docs">documentation</a> says what there is.</p></main>`,
  );
  const type = { 'content-type': 'text/html; charset=utf-8', vary: 'accept' };
  return { ...problem, headers: { ...problem.headers, ...HTML_HEADERS, ...type }, body };
}
