// Ctrl-C in long work: what is left running, or half done, is told before the command ends.

import { EXIT } from './exit.ts';
import type { Output } from './output.ts';

/** Ends the process by Ctrl-C with what `tell` returns, while the work goes on. */
export async function telling<T>(out: Pick<Output, 'note'>, tell: () => string, work: () => Promise<T>): Promise<T> {
  const interrupted = (): void => {
    out.note(`\n${tell()}`);
    process.exit(EXIT.interrupted);
  };
  process.once('SIGINT', interrupted);
  try {
    return await work();
  } finally {
    process.off('SIGINT', interrupted);
  }
}
