// The guides of docs/ as pages: the files of the package, rendered when they are first asked for. Links between them lead to pages.

import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { escapeHtml, htmlPage } from './html.ts';

/** The package's folder, from the sources as from what is built of them. */
const ROOT = join(import.meta.dirname, '../../..');

interface Guide {
  /** The last part of the page's address. */
  readonly name: string;
  /** From the package's folder. */
  readonly file: string;
  readonly title: string;
}

/** What the navigation shows, in the order of reading. Guides that are named nowhere follow as "More". */
const GROUPS: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: 'Start', names: ['quick-start', 'concepts', 'recipes', 'migrating'] },
  {
    title: 'Build',
    names: ['workflows', 'code-first', 'waiting', 'sources', 'components', 'accounts', 'data-stores', 'cli', 'client'],
  },
  { title: 'Errors', names: ['error-handling', 'failed-orders', 'channels', 'watches', 'ingest', 'privacy'] },
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

/** Returns the links to all guides, for the navigation of every page. */
export async function guideLinks(current: string | null): Promise<string> {
  const all = await guides();
  const named = new Set(GROUPS.flatMap(({ names }) => names));
  const more = { title: 'More', names: [...all.keys()].filter((name) => !named.has(name)) };
  const groups = [...GROUPS, more].map(({ title, names }) => {
    const links = names.flatMap((name) => {
      const guide = all.get(name);
      const here = name === current ? ' aria-current="page"' : '';
      return guide ? [`<a class="guide" href="/docs/${name}"${here}>${escapeHtml(guide.title)}</a>`] : [];
    });
    return links.length === 0 ? '' : `<span class="group">${title}</span>\n${links.join('\n')}`;
  });
  return groups.join('\n');
}

/** Returns the page of a guide, or null when there is none of this name. */
export async function guidePage(name: string): Promise<string | null> {
  const all = await guides();
  const guide = all.get(name);
  if (guide === undefined) return null;
  const text = await readFile(join(ROOT, guide.file), 'utf8');
  const { html, sections } = render(text, guide.file, all);
  const contents = sections.map(({ id, title }) => `<a class="item" href="#${id}">${title}</a>`).join('\n');
  const body = `<div class="layout"><nav><strong><a href="/docs">Errand</a></strong>
${await guideLinks(name)}
<span class="group">Reference</span>
<a class="guide" href="/docs">HTTP interface</a>
<a class="guide" href="/docs/errors">Error codes</a></nav><main class="guide">
${html}
</main>${contents === '' ? '' : `<aside><h4>On this page</h4>${contents}</aside>`}</div>`;
  return htmlPage(`${guide.title} – Errand`, body);
}

interface Section {
  readonly id: string;
  readonly title: string;
}

function render(text: string, file: string, all: ReadonlyMap<string, Guide>): { html: string; sections: Section[] } {
  const pages = new Map([...all.values()].map((guide) => [guide.file, `/docs/${guide.name}`]));
  for (const [path, page] of Object.entries(ELSEWHERE)) pages.set(path, page);
  const sections: Section[] = [];
  const taken = new Map<string, number>();
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth, text: title }: Tokens.Heading): string {
        const slug = slugOf(title);
        const count = taken.get(slug) ?? 0;
        taken.set(slug, count + 1);
        const id = count === 0 ? slug : `${slug}-${count}`;
        const inner = this.parser.parseInline(tokens);
        if (depth === 2) sections.push({ id, title: inner.replaceAll(/<\/?a[^>]*>/g, '') });
        return `<h${depth} id="${id}">${inner}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const inner = this.parser.parseInline(tokens);
        const target = targetOf(href, file, pages);
        return target === null ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
      table(token: Tokens.Table): string {
        const row = (cells: readonly Tokens.TableCell[], tag: string): string =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        const rows = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${rows}</tbody></table></div>\n`;
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
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}
