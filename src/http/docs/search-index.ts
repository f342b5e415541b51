// What the search of the documentation looks in: each section of each guide, each operation and each refusal, with its words.
// The page loads it when its search is first used, and looks in it by itself: the server is asked for nothing.

import { Marked, type Token } from 'marked';
import { REFUSALS, type RefusalCode } from '../../domain/refusal.ts';
import type { ApiDocument } from '../openapi/document.ts';
import { REFUSAL_MEANINGS } from './faults.ts';
import { type Guide, guides, readGuide, slugOf } from './guides.ts';
import { operationsOf } from './page.ts';

export interface SearchIndex {
  /** Title of each page. */
  readonly pages: Readonly<Record<string, string>>;
  readonly entries: readonly SearchEntry[];
}

/** Where it is, its heading, and its other words, each once. */
export type SearchEntry = readonly [href: string, heading: string, words: string];

const MIN_CHARS = 3;
/** Say nothing of what a section is about. */
const STOP = new Set(
  'the and for are was that this with from not but its has have had they them then than which what when who whose will would can may each one two all any other into out over under only also more most such there where here does did been being their our your you'.split(
    ' ',
  ),
);

/** Returns the index of all guides and of the document's operations. */
export async function searchIndexOf(document: ApiDocument): Promise<SearchIndex> {
  const all = [...(await guides())];
  const ofGuides = await Promise.all(
    all.map(async ([name, guide]) => sectionsOf(await readGuide(guide), `/docs/${name}`, guide)),
  );
  const titles = all.map(([name, { title }]) => [`/docs/${name}`, title]);
  return {
    pages: { ...Object.fromEntries(titles), '/docs': 'HTTP API', '/docs/errors': 'Error codes' },
    entries: [...ofGuides.flat(), ...operationEntries(document), ...refusalEntries()],
  };
}

function sectionsOf(text: string, path: string, { title }: Guide): SearchEntry[] {
  const taken = new Map<string, number>();
  const sections: { href: string; heading: string; words: string[] }[] = [{ href: path, heading: title, words: [] }];
  for (const token of new Marked({ gfm: true }).lexer(text)) {
    if (token.type === 'heading') {
      const slug = slugOf(token.text);
      const count = taken.get(slug) ?? 0;
      taken.set(slug, count + 1);
      // The first heading is the page's own.
      if (token.depth === 1) continue;
      sections.push({
        href: `${path}#${count === 0 ? slug : `${slug}-${count}`}`,
        heading: plain(token.text),
        words: [],
      });
    } else sections.at(-1)?.words.push(textOf(token));
  }
  return sections.map(({ href, heading, words }) => [href, heading, wordsOf(words.join(' '))] as const);
}

/** Returns the text of a block; comments say something to the tests alone. */
function textOf(token: Token): string {
  return token.type === 'html' ? '' : token.raw.replaceAll(/\]\([^)]*\)/g, ' ');
}

const plain = (heading: string): string => heading.replaceAll(/\]\([^)]*\)|[`*[]/g, '');

function operationEntries(document: ApiDocument): SearchEntry[] {
  return document.tags.flatMap((tag) =>
    operationsOf(document, tag.name).map(({ method, path, operation }) => {
      const { operationId: id, summary, description, parameters = [], requestBody } = operation;
      const [media] = Object.values(requestBody?.content ?? {});
      const members = Object.keys((media?.schema as { properties?: object } | undefined)?.properties ?? {});
      const names = [...parameters.map(({ name }) => name), ...members].join(' ');
      const text = `${id} ${description} ${names}`;
      return [`/docs#${id}`, `${summary}: ${method.toUpperCase()} ${path}`, wordsOf(text)] as const;
    }),
  );
}

function refusalEntries(): SearchEntry[] {
  return (Object.keys(REFUSALS) as RefusalCode[]).map((code) => {
    const { status, title } = REFUSALS[code];
    return [`/docs/errors#${code}`, `${code}: ${status} ${title}`, wordsOf(REFUSAL_MEANINGS[code])] as const;
  });
}

/** Returns the words of a text, each once, as the search compares them. */
function wordsOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_$@]+/gu) ?? [];
  return [...new Set(words.filter((word) => word.length >= MIN_CHARS && !STOP.has(word)))].join(' ');
}
