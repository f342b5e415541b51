// Looks for words in the index of the documentation.

export interface SearchIndex {
  /** Title of each page. */
  readonly pages: Readonly<Record<string, string>>;
  readonly entries: readonly (readonly [href: string, heading: string, words: string])[];
}

export interface Place {
  readonly href: string;
  readonly heading: string;
  /** The title of its page. */
  readonly page: string;
}

const MAX_PLACES = 24;
/** A word in a heading says what a section is about; one that begins with what was typed may become it. */
const IN_HEADING = 8;
const HEADING_BEGINS = 5;
const IN_PAGE = 3;
const IN_TEXT = 2;
const TEXT_BEGINS = 1;

/** Returns the places that have all words, or words that begin with them, the best first. */
export function lookUp(index: SearchIndex, asked: string): Place[] {
  const words = asked.toLowerCase().match(/[\p{L}\p{N}_$@]+/gu) ?? [];
  if (words.length === 0) return [];
  const scored = index.entries.flatMap(([href, heading, text]) => {
    const page = index.pages[href.split('#')[0] ?? ''] ?? '';
    const scores = words.map((word) => scoreOf(word, heading.toLowerCase(), page.toLowerCase(), text));
    if (scores.includes(0)) return [];
    return [{ href, heading, page, score: scores.reduce((sum, score) => sum + score, 0) }];
  });
  scored.sort((a, b) => b.score - a.score);
  return scored.slice(0, MAX_PLACES).map(({ href, heading, page }) => ({ href, heading, page }));
}

function scoreOf(word: string, heading: string, page: string, text: string): number {
  const ofHeading = wordScore(word, heading, IN_HEADING, HEADING_BEGINS);
  if (ofHeading > 0) return ofHeading;
  return wordScore(word, page, IN_PAGE, IN_PAGE) || wordScore(word, text, IN_TEXT, TEXT_BEGINS);
}

function wordScore(word: string, text: string, whole: number, begins: number): number {
  let score = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at > 0 && isOfWord(text.charAt(at - 1))) continue;
    if (!isOfWord(text.charAt(at + word.length))) return whole;
    score = begins;
  }
  return score;
}

function isOfWord(character: string): boolean {
  return /[\p{L}\p{N}_$@]/u.test(character);
}
