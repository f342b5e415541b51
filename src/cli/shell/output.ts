// What a command prints: tables for people, JSON for programs, colours where a terminal shows them.

import { styleText } from 'node:util';
import { createProgress } from './progress.ts';
import { ageText, fit, jsonText, oneLine, onlyOurs, pad, safeLines, timeText, widthOf } from './text.ts';

export type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold';

export interface Output {
  /** Standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Columns of the terminal; infinite: it is none, and nothing is cut. */
  readonly width: number;
  /**
   * Resolves when more can be written: what is printed may be larger than memory. In a terminal, control characters but
   * colours and line breaks are shown as signs, wherever they came from.
   */
  write(text: string | Uint8Array): Promise<void>;
  /** Writes for people, beside the result: on standard error. */
  note(text: string): void;
  /** Writes as `note` does, but only into a terminal: what a program that reads standard error does not need. */
  hint(text: string): void;
  /** Shows how far long work is, beside the result. `share`: from 0 to 1; null: not known. */
  progress(text: string, share?: number | null): void;
  /** Removes what `progress` showed in a terminal: the result follows. */
  endProgress(): void;
  style(style: Style, text: string): string;
}

export interface Column<T> {
  readonly title: string;
  readonly of: (record: T) => string | number | boolean | null | undefined;
  /** Colour by what the cell says. */
  readonly style?: (text: string) => Style | null;
  /** It is never cut. */
  readonly isWhole?: true;
  /** What stands in its place where the terminal is narrow. */
  readonly short?: Pick<Column<T>, 'title' | 'of'>;
  /** It is left out where the table would not fit otherwise; 1: before those of 2. */
  readonly goes?: 1 | 2;
}

/** Returns a column of times: to the second, and in a narrow terminal how long ago. `msOf`: in ms since the epoch. */
export function timeColumn<T>(title: string, msOf: (record: T) => number | null | undefined): Column<T> {
  const short = { title: title === 'TIME' ? 'AGE' : title, of: (record: T) => ageText(msOf(record)) };
  return { title, of: (record) => timeText(msOf(record)), short };
}

const GAP = '  ';
/** Columns for what the last column says: wanted, and at least. */
const LAST = 32;
const MIN_LAST = 12;
/** Of other columns, at least. */
const MIN_COLUMN = 14;
/** Ids and times are whole where names are cut: they are copied from there. */
const COPIED = /^(?:[a-z]{1,4}_[0-9A-Za-z]{10,16}|\d{13}-\d+|\d{4}-\d\d-\d\dT\S+)$/;
/** Of a value of a record that is lines of its own, at least. */
const MIN_ROOM = 20;
const DEFAULT_WIDTH = 80;
/** Of the last value of a record that is lines of its own. */
const MORE_LINES = 2;

export function createOutput(
  stdout: NodeJS.WriteStream = process.stdout,
  stderr: NodeJS.WriteStream = process.stderr,
): Output {
  const progress = createProgress(stderr);
  const isTerminal = stdout.isTTY === true;
  const note = (text: string): void => {
    progress.end();
    stderr.write(`${safeLines(text).join('\n')}\n`);
  };
  return {
    isTerminal,
    width: isTerminal ? stdout.columns || DEFAULT_WIDTH : Number.POSITIVE_INFINITY,
    write: (text) =>
      new Promise((resolve, reject) => {
        stdout.write(isTerminal ? onlyOurs(textOf(text)) : text, (error) => (error ? reject(error) : resolve()));
      }),
    note,
    hint: (text) => {
      if (stderr.isTTY) note(text);
    },
    progress: (text, share = null) => progress.show(text, share),
    endProgress: () => progress.clear(),
    // Goes by NO_COLOR, FORCE_COLOR and whether it is a terminal.
    style: (style, text) => styleText(style, text, { stream: stdout }),
  };
}

function textOf(written: string | Uint8Array): string {
  return typeof written === 'string' ? written : Buffer.from(written).toString();
}

export async function printJson({ write }: Output, value: unknown): Promise<void> {
  await write(`${jsonText(value, 2)}\n`);
}

/** Prints one value a line: for what has no end. */
export async function printLine({ write }: Output, value: unknown): Promise<void> {
  await write(`${jsonText(value)}\n`);
}

/**
 * Prints a table. In a terminal it is no wider than the lines: long names are cut, then what the last column says, and times are
 * ages where that says more; then columns are left out that say least; where none of it is enough, each record is lines of its
 * own. Elsewhere nothing is cut.
 */
export async function printTable<T>(out: Output, records: readonly T[], columns: readonly Column<T>[]): Promise<void> {
  const whole = laidOut(records, columns, out.width);
  const short = isRoomy(whole) ? whole : firstThatFits(records, columns.map(shortened), out.width);
  const { used, cells, widths } = short ?? whole;
  const lines = widths === null ? recordLines(out, used, cells) : tableLines(out, used, { cells, widths });
  await out.write(`${lines.join('\n')}\n`);
}

interface LaidOut<T> {
  readonly used: readonly Column<T>[];
  readonly cells: readonly string[][];
  /** Null: the table does not fit. */
  readonly widths: readonly number[] | null;
}

function laidOut<T>(records: readonly T[], columns: readonly Column<T>[], room: number): LaidOut<T> {
  const rows = records.map((record) => columns.map(({ of }) => oneLine(String(of(record) ?? ''))));
  // A column that is empty in each row says nothing.
  const shown = columns.map((_, n) => rows.some((row) => row[n] !== ''));
  const used = columns.filter((_, n) => shown[n]);
  const cells = rows.map((row) => row.filter((_, n) => shown[n]));
  return { used, cells, widths: widthsOf(used, cells, room) };
}

