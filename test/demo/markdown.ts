// The documents' code blocks, as the tests run them. A comment in the line before a block says what it is:
//
//   (none)                    ```sh is run by bash, in order, in one shell per document
//   <!-- not run: reason -->  ```sh that cannot be run here
//   <!-- file: path -->       is exactly this file
//   <!-- step -->             the code of a workflow's step: it deploys
//   <!-- source -->           the code of a source: it deploys
//   <!-- text -->             only to be read
//
// A ```json or ```text block behind a ```sh block is what that prints: compared without white space, `…` standing for anything.

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
  /** Name and value of the comment before it; an empty name when there is none. */
  readonly directive: { readonly name: string; readonly value: string };
  readonly expected: string | null;
}

const OUTPUT = new Set(['json', 'text']);

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  const fences = markdown.matchAll(/^(?:<!-- (\w[\w ]*?)(?:: ([^\n]*?))? -->\n)?```(\w*)\n(.*?)^```$/gms);
  for (const { 0: whole, 1: name = '', 2: value = '', 3: language = '', 4: text = '', index } of fences) {
    const line = markdown.slice(0, index).split('\n').length + (name === '' ? 0 : 1);
    const last = blocks.at(-1);
    const follows = last?.language === 'sh' && last.expected === null && name === '' && OUTPUT.has(language);
    if (!follows) blocks.push({ language, text, line, directive: { name, value }, expected: null });
    else blocks[blocks.length - 1] = { ...last, expected: text };
    if (whole.includes('\n```\n')) throw new Error(`the block in line ${line} is not closed`);
  }
  return blocks;
}

/** Whether output is what a block promises. */
export function isPromised(expected: string, output: string): boolean {
  const parts = bare(expected)
    .split('…')
    .map((part) => part.replaceAll(/[^\w\s]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*?')}$`, 's').test(bare(output));
}

function bare(text: string): string {
  return text.replaceAll(/\s/g, '');
}

/** Paths that the document's links name, and the headings that they point at. */
export function linksOf(markdown: string): { path: string; heading: string }[] {
  const links = markdown.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g);
  return [...links].map(([, path = '', heading = '']) => ({ path, heading }));
}

/** The anchors of a document's headings, as they are made of their text. */
export function headingsOf(markdown: string): Set<string> {
  const prose = markdown.replaceAll(/^```.*?^```$/gms, '');
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

/** Rows of the tables whose first header cell is `first`, cells trimmed. */
export function tableOf(markdown: string, first: string): string[][] {
  const rows = markdown.split('\n');
  const start = rows.findIndex((row) => row.startsWith(`| ${first} |`));
  if (start < 0) throw new Error(`no table begins with the column "${first}"`);
  const length = rows.slice(start).findIndex((row) => !row.startsWith('|'));
  const body = rows.slice(start + 2, length < 0 ? undefined : start + length);
  return body.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}
