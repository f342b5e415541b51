// The first lines of an event, as notices and the page behind their links show it: indented, with its numbers as they came. No more is
// read and written than is shown: 60 KB in 250 levels, written whole with their indentation, are 15 MB.

import { text, utf8 } from '../bytes.ts';
import { memberOf, membersOf, visitElements } from '../json-member.ts';
import { jsonDepth } from '../json-text.ts';
import { shortened } from './notice.ts';

const MAX_CHARS = 2000;
const MAX_LINES = 12;
const LINE_CHARS = 300;
/** A larger event is not read, so nothing of it is shown: it may be a request, with headers. */
const MAX_BYTES = 65_536;
/** Requests that are the body of another one, as of a webhook that hears an HTTP trigger. */
const MAX_REQUESTS = 4;

const [QUOTE, OPEN_BRACKET, OPEN_BRACE] = [0x22, 0x5b, 0x7b];
const NULL = utf8('null');

/**
 * Returns the first lines of an event. Of an HTTP request the body alone, also of one within an error that was forwarded: its
 * headers may be credentials, and its address may be secret.
 */
export function headOf(event: Uint8Array): string {
  if (event.byteLength > MAX_BYTES) return '';
  const lines = linesOf(event);
  const first = lines.slice(0, MAX_LINES).map((line) => shortened(line, LINE_CHARS));
  return shortened(first.concat(lines.length > MAX_LINES ? ['…'] : []).join('\n'), MAX_CHARS);
}

function linesOf(event: Uint8Array): readonly string[] {
  const json = utf8(text(event).trim());
  const made = new FirstLines();
  made.write(jsonDepth(json) === null ? NULL : json, 0);
  return made.lines;
}

type Write = (title: string, value: Uint8Array) => boolean;

class FirstLines {
  /** One more than are shown says that there are more. */
  readonly lines = [''];

  write(json: Uint8Array, level: number): void {
    const value = withoutRequest(json);
    const first = value[0];
    if (first === OPEN_BRACKET) {
      this.#writeAll('[]', level, (write) => visitElements(value, (element) => write('', element)));
    } else if (first === OPEN_BRACE) {
      this.#writeAll('{}', level, (write) =>
        membersOf(value).some(([name, member]) => write(`${JSON.stringify(name)}: `, member)),
      );
    } else this.#add(first === QUOTE ? JSON.stringify(JSON.parse(text(value))) : text(value));
  }

  #writeAll(brackets: '[]' | '{}', level: number, each: (write: Write) => boolean): void {
    let between = brackets[0] as string;
    const isCut = each((title, value) => {
      this.#add(between);
      between = ',';
      this.#begin(level + 1);
      this.#add(title);
      if (!this.#isFull) this.write(value, level + 1);
      return this.#isFull;
    });
    if (isCut) return;
    if (between !== ',') this.#add(brackets);
    else {
      this.#begin(level);
      this.#add(brackets[1] as string);
    }
  }

  get #isFull(): boolean {
    return this.lines.length > MAX_LINES;
  }

  #begin(level: number): void {
    this.lines.push('  '.repeat(level));
  }

  #add(written: string): void {
    this.lines.push((this.lines.pop() ?? '') + written);
  }
}

function withoutRequest(json: Uint8Array): Uint8Array {
  let value = json;
  for (let n = 0; isRequest(value); n++) value = n === MAX_REQUESTS ? NULL : (memberOf(value, 'body') ?? NULL);
  return value;
}

function isRequest(value: Uint8Array): boolean {
  return value[0] === OPEN_BRACE && memberOf(value, 'method') !== undefined && memberOf(value, 'headers') !== undefined;
}
