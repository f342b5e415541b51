// Values of Postgres as JSON: nothing is lost on the way, neither digits nor microseconds.

import { parseExact } from '../common/exact-json.mjs';

// Numbers of types in Postgres, which never change.
const NUMBERS = [21, 23, 26, 700, 701];
const DATE = 1082;
const TIMES = [1114, 1184];
const BYTES = 17;
const JSONS = [114, 3802];
const BOOLEAN = 16;

/** What the session has to be for `TYPES` to read it. */
export const SESSION = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'iso_8601',
  bytea_output: 'hex',
  extra_float_digits: '1',
};

/** What is not here comes as its text: bigint and numeric have more digits than a number holds. */
export const TYPES = {
  number: type(NUMBERS, (text) => (Number.isFinite(Number(text)) ? Number(text) : text)),
  date: type([DATE], (text) => text),
  time: type(TIMES, isoOf),
  bytea: type([BYTES], (text) => Buffer.from(text.slice(2), 'hex').toString('base64')),
  json: type(JSONS, (text) => parseExact(text) ?? text),
  boolean: type([BOOLEAN], (text) => text === 't'),
};

/** A statement that finds the types of elements, for those of `types` that are arrays: there are as many as users make. */
export function elementsOf(types) {
  const text = `SELECT oid::text AS type, typelem::text AS element FROM pg_type
    WHERE oid IN (${types.map(Number).join(', ')}) AND typcategory = 'A' AND typelem <> 0`;
  return { text, parameters: [] };
}

/** An array of Postgres, of any depth, from its text. (The driver's own reading takes NULL for a word.) */
export function listOf(text, element) {
  const { parse } = Object.values(TYPES).find(({ from }) => from.includes(Number(element))) ?? { parse: String };
  const tokens = text.slice(text.indexOf('{')).matchAll(/[{}]|"((?:[^"\\]|\\.)*)"|[^{},"]+/gs);
  const open = [[]];
  for (const [token, quoted] of tokens) {
    if (token === '{') open.push([]);
    else if (token === '}') open.at(-2).push(open.pop());
    else if (quoted !== undefined) open.at(-1).push(parse(quoted.replace(/\\(.)/gs, '$1')));
    else open.at(-1).push(token === 'NULL' ? null : parse(token));
  }
  return open[0][0];
}

/** Parameters are text that Postgres itself has written, and go back as they are. */
function type(from, parse) {
  return { to: from[0], from, serialize: String, parse };
}

/** `infinity` and years before Christ stay as they are: ISO 8601 has no words for them. */
function isoOf(text) {
  const [, day, time, zone] = /^(\d{4,}-\d\d-\d\d) ([\d:.]+)(\+00)?$/.exec(text) ?? [];
  if (day === undefined) return text;
  return `${day}T${time}${zone === undefined ? '' : 'Z'}`;
}
