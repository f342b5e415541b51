// How far long work is: a bar that is written over in a terminal, and a line now and then where each would stay.

import { fit, oneLine, pad, widthOf } from './text.ts';

export interface Progress {
  /** Shows how far it is. `share`: how much is done, from 0 to 1; null: not known. */
  show(text: string, share: number | null): void;
  /** Leaves what was shown last, and begins a new line. */
  end(): void;
  /** Removes what was shown last. */
  clear(): void;
}

const CELLS = 24;
const DEFAULT_WIDTH = 80;
/** In a file, short work has no lines and an hour of work has some hundred. */
const LINE_EVERY_MS = 10_000;

export function barOf(share: number): string {
  const done = Math.max(0, Math.min(1, share));
  const full = Math.floor(done * CELLS);
  return `[${'█'.repeat(full)}${'·'.repeat(CELLS - full)}] ${String(Math.floor(done * 100)).padStart(3)} %`;
}

export function createProgress(
  stream: Pick<NodeJS.WriteStream, 'write' | 'isTTY'> & { readonly columns?: number },
  nowMs: () => number = () => performance.now(),
): Progress {
  let width = 0;
  let lineDueMs = nowMs() + LINE_EVERY_MS;
  return {
    show: (text, share) => {
      if (stream.isTTY === true) {
        const whole = share === null ? oneLine(text) : `${barOf(share)} ${oneLine(text)}`;
        // What is longer than a line would stay there: a terminal goes back to the begin of its last line alone.
        const line = fit(whole, (stream.columns || DEFAULT_WIDTH) - 1);
        stream.write(`\r${pad(line, width)}`);
        width = widthOf(line);
        return;
      }
      if (nowMs() < lineDueMs) return;
      lineDueMs = nowMs() + LINE_EVERY_MS;
      stream.write(`${share === null ? '' : `${Math.floor(share * 100)} % `}${oneLine(text)}\n`);
    },
    end: () => {
      if (width > 0) stream.write('\n');
      width = 0;
    },
    clear: () => {
      if (width > 0) stream.write(`\r${' '.repeat(width)}\r`);
      width = 0;
    },
  };
}
