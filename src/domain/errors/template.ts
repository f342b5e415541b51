// The template of an error's message: the message with its variable parts replaced by placeholders.
//
//   order 4711 has no "email"             → order {n} has no "{}"
//   user cus_Nf7frUfNV2Hib not found      → user cus_{id} not found
//   connect ECONNREFUSED 10.0.0.7:5432    → connect ECONNREFUSED {ip}
//
// The scan goes over the text once, character by character, and looks only at its beginning: the message is the owner's, or a
// stranger's whose request made it. Regular expressions are used on single words of bounded length. Which words are
// variable is a guess; a changed guess is a new FINGERPRINT_VERSION (fingerprint.ts), since it changes groups.

import { withoutColours } from '../notices/colours.ts';

/** Characters of a message that are looked at, and of a template. */
const READ_CHARS = 2048;
export const TEMPLATE_CHARS = 256;
/** A quotation that is longer is taken for an apostrophe. */
const QUOTED_CHARS = 512;
/** A longer word is variable as a whole. */
const WORD_CHARS = 256;

/** A message of more words has its end left out. */
const WORDS = 256;

const IS_CLEAN = /^(?:[\x21-\x7e]+(?: |$))*$/;
const BLANKS = /[\s\p{Cc}\p{Cf}]+/gu;
const WORD = /[^\s()[\]{}<>,;="'`|“”„‘’‚«»‹›「」『』]+/y;
const REST_OF_URL = /[^\s()<>"'`|]*/y;
/** What may end a quotation, by what begins it. */
const QUOTES: Readonly<Record<string, string>> = {
  ...{ '"': '"', "'": "'", '`': '`', '“': '”', '‘': '’', '„': '“”', '‚': '‘’' },
  ...{ '«': '»', '»': '«', '‹': '›', '›': '‹', '「': '」', '『': '』' },
};
/** Words before a quoted name of the code itself or of a schema, e.g. `(reading 'total')`, `column "email"`. */
const NAMES_CODE =
  /(?:^|[^\p{L}])(?:reading|setting|property|attribute|module(?: named)?|package|import|export|method|function|argument|parameter|variable|fields?|column|relation|table|constraint|for key):? ?\(?$/iu;
/** Words before a number that says what happened, e.g. a status. */
const NAMES_STATUS = /(?:(?:^|[^\p{L}])(?:code|http|signal|exit|answered)|status(?:_?code)?|http\/\{n\})[:= ]*$/iu;
const STATUS = /^\d{1,3}$/;
/** Codes with letters, and what stands before them: others of that shape are numbers of orders. */
const LETTERED_CODE = /^(?:[A-Z]{1,4}\d{3,5}|ORA-\d{5})$/;

/** Returns the text without control characters and halves of characters, with single blanks. */
function clean(text: string): string {
  const read = withoutColours(text.slice(0, READ_CHARS));
  return (IS_CLEAN.test(read) ? read : read.toWellFormed().replace(BLANKS, ' ')).trim();
}

/** Returns at most `chars` characters of the text, as a text that every store takes. */
export function shortened(text: string, chars: number): string {
  const cleaned = clean(text);
  return cleaned.length <= chars
    ? cleaned
    : `${cleaned
        .slice(0, chars - 1)
        .toWellFormed()
        .replace(/\uFFFD$/, '')}…`;
}

export function templateOf(message: string): string {
  // Digits of any script are digits.
  const text = withoutJson(clean(message).replace(/[^\P{Nd}0-9]/gu, '0'));
  const made = new TemplateBuilder();
  for (let at = 0, words = 0; at < text.length && made.text.length <= TEMPLATE_CHARS && words < WORDS; words++) {
    const end = quotedEnd(text, at);
    if (end !== undefined) {
      addQuoted(made, text.slice(at, end + 1));
      at = end + 1;
      continue;
    }
    const behindValue = valueEnd(text, at, made.text);
    if (behindValue !== undefined) {
      made.literal('(');
      made.placeholder('{}');
      made.literal(')');
      at = behindValue + 1;
      continue;
    }
    const word = wordAt(text, at);
    if (word === '') made.literal(text[at++] as string);
    else addWord(made, word);
    at += word.length;
    at += zoneAt(text, at, word);
  }
  return shortened(made.text, TEMPLATE_CHARS);
}

/** Returns the text without what JSON.parse quotes of a text that is no JSON: the quotation may have quotes in it. */
function withoutJson(text: string): string {
  if (!text.includes('Unexpected token ')) return text;
  return text
    .replace(/Unexpected token \S{1,2} in JSON/, 'Unexpected token {} in JSON')
    .replace(/Unexpected token '.{1,2}', (?:\.\.\.)?".*" ?(?:\.\.\.)? is not/, `Unexpected token '{}', "{}"... is not`);
}

/** Returns the index of the parenthesis that ends a value which Postgres shows, e.g. `Key (id)=(7) already exists`. */
function valueEnd(text: string, at: number, made: string): number | undefined {
  if (text[at] !== '(' || !made.endsWith(')=')) return undefined;
  const end = text.indexOf(') ', at);
  return end < 0 && text.endsWith(')') ? text.length - 1 : end < 0 ? undefined : end;
}

const BETWEEN = /^(?:[-\s,.:/"'`_+]{0,3}|(["'`]), \1)$/;

/** Text that grows. Repeats of a placeholder, like those of a list, become one. */
class TemplateBuilder {
  text = '';
  #last = '';
  #lastEnd = 0;

  literal(text: string): void {
    this.text += text;
  }

  placeholder(name: string): void {
    const between = this.text.slice(this.#lastEnd);
    if (name === this.#last && between.length <= 4 && BETWEEN.test(between)) {
      this.text = this.text.slice(0, this.#lastEnd);
      return;
    }
    this.text += name;
    this.#last = name;
    this.#lastEnd = this.text.length;
  }
}

/** Returns the index of the quote that ends a quotation which begins here; undefined: none does. */
function quotedEnd(text: string, at: number): number | undefined {
  const opening = text[at] as string;
  if (!Object.hasOwn(QUOTES, opening)) return undefined;
  const closing = QUOTES[opening] as string;
  // An apostrophe has a letter before it.
  if (closing === "'" && at > 0 && /[\p{L}\d]/u.test(text[at - 1] as string)) return undefined;
  for (let end = at + 1; end < text.length && end - at <= QUOTED_CHARS; end++) {
    if (text[end] === '\\') end++;
    else if (closing.includes(text[end] as string) && !(closing === "'" && /[\p{L}\d]/u.test(text[end + 1] ?? ' ')))
      return end;
  }
  return undefined;
}

const isName = (text: string): boolean =>
  text.length <= 64 && /^(?:\.{1,2}\/)*[\p{L}$_#@][\p{L}\d$_\-./@]*$/u.test(text);

function addQuoted(made: TemplateBuilder, quoted: string): void {
  const inner = quoted.slice(1, -1);
  const isCode = NAMES_CODE.test(made.text.slice(-16)) && isName(inner);
  made.literal(quoted[0] as string);
  if (isCode) made.literal(inner);
  else made.placeholder('{}');
  made.literal(quoted.at(-1) as string);
}

/** Returns the word that begins here; empty: none does. */
function wordAt(text: string, at: number): string {
  WORD.lastIndex = at;
  const word = WORD.exec(text)?.[0] ?? '';
  if (!word.includes('://') && !(word.startsWith('/') && word.includes('?'))) return word;
  REST_OF_URL.lastIndex = at + word.length;
  return word + (REST_OF_URL.exec(text)?.[0] ?? '');
}

/** Returns how long the name of a time zone is that JavaScript writes behind a date: ` (Coordinated Universal Time)`. */
function zoneAt(text: string, at: number, word: string): number {
  if (!OFFSET.test(word)) return 0;
  ZONE.lastIndex = at;
  return ZONE.exec(text)?.[0].length ?? 0;
}

const OFFSET = /^(?:GMT|UTC)[+-]\d{1,2}:?\d{0,2}$/;
const ZONE = / \([\p{L} .'-]{1,64}\)/uy;

const PLAIN = /^[A-Za-z_-]+[.:!?…]*$/;
const CALENDAR =
  /^(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?|Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?$/;
/** What belongs to the time before it. */
const OF_TIME = /^(?:[AP]M|[ap]\.?m|UTC|GMT|Z)(?=[.:!?…]*$)/;

const WHOLE: readonly (readonly [RegExp, string])[] = [
  [/^eyJ[\w-]+\.[\w-]+\.?[\w-]*$/, '{id}'],
  [/^0x[0-9a-f]+$/i, '{id}'],
  [/^\d+(?:\.\d+)?e[-+]?\d+$/i, '{n}'],
  // As Go writes it.
  [/^(?:\d+h)?\d+m\d+(?:\.\d+)?s$/, '{n}s'],
  // Base64.
  [/^(?=.*\+)(?=.*[A-Z])[A-Za-z0-9+/]{16,}$/, '{id}'],
  [/^\d{4}-\d\d-\d\d(?:[T_]\d\d[:.]?\d\d.*)?$/, '{time}'],
  [/^\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/, '{time}'],
  [OFFSET, '{time}'],
  [/^(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5}|\/\d{1,2})?$/, '{ip}'],
  [/^(?=.*:.*:)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:%\w+)?(?:\/\d{1,3})?$/i, '{ip}'],
];

function addWord(made: TemplateBuilder, word: string): void {
  const ofTime = made.text.endsWith('{time} ') ? OF_TIME.exec(word)?.[0] : undefined;
  if (word.length > WORD_CHARS) made.placeholder('{}');
  else if (ofTime !== undefined) {
    made.placeholder('{time}');
    made.literal(word.slice(ofTime.length));
  } else if (CALENDAR.test(word)) made.placeholder('{time}');
  else if (word.length < 12 && PLAIN.test(word)) made.literal(word);
  else addUnknown(made, word);
}

function addUnknown(made: TemplateBuilder, word: string): void {
  // Punctuation at its end is no part of it.
  const end = /[.:!?…]*$/.exec(word)?.index ?? word.length;
  const core = word.slice(0, end);
  const mayBeWhole = /[\d@:]/.test(core) || core.startsWith('eyJ');
  const whole = mayBeWhole ? WHOLE.find(([shape]) => shape.test(core)) : undefined;
  if (whole) made.placeholder(whole[1]);
  else if (core.includes('://')) addUrl(made, core);
  else if (/^\/[^?]*\?./.test(core)) addQueried(made, core);
  else addParts(made, core);
  made.literal(word.slice(end));
}

/** Drops what the query of a path says. */
function addQueried(made: TemplateBuilder, path: string): void {
  addParts(made, path.slice(0, path.indexOf('?')));
  made.literal('?…');
}

/** Keeps scheme, host and the fixed segments of the path; drops credentials, and what the query says. */
function addUrl(made: TemplateBuilder, url: string): void {
  const [, scheme = '', authority = '', path = ''] = /^(.*?):\/\/([^/?#]*)([^?#]*)/.exec(url) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  made.literal(`${scheme}://`);
  if (/^[\d.]+(?::\d+)?$/.test(host)) made.placeholder('{ip}');
  else addPieces(made, host);
  for (const segment of path.split('/').slice(1)) {
    made.literal('/');
    if (/\d|%|@/.test(segment) && !/^v\d{1,2}$/.test(segment)) made.placeholder('{id}');
    else made.literal(segment);
  }
  if (/[?#]/.test(url)) made.literal('?…');
}

const UUID = /((?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-z]))/i;
/** Looks behind each `@`, so that its time grows with the length of the word alone. */
const EMAIL = /(?<=(?<name>[\p{L}\d_.+%-]+))@(?<host>[\p{L}\d-]+(?:\.[\p{L}\d-]+)*\.\p{L}{2,})/gu;

/** Adds a word with what is variable whatever stands around it: `order_3f2504e0-4f89-…`, `mailto:ada@example.org`. */
function addParts(made: TemplateBuilder, word: string): void {
  for (const [i, part] of word.split(UUID).entries()) {
    if (i % 2 === 1) made.placeholder('{id}');
    else addMails(made, part);
  }
}

function addMails(made: TemplateBuilder, part: string): void {
  let at = 0;
  for (const { index, groups = {} } of part.includes('@') ? part.matchAll(EMAIL) : []) {
    addPieces(made, part.slice(at, Math.max(at, index - (groups.name?.length ?? 0))));
    made.placeholder('{email}');
    at = index + 1 + (groups.host?.length ?? 0);
  }
  addPieces(made, part.slice(at));
}

function addPieces(made: TemplateBuilder, word: string): void {
  for (const [token] of word.matchAll(/[A-Za-z0-9_-]+|[^A-Za-z0-9_-]+/g)) addToken(made, token);
}

/** An id of 21 characters that does not begin with a prefix such as `cus_`. */
const NANOID = /^(?=.*\d)(?=.*[a-z])(?![a-z]+[_-])(?=.*[A-Z])(?=[\w-]*[_-])[\w-]{21}$/;

function isLetteredCode(before: string, token: string): boolean {
  if (!LETTERED_CODE.test(token)) return false;
  const last = before.slice(-16);
  return token.startsWith('ORA-') || /code[:= (]*$/i.test(last) || (/error $/.test(last) && token.startsWith('TS'));
}

/** Adds runs of letters and digits, and what stands between them: a random id may have `-` and `_` in it. */
function addToken(made: TemplateBuilder, token: string): void {
  if (isLetteredCode(made.text, token)) {
    made.literal(token);
    return;
  }
  if (NANOID.test(token)) {
    made.placeholder('{id}');
    return;
  }
  const pieces = token.match(/[A-Za-z0-9]+|[^A-Za-z0-9]+/g) ?? [];
  const hasId = pieces.some(isId);
  const hasNumber = /\d/.test(token);
  let isBehindId = false;
  for (const piece of pieces) {
    if (hasId && (/\d/.test(piece) || (isBehindId && ID_END.test(piece)))) {
      made.placeholder('{id}');
      isBehindId = true;
    } else if (hasNumber && CALENDAR.test(piece)) made.placeholder('{time}');
    else if (!/\d/.test(piece)) addLetters(made, piece);
    else if (/^\d+$/.test(piece)) addNumber(made, piece);
    else addMixed(made, piece);
  }
}

/** A few letters that are no word. */
const ID_END = /^(?=.*[A-Z])[A-Za-z]{1,4}$/;
/** A word with a number (`order12`), or a number with its unit (`30ms`). */
const NUMBERED = /^([A-Za-z]+)\d+$/;
const WITH_UNIT = /^\d+([A-Za-z]{1,3})$/;
const HEX = /^[0-9a-f]{7,}$/;
/** Letters and digits of a short id, such as of `ORD-7F3K2`. Words of that shape are `I18N`, `LOG4J` and `d3d11`. */
const SHORT_ID = /^(?![A-Z]\d\d[A-Z]$|LOG4J$|d3d)(?:[0-9A-Z]{4,5}|[0-9a-f]{4,5})$/;

/** Returns whether a piece of letters and digits is an id. */
function isId(piece: string): boolean {
  if (piece.length < 4 || !/\d/.test(piece) || !/[A-Za-z]/.test(piece) || WITH_UNIT.test(piece)) return false;
  if (piece.length < 6) return SHORT_ID.test(piece) && !NUMBERED.test(piece);
  return HEX.test(piece) || piece.length > 16 || !NUMBERED.test(piece);
}

function addLetters(made: TemplateBuilder, piece: string): void {
  if (piece.length >= 12 && /^[0-9a-f]+$/.test(piece)) made.placeholder('{id}');
  else made.literal(piece);
}

function addNumber(made: TemplateBuilder, digits: string): void {
  if (STATUS.test(digits) && NAMES_STATUS.test(made.text.slice(-16))) {
    made.literal(digits);
    return;
  }
  // The sign belongs to the number.
  if (/(?:^|[\s(=:,])[-+]$/.test(made.text.slice(-2))) made.text = made.text.slice(0, -1);
  made.placeholder('{n}');
}

/** Adds a piece of letters and digits. */
function addMixed(made: TemplateBuilder, piece: string): void {
  const [, word] = NUMBERED.exec(piece) ?? [];
  const [, unit] = WITH_UNIT.exec(piece) ?? [];
  if (isId(piece)) made.placeholder('{id}');
  else if (word !== undefined) {
    made.literal(word);
    made.placeholder('{n}');
  } else if (unit !== undefined) {
    made.placeholder('{n}');
    made.literal(unit);
  } else made.literal(piece.replace(/\d+/g, '{n}'));
}
