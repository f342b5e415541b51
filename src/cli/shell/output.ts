// What a command prints: tables for people, JSON for programs, colours where a terminal shows them.

import { styleText } from 'node:util';
import { createProgress } from './progress.ts';
import { fit, oneLine, pad, widthOf } from './text.ts';

export type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold';

export interface Output {
  /** Standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Resolves when more can be written: what is printed may be larger than memory. */
  write(text: string): Promise<void>;
  /** Writes for people, beside the result: on standard error. */
  note(text: string): void;
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
}

const GAP = '  ';
const MIN_LAST = 12;

export function createOutput(
  stdout: NodeJS.WriteStream = process.stdout,
  stderr: NodeJS.WriteStream = process.stderr,
): Output {
  const progress = createProgress(stderr);
  return {
    isTerminal: stdout.isTTY === true,
    write: (text) =>
      new Promise((resolve, reject) => {
        stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    note: (text) => {
      progress.end();
      stderr.write(`${text}\n`);
    },
    progress: (text, share = null) => progress.show(text, share),
    endProgress: () => progress.clear(),
    // Goes by NO_COLOR, FORCE_COLOR and whether it is a terminal.
    style: (style, text) => styleText(style, text, { stream: stdout }),
  };
}

export async function printJson({ write }: Output, value: unknown): Promise<void> {
  await write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints one value a line: for what has no end. */
export async function printLine({ write }: Output, value: unknown): Promise<void> {
  await write(`${JSON.stringify(value)}\n`);
}

/** Prints a table. In a terminal its last column ends where the line does; elsewhere nothing is cut. */
export async function printTable<T>(out: Output, records: readonly T[], columns: readonly Column<T>[]): Promise<void> {
  const rows = records.map((record) => columns.map(({ of }) => oneLine(String(of(record) ?? ''))));
  // A column that is empty in each row says nothing.
  const shown = columns.map((_, n) => rows.some((row) => row[n] !== ''));
  const used = columns.filter((_, n) => shown[n]);
  const cells = [used.map(({ title }) => title), ...rows.map((row) => row.filter((_, n) => shown[n]))];
  const widths = used.map((_, n) => Math.max(...cells.map((row) => widthOf(row[n] ?? ''))));
  const room = out.isTerminal ? (process.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const last = Math.max(MIN_LAST, room - before);
  const lines = cells.map((row, at) =>
    row
      .map((cell, n) => {
        const isLast = n === row.length - 1;
        const text = isLast ? fit(cell, last) : pad(cell, widths[n] ?? 0);
        if (at === 0) return out.style('bold', text);
        const style = used[n]?.style?.(cell);
        return style ? out.style(style, text) : text;
      })
      .join(GAP)
      .trimEnd(),
  );
  await out.write(`${lines.join('\n')}\n`);
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
