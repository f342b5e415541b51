// The guides of docs/ as pages: the files of the package, rendered when they are first asked for. Links between them lead to pages.

import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { type Contents, docsPage, type NavigationGroup } from './frame.ts';
import { escapeHtml } from './html.ts';

/** The package's folder, from the sources as from what is built of them. */
const ROOT = join(import.meta.dirname, '../../..');

export interface Guide {
  /** The last part of the page's address. */
  readonly name: string;
  /** From the package's folder. */
  readonly file: string;
  readonly title: string;
}

/** What the navigation shows, in the order of reading. Guides that are named nowhere follow as "More". */
const GROUPS: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: 'Start', names: ['quick-start', 'concepts', 'dashboard', 'recipes', 'migrating'] },
  {
    title: 'Build',
    names: [
      'workflows',
      'code-first',
      'waiting',
      'sources',
      'components',
      'accounts',
      'data-stores',
      'cli',
      'client',
      'mcp',
    ],
  },
  {
    title: 'Errors',
    names: ['error-handling', 'failed-orders', 'channels', 'watches', 'reporting'],
  },
  { title: 'Deliver', names: ['webhooks', 'streams'] },
  {
    title: 'Run it',
    names: ['operations', 'deploy', 'scaling', 'isolation', 'threat-model', 'security', 'releasing', 'changelog'],
  },
];

/** Documents outside of docs/. */
const OTHERS: Readonly<Record<string, string>> = {
  'quick-start': 'README.md',
  deploy: 'deploy/README.md',
  security: 'SECURITY.md',
  changelog: 'CHANGELOG.md',
};
/** These have pages of their own. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/errors.md': '/docs/errors',
  'docs/openapi.json': '/v1/openapi.json',
};

let listed: Promise<ReadonlyMap<string, Guide>> | null = null;

/** Returns each guide by its name. */
export function guides(): Promise<ReadonlyMap<string, Guide>> {
  listed ??= listGuides();
  return listed;
}

async function listGuides(): Promise<ReadonlyMap<string, Guide>> {
  const names = (await readdir(join(ROOT, 'docs'))).filter((file) => file.endsWith('.md'));
  const inDocs = names.map((file) => [file.slice(0, -3), `docs/${file}`] as const);
  const found = [...Object.entries(OTHERS), ...inDocs.sort()].filter(([, file]) => ELSEWHERE[file] === undefined);
  const read = found.map(async ([name, file]) => {
    const text = await readFile(join(ROOT, file), 'utf8').catch(() => null);
    const title = name === 'quick-start' ? 'Quick start' : /^# (.+)$/m.exec(text ?? '')?.[1];
    return text === null ? [] : [[name, { name, file, title: title ?? name }] as const];
  });
  return new Map((await Promise.all(read)).flat());
}

/** Returns the links to all pages, for the navigation of each. */
export async function guideGroups(): Promise<readonly NavigationGroup[]> {
  const all = await guides();
  const named = new Set(GROUPS.flatMap(({ names }) => names));
  const more = { title: 'More', names: [...all.keys()].filter((name) => !named.has(name)) };
  const groups = [...GROUPS, more].map(({ title, names }) => ({
    title,
    links: names.flatMap((name) => {
      const guide = all.get(name);
      return guide ? [{ href: `/docs/${name}`, title: guide.title }] : [];
    }),
  }));
  return [...groups.filter(({ links }) => links.length > 0), REFERENCE];
}

const REFERENCE: NavigationGroup = {
  title: 'Reference',
  links: [
    { href: '/docs', title: 'HTTP API' },
    { href: '/docs/errors', title: 'Error codes' },
  ],
};

/** Returns the page of a guide, or null when there is none of this name. */
export async function guidePage(name: string, contents: Contents): Promise<string | null> {
  const all = await guides();
  const guide = all.get(name);
  if (guide === undefined) return null;
  const { html, sections } = render(await readGuide(guide), guide.file, all);
  const links = sections.map(({ id, title }) => ({ href: `#${id}`, title }));
  return docsPage(
    { title: guide.title, current: `/docs/${name}`, main: html, kind: 'guide', sections: links },
    contents,
  );
}

