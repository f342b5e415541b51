// JSON that a person gives: in a file, on standard input, or in the command line itself. Its text is kept: what is read and
// written again may have other numbers.

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type Page, type Paged, textOf } from '../../client/client.ts';
import { exactJson } from '../../domain/bytes.ts';
import { CliError, EXIT } from './exit.ts';

const STANDARD_INPUT = '-';
const HOW_JSON = `write it to a file, or give - and pipe it, as in: echo '{"n": 1}' | errand … -`;

/** Returns the JSON of a file, or of standard input for `-`. Throws `CliError`. */
export async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readJsonText(file));
}

/** Returns the text of a file as it is, but for the mark that editors of Windows put before it. */
export async function readJsonText(file: string): Promise<string> {
  const json = await (file === STANDARD_INPUT ? text(process.stdin) : readFile(file, 'utf8')).catch((error: Error) => {
    if (/^\s*[{[]/.test(file)) throw new CliError(`a file is expected, not the JSON itself: ${HOW_JSON}`, EXIT.usage);
    throw new CliError(`${file} cannot be read: ${error.message}`, EXIT.usage);
  });
  return checked(json.replace(/^\ufeff/, ''), file === STANDARD_INPUT ? 'standard input' : file);
}

/**
 * Returns the text of `--data`, or of the argument `name`: JSON, `@` and the name of a file as curl has it, or standard input
 * for `-` and `@-`.
 */
export async function readData(data: string, name = '--data'): Promise<string> {
  if (data === STANDARD_INPUT || data.startsWith('@')) return readJsonText(data.replace(/^@/, ''));
  return checked(data, name);
}

/** Returns what an answer holds, with its numbers as the server sent them: to be printed, not to be counted with. */
export function exactDataOf<T>(answer: { readonly data: T }): T {
  return (exactJson(textOf(answer)) as { readonly data: T }).data;
}

/** Yields the records of a list. Numbers in the member `name` of each are printed as the server sent them. */
export async function* exactIn<P extends Page>(list: Paged<P>, name: string): AsyncGenerator<P['data'][number]> {
  for await (const page of list.pages()) {
    const { data } = exactJson(textOf(page)) as { readonly data: readonly Readonly<Record<string, unknown>>[] };
    // Records are no promises.
    for (const [n, record] of (page.data as readonly Awaited<P['data'][number]>[]).entries()) {
      const value = data[n]?.[name];
      yield value === undefined ? record : Object.assign({}, record, { [name]: value });
    }
  }
}

function checked(json: string, name: string): string {
  try {
    JSON.parse(json);
    return json;
  } catch (error) {
    throw new CliError(`${name} is not valid JSON: ${(error as Error).message}`, EXIT.usage);
  }
}
