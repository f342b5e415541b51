// What the demo prints: numbered headings, the calls as curl lines, and facts, each of which is checked before it is
// printed.

import { styleText } from 'node:util';

export interface Story {
  heading(title: string): void;
  say(text: string): void;
  /** Lines of output to look at, indented. */
  show(text: string): void;
  /** A command that a reader could type. */
  command(line: string): void;
  /** Prints the claim, or throws when it is not true. */
  fact(claim: string, isTrue: boolean): void;
  /** Ends the story. */
  end(text: string): void;
}

/** A claim of the demo that is not true. */
export class FalseFact extends Error {
  override readonly name = 'FalseFact';
}

export interface Screen {
  write(text: string): void;
  readonly isColoured: boolean;
}

/** Colour only for people: on a terminal, and unless https://no-color.org says no. */
export function screenOf(stream: NodeJS.WriteStream): Screen {
  return { write: (text) => void stream.write(text), isColoured: stream.isTTY === true && !process.env.NO_COLOR };
}

type Style = Parameters<typeof styleText>[0];

export function createStory({ write, isColoured }: Screen): Story {
  let headings = 0;
  let facts = 0;
  const styled = (style: Style, text: string): string =>
    isColoured ? styleText(style, text, { validateStream: false }) : text;
  const indented = (text: string, by: string): string => text.replace(/^(?=.)/gm, by);
  return {
    heading: (title) => {
      headings++;
      write(`\n${styled('bold', `${headings}. ${title}`)}\n\n`);
    },
    say: (text) => write(`${indented(text, '   ')}\n`),
    show: (text) => write(`${styled('dim', indented(text, '     '))}\n`),
    command: (line) => write(`${styled('cyan', indented(line, '   '))}\n`),
    fact: (claim, isTrue) => {
      if (!isTrue) throw new FalseFact(claim);
      facts++;
      write(`   ${styled('green', '✓')} ${claim}\n`);
    },
    end: (text) => write(`\n${styled('bold', text)} ${facts} facts checked.\n\n`),
  };
}