export function readGuide({ file }: Guide): Promise<string> {
  return readFile(join(ROOT, file), 'utf8');
}

/** Returns a picture of the guides, or null when there is none of this name. */
export async function readPicture(name: string): Promise<Buffer | null> {
  if (!PICTURE.test(name)) return null;
  return readFile(join(ROOT, 'docs', name)).catch(() => null);
}

/** Languages of blocks that are what a command prints. */
const PRINTED = /^(json|text)$/;
const PICTURE = /^[\w-]+\.svg$/;

interface Section {
  readonly id: string;
  readonly title: string;
}

function render(text: string, file: string, all: ReadonlyMap<string, Guide>): { html: string; sections: Section[] } {
  const pages = new Map([...all.values()].map((guide) => [guide.file, `/docs/${guide.name}`]));
  for (const [path, page] of Object.entries(ELSEWHERE)) pages.set(path, page);
  const sections: Section[] = [];
  const taken = new Map<string, number>();
  /** The block before is what one types: what it prints follows. */
  let isCommand = false;
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth, text: title }: Tokens.Heading): string {
        isCommand = false;
        const slug = slugOf(title);
        const count = taken.get(slug) ?? 0;
        taken.set(slug, count + 1);
        const id = count === 0 ? slug : `${slug}-${count}`;
        const inner = this.parser.parseInline(tokens);
        if (depth === 2) sections.push({ id, title: inner.replaceAll(/<\/?a[^>]*>/g, '') });
        return `<h${depth} id="${id}">${inner}</h${depth}>\n`;
      },
      paragraph({ tokens }: Tokens.Paragraph): string {
        isCommand = false;
        return `<p>${this.parser.parseInline(tokens)}</p>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const inner = this.parser.parseInline(tokens);
        const target = targetOf(href, file, pages);
        return target === null ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
      image({ href, text: alt }: Tokens.Image): string {
        const isOwn = PICTURE.test(href) && file.startsWith('docs/');
        return isOwn ? `<img src="/docs/pictures/${href}" alt="${escapeHtml(alt)}">` : escapeHtml(alt);
      },
      code({ text: code, lang }: Tokens.Code): string {
        const isPrinted = isCommand && PRINTED.test(lang ?? '');
        isCommand = lang === 'sh';
        return `<pre tabindex="0"${isPrinted ? ' class="printed"' : ''}><code>${escapeHtml(code)}\n</code></pre>\n`;
      },
      table(token: Tokens.Table): string {
        const heads = token.header.map(({ tokens }) => this.parser.parseInline(tokens));
        const names = token.header.map(({ text: head }) => escapeHtml(head.replaceAll('`', '')));
        const rows = token.rows.map((cells) => {
          // Narrow, a row is a list: each cell has its column's name, but the first, which names the row.
          const filled = cells.map((cell, at) => {
            const label = at === 0 ? '' : ` data-label="${names[at] ?? ''}"`;
            return `<td${label}>${this.parser.parseInline(cell.tokens)}</td>`;
          });
          return `<tr>${filled.join('')}</tr>`;
        });
        const head = heads.map((one) => `<th>${one}</th>`).join('');
        return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>\n`;
      },
      // A comment says to the tests what a block is. No other HTML is in the documents.
      html: () => '',
    },
  });
  return { html: marked.parse(text, { async: false }), sections };
}

/** Returns where a link of a document leads: a page, an address, a heading; null for files that have no page. */
function targetOf(href: string, file: string, pages: ReadonlyMap<string, string>): string | null {
  if (/^https?:|^#/.test(href)) return href;
  const [path = '', heading] = href.split('#');
  const page = pages.get(posix.join(posix.dirname(file), path));
  if (page === undefined) return null;
  return heading === undefined ? page : `${page}#${heading}`;
}

/** Returns the id of a heading as GitHub makes it, so that links are the same on disk. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}