/** Returns the table with as many of its columns as fit; null: not even those fit that are never left out. */
function firstThatFits<T>(records: readonly T[], columns: readonly Column<T>[], room: number): LaidOut<T> | null {
  for (const least of [1, 2, 3]) {
    const laid = laidOut(
      records,
      columns.filter(({ goes = 3 }) => goes >= least),
      room,
    );
    if (laid.widths !== null) return laid;
  }
  return null;
}

/** Returns whether a table has its last column as wide as wanted. */
function isRoomy<T>({ cells, widths }: LaidOut<T>): boolean {
  const last = widths?.at(-1);
  return last !== undefined && cells.every((row) => shortWidth(row.at(-1) ?? '') <= last);
}

function shortened<T>(column: Column<T>): Column<T> {
  return column.short === undefined ? column : { ...column, ...column.short };
}

/** Prints a table of the first records of a list, and says when there are more. */
export async function printFirst<T>(
  out: Output,
  { records, isMore }: { readonly records: readonly T[]; readonly isMore: boolean },
  columns: readonly Column<T>[],
): Promise<void> {
  await printTable(out, records, columns);
  if (isMore) out.note('There are more: --limit 0 shows all');
}

/** Returns the widths of columns; null: the table does not fit. */
function widthsOf<T>(columns: readonly Column<T>[], cells: readonly string[][], room: number): number[] | null {
  const widths = columns.slice(0, -1).map(({ title }, n) => {
    return cells.reduce((most, row) => Math.max(most, widthOf(row[n] ?? '')), title.length);
  });
  const last = columns.length - 1;
  // Of a long cell, its width is not asked for.
  const said = cells.reduce(
    (most, row) => Math.max(most, shortWidth(row[last] ?? '')),
    columns[last]?.title.length ?? 0,
  );
  const over = (): number => widths.reduce((sum, width) => sum + width + GAP.length, 0) + Math.min(said, LAST) - room;
  for (const [n, width] of [...widths.entries()].sort(([, a], [, b]) => b - a)) {
    const isCut = over() > 0 && !columns[n]?.isWhole && !cells.some((row) => COPIED.test(row[n] ?? ''));
    const least = Math.max(MIN_COLUMN, columns[n]?.title.length ?? 0);
    if (isCut) widths[n] = Math.max(Math.min(width, least), width - over());
  }
  const lastWidth = Math.min(said, LAST) - over();
  return lastWidth < Math.min(said, MIN_LAST) ? null : [...widths, lastWidth];
}

function shortWidth(cell: string): number {
  return cell.length > LAST ? LAST : widthOf(cell);
}

interface Laid {
  readonly cells: readonly string[][];
  readonly widths: readonly number[];
}

function tableLines<T>(out: Output, columns: readonly Column<T>[], { cells, widths }: Laid): string[] {
  const last = columns.length - 1;
  const laid = (row: readonly string[], styleOf: (cell: string, n: number) => Style | null): string =>
    row
      .map((cell, n) => {
        const width = widths[n] ?? 0;
        const cut = Number.isFinite(out.width) ? fit(cell, width) : cell;
        const style = styleOf(cell, n);
        const text = n === last ? cut : pad(cut, width);
        return style === null ? text : out.style(style, text);
      })
      .join(GAP)
      .trimEnd();
  const head = laid(
    columns.map(({ title }) => title),
    () => 'bold',
  );
  return [head, ...cells.map((row) => laid(row, (cell, n) => columns[n]?.style?.(cell) ?? null))];
}

/** Returns each record as lines of titles and values, with a line between records. */
function recordLines<T>(out: Output, columns: readonly Column<T>[], cells: readonly string[][]): string[] {
  const width = Math.max(...columns.map(({ title }) => title.length));
  const room = Math.max(MIN_ROOM, out.width - width - GAP.length);
  return cells.flatMap((row, at) => [
    ...(at === 0 ? [] : ['']),
    ...row.flatMap((cell, n) => {
      const { title = '', style, isWhole } = columns[n] ?? {};
      if (cell === '') return [];
      const color = style?.(cell) ?? null;
      const text = isWhole ? cell : fit(cell, n === row.length - 1 ? room + MORE_LINES * out.width : room);
      return [`${out.style('bold', pad(title, width))}${GAP}${color === null ? text : out.style(color, text)}`];
    }),
  ]);
}

/** Prints names and values below each other; what is null is left out. */
export async function printFields(
  out: Output,
  fields: Readonly<Record<string, string | number | boolean | null | undefined>>,
): Promise<void> {
  const entries = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(0, ...entries.map(([name]) => widthOf(name)));
  const lines = entries.map(
    ([name, value]) => `${out.style('dim', pad(name, width))}${GAP}${oneLine(String(value))}\n`,
  );
  await out.write(lines.join(''));
}

const STATES: Readonly<Record<string, Style>> = {
  failed: 'red',
  exhausted: 'red',
  open: 'red',
  no_listener: 'red',
  error: 'red',
  succeeded: 'green',
  delivered: 'green',
  told: 'green',
  resolved: 'green',
  done: 'green',
  running: 'cyan',
  sending: 'cyan',
  queued: 'yellow',
  pending: 'yellow',
  waiting: 'yellow',
  retrying: 'yellow',
  held: 'yellow',
  paused: 'yellow',
  warn: 'yellow',
  cancelled: 'dim',
  muted: 'dim',
};

export function stateStyle(state: string): Style | null {
  return STATES[state] ?? null;
}
