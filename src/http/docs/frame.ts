// What surrounds each page of the documentation: the bar, the contents of all pages, and those of this one. The script adds
// the search, buttons that copy, and the form that tries an operation; without it everything else is there.

import { escapeHtml, htmlPage } from './html.ts';

interface NavigationLink {
  readonly href: string;
  readonly title: string;
}

export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly NavigationLink[];
}

/** What all pages have in common. */
export interface Contents {
  readonly groups: readonly NavigationGroup[];
  /** The address of the script; null: the dashboard, and the script with it, has not been built. */
  readonly script: string | null;
}

interface DocsPage {
  readonly title: string;
  /** The page's own address. */
  readonly current: string;
  readonly main: string;
  /** More groups of links behind those of all pages. */
  readonly more?: readonly NavigationGroup[];
  /** The class of the main part. */
  readonly kind?: 'guide';
  /** Links to the headings of this page; their titles are HTML. */
  readonly sections?: readonly NavigationLink[];
}

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#3f51c9"/><path d="M9 9.5h13M9 16h8.5M9 22.5h13" stroke="#fff" stroke-width="3" stroke-linecap="round"/><circle cx="22.5" cy="16" r="2.4" fill="#ff8f7a"/></svg>';

export function docsPage(
  { title, current, main, more = [], kind, sections = [] }: DocsPage,
  contents: Contents,
): string {
  const groups = [...contents.groups, ...more].map((group) => groupHtml(group, current));
  const aside = sections.map(({ href, title: inner }) => `<a href="${href}">${inner}</a>`).join('\n');
  const body = `<a class="skip" href="#content">To the content</a>
<header class="bar"><a class="brand" href="/docs/quick-start" aria-label="Errand: documentation">${ICON}<span>Errand</span></a>
<button type="button" class="plain-button contents-button" popovertarget="contents">Contents</button>
<span class="grow"></span><div id="search"></div><a class="bar-link" href="/">Dashboard</a></header>
<div class="layout"><nav class="contents" id="contents" popover aria-label="Documentation">${groups.join('\n')}</nav>
<main class="text${kind === undefined ? '' : ` ${kind}`}" id="content">
${main}
</main>${aside === '' ? '' : `<aside aria-label="On this page"><h2>On this page</h2>${aside}</aside>`}</div>`;
  const icon = `\n<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">`;
  const script =
    contents.script === null ? '' : `\n<script type="module" src="${escapeHtml(contents.script)}"></script>`;
  return htmlPage(`${title} – Errand`, body, icon + script);
}

function groupHtml({ title, links }: NavigationGroup, current: string): string {
  const items = links.map(({ href, title: text }) => {
    const here = href === current ? ' aria-current="page"' : '';
    return `<a href="${href}"${here}>${escapeHtml(text)}</a>`;
  });
  return `<span class="group">${escapeHtml(title)}</span>\n${items.join('\n')}`;
}
